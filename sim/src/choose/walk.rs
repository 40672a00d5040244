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
use super::{Outcome, WalkReport};
use crate::check::{Rest, Transition, Violation, check, rest};
use crate::digest::Digest;
use crate::draw::{Concern, Draw};
use crate::variants::Protocol;
use crate::world::{ArbiterIndex, CalmEvents, Event, Fact, World};

/// How often a fault that finds nothing to hit is tried again.
const TRIES_MAX: u32 = 20;

/// Walks once.
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
    /// Of the event, in the place of the one before.
    name: String,
    /// What the digest takes of a step, likewise.
    bytes: Vec<u8>,
    schedule: Vec<Event>,
    digests: Vec<Digest>,
}

impl Log {
    fn note(&mut self, step: &Transition<'_>) {
        self.name.clear();
        step.before.push_name(step.event, &mut self.name);
        tracing::debug!(event = %self.name);
        self.digest.step_within(&mut self.bytes, &self.name, step.before, step.after);
        self.schedule.push(step.event.clone());
        self.digests.push(self.digest);
    }
}

struct Walk {
    world: World,
    /// As it was before the step.
    before: World,
    calm: CalmEvents,
    /// What the step has brought about.
    facts: Vec<Fact>,
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
        let world = World::new(draft.setup(protocol));
        let mut delays = Delays::new(seed, draft.places.len());
        let (calm, possible) = CalmEvents::of(&world);
        agenda.refresh(possible, |event| delays.draw(&world, event));
        Self {
            delays,
            before: world.clone(),
            world,
            calm,
            now_us: 0,
            span_us: settings.span_us,
            agenda,
            workload,
            schedule: Draw::new(seed, Concern::Schedule),
            faults,
            facts: Vec::new(),
            log: Log {
                digest: Digest::new(),
                name: String::new(),
                bytes: Vec::new(),
                schedule: Vec::new(),
                digests: Vec::new(),
            },
        }
    }

    /// Until all wishes and faults have been dealt with and no process is about to end.
    fn with_faults(&mut self, steps_max: usize) -> Result<(), Violation> {
        while self.log.schedule.len() < steps_max {
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
        if let Item::Happens(event) = &item {
            self.calm.take(event);
        }
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
        self.facts.clear();
        self.world.apply(event, &mut self.facts).expect("the walk picks what is possible");
        let facts = &self.facts;
        let step = Transition { before: &self.before, event, facts, after: &self.world };
        self.log.note(&step);
        check(&step)?;
        let change = self.calm.update(&self.world, &self.before);
        self.before.follow(&mut self.world);
        let (world, delays, now_us) = (&self.world, &mut self.delays, self.now_us);
        self.agenda.refresh(change, |event| now_us + delays.draw(world, event));
        for (delay_us, wish) in self.workload.follow(&self.world, &self.facts) {
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
