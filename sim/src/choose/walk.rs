//! The random walk: a seed, virtual time, and what becomes of a rolling update.
//!
//! Each event that becomes possible is given the time at which it happens: now, and a delay that is
//! drawn for its link or its host. The earliest is next. So a slow host is slow in all that it
//! does, others come between two of its adjacent steps, and a calm schedule is one walk among many.
//!
//! First faults strike, until all wishes have been dealt with. Then all faults end, the world goes
//! on calmly to rest, and has to have converged.

use handover_core::Name;

use super::WalkSettings;
use super::agenda::{Agenda, Item};
use super::delays::Delays;
use super::faults::{still_ends, strike};
use super::workload::{Granted, Workload};
use super::{Outcome, Strategy, WalkReport};
use crate::check::{Rest, Transition, Violation, check, rest};
use crate::digest::Digest;
use crate::draw::{Concern, Draw};
use crate::variants::Protocol;
use crate::world::{ArbiterIndex, Event, Fact, World};

/// How often a fault that finds nothing to hit is tried again.
const TRIES_MAX: u32 = 20;

/// Walks once by a strategy.
#[must_use]
pub fn walk_by(
    seed: u64,
    settings: &WalkSettings,
    strategy: Strategy,
    protocol: &'static dyn Protocol,
) -> WalkReport {
    let _ = strategy.of_seed(seed);
    walk(seed, settings, protocol)
}

/// Walks once, by virtual time.
#[must_use]
pub fn walk(seed: u64, settings: &WalkSettings, protocol: &'static dyn Protocol) -> WalkReport {
    let _span = tracing::info_span!("walk", seed, protocol = protocol.name()).entered();
    let mut walk = Walk::new(seed, settings, protocol);
    let survived = walk.with_faults(settings.steps_max);
    let faults_end = walk.log.schedule.len();
    let outcome = match survived {
        Ok(()) => walk.heal_and_rest(),
        Err(violation) => Outcome::Broken(violation),
    };
    WalkReport {
        seed,
        faults_end,
        steps: walk.log.schedule.len(),
        virtual_time_us: walk.now_us,
        digest: walk.log.digest,
        outcome,
        setup: walk.world.setup().clone(),
        schedule: walk.log.schedule,
        digests: walk.log.digests,
    }
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

struct Walk {
    world: World,
    now_us: u64,
    span_us: u64,
    agenda: Agenda,
    delays: Delays,
    workload: Workload,
    schedule: Draw,
    faults: Draw,
    log: Log,
}

impl Walk {
    fn new(seed: u64, settings: &WalkSettings, protocol: &'static dyn Protocol) -> Self {
        let mut wishes = Draw::new(seed, Concern::Workload);
        let mut faults = Draw::new(seed, Concern::Faults);
        let draft = settings.draft(&mut wishes, &mut faults);
        let mut workload = Workload::new(wishes, settings.versions);
        let mut agenda = Agenda::default();
        let names: Vec<Name> = draft.places.iter().map(|place| place.name.clone()).collect();
        for (due_us, wish) in workload.begin(&names, draft.local_builds, settings.span_us) {
            agenda.enter(due_us, Item::Wish(wish));
        }
        for (kind, times) in &draft.faults {
            for number in 0..*times {
                let fault = Item::Fault { kind: *kind, number, tries: 0 };
                agenda.enter(faults.below(settings.span_us), fault);
            }
        }
        Self {
            delays: Delays::new(seed, draft.places.len()),
            world: World::new(draft.setup(protocol)),
            now_us: 0,
            span_us: settings.span_us,
            agenda,
            workload,
            schedule: Draw::new(seed, Concern::Schedule),
            faults,
            log: Log { digest: Digest::new(), schedule: Vec::new(), digests: Vec::new() },
        }
    }

    /// Until all wishes and faults have been dealt with and no process is about to end.
    fn with_faults(&mut self, steps_max: usize) -> Result<(), Violation> {
        while self.log.schedule.len() < steps_max {
            let (world, delays, now_us) = (&self.world, &mut self.delays, self.now_us);
            self.agenda.refresh(world.calm_events(), |event| now_us + delays.draw(world, event));
            if self.agenda.is_calm() && !self.is_rolling() {
                break;
            }
            let Some((due_us, item)) = self.agenda.take_first() else {
                break;
            };
            self.now_us = due_us;
            if let Some(event) = self.resolve(item) {
                self.step(&event)?;
            }
        }
        Ok(())
    }

    /// Is a process on its way out, to make room for the next version?
    fn is_rolling(&self) -> bool {
        let mut living = self.world.processes().filter(|(_, process)| process.acts());
        living.any(|(_, process)| {
            let executor = process.host.executor();
            executor.is_draining() && !executor.is_drained()
        })
    }

    /// The event that an item stands for, if it still stands for one.
    fn resolve(&mut self, item: Item) -> Option<Event> {
        match item {
            Item::Happens(Event::Deliver { from, .. }) => {
                let arbiters = self.world.arbiters().count();
                let index = self.schedule.below(arbiters as u64);
                let to = ArbiterIndex(u8::try_from(index).expect("at most two arbiters"));
                Some(Event::Deliver { from, to })
            }
            Item::Happens(event) => Some(event),
            Item::Ends(event) => still_ends(&self.world, &event).then_some(event),
            Item::Wish(wish) => match self.workload.grant(&self.world, &wish) {
                Granted::Now(event) => Some(event),
                Granted::Later => {
                    self.agenda.enter(self.now_us + self.span_us / 20, Item::Wish(wish));
                    None
                }
                Granted::Never => None,
            },
            Item::Fault { kind, number, tries } => {
                let Some(strike) = strike(&self.world, kind, &mut self.faults) else {
                    if tries < TRIES_MAX {
                        let again = Item::Fault { kind, number, tries: tries + 1 };
                        let due_us = self.now_us + self.faults.below(self.span_us / 20);
                        self.agenda.enter(due_us, again);
                    }
                    return None;
                };
                if let Some(end) = strike.end {
                    let due_us = self.now_us + self.faults.below(self.span_us / 4);
                    self.agenda.enter(due_us, Item::Ends(end));
                }
                Some(strike.event)
            }
        }
    }

    fn step(&mut self, event: &Event) -> Result<(), Violation> {
        let before = self.world.clone();
        let mut facts: Vec<Fact> = Vec::new();
        self.world.apply(event, &mut facts).expect("the walk picks what is possible");
        let step = Transition { before: &before, event, facts: &facts, after: &self.world };
        self.log.note(&step);
        check(&step)?;
        for (delay_us, wish) in self.workload.follow(&self.world, &facts) {
            self.agenda.enter(self.now_us + delay_us, Item::Wish(wish));
        }
        Ok(())
    }

    /// All faults end; calm from here.
    fn heal_and_rest(&mut self) -> Outcome {
        if let Err(violation) = self.step(&Event::Heal) {
            return Outcome::Broken(violation);
        }
        let log = &mut self.log;
        match rest(&mut self.world, |step| log.note(step)) {
            Rest::Converged { .. } => Outcome::Holds,
            Rest::Broken(violation) => Outcome::Broken(violation),
        }
    }
}
