//! What can be next: what happens by itself, what a host is asked for, and the faults.

use std::collections::BTreeSet;
use std::sync::Arc;

use handover_core::{
    AtDeadline, BuildId, EndAction, GrantId, Phase, Statement, Term, Version, View, Wish, Work,
};

use super::Bounds;
use super::bounds::{Budget, Cost};
use crate::choose::FaultKind;
use crate::variants::{Said, Saying, is_current};
use crate::world::{ArbiterIndex, Direction, Event, Life, Process, RunningBuild, Who, Wire, World};

/// What is next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// The arbiter folds this statement.
    Deliver(Who, Arc<Statement>, Rest),
    /// The host reads this view.
    Read(Who, Arc<View>, Rest),
    /// Anything else.
    Happens(Event),
    /// The same, and the commit that it makes is lost: by this event, which comes first.
    Unsure(Event, Box<Self>),
}

/// What becomes of a link when a message of it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// The messages before it never arrive.
    Outdated,
    /// The others stay.
    Stays,
    /// The others stay, and so does a copy of it.
    StaysWithIt,
}

impl Rest {
    /// What a wrong protocol takes after a newer message, only that protocol knows: the others stay,
    /// and what it would refuse is taken off the link with all that cannot matter.
    fn all(bounds: &Bounds) -> &'static [Self] {
        match (bounds.reductions.superseded, is_current(bounds.protocol)) {
            (true, true) => &[Self::Outdated],
            (true, false) => &[Self::Stays],
            (false, _) => &[Self::Stays, Self::StaysWithIt],
        }
    }
}

/// A choice, and what it costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) action: Action,
    pub(super) cost: Cost,
}

pub(super) const RECORD: ArbiterIndex = ArbiterIndex(0);

impl Action {
    /// The events that make it happen in this world, where messages may be on the links that it
    /// leaves behind, or that are yet to be sent again.
    pub(super) fn events(&self, world: &World) -> Vec<Event> {
        let (who, direction, at, event, rest) = match self {
            Self::Happens(event) => return vec![event.clone()],
            Self::Unsure(fault, action) => {
                return std::iter::once(fault.clone()).chain(action.events(world)).collect();
            }
            Self::Deliver(who, statement, rest) => {
                let at = world.link(*who).statements.iter().position(|each| each == statement);
                (*who, Direction::ToRecord, at, Event::Deliver { from: *who, to: RECORD }, *rest)
            }
            Self::Read(who, view, rest) => {
                let at = world.link(*who).views.iter().position(|each| each == view);
                (*who, Direction::FromRecord, at, Event::Read(*who), *rest)
            }
        };
        let wire = Wire { who, direction };
        let waiting = match direction {
            Direction::ToRecord => world.link(who).statements.len(),
            Direction::FromRecord => world.link(who).views.len(),
        };
        let mut events = Vec::new();
        // One that is not there any more is the newest: it is sent again.
        if at.is_none() {
            events.push(Event::Repeat(wire));
        }
        match rest {
            Rest::Outdated => {
                let before = at.unwrap_or(waiting);
                events.extend(std::iter::repeat_n(Event::Lose(wire), before));
            }
            Rest::Stays | Rest::StaysWithIt => {
                let behind = match at {
                    Some(0) => 0,
                    Some(at) => waiting - at,
                    None => usize::from(waiting > 0),
                };
                events.extend(std::iter::repeat_n(Event::Overtake(wire), behind));
            }
        }
        if rest == Rest::StaysWithIt {
            events.push(Event::Double(wire));
        }
        events.push(event);
        events
    }

    /// What happens, whether its commit is lost or not.
    pub(super) fn sure(&self) -> &Self {
        match self {
            Self::Unsure(_, action) => action,
            Self::Deliver(..) | Self::Read(..) | Self::Happens(_) => self,
        }
    }
}

/// All choices of a state, in a fixed order. `named` are the grants that anybody in this state still
/// names.
pub(super) fn choices(
    world: &World,
    budget: Budget,
    bounds: &Bounds,
    named: &BTreeSet<GrantId>,
) -> Vec<Choice> {
    let mut choices = Choices { world, budget, all: Vec::new() };
    choices.push_messages(Rest::all(bounds));
    if !is_current(bounds.protocol) {
        choices.push_repeats();
    }
    choices.push_builds();
    choices.push_membership(&bounds.versions());
    choices.push_wishes();
    choices.push_submissions(bounds);
    choices.push_faults();
    choices.push_operators(bounds, named);
    choices.push_lost_commits();
    choices.all
}

pub(super) struct Choices<'a> {
    pub(super) world: &'a World,
    pub(super) budget: Budget,
    pub(super) all: Vec<Choice>,
}

impl Choices<'_> {
    fn push(&mut self, cost: Cost, event: Event) {
        if self.budget.allows(cost.price()) {
            self.all.push(Choice { action: Action::Happens(event), cost });
        }
    }

    pub(super) fn free(&mut self, event: Event) {
        self.push(Cost::Free, event);
    }

    pub(super) fn fault(&mut self, kind: FaultKind, event: Event) {
        self.push(Cost::Fault(kind), event);
    }

    fn push_messages(&mut self, rests: &[Rest]) {
        for (who, process) in self.world.processes() {
            let link = self.world.link(who);
            let acts = process.acts();
            for rest in rests {
                let deliver = |each: &Arc<_>| Action::Deliver(who, Arc::clone(each), *rest);
                let read = |each: &Arc<_>| Action::Read(who, Arc::clone(each), *rest);
                let views = link.views.iter().filter(|_| acts).map(read);
                let actions = link.statements.iter().map(deliver).chain(views);
                self.all.extend(actions.map(|action| Choice { action, cost: Cost::Free }));
            }
        }
        for (index, arbiter) in self.world.arbiters() {
            if arbiter.unpublished {
                self.free(Event::Publish(index));
                self.fault(FaultKind::Arbiter, Event::ArbiterCrash(index));
            }
        }
    }

    /// What the record has heard is said again as long as its host does not know that (Dr1), and is
    /// answered with the view. Whoever reads in order has read that view, or has it on its link.
    fn push_repeats(&mut self) {
        for (who, process) in self.world.processes() {
            let wire = Wire { who, direction: Direction::ToRecord };
            let has_no_news = self.world.link(who).views.is_empty();
            let Some(statement) = process.host.statement() else { continue };
            if !(has_no_news && self.world.has_to_repeat(wire)) {
                continue;
            }
            let saying = Saying { statement: &statement, process, from: process.phase() };
            if let Said::Sent(said) = self.world.protocol().say(&saying) {
                let action = Action::Deliver(who, Arc::new(said), Rest::Stays);
                self.all.push(Choice { action, cost: Cost::Free });
            }
        }
    }

    fn push_builds(&mut self) {
        for (who, process) in self.world.processes().filter(|(_, process)| process.acts()) {
            for (work, build) in &*process.builds {
                self.push_end_of_build(who, work, build);
            }
        }
    }

    /// A build signs one chunk off after another, then ends; one that was told to stop may come to
    /// its end before it has stopped.
    fn push_end_of_build(&mut self, who: Who, work: &Work, build: &RunningBuild) {
        let build_is_granted = work.is_granted();
        let work = || work.clone();
        if build.stopping {
            self.free(Event::BuildStops { who, work: work() });
        }
        if build.hangs {
            return self.free(Event::Heal);
        }
        if build_is_granted {
            self.fault(FaultKind::Hang, Event::Hang(who));
        }
        let failed = Some("broken".into());
        self.fault(FaultKind::Fail, Event::BuildEnds { who, work: work(), failed });
        if let Some(chunk) = build.unfinished().next() {
            let chunk = || chunk.clone();
            self.free(Event::SignOff { who, chunk: chunk(), failed: false });
            self.fault(FaultKind::Fail, Event::SignOff { who, chunk: chunk(), failed: true });
            self.fault(FaultKind::Unsigned, Event::Unsigned { who, chunk: chunk() });
        } else {
            self.free(Event::BuildEnds { who, work: work(), failed: None });
        }
    }

    /// The dead are declared gone and boot again; the living are declared gone, die, are suspected.
    fn push_membership(&mut self, versions: &[Version]) {
        let world = self.world;
        let is_gone = |process: &Process| world.committed().is_gone(process.host.id());
        for (who, process) in world.processes() {
            let id = process.host.id();
            if process.lives() {
                if !is_gone(process) {
                    self.fault(FaultKind::Gone, Event::Gone(who));
                }
            } else {
                // Whoever lives under its number would be buried with it.
                if !is_gone(process) && !world.is_lived(id) {
                    self.free(Event::Gone(who));
                }
                self.fault(FaultKind::Reuse, Event::Reuse(who));
            }
            if world.newest(&process.name) != Some(who) {
                if process.lives() {
                    self.fault(FaultKind::Crash, Event::Crash(who));
                }
                continue;
            }
            for version in versions {
                let (name, version) = (process.name.clone(), Some(version.clone()));
                match process.life {
                    Life::Up | Life::Paused => {
                        self.fault(FaultKind::Overlap, Event::Overlap { name, version });
                    }
                    Life::Crashed => self.free(Event::Boot { name, version }),
                    // Its operator has ended it.
                    Life::Exited => {}
                }
            }
            if process.lives() {
                self.fault(FaultKind::Crash, Event::Crash(who));
                if !world.oracle().suspects.contains(process.host.id()) {
                    self.fault(FaultKind::Suspect, Event::Suspect(who));
                }
            }
        }
        for suspect in &world.oracle().suspects {
            if let Some(who) = world.by_id(suspect) {
                self.free(Event::Trust(who));
            }
        }
    }

    fn push_wishes(&mut self) {
        for (who, process) in self.world.processes().filter(|(_, process)| process.acts()) {
            let (phase, wish) = (process.phase(), process.host.candidate().wish());
            if phase == Phase::Idle && wish == Wish::Watch && !process.host.wants_job() {
                self.free(Event::Ask(who));
            }
            if phase == Phase::StoodDown {
                self.fault(FaultKind::Reask, Event::Reask(who));
            } else if wish == Wish::Job {
                self.push(Cost::StandDown, Event::StandDown { who, after: false });
                if let Phase::Building { .. } = phase {
                    self.push(Cost::StandDown, Event::StandDown { who, after: true });
                }
            }
        }
    }

    /// Deployments `d1`, `d2` and other builds `l1`, `l2`, each once at each place that has some.
    fn push_submissions(&mut self, bounds: &Bounds) {
        let world = self.world;
        let places = &world.setup().places;
        let places = if bounds.builds_everywhere { &places[..] } else { &places[..1] };
        let (deployments, builds) = bounds.local_builds;
        if deployments + builds == 0 {
            return;
        }
        for who in places.iter().filter_map(|place| world.newest(&place.name)) {
            let deployments = (1..=deployments).map(|number| (format!("d{number}"), true));
            let builds = (1..=builds).map(|number| (format!("l{number}"), false));
            for (build, deploys) in deployments.chain(builds) {
                self.push_submission(who, BuildId::new(build), deploys);
            }
        }
    }

    fn push_submission(&mut self, who: Who, build: BuildId, deploys: bool) {
        let process = self.world.process(who);
        let work = Work::Local(build.clone());
        let known = process.ledger.entries.contains_key(&work)
            || process.host.executor().stage(&work).is_some();
        if process.acts() && !known {
            let drains = deploys.then_some(EndAction::Nothing);
            self.free(Event::Submit { who, build, parent: None, drains });
        }
    }

    fn push_faults(&mut self) {
        for (who, process) in self.world.processes().filter(|(_, process)| process.acts()) {
            if process.host.executor().is_draining() {
                self.fault(FaultKind::Undrain, Event::Undrain(who));
            } else {
                for end in [EndAction::Nothing, EndAction::Stop] {
                    let (term, at_deadline) = (Term::UntilUndrained, AtDeadline::Report);
                    self.fault(FaultKind::Drain, Event::Drain { who, term, end, at_deadline });
                }
            }
        }
    }
}
