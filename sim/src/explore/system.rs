//! What states lead to: found out in worlds of their own, or from what was worked out before.

use super::Property;
use super::bounds::Bounds;
use super::direct;
use super::index::Index;
use super::local::{Compact, Local, Question};
use super::space::{Space, in_parallel};
use crate::scenario::Keyword as _;

/// A set of properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Marks(pub(super) u32);

impl Marks {
    pub(super) const NONE: Self = Self(0);

    pub(super) fn put(&mut self, property: Property) {
        self.0 |= 1 << property as u32;
    }

    pub(super) fn contains(self, property: Property) -> bool {
        self.0 & 1 << property as u32 != 0
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn properties(self) -> impl Iterator<Item = Property> {
        let all = Property::ALL.iter().copied();
        all.filter(move |property| self.contains(*property))
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
    /// What it breaks.
    pub(super) broken: Marks,
    /// What it may break, and has to be judged as a whole.
    pub(super) suspected: Marks,
    /// None where the state was known before the batch, or met earlier in it.
    pub(super) node: Option<N>,
}

impl<N> Outcome<N> {
    /// One that breaks nothing.
    pub(super) const fn of(print: u64, is_free: bool, node: Option<N>) -> Self {
        Self { print, is_free, broken: Marks::NONE, suspected: Marks::NONE, node }
    }
}

/// What some states lead to.
pub(super) struct Expansion<N> {
    pub(super) outcomes: Vec<Outcome<N>>,
    /// Where the outcomes of each state begin and end.
    pub(super) ranges: Vec<(usize, usize)>,
    pub(super) converged: Vec<bool>,
    /// What may be broken in each state.
    pub(super) suspected: Vec<Marks>,
}

impl<N> Expansion<N> {
    /// The fingerprints of all outcomes, in the order of the states.
    pub(super) fn prints(&self) -> Vec<u64> {
        let ranges = self.ranges.iter();
        let outcomes = ranges.flat_map(|(start, end)| &self.outcomes[*start..*end]);
        outcomes.map(|outcome| outcome.print).collect()
    }

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
pub(super) trait System: Sync {
    type Node: Send + Sync;

    /// Bytes of a state that is yet to be expanded.
    const NODE_BYTES: usize = size_of::<Self::Node>();

    /// States that are expanded before what they lead to is taken in.
    const BATCH: usize;

    /// Expands states, in lots side by side.
    fn expand(
        &mut self,
        batch: &[Self::Node],
        jobs: usize,
        known: &Space,
    ) -> Vec<Expansion<Self::Node>>;

    /// Bytes that it holds.
    fn bytes(&self) -> usize;

    /// Forgets all: nothing more is expanded.
    fn end(&mut self);
}

/// Each state is a world of its own.
pub(super) struct Direct<'a> {
    bounds: &'a Bounds,
    /// One for each thread.
    desks: Vec<direct::Desk>,
}

impl<'a> Direct<'a> {
    /// With the first state, and its fingerprint.
    pub(super) fn new(bounds: &'a Bounds) -> (Self, Box<direct::Node>, u64) {
        let mut desk = direct::Desk::new(bounds);
        let (node, print) = direct::Node::first(bounds, &mut desk.scratch);
        (Self { bounds, desks: vec![desk] }, Box::new(node), print)
    }
}

impl System for Direct<'_> {
    type Node = Box<direct::Node>;

    const NODE_BYTES: usize = size_of::<direct::Node>();

    const BATCH: usize = 1_024;

    fn expand(
        &mut self,
        batch: &[Self::Node],
        jobs: usize,
        known: &Space,
    ) -> Vec<Expansion<Self::Node>> {
        let bounds = self.bounds;
        let lots = lots_of(batch, batch.len().div_ceil(jobs));
        if self.desks.len() < lots.len() {
            self.desks.resize_with(lots.len(), || direct::Desk::new(bounds));
        }
        let lots = lots.into_iter().zip(&mut self.desks).collect();
        in_parallel(jobs, lots, |(nodes, desk): (&[Self::Node], _)| {
            let (mut met, mut expansion) = (Index::new(), Expansion::of(nodes.len()));
            for (at, node) in nodes.iter().enumerate() {
                let start = expansion.outcomes.len();
                node.expand(bounds, known, (desk, &mut met), &mut expansion.outcomes);
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

/// A lot is taken by the thread that is done with its last one: small enough that none waits long
/// for the others, large enough that taking it costs nothing.
const LOT_STATES: usize = 1_024;

/// The same for questions, each of which is worth some ten states.
const LOT_QUESTIONS: usize = 64;

impl System for Local<'_> {
    type Node = Compact;

    const BATCH: usize = 32_768;

    /// What is not worked out yet is asked for, worked out side by side, and taken in in the order
    /// of the questions; then the states that have asked are expanded again.
    fn expand(&mut self, batch: &[Compact], jobs: usize, _: &Space) -> Vec<Expansion<Compact>> {
        let mut lots: Vec<_> = lots_of(batch, LOT_STATES)
            .into_iter()
            .map(|nodes| (nodes, (0..nodes.len()).collect(), Expansion::of(nodes.len())))
            .collect();
        loop {
            let local = &*self;
            let mut questions = Vec::new();
            let (open, asked): (Vec<_>, Vec<_>) =
                in_parallel(jobs, lots, |lot| expand_open(local, lot)).into_iter().unzip();
            lots = open;
            questions.extend(asked.into_iter().flatten());
            if questions.is_empty() {
                return lots.into_iter().map(|(_, _, expansion)| expansion).collect();
            }
            self.answer_all(&questions, jobs);
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
    pub(super) fn answer_all(&mut self, questions: &[Question], jobs: usize) {
        let mut asked = Index::new();
        let new = |question: &&Question| asked.find_or_insert(question.key, 0).is_none();
        let questions: Vec<&Question> = questions.iter().filter(new).collect();
        self.open_parts(&questions);
        let local = &*self;
        let answers = in_parallel(jobs, lots_of(&questions, LOT_QUESTIONS), |questions| {
            let mut scratch = local.scratch();
            let worked = questions.iter().map(|each| local.work_out(each, &mut scratch));
            worked.collect::<Vec<_>>()
        });
        for (question, worked) in questions.iter().zip(answers.into_iter().flatten()) {
            self.take_in(question, worked);
        }
    }
}

/// Shares out in lots of so many.
fn lots_of<T>(all: &[T], size: usize) -> Vec<&[T]> {
    all.chunks(size.max(1)).collect()
}
