//! Breadth first through all states.

use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;
use std::thread::ScopedJoinHandle;

use super::action::{Choice, choices};
use super::bounds::{Bounds, Budget, Cost};
use super::key::{Parts, Scratch, fingerprint, parts};
use super::liveness;
use super::space::{Space, State};
use super::story::{Counterexample, tell};
use super::tidy::tidy;
use super::{Property, Verdict};
use crate::check::{self, Transition, Violation};
use crate::scenario::Keyword as _;
use crate::world::{Event, Fact, World};

/// How far a search has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// States that were reached.
    pub states: usize,
    /// Transitions out of those that were expanded.
    pub transitions: usize,
    /// States that are yet to be expanded.
    pub frontier: usize,
    /// Steps from the start to the states that are being expanded.
    pub depth: usize,
}

/// What a search covered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coverage {
    /// Different states that were reached.
    pub states: usize,
    /// Transitions, those that lead to a known state included.
    pub transitions: usize,
    /// Steps from the start to the farthest state.
    pub depth: usize,
    /// States that were reached and not expanded; none in a space that is exhausted.
    pub frontier: usize,
    /// States from which nobody has anything left to do for the rollout.
    pub converged: usize,
    /// How likely it is that two different states were taken for one: below this.
    pub collision_chance: f64,
}

/// What a search has found.
#[derive(Clone, Debug)]
pub struct Exploration {
    /// What was covered.
    pub coverage: Coverage,
    /// Each property with its verdict, in the order of [`Property`].
    pub verdicts: Vec<(Property, Verdict)>,
}

impl Exploration {
    /// The verdict on a property.
    ///
    /// # Panics
    /// Never: each property has one.
    #[must_use]
    pub fn verdict(&self, property: Property) -> &Verdict {
        let mut verdicts = self.verdicts.iter();
        let found = verdicts.find(|(judged, _)| *judged == property);
        &found.expect("each property is judged").1
    }

    /// Does each property hold in the whole space?
    #[must_use]
    pub fn holds(&self) -> bool {
        self.verdicts.iter().all(|(_, verdict)| matches!(verdict, Verdict::Holds))
    }

    /// What is broken, the shortest schedule first.
    #[must_use]
    pub fn broken(&self) -> Vec<&Counterexample> {
        let verdicts = self.verdicts.iter();
        let mut broken: Vec<&Counterexample> =
            verdicts.filter_map(|(_, verdict)| verdict.broken()).collect();
        broken.sort_by_key(|counterexample| counterexample.steps);
        broken
    }
}

/// States that are expanded before what they lead to is taken in, for each thread.
const BATCH: usize = 512;

/// Explores a configuration with so many threads, at least one, and calls `progress` now and then;
/// where that breaks, the search gives up. What is found does not depend on the number of threads.
#[must_use]
pub fn explore(
    bounds: &Bounds,
    jobs: usize,
    mut progress: impl FnMut(&Progress) -> ControlFlow<()>,
) -> Exploration {
    let jobs = jobs.max(1);
    let mut search = Search::new(bounds);
    while search.space.len() <= bounds.states_max && !search.frontier.is_empty() {
        let batch = search.frontier.len().min(BATCH * jobs);
        let batch: Vec<Node> = search.frontier.drain(..batch).collect();
        search.expand(batch, jobs);
        if progress(&search.progress()).is_break() {
            break;
        }
    }
    search.conclude()
}

/// A state that is yet to be expanded.
struct Node {
    world: World,
    budget: Budget,
    parts: Parts,
    depth: usize,
}

/// What one choice leads to.
struct Outcome {
    print: u128,
    is_free: bool,
    violations: Vec<Violation>,
    /// None where the state was known before the batch.
    reached: Option<(Node, IsConverged)>,
}

type IsConverged = bool;

/// Where a safety property broke first.
struct Break {
    from: State,
    action: u16,
    violation: Violation,
}

struct Search<'a> {
    bounds: &'a Bounds,
    space: Space,
    frontier: VecDeque<Node>,
    transitions: usize,
    depth: usize,
    broken: BTreeMap<Property, Break>,
}

impl<'a> Search<'a> {
    fn new(bounds: &'a Bounds) -> Self {
        let mut search = Self {
            bounds,
            space: Space::default(),
            frontier: VecDeque::new(),
            transitions: 0,
            depth: 0,
            broken: BTreeMap::new(),
        };
        let world = World::new(bounds.setup());
        let budget = bounds.budget();
        let mut scratch = Scratch::new(bounds);
        let parts = parts(&world, None, &mut scratch);
        search.space.insert(fingerprint(&parts, &budget, &mut scratch), 0, 0);
        search.space.converged.push(world.is_converged());
        search.frontier.push_back(Node { world, budget, parts, depth: 0 });
        search
    }

    /// Expands states side by side, and takes in what they lead to in their order: so neither the
    /// numbers of the states nor what is found first depend on the threads.
    fn expand(&mut self, batch: Vec<Node>, jobs: usize) {
        let (bounds, space) = (self.bounds, &self.space);
        let expand_all = |nodes: &[Node]| -> Vec<Vec<Outcome>> {
            let mut scratch = Scratch::new(bounds);
            nodes.iter().map(|node| expand(node, bounds, space, &mut scratch)).collect()
        };
        let outcomes: Vec<Vec<Vec<Outcome>>> = if jobs == 1 {
            vec![expand_all(&batch)]
        } else {
            std::thread::scope(|scope| {
                let chunks = batch.chunks(batch.len().div_ceil(jobs));
                let expand_all = &expand_all;
                let threads: Vec<_> =
                    chunks.map(|nodes| scope.spawn(move || expand_all(nodes))).collect();
                let join = |thread: ScopedJoinHandle<'_, _>| {
                    thread.join().expect("a defect in an expansion ends the search")
                };
                threads.into_iter().map(join).collect()
            })
        };
        let mut nodes = batch.into_iter();
        for outcomes in outcomes.into_iter().flatten() {
            let node = nodes.next().expect("each node has its outcomes");
            if self.space.len() > self.bounds.states_max {
                let left: Vec<Node> = std::iter::once(node).chain(nodes).collect();
                left.into_iter().rev().for_each(|node| self.frontier.push_front(node));
                return;
            }
            self.depth = node.depth;
            self.take_in(outcomes);
        }
    }

    /// The outcomes of the next state, in the order of its choices.
    fn take_in(&mut self, outcomes: Vec<Outcome>) {
        let from = State::try_from(self.space.expanded()).expect("at most 2^32 states");
        for (number, outcome) in outcomes.into_iter().enumerate() {
            let action = u16::try_from(number).expect("a state has few actions");
            for violation in outcome.violations {
                let found = Break { from, action, violation };
                self.broken.entry(found.violation.property).or_insert(found);
            }
            let (to, new) = self.space.insert(outcome.print, from, action);
            if new {
                let (node, converged) = outcome.reached.expect("it was not known before");
                self.space.converged.push(converged);
                self.frontier.push_back(node);
            }
            if outcome.is_free {
                self.space.follows(to);
            }
            self.transitions += 1;
        }
        self.space.end_of_successors();
    }

    fn progress(&self) -> Progress {
        Progress {
            states: self.space.len(),
            transitions: self.transitions,
            frontier: self.frontier.len(),
            depth: self.depth,
        }
    }

    fn coverage(&self) -> Coverage {
        let states = self.space.len();
        let pairs = states as f64 * states as f64 / 2.0;
        Coverage {
            states,
            transitions: self.transitions,
            depth: self.frontier.back().map_or(self.depth, |node| node.depth),
            frontier: self.frontier.len(),
            converged: self.space.converged.iter().filter(|converged| **converged).count(),
            collision_chance: pairs / 2_f64.powi(128),
        }
    }

    fn conclude(self) -> Exploration {
        let coverage = self.coverage();
        let unbroken = if self.frontier.is_empty() { Verdict::Holds } else { Verdict::Unknown };
        let liveness = liveness::judge(&self.space);
        let verdict = |property: &Property| {
            let found = match property {
                // What changes nothing may arrive for ever, so nothing must converge.
                Property::NoLivelock if !self.bounds.reductions.superseded => {
                    return Verdict::Unknown;
                }
                Property::NoWedge => liveness.wedge.map(|state| self.wedge(state)),
                Property::NoLivelock => {
                    liveness.livelock.map(|(state, length)| self.livelock(state, length))
                }
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
                | Property::RecoveryExact => {
                    self.broken.get(property).map(|found| self.violated(found))
                }
            };
            found.map_or_else(|| unbroken.clone(), |found| Verdict::Broken(Box::new(found)))
        };
        let verdicts = Property::ALL.iter().map(|each| (*each, verdict(each))).collect();
        Exploration { coverage, verdicts }
    }

    fn violated(&self, found: &Break) -> Counterexample {
        let mut path = self.space.path(found.from);
        path.push(found.action);
        tell(self.bounds, &path, found.violation.clone())
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

/// What each choice of a state leads to.
fn expand(node: &Node, bounds: &Bounds, known: &Space, scratch: &mut Scratch) -> Vec<Outcome> {
    let all = choices(&node.world, &node.budget, bounds);
    let mut outcome = |choice: &Choice| {
        let (world, violations) = take(&node.world, choice, bounds);
        let mut budget = node.budget;
        budget.pay(choice.cost);
        let parts = parts(&world, Some((&node.world, &node.parts)), scratch);
        let print = fingerprint(&parts, &budget, scratch);
        let reached = (!known.contains(print)).then(|| {
            let converged = world.is_converged();
            (Node { world, budget, parts, depth: node.depth + 1 }, converged)
        });
        Outcome { print, is_free: choice.cost == Cost::Free, violations, reached }
    };
    all.iter().map(&mut outcome).collect()
}

/// One step: the choice, then what its hosts do at once, then off the links what cannot matter.
pub(super) fn take(world: &World, choice: &Choice, bounds: &Bounds) -> (World, Vec<Violation>) {
    let mut after = world.clone();
    let mut violations = Vec::new();
    let mut facts = Vec::new();
    for event in choice.action.events(world) {
        judge(&mut after, &event, &mut facts, &mut violations);
    }
    while let Some(event) = after.next_own_step() {
        judge(&mut after, &event, &mut facts, &mut violations);
    }
    tidy(&mut after, world, bounds);
    (after, violations)
}

fn judge(world: &mut World, event: &Event, facts: &mut Vec<Fact>, violations: &mut Vec<Violation>) {
    facts.clear();
    if let Event::Lose(_) | Event::Overtake(_) | Event::Double(_) = event {
        world.apply(event, facts).expect("what is on a link can be lost and doubled");
        return;
    }
    let before = world.clone();
    world.apply(event, facts).expect("what is chosen can happen");
    let step = Transition { before: &before, event, facts, after: world };
    if check::check(&step).is_err() {
        let all = Property::ALL.iter();
        violations.extend(all.filter_map(|property| check::check_one(*property, &step).err()));
    }
}
