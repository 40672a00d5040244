//! Breadth first through all states.

use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;

use super::action::Choice;
use super::bounds::Bounds;
use super::direct;
use super::index::Index;
use super::key::Scratch;
use super::liveness;
use super::local::{Compact, Local, Question};
use super::space::{Numbering, Space, State, in_parallel};
use super::story::{Counterexample, judge_choices, tell};
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
    /// Bytes that the search holds, about.
    pub memory: usize,
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
    /// Expanded states in which nobody has anything left to do for the rollout.
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
        let (node, print) = direct::Node::first(bounds, &mut Scratch::new(bounds));
        Search::new(bounds, Direct(bounds), print, node).run(jobs, progress)
    }
}

/// A set of properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Marks(u32);

impl Marks {
    pub(super) const NONE: Self = Self(0);

    pub(super) fn put(&mut self, property: Property) {
        self.0 |= 1 << property as u32;
    }

    fn properties(self) -> impl Iterator<Item = Property> {
        let all = Property::ALL.iter().copied();
        all.filter(move |property| self.0 & 1 << *property as u32 != 0)
    }
}

impl FromIterator<Property> for Marks {
    fn from_iter<I: IntoIterator<Item = Property>>(properties: I) -> Self {
        let mut marks = Self::NONE;
        properties.into_iter().for_each(|property| marks.put(property));
        marks
    }
}

/// What one choice leads to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome<N> {
    pub(super) print: u64,
    pub(super) is_free: bool,
    /// What it breaks, or may break.
    pub(super) broken: Marks,
    /// None where the state was known before the batch.
    pub(super) node: Option<N>,
}

/// What some states lead to.
struct Expansion<N> {
    outcomes: Vec<Outcome<N>>,
    /// Where the outcomes of each state begin and end.
    ranges: Vec<(usize, usize)>,
    converged: Vec<bool>,
    /// What may be broken in each state.
    suspected: Vec<Marks>,
}

impl<N> Expansion<N> {
    fn of(states: usize) -> Self {
        Self {
            outcomes: Vec::with_capacity(states * 8),
            ranges: vec![(0, 0); states],
            converged: vec![false; states],
            suspected: vec![Marks::NONE; states],
        }
    }
}

/// A way to find out what a state leads to.
trait System: Sync {
    type Node: Send + Sync;

    /// States that are expanded before what they lead to is taken in.
    const BATCH: usize;

    /// Expands states, in lots side by side.
    fn expand(&mut self, lots: &[&[Self::Node]], known: &Space) -> Vec<Expansion<Self::Node>>;

    /// Bytes that it holds.
    fn bytes(&self) -> usize;

    /// Forgets all: nothing more is expanded.
    fn end(&mut self);
}

struct Direct<'a>(&'a Bounds);

impl System for Direct<'_> {
    type Node = direct::Node;

    const BATCH: usize = 1_024;

    fn expand(&mut self, lots: &[&[direct::Node]], known: &Space) -> Vec<Expansion<direct::Node>> {
        in_parallel(lots.to_vec(), |nodes| {
            let mut scratch = Scratch::new(self.0);
            let mut expansion = Expansion::of(nodes.len());
            for (at, node) in nodes.iter().enumerate() {
                let start = expansion.outcomes.len();
                node.expand(self.0, known, &mut scratch, &mut expansion.outcomes);
                expansion.ranges[at] = (start, expansion.outcomes.len());
                expansion.converged[at] = node.world.is_converged();
            }
            expansion
        })
    }

    fn bytes(&self) -> usize {
        0
    }

    fn end(&mut self) {}
}

impl System for Local<'_> {
    type Node = Compact;

    const BATCH: usize = 16_384;

    /// What is not worked out yet is asked for, worked out side by side, and taken in in the order
    /// of the questions; then the states that have asked are expanded again.
    fn expand(&mut self, lots: &[&[Compact]], _: &Space) -> Vec<Expansion<Compact>> {
        let mut lots: Vec<_> = lots
            .iter()
            .map(|nodes| (*nodes, (0..nodes.len()).collect(), Expansion::of(nodes.len())))
            .collect();
        loop {
            let local = &*self;
            let mut questions = Vec::new();
            let (open, asked): (Vec<_>, Vec<_>) =
                in_parallel(lots, |lot| expand_open(local, lot)).into_iter().unzip();
            lots = open;
            questions.extend(asked.into_iter().flatten());
            if questions.is_empty() {
                return lots.into_iter().map(|(_, _, expansion)| expansion).collect();
            }
            self.answer_all(&questions, lots.len());
        }
    }

    fn bytes(&self) -> usize {
        Local::bytes(self)
    }

    fn end(&mut self) {
        self.forget();
    }
}

/// States, those of them that are yet to be expanded, and what came of the others.
type Lot<'a> = (&'a [Compact], Vec<usize>, Expansion<Compact>);

fn expand_open<'a>(
    local: &Local<'_>,
    (nodes, open, mut expansion): Lot<'a>,
) -> (Lot<'a>, Vec<Question>) {
    let mut questions = Vec::new();
    let mut still_open = Vec::new();
    for at in open {
        let start = expansion.outcomes.len();
        match local.expand(&nodes[at], &mut expansion.outcomes, &mut questions) {
            Some(expanded) => {
                expansion.ranges[at] = (start, expansion.outcomes.len());
                expansion.converged[at] = expanded.is_converged;
                expansion.suspected[at] = expanded.suspected;
            }
            None => still_open.push(at),
        }
    }
    ((nodes, still_open, expansion), questions)
}

impl Local<'_> {
    fn answer_all(&mut self, questions: &[Question], jobs: usize) {
        let mut asked = Index::new();
        let new = |question: &&Question| asked.find_or_insert(question.key, 0).is_none();
        let questions: Vec<&Question> = questions.iter().filter(new).collect();
        let local = &*self;
        let answers = in_parallel(lots_of(&questions, jobs), |questions| {
            let mut scratch = local.scratch();
            let worked = questions.iter().map(|each| local.work_out(each, &mut scratch));
            worked.collect::<Vec<_>>()
        });
        for (question, worked) in questions.iter().zip(answers.into_iter().flatten()) {
            self.take_in(question, worked);
        }
    }
}

fn lots_of<T>(all: &[T], jobs: usize) -> Vec<&[T]> {
    all.chunks(all.len().div_ceil(jobs).max(1)).collect()
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
        let lots = if batch.len() < 64 { vec![batch] } else { lots_of(batch, jobs) };
        let jobs = lots.len();
        let mut expansions = self.system.expand(&lots, &self.space);
        let prints: Vec<Vec<u64>> = expansions.iter().map(prints).collect();
        let prints: Vec<&[u64]> = prints.iter().map(Vec::as_slice).collect();
        let mut numbering = Numbering::new(self.space.look_up(&prints, jobs));
        for expansion in &mut expansions {
            for at in 0..expansion.ranges.len() {
                self.take_in(expansion, at, &mut numbering);
            }
        }
    }

    /// The outcomes of the next state, in the order of its choices.
    fn take_in(
        &mut self,
        expansion: &mut Expansion<S::Node>,
        at: usize,
        numbering: &mut Numbering,
    ) {
        let from = self.space.expanded();
        if from == self.level_end {
            self.depth += 1;
            self.level_end = self.space.len();
        }
        let from = State::try_from(from).expect("at most 2^31 states");
        if expansion.suspected[at] != Marks::NONE {
            self.judge(self.space.origin(from), expansion.suspected[at]);
        }
        let (start, end) = expansion.ranges[at];
        let outcomes = &mut expansion.outcomes[start..end];
        let broken = outcomes.iter().fold(0, |all, outcome| all | outcome.broken.0);
        if broken != 0 {
            self.judge(from, Marks(broken));
        }
        self.transitions += outcomes.len();
        let mut new = Vec::new();
        let known = outcomes.iter().map(|outcome| (outcome.print, outcome.is_free));
        self.space.take_in(expansion.converged[at], known, numbering, |number| new.push(number));
        for number in new {
            let node = outcomes[number].node.take();
            self.frontier.push_back(node.expect("it was not known before"));
        }
    }

    /// Looks for the first choice of a state that breaks each of these properties, unless one is
    /// known.
    fn judge(&mut self, from: State, marks: Marks) {
        let unknown: Vec<Property> =
            marks.properties().filter(|property| !self.broken.contains_key(property)).collect();
        if unknown.is_empty() {
            return;
        }
        let path = self.space.path(from);
        for (print, violation) in judge_choices(self.bounds, &path) {
            if unknown.contains(&violation.property) {
                let path = path.iter().copied().chain([print]).collect();
                self.broken.entry(violation.property).or_insert(Break { path, violation });
            }
        }
    }

    fn progress(&self) -> Progress {
        let frontier = self.frontier.len();
        Progress {
            states: self.space.len(),
            transitions: self.transitions,
            frontier,
            depth: self.depth,
            memory: self.space.bytes() + self.system.bytes() + frontier * size_of::<S::Node>(),
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
            converged: self.space.converged.iter().filter(|converged| **converged).count(),
            collision_chance: pairs / 2_f64.powi(64),
        }
    }

    fn conclude(mut self) -> Exploration {
        let coverage = self.coverage();
        let unbroken = if self.frontier.is_empty() { Verdict::Holds } else { Verdict::Unknown };
        self.frontier = VecDeque::new();
        self.system.end();
        let liveness = if self.bounds.liveness {
            liveness::judge(&self.space)
        } else {
            liveness::Liveness { wedge: None, livelock: None }
        };
        let verdict = |property: &Property| {
            let found = match property {
                Property::NoWedge | Property::NoLivelock if !self.bounds.liveness => {
                    return Verdict::Unknown;
                }
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
                | Property::RecoveryExact => self
                    .broken
                    .get(property)
                    .map(|found| tell(self.bounds, &found.path, found.violation.clone())),
            };
            found.map_or_else(|| unbroken.clone(), |found| Verdict::Broken(Box::new(found)))
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

/// The fingerprints of all outcomes, in the order of the states.
fn prints<N>(expansion: &Expansion<N>) -> Vec<u64> {
    let ranges = expansion.ranges.iter();
    let outcomes = ranges.flat_map(|(start, end)| &expansion.outcomes[*start..*end]);
    outcomes.map(|outcome| outcome.print).collect()
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
