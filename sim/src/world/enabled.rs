//! What can happen: by itself (calm), and at all.

use handover_core::{Effect, ExecutorEffect, Phase, Work};

use super::apply::{NotEnabled, absent};
use super::{
    ArbiterIndex, Direction, Event, Life, Process, Step, StepKind, Target, Who, Wire, World,
};

/// The calm order: what of this comes first happens first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// Drivers carry out orders.
    Steps,
    /// Statements arrive, and the dead are declared gone.
    Deliveries,
    /// Arbiters publish.
    Publications,
    /// Hosts read views.
    Reads,
    /// Builds sign off, end, stop.
    Builds,
    /// Views are repeated, before statements: they may be the answer to what would be said again.
    News,
    /// Statements are repeated.
    Words,
}

impl Rank {
    pub(super) const ALL: &[Self] = &[
        Self::Steps,
        Self::Deliveries,
        Self::Publications,
        Self::Reads,
        Self::Builds,
        Self::News,
        Self::Words,
    ];

    /// Where a calm event stands.
    pub(super) fn of(event: &Event) -> Self {
        if let Event::Step { .. } | Event::Plan { .. } = event {
            Self::Steps
        } else if let Event::Deliver { .. } | Event::Gone(_) = event {
            Self::Deliveries
        } else if let Event::Publish(_) | Event::Lapse(_) = event {
            Self::Publications
        } else if let Event::Read(_) = event {
            Self::Reads
        } else if let Event::Repeat(wire) = event {
            match wire.direction {
                Direction::FromRecord => Self::News,
                Direction::ToRecord => Self::Words,
            }
        } else {
            Self::Builds
        }
    }
}

impl World {
    /// The events that happen by themselves, without any fault or wish: messages arrive, drivers
    /// carry out orders, builds end, the dead are declared gone. In the calm order.
    #[must_use]
    pub fn calm_events(&self) -> Vec<Event> {
        let mut events = Vec::new();
        for rank in Rank::ALL {
            self.push_rank(*rank, &mut events);
        }
        events
    }

    fn push_rank(&self, rank: Rank, events: &mut Vec<Event>) {
        if rank == Rank::Publications {
            events.extend(self.publications());
            return;
        }
        for (who, _) in self.processes() {
            self.push_calm(rank, who, events);
        }
    }

    /// What the arbiters do by themselves: they publish, and a wrong protocol lets offers lapse.
    pub(super) fn publications(&self) -> impl Iterator<Item = Event> {
        let due = self.arbiters().filter(|(_, arbiter)| arbiter.unpublished && !arbiter.stalled);
        let lapses = self.protocol().lapses(self.committed()).map(Event::Lapse);
        due.map(|(index, _)| Event::Publish(index)).chain(lapses)
    }

    /// All events of one process that happen by themselves, in the calm order. Answers whether the
    /// record decides what these are: whether its word has to be said again, or its end declared.
    pub(super) fn push_all_calm(&self, who: Who, events: &mut Vec<Event>) -> bool {
        let process = self.process(who);
        self.push_steps(who, events);
        self.push_statements(who, events);
        let id = process.host.id();
        let to_bury = !process.lives() && !self.committed().is_gone(id);
        if to_bury && !self.is_lived(id) {
            events.push(Event::Gone(who));
        }
        if self.reads(who) {
            events.push(Event::Read(who));
        }
        push_builds(who, process, events);
        self.push_repeat(Wire { who, direction: Direction::FromRecord }, events);
        let awaits = self.awaits_answer(who);
        if awaits && self.has_to_say_again(who) {
            events.push(Event::Repeat(Wire { who, direction: Direction::ToRecord }));
        }
        awaits || to_bury
    }

    /// The events of one process and one rank that happen by themselves.
    fn push_calm(&self, rank: Rank, who: Who, events: &mut Vec<Event>) {
        match rank {
            Rank::Steps => self.push_steps(who, events),
            Rank::Deliveries => self.push_deliveries(who, events),
            Rank::Publications => {}
            Rank::Reads => {
                if self.reads(who) {
                    events.push(Event::Read(who));
                }
            }
            Rank::Builds => push_builds(who, self.process(who), events),
            Rank::News => self.push_repeat(Wire { who, direction: Direction::FromRecord }, events),
            Rank::Words => self.push_repeat(Wire { who, direction: Direction::ToRecord }, events),
        }
    }

    fn push_statements(&self, who: Who, events: &mut Vec<Event>) {
        let link = self.link(who);
        if !link.statements.is_empty() && !link.statements_stalled {
            events.push(Event::Deliver { from: who, to: ArbiterIndex(0) });
        }
    }

    fn push_deliveries(&self, who: Who, events: &mut Vec<Event>) {
        self.push_statements(who, events);
        let process = self.process(who);
        if !process.lives() && self.may_declare_gone(process) {
            events.push(Event::Gone(who));
        }
    }

    fn push_repeat(&self, wire: Wire, events: &mut Vec<Event>) {
        if self.has_to_repeat(wire) {
            events.push(Event::Repeat(wire));
        }
    }

    fn reads(&self, who: Who) -> bool {
        let (process, link) = (self.process(who), self.link(who));
        process.acts() && !link.views_stalled && link.views.len() > process.stale as usize
    }

    /// The steps that a host's driver can take now, oldest order first.
    #[must_use]
    pub fn steps_of(&self, who: Who) -> Vec<Event> {
        let mut events = Vec::new();
        self.push_steps(who, &mut events);
        events
    }

    /// The first step that follows what has happened by itself: what a host that is not slow does
    /// at once.
    #[must_use]
    pub fn next_own_step(&self) -> Option<Event> {
        let quick = self.processes().filter(|(_, process)| process.slow <= 1);
        quick.map(|(who, _)| who).find_map(|who| self.steps_of(who).into_iter().next())
    }

    /// The first of the calm events.
    #[must_use]
    pub fn next_calm(&self) -> Option<Event> {
        let mut events = Vec::new();
        for rank in Rank::ALL {
            self.push_rank(*rank, &mut events);
            if !events.is_empty() {
                break;
            }
        }
        events.into_iter().next()
    }

    fn push_steps(&self, who: Who, events: &mut Vec<Event>) {
        let process = self.process(who);
        if !process.acts() {
            return;
        }
        for order in &process.orders {
            match (order, Step::of(order)) {
                (_, Some(step)) => events.push(Event::Step { who, step }),
                (Effect::MakePlan { .. }, None) => events.push(Event::Plan { who, chunks: None }),
                (Effect::Return { .. } | Effect::Alarm(_) | Effect::Executor(_), None) => {}
            }
        }
        if process.has_late_step() {
            let step = Step { kind: StepKind::StoreDrain, work: None };
            events.push(Event::Step { who, step });
        }
    }

    /// Is it yet to be said that this dead process has ended?
    pub(super) fn may_declare_gone(&self, process: &Process) -> bool {
        let id = process.host.id();
        !self.committed().is_gone(id) && !self.is_lived(id)
    }

    /// Can this event happen here?
    ///
    /// # Errors
    /// If not, with what is missing.
    pub fn permits(&self, event: &Event) -> Result<(), NotEnabled> {
        match event {
            Event::Ask(who)
            | Event::Watch(who)
            | Event::StandDown { who, .. }
            | Event::Submit { who, .. }
            | Event::CancelBuild { who, .. }
            | Event::Drain { who, .. }
            | Event::Undrain(who)
            | Event::Deadline(who)
            | Event::Interrupt(who) => self.acting(*who).map(|_| ()),
            Event::Reask(who) => {
                let process = self.acting(*who)?;
                ensure(process.phase() == Phase::StoodDown, "it has not stood down")
            }
            Event::Deliver { from, to } => {
                self.known_arbiter(*to)?;
                let link = self.link(*from);
                ensure(!link.statements_stalled, "the link is stalled")?;
                ensure(!link.statements.is_empty(), "no statement of it is on its way")
            }
            Event::Publish(index) => {
                self.known_arbiter(*index)?;
                let arbiter = &self.arbiters[usize::from(index.0)];
                ensure(arbiter.unpublished, "it has published all that it has committed")
            }
            Event::Read(who) => {
                let behind = self.acting(*who)?.stale as usize;
                let link = self.link(*who);
                ensure(!link.views_stalled, "the link is stalled")?;
                ensure(!link.views.is_empty(), "no view is on its way to it")?;
                ensure(link.views.len() > behind, "it reads views that are further behind")
            }
            Event::Repeat(wire) => self.permits_repeat(*wire),
            Event::Plan { who, .. } => {
                let plans = |order: &Effect| matches!(order, Effect::MakePlan { .. });
                ensure(self.acting(*who)?.orders.iter().any(plans), "it has no offer to plan for")
            }
            Event::Step { who, step } => {
                let process = self.acting(*who)?;
                let late = step.kind == StepKind::StoreDrain && process.has_late_step();
                ensure(process.order(step).is_some() || late, "it has no such step to take")
            }
            Event::SignOff { who, .. } | Event::Hang(who) | Event::Unsigned { who, .. } => {
                let runs = self.acting(*who)?.builds.keys().any(|work| work.is_granted());
                ensure(runs, "no build under a grant runs there")
            }
            Event::BuildEnds { who, work, .. } => {
                let build = self.acting(*who)?.builds.get(work).ok_or_else(|| absent(work))?;
                ensure(!build.hangs, "the build hangs: it never ends by itself")
            }
            Event::BuildStops { who, work } => {
                let build = self.acting(*who)?.builds.get(work).ok_or_else(|| absent(work))?;
                ensure(build.stopping, "the build was not told to stop")
            }
            Event::Stall(_) | Event::Flow(_) | Event::Heal => self.known_target(event),
            Event::Lose(wire) | Event::Double(wire) | Event::Overtake(wire) => {
                ensure(self.waiting_on(*wire) > 0, "nothing is on its way there")
            }
            Event::Delay(wire) => {
                ensure(self.waiting_on(*wire) > 1, "no two messages are on their way there")
            }
            Event::Cut(who) => ensure(!self.link(*who).cut, "the link is cut already"),
            Event::Stale { .. } | Event::Slow { .. } => Ok(()),
            Event::Pause(who) | Event::Crash(who) => {
                let lives = self.process(*who).lives();
                ensure(lives, "it does not live")
            }
            Event::Resume(who) => {
                ensure(self.process(*who).life == Life::Paused, "it is not paused")
            }
            Event::Gone(_) | Event::Suspect(_) | Event::Trust(_) => Ok(()),
            Event::Boot { name, .. } => {
                self.has_room()?;
                let lives = self.newest(name).is_some_and(|who| self.process(who).lives());
                ensure(!lives, "the last process of this name still lives; that is `overlap`")?;
                self.known_place(name)
            }
            Event::Overlap { name, .. } => {
                self.has_room()?;
                let lives = self.newest(name).is_some_and(|who| self.process(who).lives());
                ensure(lives, "no process of this name lives; that is `boot`")
            }
            Event::LoseDisk(who) => {
                ensure(!self.process(*who).lives(), "the process still lives; crash it first")
            }
            Event::Reuse(who) => {
                self.has_room()?;
                ensure(!self.process(*who).lives(), "the process still lives; crash it first")
            }
            Event::ArbiterCrash(index) | Event::Conflict(index) | Event::UnknownCommit(index) => {
                self.known_arbiter(*index)
            }
            Event::Lapse(_) | Event::Cancel { .. } | Event::Revoke { .. } | Event::Retry { .. } => {
                Ok(())
            }
        }
    }

    /// Anything that was said or published may be sent again; calm does so only where it helps.
    fn permits_repeat(&self, wire: Wire) -> Result<(), NotEnabled> {
        match wire.direction {
            Direction::ToRecord => {
                let process = self.acting(wire.who)?;
                ensure(process.host.statement().is_some(), "it has said nothing")
            }
            Direction::FromRecord => {
                let newest = &self.link(wire.who).newest;
                ensure(newest.is_some(), "nothing was ever published for it")
            }
        }
    }

    fn acting(&self, who: Who) -> Result<&Process, NotEnabled> {
        let process = self.process(who);
        match process.life {
            Life::Up => Ok(process),
            Life::Paused => Err(NotEnabled("it is paused".into())),
            Life::Crashed => Err(NotEnabled("it has crashed".into())),
            Life::Exited => Err(NotEnabled("it has ended".into())),
        }
    }

    fn waiting_on(&self, wire: Wire) -> usize {
        let link = self.link(wire.who);
        match wire.direction {
            Direction::ToRecord => link.statements.len(),
            Direction::FromRecord => link.views.len(),
        }
    }

    fn known_arbiter(&self, index: ArbiterIndex) -> Result<(), NotEnabled> {
        ensure(usize::from(index.0) < self.arbiters.len(), "there is no such arbiter")
    }

    fn has_room(&self) -> Result<(), NotEnabled> {
        let why = "a world has at most 65,536 processes, the dead ones counted";
        ensure(self.actors.len() < Self::PROCESSES_MAX, why)
    }

    fn known_target(&self, event: &Event) -> Result<(), NotEnabled> {
        if let Event::Stall(Target::Arbiter(index)) | Event::Flow(Target::Arbiter(index)) = event {
            self.known_arbiter(*index)?;
        }
        Ok(())
    }

    fn known_place(&self, name: &handover_core::Name) -> Result<(), NotEnabled> {
        ensure(self.place(name).is_some(), "there is no such place")
    }
}

impl Process {
    /// The order that this step carries out.
    #[must_use]
    pub fn order(&self, step: &Step) -> Option<&Effect> {
        self.orders.iter().find(|order| Step::of(order).as_ref() == Some(step))
    }

    /// A wrong protocol has put an order off until the slot is released, and it is.
    pub(super) fn has_late_step(&self) -> bool {
        self.put_off.iter().any(|order| {
            let ExecutorEffect::StoreDrain { drain: Some(drain) } = order else {
                return false;
            };
            let build = drain.by.clone().map(Work::Local);
            build.is_none_or(|build| self.host.executor().stage(&build).is_none())
        })
    }
}

/// Builds sign their chunks off, then end; what was told to stop stops.
fn push_builds(who: Who, process: &Process, events: &mut Vec<Event>) {
    if !process.acts() {
        return;
    }
    for (work, build) in &*process.builds {
        if build.stopping {
            events.push(Event::BuildStops { who, work: work.clone() });
        } else if build.hangs {
        } else if let Some(chunk) = build.unfinished().next().filter(|_| work.is_granted()) {
            events.push(Event::SignOff { who, chunk: chunk.clone(), failed: false });
        } else {
            events.push(Event::BuildEnds { who, work: work.clone(), failed: None });
        }
    }
}

fn ensure(holds: bool, otherwise: &str) -> Result<(), NotEnabled> {
    if holds { Ok(()) } else { Err(NotEnabled(otherwise.into())) }
}
