//! What many seeds have come to, in a form that is the same however the seeds were shared out.

use std::collections::{BTreeMap, BTreeSet};

use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::decisive::decisive;
use super::novelty::{Novelty, departure};
use super::sketch::Sketch;
use crate::check::{Property, Transition, Violation};
use crate::choose::{Outcome, PctBound, Plan, WalkReport, walk_seen};
use crate::world::{Part, World};

/// What tells failures apart: the property that is broken, and the kind of event that decides it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cause {
    /// What is broken.
    pub property: Property,
    /// The kind of the decisive event, as `deliver record ->`.
    pub decisive: String,
}

/// The failures of one cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// How many schedules failed like this.
    pub schedules: u64,
    /// The lowest seed of them.
    pub seed: u64,
    /// What its schedule shows.
    pub violation: Violation,
    /// Its steps.
    pub steps: u64,
    /// Its digest, 32 hex digits.
    pub digest: String,
}

impl Group {
    fn merge(&mut self, other: Self) {
        let schedules = self.schedules + other.schedules;
        if other.seed < self.seed {
            *self = other;
        }
        self.schedules = schedules;
    }
}

/// What many seeds have come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Schedules that were run to their ends.
    pub schedules: u64,
    /// Those that broke a property.
    pub broken: u64,
    /// Steps of all of them.
    pub transitions: u64,
    /// Steps of the longest.
    pub depth: u64,
    /// The states that they went through.
    pub states: Sketch,
    /// What they have shown that calm does not.
    pub departures: Novelty,
    /// Schedules that were among those that come first, all with few departures from calm.
    pub enumerated: u64,
    /// Of the schedules of PCT, the one whose bound is the weakest.
    pub pct: Option<PctBound>,
    /// The sum of the hashes of each seed with its digest: the order does not matter to it.
    pub digest: u128,
    /// The failures by their causes.
    pub failures: BTreeMap<Cause, Group>,
}

impl Tally {
    /// Adds what other seeds have come to.
    pub fn merge(&mut self, other: Self) {
        self.schedules += other.schedules;
        self.broken += other.broken;
        self.transitions += other.transitions;
        self.depth = self.depth.max(other.depth);
        self.states.merge(&other.states);
        self.departures.merge(other.departures);
        self.enumerated += other.enumerated;
        self.pct = weakest(self.pct, other.pct);
        self.digest = self.digest.wrapping_add(other.digest);
        for (cause, group) in other.failures {
            match self.failures.get_mut(&cause) {
                Some(known) => known.merge(group),
                None => {
                    self.failures.insert(cause, group);
                }
            }
        }
    }

    /// The chance that the next schedule shows a departure that none has shown, as Good estimates
    /// it; none where nothing was run.
    #[must_use]
    pub fn new_departure_chance(&self) -> Option<f64> {
        let singular = self.departures.singular() as f64;
        (self.schedules > 0).then(|| singular / self.schedules as f64)
    }

    /// How rare a fault may be, as a share of all schedules, that this many clean schedules would
    /// have found with 99 %: 1 - 0.01^(1/n). None where nothing was run.
    #[must_use]
    pub fn rarest(&self) -> Option<f64> {
        (self.schedules > 0).then(|| 1.0 - 0.01_f64.powf(1.0 / self.schedules as f64))
    }

    /// Runs one seed.
    #[must_use]
    pub fn of_seed(seed: u64, plan: &Plan) -> Self {
        let mut footprint = Footprint::default();
        let mut departures = BTreeSet::new();
        let report = walk_seen(seed, plan, |step, calm| {
            footprint.step(step);
            departures.extend(departure(step, calm.first()));
        });
        let mut tally = Self {
            schedules: 1,
            transitions: report.steps as u64,
            depth: report.steps as u64,
            states: footprint.states,
            departures: Novelty::of(seed, departures),
            pct: report.pct,
            enumerated: u64::from(plan.is_enumerated(seed)),
            digest: xxh3_128(format!("{seed} {}", report.digest).as_bytes()),
            ..Self::default()
        };
        tally.fail(&report);
        tally
    }

    fn fail(&mut self, report: &WalkReport) {
        let Outcome::Broken(violation) = &report.outcome else {
            return;
        };
        self.broken += 1;
        let (_, decisive) = decisive(report, violation);
        let cause = Cause { property: violation.property, decisive };
        let group = Group {
            schedules: 1,
            seed: report.seed,
            violation: violation.clone(),
            steps: report.steps as u64,
            digest: report.digest.to_string(),
        };
        self.failures.insert(cause, group);
    }
}

/// The bound that promises the least.
fn weakest(one: Option<PctBound>, other: Option<PctBound>) -> Option<PctBound> {
    let (Some(one), Some(other)) = (one, other) else {
        return one.or(other);
    };
    let is_weaker = other.chance() < one.chance() || other.chance() <= one.chance() && other < one;
    Some(if is_weaker { other } else { one })
}

/// The states that a schedule goes through, each as the sum of the hashes of its parts, so that a
/// step costs what it touches.
#[derive(Default)]
struct Footprint {
    parts: BTreeMap<Part, u64>,
    sum: u64,
    states: Sketch,
}

impl Footprint {
    fn step(&mut self, step: &Transition<'_>) {
        if self.parts.is_empty() {
            let parts: Vec<Part> = step.before.parts().collect();
            self.touch(step.before, parts);
        }
        self.touch(step.after, step.after.touched_since(step.before));
    }

    fn touch(&mut self, world: &World, parts: Vec<Part>) {
        for part in parts {
            let bytes = postcard::to_allocvec(&(part, world.part(part)))
                .expect("a vector takes all bytes, and lengths are known");
            let hash = xxh3_64(&bytes);
            let before = self.parts.insert(part, hash).unwrap_or_default();
            self.sum = self.sum.wrapping_sub(before).wrapping_add(hash);
        }
        self.states.see(xxh3_64(&self.sum.to_le_bytes()));
    }
}
