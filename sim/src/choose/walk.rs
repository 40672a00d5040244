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
use super::{Outcome, Strategy, WalkReport, WalkSettings};
use crate::check::{Rest, Transition, Violation, check, rest};
use crate::digest::Digest;
use crate::draw::{Concern, Draw};
use crate::variants::Protocol;
use crate::world::{ArbiterIndex, Event, Fact, World};

/// How often a fault that finds nothing to hit is tried again.
const TRIES_MAX: u32 = 20;

/// The same where the settings vary.
const TRIES_VARIED_MAX: u32 = 100;

/// Walks once, by virtual time.
#[must_use]
pub fn walk(seed: u64, settings: &WalkSettings, protocol: &'static dyn Protocol) -> WalkReport {
    walk_by(seed, settings, Strategy::Random, protocol)
}

/// Walks once, by a strategy.
#[must_use]
pub fn walk_by(
    seed: u64,
    settings: &WalkSettings,
    strategy: Strategy,
    protocol: &'static dyn Protocol,
) -> WalkReport {
    walk_seen(seed, settings, strategy, protocol, |_, _| ())
}

/// Walks once, by a strategy; `seen` is told each step before the faults end, and what calm would
/// have done in its place.
pub(crate) fn walk_seen(
    seed: u64,
    settings: &WalkSettings,
    strategy: Strategy,
    protocol: &'static dyn Protocol,
    seen: impl FnMut(&Transition<'_>, Option<&Event>),
) -> WalkReport {
    let _span = tracing::info_span!("walk", seed, protocol = protocol.name()).entered();
    let walk = Walk::new(seed, settings, strategy.of_seed(seed), protocol);
    walk.run(seed, seen)
}

/// What is kept of the steps.
#[derive(Clone, Debug)]
struct Log {
    digest: Digest,
    schedule: Vec<Event>,
    digests: Vec<Digest>,
}

impl Log {
    fn note(&mut self, step: &Transition<'_>) {
        let name = step.before.name_of(step.event);
        tracing::debug!(event = %name);
        self.digest.step(&name, step.before, step.after);
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

struct Walk {
    world: World,
    strategy: Strategy,
    /// Microseconds of virtual time, or steps.
    now: u64,
    /// How far `now` goes on with a step.
    tick: u64,
    /// The time in which wishes and faults begin.
    span: u64,
    steps_max: usize,
    picker: Picker,
    happening: Happening,
    /// What calm would do next.
    calm: Option<Event>,
    agenda: Agenda,
    /// The place that is hit more often than others.
    victim: Option<Name>,
    varies: bool,
    tries_max: u32,
    workload: Workload,
    schedule: Draw,
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
    fn new(
        seed: u64,
        settings: &WalkSettings,
        strategy: Strategy,
        protocol: &'static dyn Protocol,
    ) -> Self {
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
        let mut agenda = Agenda::default();
        if !matches!(picker, Picker::Departures(_)) {
            for (kind, times) in &draft.faults {
                for number in 0..*times {
                    let fault = Item::Fault { kind: *kind, number, tries: 0 };
                    agenda.enter(faults.below(span), fault);
                }
            }
        }
        let workload = Workload::new(wishes, draft.versions, span);
        let steps_max = match picker {
            Picker::Time(_) => settings.steps_max,
            Picker::Priorities(_) | Picker::Departures(_) => {
                usize::try_from(steps).unwrap_or(usize::MAX)
            }
        };
        let mut walk = Self {
            world: World::new(draft.setup(protocol)),
            strategy,
            now: 0,
            tick: u64::from(!matches!(picker, Picker::Time(_))),
            span,
            steps_max,
            picker,
            happening: Happening::default(),
            calm: None,
            agenda,
            victim: draft.victim.clone(),
            varies: settings.varies,
            tries_max: if settings.varies { TRIES_VARIED_MAX } else { TRIES_MAX },
            workload,
            schedule,
            faults,
            log: Log { digest: Digest::new(), schedule: Vec::new(), digests: Vec::new() },
        };
        walk.wish(&draft);
        walk
    }

    fn wish(&mut self, draft: &Draft) {
        let names: Vec<Name> = draft.places.iter().map(|place| place.name.clone()).collect();
        for (due, wish) in self.workload.begin(&names, draft.local_builds) {
            self.agenda.enter(due, Item::Wish(wish));
        }
    }

    fn run(mut self, seed: u64, seen: impl FnMut(&Transition<'_>, Option<&Event>)) -> WalkReport {
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
        mut seen: impl FnMut(&Transition<'_>, Option<&Event>),
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

    fn refresh(&mut self) {
        let possible = self.world.calm_events();
        self.calm = possible.first().cloned();
        let (world, now) = (&self.world, self.now);
        match &mut self.picker {
            Picker::Time(delays) => self.happening.refresh(possible, |_, event, had| {
                had.unwrap_or_else(|| now + delays.draw(world, event))
            }),
            Picker::Priorities(priorities) => {
                self.happening.refresh(possible, |_, event, _| priorities.key(event));
            }
            Picker::Departures(_) => self.happening.refresh(possible, Departures::key),
        }
    }

    fn next(&mut self) -> Option<Next> {
        let (happening, agenda) = (&mut self.happening, &mut self.agenda);
        loop {
            let next = match &mut self.picker {
                Picker::Time(_) => return self.next_in_time(),
                Picker::Priorities(priorities) => priorities.next(self.now, happening, agenda),
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
        match self.happening.first() {
            Some((key, _)) if due.is_none_or(|due| key <= due) => {
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
                let arbiters = self.world.arbiters().count();
                let index = self.schedule.below(arbiters as u64);
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
                    if tries < self.tries_max {
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
        seen: &mut impl FnMut(&Transition<'_>, Option<&Event>),
    ) -> Result<(), Violation> {
        let before = self.world.clone();
        let mut facts: Vec<Fact> = Vec::new();
        self.world.apply(event, &mut facts).expect("the walk picks what is possible");
        let step = Transition { before: &before, event, facts: &facts, after: &self.world };
        self.log.note(&step);
        seen(&step, self.calm.as_ref());
        check(&step)?;
        for (delay, wish) in self.workload.follow(&self.world, &facts) {
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
