//! One walk: a seed, a strategy, and what becomes of a rolling update.
//!
//! By virtual time, each event that becomes possible is given the time at which it happens: now,
//! and a delay that is drawn for its link or its host. The earliest is next. So a slow host is slow
//! in all that it does, others come between two of its adjacent steps, and a calm schedule is one
//! walk among many. By priorities and by departures there is no time: wishes and faults are due
//! after so many steps.
//!
//! First faults strike, until all wishes have been dealt with. Then all faults end, the world goes
//! on calmly to rest, and has to have converged.

use handover_core::Name;

use super::agenda::{Agenda, Item};
use super::bounded::Departures;
use super::delays::Delays;
use super::faults::{still_ends, strike};
use super::happening::Happening;
use super::next::Next;
use super::pct::{PctBound, Priorities};
use super::settings::Draft;
use super::workload::{Granted, Workload};
use super::{Outcome, Plan, Strategy, WalkReport, WalkSettings};
use crate::check::{Rest, Transition, Violation, check, rest};
use crate::digest::Digest;
use crate::draw::{Concern, Draw};
use crate::variants::Protocol;
use crate::world::{ArbiterIndex, CalmEvents, Event, Fact, World};

/// How often a fault that finds nothing to hit is tried again.
const TRIES_MAX: u32 = 20;

/// The same where the settings vary.
const TRIES_VARIED_MAX: u32 = 100;

/// What is drawn in the schedules that come first is the same in all.
const ENUMERATED_SEED: u64 = 3;

/// Walks once, by virtual time.
#[must_use]
pub fn walk(seed: u64, settings: &WalkSettings, protocol: &'static dyn Protocol) -> WalkReport {
    walk_by(seed, &Plan::new(settings, Strategy::Random, protocol))
}

/// Walks once, as planned.
#[must_use]
pub fn walk_by(seed: u64, plan: &Plan) -> WalkReport {
    walk_seen(seed, plan, |_, _| ())
}

/// Walks once, as planned; `seen` is told each step before the faults end, and what could have
/// happened by itself in its place.
pub(crate) fn walk_seen(
    seed: u64,
    plan: &Plan,
    seen: impl FnMut(&Transition<'_>, &mut CalmEvents),
) -> WalkReport {
    let _span = tracing::info_span!("walk", seed, protocol = plan.protocol.name()).entered();
    let walk = match plan.ways(seed) {
        Some(ways) => Walk::enumerated(plan, ways),
        None => Walk::drawn(seed, plan),
    };
    walk.run(seed, seen)
}

/// What is kept of the steps.
#[derive(Clone, Debug)]
struct Log {
    digest: Digest,
    /// What the digest takes of a step, in the place of the one before.
    bytes: Vec<u8>,
    schedule: Vec<Event>,
    digests: Vec<Digest>,
}

impl Log {
    fn note(&mut self, step: &Transition<'_>) {
        tracing::debug!(event = %step.before.name_of(step.event));
        self.digest.step_within(&mut self.bytes, step.event, step.before, step.after);
        self.schedule.push(step.event.clone());
        self.digests.push(self.digest);
    }
}

/// Who picks what happens next.
enum Picker {
    /// The earliest, by these delays.
    Time(Delays),
    /// The highest.
    Priorities(Priorities),
    /// Calm, but for some departures.
    Departures(Departures),
}

pub(super) struct Walk {
    world: World,
    /// As it was before the step.
    before: World,
    /// What the step has brought about.
    facts: Vec<Fact>,
    strategy: Strategy,
    /// Microseconds of virtual time, or steps.
    now: u64,
    /// How far `now` goes on with a step.
    tick: u64,
    /// The time in which wishes and faults begin.
    span: u64,
    steps_max: usize,
    picker: Picker,
    /// What can happen by itself.
    happening: Happening,
    agenda: Agenda,
    /// The place that is hit more often than others.
    victim: Option<Name>,
    varies: bool,
    workload: Workload,
    /// Which arbiter a statement goes to; none: the first.
    schedule: Option<Draw>,
    faults: Draw,
    log: Log,
}

/// Few departures hit little in a large world.
const fn hosts_preferred(strategy: Strategy) -> u16 {
    match strategy {
        Strategy::Random | Strategy::Mix | Strategy::Pct { .. } => 10,
        Strategy::DelayBounded { .. } => 4,
    }
}

impl Walk {
    fn drawn(seed: u64, plan: &Plan) -> Self {
        let (settings, strategy) = (&plan.settings, plan.strategy.of_seed(seed));
        let mut wishes = Draw::new(seed, Concern::Workload);
        let mut faults = Draw::new(seed, Concern::Faults);
        let draft = settings.draft(&mut wishes, &mut faults, hosts_preferred(strategy));
        let mut schedule = Draw::new(seed, Concern::Schedule);
        let steps = draft.steps();
        let (picker, span) = match strategy {
            Strategy::Random | Strategy::Mix => {
                let delays = Delays::new(seed, draft.places.len(), settings.varies);
                (Picker::Time(delays), draft.span_us)
            }
            Strategy::Pct { depth } => {
                let draw = Draw::new(seed, Concern::Delays);
                (Picker::Priorities(Priorities::new(draw, depth, steps)), steps)
            }
            Strategy::DelayBounded { departures_max } => {
                let draw = Draw::new(seed, Concern::Delays);
                let departures = schedule.between(1, u64::from(departures_max.max(1)));
                let departures = Departures::drawn(draw, &draft, departures, steps);
                (Picker::Departures(departures), steps)
            }
        };
        let mut walk = Self::new(plan, &draft, (picker, strategy, span), wishes);
        walk.varies = settings.varies;
        walk.steps_max = match walk.picker {
            Picker::Time(_) => settings.steps_max.max(walk.steps_max.saturating_mul(3)),
            Picker::Priorities(_) | Picker::Departures(_) => walk.steps_max,
        };
        if !matches!(walk.picker, Picker::Departures(_)) {
            for (kind, times) in &draft.faults {
                for number in 0..*times {
                    let fault = Item::Fault { kind: *kind, number, tries: 0 };
                    walk.agenda.enter(faults.below(span), fault);
                }
            }
        }
        Self { schedule: Some(schedule), faults, ..walk }
    }

    /// One of the schedules that come first.
    fn enumerated(plan: &Plan, ways: &[(usize, usize)]) -> Self {
        let draft = plan.settings.whole();
        let strategy = plan.strategy.of_seed(ENUMERATED_SEED);
        let draw = |concern| Draw::new(ENUMERATED_SEED, concern);
        let picker = Departures::planned(draw(Concern::Schedule), draft.kinds(), ways);
        let how = (Picker::Departures(picker), strategy, draft.steps());
        let walk = Self::new(plan, &draft, how, draw(Concern::Workload));
        let steps_max = walk.steps_max.saturating_mul(3);
        // Time stands still while anything can happen by itself.
        Self { tick: 0, steps_max, ..walk }
    }

    /// The points of such a schedule from this one on, each with the number of ways to depart from
    /// calm there; none if there are more ways in all than there is room for.
    pub(super) fn counted(
        plan: &Plan,
        ways: &[(usize, usize)],
        from: usize,
        room: usize,
    ) -> Option<Vec<(usize, usize)>> {
        let mut walk = Self::enumerated(plan, ways);
        if let Picker::Departures(departures) = &mut walk.picker {
            departures.count(from, room);
        }
        // What it breaks is told when it is run for its own sake.
        let _ = walk.with_faults(|_, _| ());
        match &walk.picker {
            Picker::Departures(departures) => departures.counted(),
            Picker::Time(_) | Picker::Priorities(_) => None,
        }
    }

    fn new(
        plan: &Plan,
        draft: &Draft,
        (picker, strategy, span): (Picker, Strategy, u64),
        wishes: Draw,
    ) -> Self {
        let world = World::new(draft.setup(plan.protocol));
        let calm = CalmEvents::of(&world);
        let mut walk = Self {
            before: world.clone(),
            world,
            facts: Vec::new(),
            strategy,
            now: 0,
            tick: u64::from(!matches!(picker, Picker::Time(_))),
            span,
            steps_max: usize::try_from(draft.steps()).unwrap_or(usize::MAX),
            picker,
            happening: Happening::new(calm),
            agenda: Agenda::default(),
            victim: draft.victim.clone(),
            varies: false,
            workload: Workload::new(wishes, draft.versions, span),
            schedule: None,
            faults: Draw::new(ENUMERATED_SEED, Concern::Faults),
            log: Log {
                digest: Digest::new(),
                bytes: Vec::new(),
                schedule: Vec::new(),
                digests: Vec::new(),
            },
        };
        walk.wish(draft);
        walk
    }

    fn wish(&mut self, draft: &Draft) {
        let names: Vec<Name> = draft.places.iter().map(|place| place.name.clone()).collect();
        for (due, wish) in self.workload.begin(&names, draft.local_builds) {
            self.agenda.enter(due, Item::Wish(wish));
        }
    }

    fn run(mut self, seed: u64, seen: impl FnMut(&Transition<'_>, &mut CalmEvents)) -> WalkReport {
        let survived = self.with_faults(seen);
        let faults_end = self.log.schedule.len();
        let outcome = match survived {
            Ok(()) => self.heal_and_rest(),
            Err(violation) => Outcome::Broken(violation),
        };
        WalkReport {
            seed,
            strategy: self.strategy,
            pct: self.pct(),
            faults_end,
            steps: self.log.schedule.len(),
            virtual_time_us: if self.tick == 0 { self.now } else { 0 },
            digest: self.log.digest,
            outcome,
            setup: self.world.setup().clone(),
            schedule: self.log.schedule,
            digests: self.log.digests,
        }
    }

    fn pct(&self) -> Option<PctBound> {
        match (&self.picker, self.strategy) {
            (Picker::Priorities(priorities), Strategy::Pct { depth }) => {
                Some(PctBound { actors: priorities.actors(), steps: self.span, depth })
            }
            (_, _) => None,
        }
    }

    /// Until all wishes and faults have been dealt with and no process is about to end.
    fn with_faults(
        &mut self,
        mut seen: impl FnMut(&Transition<'_>, &mut CalmEvents),
    ) -> Result<(), Violation> {
        while self.log.schedule.len() < self.steps_max {
            self.refresh();
            let Some(next) = self.next() else {
                break;
            };
            if let Some(event) = self.resolve(next) {
                self.step(&event, &mut seen)?;
                self.now += self.tick;
            }
        }
        Ok(())
    }

    /// Gives what has become possible its key.
    fn refresh(&mut self) {
        let (world, now, happening) = (&self.world, self.now, &mut self.happening);
        match &mut self.picker {
            Picker::Time(delays) => {
                happening.key_what_came(|event| now + delays.draw(world, event));
            }
            Picker::Priorities(priorities) => {
                happening.key_what_came(|event| priorities.key(event));
            }
            // Its keys are places among those of one process.
            Picker::Departures(_) => happening.key_what_changed(Departures::key),
        }
    }

    fn next(&mut self) -> Option<Next> {
        let (happening, agenda) = (&mut self.happening, &mut self.agenda);
        loop {
            let next = match &mut self.picker {
                Picker::Time(_) => return self.next_in_time(),
                Picker::Priorities(priorities) => priorities.next(self.now, happening, agenda),
                Picker::Departures(departures) if departures.has_too_many() => return None,
                Picker::Departures(departures) => {
                    departures.next(&self.world, self.now, happening, agenda)
                }
            };
            // Nothing else can happen: the next that is due comes early.
            match next {
                Some(next) => return Some(next),
                None => self.now = self.now.max(agenda.first_due()?),
            }
        }
    }

    fn next_in_time(&mut self) -> Option<Next> {
        let due = self.agenda.first_due();
        if due.is_none() && !self.is_rolling() {
            return None;
        }
        match self.happening.first_key() {
            Some(key) if due.is_none_or(|due| key <= due) => {
                self.now = key;
                self.happening.take_first().map(Next::Happens)
            }
            Some(_) | None => {
                let (due, item) = self.agenda.take_first()?;
                self.now = due;
                Some(Next::Due(item))
            }
        }
    }

    /// Is a process on its way out, to make room for the next version?
    fn is_rolling(&self) -> bool {
        let mut living = self.world.processes().filter(|(_, process)| process.acts());
        living.any(|(_, process)| {
            let executor = process.host.executor();
            executor.is_draining() && !executor.is_drained()
        })
    }

    /// The event that comes next, if it still stands for one.
    fn resolve(&mut self, next: Next) -> Option<Event> {
        match next {
            Next::Happens(Event::Deliver { from, .. }) => {
                let arbiters = self.world.arbiters().count() as u64;
                let index = self.schedule.as_mut().map_or(0, |draw| draw.below(arbiters));
                let to = ArbiterIndex(u8::try_from(index).expect("at most two arbiters"));
                Some(Event::Deliver { from, to })
            }
            Next::Happens(event) => Some(event),
            Next::Departs { event, end } => {
                self.enter_end(end);
                Some(event)
            }
            Next::Due(Item::Ends(event)) => still_ends(&self.world, &event).then_some(event),
            Next::Due(Item::Wish(wish)) => match self.workload.grant(&self.world, &wish) {
                Granted::Now(event) => Some(event),
                Granted::Later => {
                    self.agenda.enter(self.now + self.span / 20, Item::Wish(wish));
                    None
                }
                Granted::Never => None,
            },
            Next::Due(Item::Fault { kind, number, tries }) => {
                let Some(strike) =
                    strike(&self.world, kind, self.victim.as_ref(), &mut self.faults)
                else {
                    if tries < if self.varies { TRIES_VARIED_MAX } else { TRIES_MAX } {
                        let again = Item::Fault { kind, number, tries: tries + 1 };
                        let due = self.now + self.patience();
                        self.agenda.enter(due, again);
                    }
                    return None;
                };
                self.enter_end(strike.end);
                Some(strike.event)
            }
        }
    }

    /// How long until a fault that found nothing to hit is tried again: where the settings vary,
    /// of any order of magnitude, for what it waits for may last a moment only.
    fn patience(&mut self) -> u64 {
        let patience = self.faults.below(self.span / 20);
        if self.varies { 1 + (patience >> self.faults.below(12)) } else { patience }
    }

    fn enter_end(&mut self, end: Option<Event>) {
        if let Some(end) = end {
            let due = self.now + self.faults.below(self.span / 4);
            self.agenda.enter(due, Item::Ends(end));
        }
    }

    fn step(
        &mut self,
        event: &Event,
        seen: &mut impl FnMut(&Transition<'_>, &mut CalmEvents),
    ) -> Result<(), Violation> {
        self.facts.clear();
        self.world.apply(event, &mut self.facts).expect("the walk picks what is possible");
        let (before, facts) = (&self.before, &self.facts);
        let step = Transition { before, event, facts, after: &self.world };
        self.log.note(&step);
        seen(&step, self.happening.calm());
        check(&step)?;
        self.happening.update(&self.world, &self.before);
        self.before.follow(&mut self.world);
        for (delay, wish) in self.workload.follow(&self.world, &self.facts) {
            self.agenda.enter(self.now + delay, Item::Wish(wish));
        }
        Ok(())
    }

    /// All faults end; calm from here.
    fn heal_and_rest(&mut self) -> Outcome {
        if let Err(violation) = self.step(&Event::Heal, &mut |_, _| ()) {
            return Outcome::Broken(violation);
        }
        let log = &mut self.log;
        match rest(&mut self.world, |step| log.note(step)) {
            Rest::Converged { .. } => Outcome::Holds,
            Rest::Broken(violation) => Outcome::Broken(violation),
        }
    }
}
