//! How things are called: the same in commands, traces and reports.

use std::fmt::Write as _;

use handover_core::{Hold, HostId, Work};

use super::{Direction, Event, Process, Who, Wire, World};

impl World {
    /// `b` for the newest process of a name, `b.1` for an earlier one: what a command would say.
    #[must_use]
    pub fn label(&self, who: Who) -> String {
        let process = self.process(who);
        if self.is_newest(who) { process.name.to_string() } else { exact(process.host.id()) }
    }

    /// Appends the name of an event that happens all the time, without the detour over a command;
    /// false, and nothing, for another one.
    pub(crate) fn push_common_name(&self, event: &Event, to: &mut String) -> bool {
        match event {
            Event::Deliver { from, to: arbiter } => {
                self.push(to, "deliver ", *from, " -> record");
                to.push_str(if arbiter.0 == 0 { "" } else { "2" });
            }
            Event::Publish(arbiter) => {
                to.push_str(if arbiter.0 == 0 { "publish" } else { "publish record2" });
            }
            Event::Read(who) => self.push(to, "deliver record -> ", *who, ""),
            Event::Repeat(Wire { who, direction: Direction::ToRecord }) => {
                self.push(to, "repeat ", *who, " -> record");
            }
            Event::Repeat(Wire { who, direction: Direction::FromRecord }) => {
                self.push(to, "repeat record -> ", *who, "");
            }
            Event::Plan { who, chunks: None } => self.push(to, "plan ", *who, ""),
            Event::Step { who, step } => {
                self.push(to, "step ", *who, " ");
                to.push_str(step.kind.word());
                if let Some(work) = &step.work {
                    push_work(to, " ", work);
                }
            }
            Event::SignOff { who, chunk, failed } => {
                self.push(to, "sign-off ", *who, " ");
                to.push_str(chunk.as_str());
                to.push_str(if *failed { " failed" } else { "" });
            }
            Event::BuildEnds { who, work, failed: None } => {
                self.push(to, "build-ends ", *who, " of ");
                push_work(to, "", work);
            }
            Event::BuildStops { who, work } => {
                self.push(to, "build-stops ", *who, " of ");
                push_work(to, "", work);
            }
            Event::Ask(who) => self.push(to, "ask ", *who, ""),
            Event::Watch(who) => self.push(to, "watch ", *who, ""),
            Event::Crash(who) => self.push(to, "crash ", *who, ""),
            Event::Gone(who) => self.push(to, "gone ", *who, ""),
            Event::Boot { name, version } => {
                to.push_str("boot ");
                to.push_str(name.as_str());
                if let Some(version) = version {
                    to.push(':');
                    to.push_str(version.as_str());
                }
            }
            Event::StandDown { .. }
            | Event::Plan { chunks: Some(_), .. }
            | Event::BuildEnds { failed: Some(_), .. }
            | Event::Submit { .. }
            | Event::CancelBuild { .. }
            | Event::Drain { .. }
            | Event::Undrain(_)
            | Event::Deadline(_)
            | Event::Interrupt(_)
            | Event::Stall(_)
            | Event::Flow(_)
            | Event::Lose(_)
            | Event::Double(_)
            | Event::Overtake(_)
            | Event::Delay(_)
            | Event::Cut(_)
            | Event::Stale { .. }
            | Event::Slow { .. }
            | Event::Pause(_)
            | Event::Resume(_)
            | Event::Overlap { .. }
            | Event::Reuse(_)
            | Event::LoseDisk(_)
            | Event::Suspect(_)
            | Event::Trust(_)
            | Event::Reask(_)
            | Event::Hang(_)
            | Event::Unsigned { .. }
            | Event::ArbiterCrash(_)
            | Event::Conflict(_)
            | Event::UnknownCommit(_)
            | Event::Lapse(_)
            | Event::Cancel { .. }
            | Event::Revoke { .. }
            | Event::Retry { .. }
            | Event::Heal => return false,
        }
        true
    }

    fn push(&self, to: &mut String, before: &str, who: Who, behind: &str) {
        let process = self.process(who);
        to.push_str(before);
        to.push_str(process.name.as_str());
        if !self.is_newest(who) {
            push_number(to, ".", process.host.id().incarnation.0);
        }
        to.push_str(behind);
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

fn push_work(to: &mut String, before: &str, work: &Work) {
    match work {
        Work::Local(build) => {
            to.push_str(before);
            to.push_str(build.as_str());
        }
        Work::Granted(grant) => {
            to.push_str(before);
            push_number(to, "g", grant.0);
        }
    }
}

fn push_number(to: &mut String, before: &str, number: u64) {
    write!(to, "{before}{number}").expect("a string takes all text");
}

fn exact(id: &HostId) -> String {
    format!("{}.{}", id.name, id.incarnation)
}

#[cfg(test)]
mod tests {
    use crate::choose::{WalkSettings, walk};
    use crate::scenario::command_of;
    use crate::variants::Current;
    use crate::world::World;

    #[test]
    fn a_name_is_the_command_that_makes_the_event_happen() {
        for seed in 0..5 {
            let report = walk(seed, &WalkSettings::rolling_update(), &Current);
            let mut world = World::new(report.setup);
            for event in &report.schedule {
                assert_eq!(world.name_of(event), command_of(&world, event).to_string());
                world.apply(event, &mut Vec::new()).expect("the walk has applied it");
            }
        }
    }
}
