//! All that an executor knows, as plain data, and the getters on it.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::num::NonZeroU32;

use super::{BuildState, Drain, EndAction, Entry, Executor, Ledger, Stage, Task, Waiter, Work};
use crate::ids::{BuildId, Version};
use crate::shared::Shared;

/// What the host's operator sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Settings {
    slots: NonZeroU32,
    pinned: bool,
}

impl Settings {
    /// `slots` builds at a time, at least 1: 0 is taken as 1. On a `pinned` instance no build's
    /// success declares a drain.
    #[must_use]
    pub fn new(slots: u32, pinned: bool) -> Self {
        Self { slots: NonZeroU32::new(slots).unwrap_or(NonZeroU32::MIN), pinned }
    }

    /// How many builds may be in flight, children not counted.
    #[must_use]
    pub fn slots(&self) -> u32 {
        self.slots.get()
    }

    /// Whether a build may not drain the instance.
    #[must_use]
    pub fn pinned(&self) -> bool {
        self.pinned
    }
}

/// The candidate's place in the queue (Ho1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub enum CandidateWait {
    /// It does not wait for a slot.
    Absent,
    /// It waits for a slot.
    Waiting {
        /// The order in the queue.
        place: u64,
        /// It has read the gate closed.
        parked: bool,
    },
    /// It has been handed a slot, and has not read the gate.
    Handed {
        /// The order in the queue.
        place: u64,
        /// Its wake is out.
        handed_out: bool,
    },
}

/// A write of the drain that is out and not acknowledged. There is one at a time, so that the store
/// need not order them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct DrainWrite {
    /// What is written.
    pub drain: Option<Drain>,
    /// The build whose stage it is; `None` for an operator's and a boot's.
    pub by: Option<BuildId>,
}

/// How far the word is that the drain in force has come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Announced {
    /// Not given.
    No,
    /// Handed out, not acknowledged.
    HandedOut,
    /// Acknowledged.
    Done,
}

/// A waiter in the queue.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Queued {
    /// Who.
    pub waiter: Waiter,
    /// The order; lower is earlier.
    pub place: u64,
    /// It has read the gate closed, and waits for the undrain.
    pub parked: bool,
}

/// All that an executor knows. For debuggers, and for tests that need hand-made states.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct ExecutorParts {
    /// What the operator sets.
    pub settings: Settings,
    /// The version of this host.
    pub version: Version,
    /// The book as far as its writes are acknowledged; the next numbers as given out.
    pub ledger: Ledger,
    /// Unfinished work.
    #[cfg_attr(feature = "serde", serde(with = "super::pairs"))]
    pub tasks: BTreeMap<Work, Task>,
    /// The slots that nobody holds. Invariant: with those that are held, the slots of the settings.
    pub free: u32,
    /// The candidate's place in the queue.
    pub candidate: CandidateWait,
    /// A slot is reserved for the candidate.
    pub reserved: bool,
    /// The drain in force: the gate is open exactly if there is none.
    pub drain: Option<Drain>,
    /// The drain in force has to be written.
    pub drain_due: bool,
    /// The write of a drain that is out.
    pub drain_write: Option<DrainWrite>,
    /// Whether the end of the drain in force was said.
    pub announced: Announced,
    /// The drain in force came from the book of an earlier process: this boot is the restart that
    /// it may ask for. Otherwise a restart that comes up in the same version would be the first of
    /// many.
    pub booted_into: bool,
}

impl ExecutorParts {
    pub(super) fn new(settings: Settings, version: Version, ledger: Ledger) -> Self {
        Self {
            settings,
            version,
            ledger,
            tasks: BTreeMap::new(),
            free: settings.slots(),
            candidate: CandidateWait::Absent,
            reserved: false,
            drain: None,
            drain_due: false,
            drain_write: None,
            announced: Announced::No,
            booted_into: false,
        }
    }

    /// Puts a drain in force: the first, or the one that is in force as it has become, under its
    /// own id. What was said of the end of a weaker one is void.
    pub(super) fn enforce(&mut self, drain: Drain) -> &Drain {
        if self.drain.as_ref().is_some_and(|old| old.end != drain.end) {
            self.announced = Announced::No;
            self.booted_into = false;
        }
        self.drain.insert(drain)
    }

    pub(super) fn clear_drain(&mut self) {
        self.drain = None;
        self.announced = Announced::No;
        self.booted_into = false;
    }

    /// What is left to do once drained.
    pub(super) fn end_action(&self, drain: &Drain) -> EndAction {
        match drain.end {
            EndAction::Restart if self.booted_into => EndAction::Nothing,
            EndAction::Nothing | EndAction::Restart | EndAction::Stop => drain.end,
        }
    }

    /// Gives waiting work a slot of its own, which the caller takes from the free ones, or its
    /// parent's.
    pub(super) fn hand_slot(&mut self, work: &Work, own: bool) {
        let task = self.tasks.get_mut(work).expect("only unfinished work is handed a slot");
        task.enter(Stage::Handed);
        task.own_slot = own;
    }
}

impl Executor {
    /// The drain in force.
    #[must_use]
    pub fn active_drain(&self) -> Option<&Drain> {
        self.state.drain.as_ref()
    }

    /// Whether a drain is in force: the gate is closed.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.state.drain.is_some()
    }

    /// Declared, and the current set is empty (Ex2). A reservation counts as in flight. For a host
    /// that coordinates, this alone does not let the process end (Ho4).
    #[must_use]
    pub fn is_drained(&self) -> bool {
        self.is_draining() && !self.state.reserved && self.current().next().is_none()
    }

    /// Is all that was accepted written down: each submission, each cancel, the drain? A process
    /// that ends before would lose it.
    #[must_use]
    pub fn is_written(&self) -> bool {
        let unwritten = |task: &Task| matches!(task.stage, Stage::Enqueuing | Stage::Retiring);
        !self.state.drain_due
            && self.state.drain_write.is_none()
            && !self.state.tasks.values().any(unwritten)
    }

    /// The works in flight with their stage, by name; a reservation is told by
    /// [`has_reservation`](Self::has_reservation).
    pub fn current(&self) -> impl Iterator<Item = (&Work, Stage)> {
        let tasks = self.state.tasks.iter().map(|(work, task)| (work, task.stage));
        tasks.filter(|(_, stage)| stage.is_current())
    }

    /// The pending, in their order.
    #[must_use]
    pub fn queue(&self) -> Vec<Queued> {
        let mut queue = Vec::new();
        for (work, task) in &self.state.tasks {
            let parked = match task.stage {
                Stage::Enqueuing | Stage::Handed => false,
                Stage::Waiting { parked } => parked,
                Stage::Retiring
                | Stage::Admitting
                | Stage::Starting
                | Stage::Running
                | Stage::Stopping
                | Stage::AwaitingStop
                | Stage::StoringArtifacts
                | Stage::Recording
                | Stage::Declaring { .. }
                | Stage::Removing
                | Stage::Releasing => continue,
            };
            if let Work::Local(build) = work {
                let waiter = Waiter::Build(build.clone());
                queue.push(Queued { waiter, place: task.entry.place, parked });
            }
        }
        match self.state.candidate {
            CandidateWait::Absent => {}
            CandidateWait::Waiting { place, parked } => {
                queue.push(Queued { waiter: Waiter::Candidate, place, parked });
            }
            CandidateWait::Handed { place, .. } => {
                queue.push(Queued { waiter: Waiter::Candidate, place, parked: false });
            }
        }
        queue.sort_by_key(|queued| queued.place);
        queue
    }

    /// The book as far as its writes are acknowledged.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.state.ledger
    }

    /// The row of a work as it shall be; the ledger may not have it yet.
    #[must_use]
    pub fn entry(&self, work: &Work) -> Option<&Entry> {
        let task = self.state.tasks.get(work).map(|task| &task.entry);
        task.or_else(|| self.state.ledger.entries.get(work))
    }

    /// The durable state of a work, where the book has it.
    #[must_use]
    pub fn recorded(&self, work: &Work) -> Option<&BuildState> {
        self.state.ledger.entries.get(work).map(|entry| &entry.state)
    }

    /// How often a work was admitted; 0 for unknown work.
    #[must_use]
    pub fn attempts(&self, work: &Work) -> u32 {
        self.entry(work).map_or(0, |entry| entry.attempts)
    }

    /// The stage of unfinished work.
    #[must_use]
    pub fn stage(&self, work: &Work) -> Option<Stage> {
        self.state.tasks.get(work).map(|task| task.stage)
    }

    /// Whether something of it may run: from the start handed out to the driver's word that it
    /// ended or stopped.
    #[must_use]
    pub fn is_running(&self, work: &Work) -> bool {
        self.state.tasks.get(work).is_some_and(Task::may_run)
    }

    /// The slots.
    #[must_use]
    pub fn slots(&self) -> u32 {
        self.state.settings.slots()
    }

    /// The slots that nobody holds.
    #[must_use]
    pub fn slots_free(&self) -> u32 {
        self.state.free
    }

    /// The slots that somebody holds: works with a slot of their own, a candidate that was handed
    /// one, and the reservation.
    #[must_use]
    pub fn slots_held(&self) -> u32 {
        let own = self.state.tasks.values().filter(|task| task.own_slot);
        let handed = matches!(self.state.candidate, CandidateWait::Handed { .. });
        let held = own.count() + usize::from(handed) + usize::from(self.state.reserved);
        u32::try_from(held).expect("no more is held than there are slots")
    }

    /// Whether a slot is reserved for the candidate.
    #[must_use]
    pub fn has_reservation(&self) -> bool {
        self.state.reserved
    }

    /// Whether the candidate stands in the queue.
    #[must_use]
    pub fn candidate_waits(&self) -> bool {
        self.state.candidate != CandidateWait::Absent
    }

    /// What the operator set.
    #[must_use]
    pub fn settings(&self) -> Settings {
        self.state.settings
    }

    /// The version of this host.
    #[must_use]
    pub fn version(&self) -> &Version {
        &self.state.version
    }

    /// Takes the executor apart.
    #[must_use]
    pub fn into_parts(self) -> ExecutorParts {
        self.state.into_inner()
    }

    /// All that it knows, to be looked at.
    #[must_use]
    pub fn parts(&self) -> &ExecutorParts {
        &self.state
    }

    /// Is this executor a clone of the other, or the other of this one, that nothing has changed
    /// since? By what the two share in memory: a false says nothing.
    #[must_use]
    pub fn is_unchanged_since(&self, other: &Self) -> bool {
        self.state.is_one_with(&other.state)
    }

    /// Puts an executor together. Nothing is asserted: [`check`](Self::check) does that.
    #[must_use]
    pub fn from_parts(parts: ExecutorParts) -> Self {
        Self { state: Shared::new(parts) }
    }
}
