//! How things are called: the same in commands, traces and reports.

use handover_core::{Hold, HostId};

use super::{Process, Who, World};

impl World {
    /// `b` for the newest process of a name, `b.1` for an earlier one: what a command would say.
    #[must_use]
    pub fn label(&self, who: Who) -> String {
        let process = self.process(who);
        if self.is_newest(who) { process.name.to_string() } else { exact(process.host.id()) }
    }

    /// The same for an identity.
    #[must_use]
    pub fn host_label(&self, id: &HostId) -> String {
        match self.newest(&id.name) {
            Some(who) if self.process(who).host.id() == id => id.name.to_string(),
            Some(_) | None => exact(id),
        }
    }

    /// `Offered(b, g1)`
    #[must_use]
    pub fn hold_label(&self, hold: &Hold) -> String {
        let stage = if hold.is_started() { "Started" } else { "Offered" };
        let cancelling = if hold.is_cancelling() { " cancelling" } else { "" };
        format!("{stage}({}, {}){cancelling}", self.host_label(&hold.host), hold.grant)
    }

    /// The process of this name and incarnation, or the newest of the name.
    #[must_use]
    pub fn find(&self, name: &str, incarnation: Option<u64>) -> Option<Who> {
        let named = |process: &Process| {
            incarnation.is_none_or(|wanted| process.host.id().incarnation.0 == wanted)
        };
        self.lives_of(&name.into()).find(|(_, process)| named(process)).map(|(who, _)| who)
    }
}

fn exact(id: &HostId) -> String {
    format!("{}.{}", id.name, id.incarnation)
}
