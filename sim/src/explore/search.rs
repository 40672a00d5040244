//! Breadth first through all states.

use std::collections::{BTreeMap, VecDeque};

use super::action::{Choice, choices};
use super::bounds::{Bounds, Budget, Cost};
use super::key::{Parts, fingerprint, parts};
use super::liveness;
use super::space::{Space, State};
use super::story::{Counterexample, tell};
use super::tidy::tidy;
use super::{Property, Verdict};
use crate::check::{self, Transition, Violation};
use crate::scenario::Keyword as _;
use crate::world::{Event, World};

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

/// Explores a configuration, and calls `progress` now and then.
#[must_use]
pub fn explore(bounds: &Bounds, mut progress: impl FnMut(&Progress)) -> Exploration {
    let mut search = Search::new(bounds);
    while search.space.len() <= bounds.states_max {
        let Some(node) = search.frontier.pop_front() else {
            break;
        };
        search.expand(&node);
        if search.space.expanded().is_multiple_of(1024) {
            progress(&search.progress());
        }
    }
    progress(&search.progress());
    search.conclude()
}

/// A state that is yet to be expanded.
struct Node {
    world: World,
    budget: Budget,
    parts: Parts,
    depth: usize,
}

/// Where a safety property broke first.
struct Break {
    from: State,
    action: u16,
    violation: Violation,
}

struct Search<'a> {
    bounds: &'a Bounds,
    /// A wrong protocol may look at numbers.
    gaps: bool,
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
            gaps: bounds.protocol.breaks().is_some(),
            space: Space::default(),
            frontier: VecDeque::new(),
            transitions: 0,
            depth: 0,
            broken: BTreeMap::new(),
        };
        let world = World::new(bounds.setup());
        let budget = bounds.budget();
        let parts = parts(&world, None, bounds.reductions);
        search.space.insert(fingerprint(&parts, &budget, search.gaps), 0, 0);
        search.space.converged.push(world.is_converged());
        search.frontier.push_back(Node { world, budget, parts, depth: 0 });
        search
    }

    fn expand(&mut self, node: &Node) {
        let from = State::try_from(self.space.expanded()).expect("at most 2^32 states");
        let all = choices(&node.world, &node.budget, self.bounds);
        self.depth = node.depth;
        for (number, choice) in all.iter().enumerate() {
            let number = u16::try_from(number).expect("a state has few actions");
            let (world, violations) = take(&node.world, choice, self.bounds);
            for violation in violations {
                self.note(violation, from, number);
            }
            let to = self.reach(node, choice, world, (from, number));
            self.transitions += 1;
            if choice.cost == Cost::Free {
                self.space.follows(to);
            }
        }
        self.space.end_of_successors();
    }

    fn note(&mut self, violation: Violation, from: State, action: u16) {
        let found = Break { from, action, violation };
        self.broken.entry(found.violation.property).or_insert(found);
    }

    fn reach(&mut self, node: &Node, choice: &Choice, world: World, by: (State, u16)) -> State {
        let mut budget = node.budget;
        budget.pay(choice.cost);
        let before = Some((&node.world, &node.parts));
        let parts = parts(&world, before, self.bounds.reductions);
        let print = fingerprint(&parts, &budget, self.gaps);
        let (state, new) = self.space.insert(print, by.0, by.1);
        if new {
            self.space.converged.push(world.is_converged());
            self.frontier.push_back(Node { world, budget, parts, depth: node.depth + 1 });
        }
        state
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

    fn conclude(mut self) -> Exploration {
        let coverage = self.coverage();
        self.frontier.truncate(self.frontier.len().min(1));
        let unbroken = if self.frontier.is_empty() { Verdict::Holds } else { Verdict::Unknown };
        let liveness = liveness::judge(&self.space);
        let verdict = |property: &Property| {
            let found = match property {
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

/// One step: the choice, then what its hosts do at once, then off the links what cannot matter.
pub(super) fn take(world: &World, choice: &Choice, bounds: &Bounds) -> (World, Vec<Violation>) {
    let mut after = world.clone();
    let mut violations = Vec::new();
    for event in choice.action.events(world) {
        judge(&mut after, &event, &mut violations);
    }
    while let Some(event) = after.next_own_step() {
        judge(&mut after, &event, &mut violations);
    }
    tidy(&mut after, bounds);
    (after, violations)
}

fn judge(world: &mut World, event: &Event, violations: &mut Vec<Violation>) {
    let before = world.clone();
    let mut facts = Vec::new();
    world.apply(event, &mut facts).expect("what is chosen can happen");
    if let Event::Lose(_) = event {
        return;
    }
    let step = Transition { before: &before, event, facts: &facts, after: world };
    if check::check(&step).is_err() {
        let all = Property::ALL.iter();
        violations.extend(all.filter_map(|property| check::check_one(*property, &step).err()));
    }
}
