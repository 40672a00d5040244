//! The executor's half: in which order a deployment releases what it holds, and what has to be one
//! step.
//!
//! A deployment on one host has ended, other builds wait for its slot or run beside it, and the
//! driver carries its release out in an order that it is given (Ex3): each order but one breaks
//! something. The executor is the core's; a wrong order is made by moving the deployment to the
//! stage that is next, so that the core hands out that stage's effect. All interleavings are
//! visited, breadth first, with a drain and an undrain by an operator, a deployment that turns out
//! to have failed, and a crash with recovery.

mod halves;
mod machine;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use super::index::Index;
use machine::Node;

/// A step of a deployment's release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Release {
    /// Its artifacts are stored.
    Artifacts,
    /// Its end is recorded.
    Status,
    /// Its drain is declared.
    Declare,
    /// It leaves the current set.
    Remove,
    /// It gives its slot back.
    Slot,
    /// It waits until the host is drained.
    Wait,
}

/// In this order.
pub type Order = [Release; 6];

/// The order of Ex3.
pub const RIGHT: Order = [
    Release::Artifacts,
    Release::Status,
    Release::Declare,
    Release::Remove,
    Release::Slot,
    Release::Wait,
];

impl Release {
    /// One letter in tables.
    #[must_use]
    pub fn letter(self) -> char {
        match self {
            Self::Artifacts => 'A',
            Self::Status => 'T',
            Self::Declare => 'F',
            Self::Remove => 'R',
            Self::Slot => 'S',
            Self::Wait => 'W',
        }
    }
}

/// All 120 orders in which the wait is last.
#[must_use]
pub fn orders() -> Vec<Order> {
    let mut all = vec![RIGHT];
    for at in 0..4 {
        let swapped = |order: Order, other: usize| {
            let mut order = order;
            order.swap(at, other);
            order
        };
        all = all
            .into_iter()
            .flat_map(|order| (at..5).map(move |other| swapped(order, other)))
            .collect();
    }
    all.sort_unstable();
    all
}

/// What is one step, and what is two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steps {
    /// As the core has it: reading the gate and being counted, or parked, is one step.
    OfTheCore,
    /// Counted first; uncounted where the gate is then read closed.
    CountedThenGateRead,
    /// The gate is read, then the build is counted.
    GateReadThenCounted,
    /// The gate is read closed, then the slot given back, then the build parked.
    ClosedThenBackThenParked,
    /// An undrain wakes what is parked, then clears the drain.
    WokenThenCleared,
    /// An undrain wakes nobody.
    ClearedOnly,
    /// A build that is parked keeps its slot.
    ParkedWithSlot,
    /// A build is recorded as admitted before it reads the gate.
    AdmittedThenGateRead,
    /// A build's workspace is prepared before it is recorded as admitted.
    WorkspaceThenAdmitted,
    /// A boot does not derive again the drain that a success owes.
    DrainNotDerived,
}

impl Steps {
    /// All of them, the right ones first.
    pub const ALL: &[Self] = &[
        Self::OfTheCore,
        Self::CountedThenGateRead,
        Self::GateReadThenCounted,
        Self::ClosedThenBackThenParked,
        Self::WokenThenCleared,
        Self::ClearedOnly,
        Self::ParkedWithSlot,
        Self::AdmittedThenGateRead,
        Self::WorkspaceThenAdmitted,
        Self::DrainNotDerived,
    ];

    /// So many of them, the first ones, break nothing.
    pub const RIGHT: usize = 2;

    /// In a few words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::OfTheCore => "gate read and counted, or parked, in one step",
            Self::CountedThenGateRead => "counted, then the gate is read",
            Self::GateReadThenCounted => "the gate is read, then counted",
            Self::ClosedThenBackThenParked => "read closed, then the slot back, then parked",
            Self::WokenThenCleared => "undrain: wake, then clear",
            Self::ClearedOnly => "undrain: clear only",
            Self::ParkedWithSlot => "a parked build keeps its slot",
            Self::AdmittedThenGateRead => "recorded as admitted before the gate is read",
            Self::WorkspaceThenAdmitted => "recorded as admitted after the workspace",
            Self::DrainNotDerived => "drain not derived again after a crash",
        }
    }
}

/// What a release has to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Demand {
    /// Nothing is admitted on the deployment's slot before its drain is declared, nor afterwards.
    NothingPasses,
    /// When the host says that it is drained, all that was begun has its end and its artifacts.
    WaitIsTrue,
    /// No crash finds a success without artifacts, which nobody would repeat.
    SuccessHasArtifacts,
    /// Never more builds are counted or run than there are slots.
    WithinSlots,
    /// The wait comes to an end: nobody waits for itself.
    WaitEnds,
    /// After an undrain what is parked runs.
    ParkedRuns,
    /// A crash queues again what was begun and has not ended, and nothing else.
    RecoveryExact,
    /// After a crash nothing starts under the outgoing version once the success is recorded.
    DrainSurvives,
    /// The drain is declared only for a recorded success.
    DeclaredOnSuccess,
    /// At no moment the success is recorded, nothing is counted, and no drain is declared.
    NeverLooksIdle,
}

impl Demand {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::NothingPasses,
        Self::WaitIsTrue,
        Self::SuccessHasArtifacts,
        Self::WithinSlots,
        Self::WaitEnds,
        Self::ParkedRuns,
        Self::RecoveryExact,
        Self::DrainSurvives,
        Self::DeclaredOnSuccess,
        Self::NeverLooksIdle,
    ];
}

impl fmt::Display for Demand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{self:?}"))
    }
}

/// A setting of the search.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// In this order the deployment is released.
    pub order: Order,
    /// What is one step.
    pub steps: Steps,
    /// Other builds than the deployment, 1 or 2.
    pub others: usize,
    /// What else may happen.
    pub setting: Setting,
}

/// What may happen besides the release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// One slot, for which the others wait; or two, and one of the others runs.
    pub slots: u32,
    /// An operator may undrain.
    pub undrains: bool,
    /// The deployment may turn out to have failed.
    pub fails: bool,
    /// The wait counts slots that are held, too.
    pub counts_slots: bool,
    /// A crash may happen.
    pub crashes: bool,
}

impl Setting {
    /// All of it, with so many slots.
    #[must_use]
    pub fn full(slots: u32) -> Self {
        Self { slots, undrains: true, fails: true, counts_slots: false, crashes: true }
    }

    /// Each of them with each other: 32.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let has = |number: u32, bit: u32| number >> bit & 1 == 1;
        let setting = |number: u32| Self {
            slots: 1 + u32::from(has(number, 0)),
            undrains: has(number, 1),
            fails: has(number, 2),
            counts_slots: has(number, 3),
            crashes: has(number, 4),
        };
        (0..32).map(setting).collect()
    }
}

/// What a search has found.
#[derive(Clone, Debug, Default)]
pub struct Released {
    /// Different states.
    pub states: usize,
    /// What is broken, and in how many steps at least.
    pub broken: BTreeMap<Demand, usize>,
}

/// Visits all states of a case.
///
/// # Panics
/// Never: each step that is taken was found possible.
#[must_use]
pub fn search(case: &Case) -> Released {
    let first = Node::first(case);
    let mut known = Index::new();
    known.find_or_insert(first.key(), 0);
    let mut found = Released { states: 1, broken: BTreeMap::new() };
    let mut open = VecDeque::from([(first, 0)]);
    while let Some((node, depth)) = open.pop_front() {
        let mut broken = Vec::new();
        let choices = node.choices(case, &mut broken);
        found.note(&broken, depth);
        for choice in choices {
            let mut next = node.clone();
            let mut broken = Vec::new();
            next.take(case, choice, &mut broken);
            next.judge(case, &mut broken);
            found.note(&broken, depth + 1);
            if !next.over && known.find_or_insert(next.key(), 0).is_none() {
                found.states += 1;
                open.push_back((next, depth + 1));
            }
        }
    }
    found
}

impl Released {
    fn note(&mut self, broken: &[Demand], depth: usize) {
        for demand in broken {
            self.broken.entry(*demand).or_insert(depth);
        }
    }
}
