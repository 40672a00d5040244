//! What many seeds have come to, in a form that is the same however the seeds were shared out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use handover_core::{Statement, View};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::decisive::decisive;
use super::novelty::{Novelty, departure};
use super::sketch::Sketch;
use crate::check::{Property, Transition};
use crate::choose::{Outcome, PctBound, Plan, WalkReport, walk_seen};
use crate::world::{Part, World};

/// How a schedule has failed: the property that is broken, and the kind of event that decides it. One
/// cause lets schedules end in several ways.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct End {
    /// What is broken.
    pub property: Property,
    /// The kind of the decisive event, as `deliver record ->`.
    pub decisive: String,
}

/// A schedule that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// How.
    pub end: End,
    /// What it shows.
    pub why: String,
    /// Its steps.
    pub steps: u64,
    /// Its digest, 32 hex digits.
    pub digest: String,
}

/// Failures of a property that are kept, to be reduced: those of its lowest seeds.
pub const KEPT_MAX: usize = 64;

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
    /// How many schedules failed in which way.
    pub ends: BTreeMap<End, u64>,
    /// The failures that are kept, by their seeds: of each property the first [`KEPT_MAX`], and the
    /// first of each end. So what is kept of the whole is kept of each share, too.
    pub kept: BTreeMap<u64, Failed>,
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
        for (end, schedules) in other.ends {
            *self.ends.entry(end).or_default() += schedules;
        }
        self.kept.extend(other.kept);
        self.trim();
    }

    /// Forgets what need not be kept.
    fn trim(&mut self) {
        let mut of_property: BTreeMap<Property, usize> = BTreeMap::new();
        let mut ends: BTreeSet<End> = BTreeSet::new();
        self.kept.retain(|_, failed| {
            let kept = of_property.entry(failed.end.property).or_default();
            *kept += 1;
            ends.insert(failed.end.clone()) || *kept <= KEPT_MAX
        });
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
        let end = End { property: violation.property, decisive };
        let failed = Failed {
            end: end.clone(),
            why: violation.why.clone(),
            steps: report.steps as u64,
            digest: report.digest.to_string(),
        };
        self.ends.insert(end, 1);
        self.kept.insert(report.seed, failed);
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
            let hash = xxh3_64(&encoded(world, part));
            let before = self.parts.insert(part, hash).unwrap_or_default();
            self.sum = self.sum.wrapping_sub(before).wrapping_add(hash);
        }
        self.states.see(xxh3_64(&self.sum.to_le_bytes()));
    }
}

/// The bytes by which a part is told apart. Of the record they are its revision and its hold, of a
/// link the ends of its queues: all of a record costs as much as there are hosts, all of a queue as
/// much as it is long, and what the hosts have said and seen tells the rest.
fn encoded(world: &World, part: Part) -> Vec<u8> {
    let bytes = match part {
        Part::Store => {
            let record = world.committed();
            postcard::to_allocvec(&(part, record.revision(), record.hold()))
        }
        Part::Link(who) => {
            let link = world.link(who);
            let (statements, views) = (&link.statements, &link.views);
            let seq = |said: Option<&Arc<Statement>>| said.map(|said| said.seq);
            let revision = |view: Option<&Arc<View>>| view.map(|view| view.revision);
            let is = (link.cut, link.statements_stalled, link.views_stalled);
            let said = (statements.len(), seq(statements.front()), seq(statements.back()));
            let shown = (views.len(), revision(views.front()), revision(views.back()));
            postcard::to_allocvec(&(part, is, said, shown))
        }
        Part::Arbiter(_) | Part::Process(_) | Part::Oracle => {
            postcard::to_allocvec(&(part, world.part(part)))
        }
    };
    bytes.expect("a vector takes all bytes, and lengths are known")
}
