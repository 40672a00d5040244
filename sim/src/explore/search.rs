//! Breadth first through all states.

use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;

use super::bounds::Bounds;
use super::found::{Coverage, Exploration, Progress};
use super::liveness;
use super::local::Local;
use super::space::{Numbering, Space, State, in_parallel};
use super::story::{Counterexample, judge_choices, tell};
use super::system::{Direct, Expansion, Marks, Outcome, System};
use super::{Property, Verdict};
use crate::check::Violation;
use crate::scenario::Keyword as _;

/// Explores a configuration with so many threads, at least one, and calls `progress` now and then;
/// where that breaks, the search gives up. What is found does not depend on the number of threads.
#[must_use]
pub fn explore(
    bounds: &Bounds,
    jobs: usize,
    progress: impl FnMut(&Progress) -> ControlFlow<()>,
) -> Exploration {
    let jobs = jobs.max(1);
    if bounds.shares_steps() {
        let (local, first) = Local::new(bounds);
        let node = first.node.expect("the first state is new");
        Search::new(bounds, local, first.print, node).run(jobs, progress)
    } else {
        let (direct, node, print) = Direct::new(bounds);
        Search::new(bounds, direct, print, node).run(jobs, progress)
    }
}

/// Where a safety property broke first.
struct Break {
    path: Vec<u64>,
    violation: Violation,
}

struct Search<'a, S: System> {
    bounds: &'a Bounds,
    system: S,
    space: Space,
    frontier: VecDeque<S::Node>,
    transitions: usize,
    depth: usize,
    /// The states before it are at most as deep.
    level_end: usize,
    broken: BTreeMap<Property, Break>,
    first_broken: Option<Property>,
    /// What was broken where a state was worked out, and not where its path is gone again.
    unshown: Marks,
}

impl<'a, S: System> Search<'a, S> {
    fn new(bounds: &'a Bounds, system: S, print: u64, node: S::Node) -> Self {
        Self {
            bounds,
            system,
            space: Space::new(print, bounds.liveness),
            frontier: VecDeque::from([node]),
            transitions: 0,
            depth: 0,
            level_end: 1,
            broken: BTreeMap::new(),
            first_broken: None,
            unshown: Marks::NONE,
        }
    }

    fn run(
        mut self,
        jobs: usize,
        mut progress: impl FnMut(&Progress) -> ControlFlow<()>,
    ) -> Exploration {
        while self.space.len() <= self.bounds.states_max && !self.frontier.is_empty() {
            // Near the bound states are taken one by one, so that it is not passed by far.
            let room = (self.bounds.states_max - self.space.len()) / 64 + 1;
            let batch = self.frontier.len().min(S::BATCH).min(room);
            let batch: Vec<S::Node> = self.frontier.drain(..batch).collect();
            self.expand(&batch, jobs);
            if progress(&self.progress()).is_break() {
                break;
            }
        }
        self.conclude()
    }

    /// Expands states side by side, and takes in what they lead to in their order: so neither the
    /// numbers of the states nor what is found first depend on the threads.
    fn expand(&mut self, batch: &[S::Node], jobs: usize) {
        let jobs = if batch.len() < 64 { 1 } else { jobs };
        let mut expansions = self.system.expand(batch, jobs, &self.space);
        let prints = in_parallel(jobs, expansions.iter().collect(), Expansion::prints);
        let prints: Vec<&[u64]> = prints.iter().map(Vec::as_slice).collect();
        let mut numbering = Numbering::new(self.space.look_up(&prints, jobs));
        for expansion in &mut expansions {
            for at in 0..expansion.ranges.len() {
                self.take_in(expansion, at, &mut numbering);
            }
        }
        self.space.settle(&numbering);
    }

    /// The outcomes of the next state, in the order of its choices.
    fn take_in(
        &mut self,
        expansion: &mut Expansion<S::Node>,
        at: usize,
        numbering: &mut Numbering,
    ) {
        let from = self.space.expanded;
        if from == self.level_end {
            self.depth += 1;
            self.level_end = self.space.len();
        }
        let from = State::try_from(from).expect("at most 2^31 states");
        if expansion.suspected[at] != Marks::NONE {
            self.judge(self.space.origin(from), Marks::NONE, expansion.suspected[at]);
        }
        let (start, end) = expansion.ranges[at];
        let outcomes = &mut expansion.outcomes[start..end];
        let all = |marks: fn(&Outcome<S::Node>) -> Marks| {
            outcomes.iter().fold(Marks::NONE, |all, outcome| all.and(marks(outcome)))
        };
        let (broken, suspected) = (all(|each| each.broken), all(|each| each.suspected));
        if broken.and(suspected) != Marks::NONE {
            self.judge(from, broken, suspected);
        }
        self.transitions += outcomes.len();
        let known = outcomes.iter_mut();
        let known = known.map(|outcome| (outcome.print, outcome.is_free, &mut outcome.node));
        let frontier = &mut self.frontier;
        self.space.take_in(expansion.converged[at], known, numbering, |node| {
            frontier.push_back(node.take().expect("it was not known before"));
        });
    }

    /// Looks for the first choice of a state that breaks each of these properties, or may, unless one
    /// is known.
    fn judge(&mut self, from: State, broken: Marks, suspected: Marks) {
        let marks = broken.and(suspected).properties();
        let unknown: Vec<Property> =
            marks.filter(|property| !self.broken.contains_key(property)).collect();
        if unknown.is_empty() {
            return;
        }
        let path = self.space.path(from);
        for (print, violation) in judge_choices(self.bounds, &path) {
            if unknown.contains(&violation.property) {
                self.first_broken.get_or_insert(violation.property);
                let path = path.iter().copied().chain([print]).collect();
                self.broken.entry(violation.property).or_insert(Break { path, violation });
            }
        }
        for property in broken.properties().filter(|each| !self.broken.contains_key(each)) {
            self.unshown.put(property);
        }
    }

    fn progress(&self) -> Progress {
        let frontier = self.frontier.len();
        Progress {
            states: self.space.len(),
            transitions: self.transitions,
            frontier,
            depth: self.depth,
            memory: self.space.bytes() + self.system.bytes() + frontier * S::NODE_BYTES,
            broken: self.first_broken,
        }
    }

    fn coverage(&self) -> Coverage {
        let states = self.space.len();
        let pairs = states as f64 * states as f64 / 2.0;
        Coverage {
            states,
            transitions: self.transitions,
            depth: self.depth + usize::from(states > self.level_end),
            frontier: self.frontier.len(),
            converged: self.space.converged,
            collision_chance: pairs / 2_f64.powi(64),
        }
    }

    fn conclude(mut self) -> Exploration {
        let coverage = self.coverage();
        let unbroken = if self.frontier.is_empty() { Verdict::Holds } else { Verdict::Unknown };
        self.frontier = VecDeque::new();
        self.system.end();
        let none = liveness::Liveness { wedge: None, livelock: None };
        let states = self.space.len();
        let liveness = self.space.graph().map_or(none, |graph| liveness::judge(graph, states));
        let verdict = |property: &Property| {
            let shown = || {
                let found = self.broken.get(property);
                found.map(|found| tell(self.bounds, &found.path, found.violation.clone()))
            };
            let found = match property {
                Property::NoWedge | Property::NoLivelock if !self.bounds.liveness => {
                    return Verdict::Unknown;
                }
                // What changes nothing may arrive for ever, so nothing must converge.
                Property::NoLivelock if !self.bounds.reductions.superseded => {
                    return Verdict::Unknown;
                }
                Property::NoWedge => match liveness.wedge.map(|state| self.wedge(state)) {
                    Some(found) if found.is_refuted(self.bounds) => return Verdict::Unknown,
                    found => found,
                },
                Property::NoLivelock => shown().or_else(|| {
                    liveness.livelock.map(|(state, length)| self.livelock(state, length))
                }),
                Property::SingleBuilder
                | Property::ApprovalTruth
                | Property::NoEviction
                | Property::GateTruth
                | Property::NoLostReport
                | Property::StaleIsNoEffect
                | Property::Settled
                | Property::GrantsIncrease
                | Property::SupersededStops
                | Property::NoAlarm
                | Property::QuietDrain
                | Property::TruthfulIdle
                | Property::SlotHeldOnce
                | Property::Capacity
                | Property::QueueKept
                | Property::RecoveryExact => shown(),
            };
            match found {
                Some(found) => Verdict::Broken(Box::new(found)),
                None if self.unshown.contains(*property) => Verdict::Unknown,
                None => unbroken.clone(),
            }
        };
        let verdicts = Property::ALL.iter().map(|each| (*each, verdict(each))).collect();
        Exploration { coverage, verdicts }
    }

    fn wedge(&self, state: State) -> Counterexample {
        let why = "from here no converged state can be reached".to_owned();
        let violation = Violation { property: Property::NoWedge, why };
        tell(self.bounds, &self.space.path(state), violation)
    }

    fn livelock(&self, state: State, length: usize) -> Counterexample {
        let why =
            format!("from here {length} steps lead back here, and none of them needs a fault");
        let violation = Violation { property: Property::NoLivelock, why };
        tell(self.bounds, &self.space.path(state), violation)
    }
}
