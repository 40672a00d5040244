//! What comes from outside of the hosts: operators and membership.

use std::sync::Arc;

use handover_core::{
    AtDeadline, BuildId, DrainRequest, EndAction, Input, Ledger, Name, Reason, Term, Version,
};

use super::{ArbiterIndex, Event, Fact, Life, Process, Who, World};

/// The arbiter that operators and membership speak to.
const FIRST: ArbiterIndex = ArbiterIndex(0);

impl World {
    /// What an event of an operator or of membership tells the arbiter.
    pub(crate) fn input_of(&self, event: &Event) -> Option<Input> {
        if let Event::Gone(who) = event {
            Some(Input::Gone(self.process(*who).host.id().clone()))
        } else if let Event::Lapse(grant) = event {
            Some(Input::Lapse { grant: *grant })
        } else if let Event::Cancel { grant, then, reason } = event {
            Some(Input::Cancel { grant: *grant, reason: reason.clone(), then: *then })
        } else if let Event::Revoke { grant, reason } = event {
            Some(Input::Revoke { grant: *grant, reason: reason.clone() })
        } else if let Event::Retry { version, grant } = event {
            Some(Input::Retry { version: version.clone(), grant: *grant })
        } else {
            None
        }
    }

    /// An operator's or membership's input; the answer goes to the trace.
    pub(super) fn tell(&mut self, input: Input, facts: &mut Vec<Fact>) {
        // A refusal is in the facts already.
        let _ = self.fold(FIRST, Arc::new(input), facts);
    }

    pub(super) fn drain(
        &mut self,
        who: Who,
        (term, end, at_deadline): (Term, EndAction, AtDeadline),
        facts: &mut Vec<Fact>,
    ) {
        let request = request("operator", term, end, at_deadline);
        let refused = self.with_host(who, facts, |host| host.drain(request).err());
        if let Some(refusal) = refused {
            facts.push(Fact::Declined { who, why: refusal.to_string() });
        }
    }

    pub(super) fn submit(
        &mut self,
        who: Who,
        build: &BuildId,
        parent: Option<&BuildId>,
        drains: Option<EndAction>,
        facts: &mut Vec<Fact>,
    ) {
        let drains =
            drains.map(|end| request(build.as_str(), Term::ThisVersion, end, AtDeadline::Report));
        let (build, parent) = (build.clone(), parent.cloned());
        let refused = self.with_host(who, facts, |host| host.submit(build, parent, drains).err());
        if let Some(refusal) = refused {
            facts.push(Fact::Declined { who, why: refusal.to_string() });
        }
    }

    /// Boots the next incarnation of a place, on the disk that the last one left. A place whose
    /// last process still lives has its disk in use: the next incarnation begins with an empty one.
    pub(super) fn boot(&mut self, name: &Name, version: Option<&Version>, facts: &mut Vec<Fact>) {
        let last = self.newest(name).map(|who| self.process(who));
        let dead = last.filter(|last| !last.lives());
        let ledger = dead.map(|last| Ledger::clone(&last.ledger));
        let disk = dead.map(|last| (last.artifacts.clone(), last.ended.clone()));
        let ran = last.map(|last| last.host.version().clone());
        let place = self.place(name).expect("enabled only for a known place").clone();
        let version = version.cloned().or(ran).unwrap_or_else(|| place.version.clone());
        let who = self.start_process(&place, &version, None, ledger);
        if let Some((artifacts, ended)) = disk {
            let process = self.process_mut(who);
            process.artifacts = artifacts;
            process.ended = ended;
        }
        let id = self.process(who).host.id().clone();
        facts.push(Fact::Booted { who, id });
        self.with_host(who, facts, |_| ());
    }

    /// A boot that takes a number which was used: what Dr4 forbids.
    pub(super) fn reuse(&mut self, of: Who, facts: &mut Vec<Fact>) {
        let process = self.process(of);
        let id = process.host.id().clone();
        let version = process.host.version().clone();
        let place = self.place(&id.name).expect("a process lives at a place").clone();
        let who = self.start_process(&place, &version, Some(id.incarnation), None);
        Arc::make_mut(&mut self.history).reused = true;
        facts.push(Fact::Booted { who, id });
    }

    /// What is not in a book any more nobody can do or undo: the next boot finds none of it.
    pub(super) fn lose_disk(&mut self, who: Who) {
        let process = self.process_mut(who);
        process.ledger = Arc::default();
        process.forget_debts();
    }

    pub(super) fn suspect(&mut self, who: Who, suspected: bool) {
        let id = self.process(who).host.id().clone();
        let oracle = Arc::make_mut(&mut self.oracle);
        if suspected {
            oracle.suspects.insert(id);
        } else {
            oracle.suspects.remove(&id);
        }
    }

    /// All faults end.
    pub(super) fn heal(&mut self) {
        Arc::make_mut(&mut self.oracle).suspects.clear();
        for arbiter in &mut self.arbiters {
            arbiter.stalled = false;
            arbiter.conflict_next = false;
            arbiter.unknown_next = false;
        }
        for i in 0..self.actors.len() {
            let who = Who::from(i);
            heal_process(self.process_mut(who));
            let link = self.link_mut(who);
            link.cut = false;
            link.statements_stalled = false;
            link.views_stalled = false;
        }
    }
}

fn heal_process(process: &mut Process) {
    process.stale = 0;
    process.slow = 1;
    if process.life == Life::Paused {
        process.life = Life::Up;
    }
    if process.builds.values().any(|build| build.hangs) {
        let builds = Arc::make_mut(&mut process.builds);
        builds.values_mut().for_each(|build| build.hangs = false);
    }
}

fn request(reason: &str, term: Term, end: EndAction, at_deadline: AtDeadline) -> DrainRequest {
    DrainRequest { reason: Reason::from(reason), term, end, at_deadline, since: 0 }
}
