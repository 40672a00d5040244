//! The stages of unfinished work. Effects are derived from them, so that the two cannot differ.

use super::{BuildState, Entry, ExecutorEffect, Waiter, Work};
use crate::ids::Version;
use crate::mark::mark;

/// Where unfinished work stands. In the order of a build's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub enum Stage {
    /// A row is removed, or a row of ended or cancelled work is rewritten. No slot is involved.
    Retiring,
    /// Its row is written as pending; it has its place, but waits for no slot yet.
    Enqueuing,
    /// Waits for a slot.
    Waiting {
        /// It has read the gate closed, and waits for the undrain.
        parked: bool,
    },
    /// Has been handed a slot; has not read the gate.
    Handed,
    /// Counted as in flight; its row is written as admitted.
    Admitting,
    /// Is to be started.
    Starting,
    /// Runs.
    Running,
    /// Is to be told to stop.
    Stopping,
    /// Has been told to stop, and has not stopped yet.
    AwaitingStop,
    /// Has ended; its artifacts are stored.
    StoringArtifacts,
    /// Its state is recorded: a terminal one, or pending again after an interruption.
    Recording,
    /// Its drain is declared.
    Declaring {
        /// The number of the drain, where it declares one of its own.
        number: u64,
    },
    /// Leaves the current set.
    Removing,
    /// Gives its slot back.
    Releasing,
}

impl Stage {
    /// Counted as in flight (Ex2): from the step that reads the gate to the removal.
    #[must_use]
    pub fn is_current(self) -> bool {
        self >= Self::Admitting && self < Self::Releasing
    }

    /// Holds a slot: its own, or with others its parent's.
    #[must_use]
    pub fn needs_slot(self) -> bool {
        self >= Self::Handed
    }

    /// Counted, and its end is not known.
    #[must_use]
    pub fn is_under_way(self) -> bool {
        self >= Self::Admitting && self <= Self::AwaitingStop
    }
}

/// Why work in flight is cut short. An explicit cancel beats an interruption.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Cut {
    /// By the drain's deadline: local work is pending again, granted work is cancelled.
    Interrupted,
    /// By a cancel.
    Cancelled,
}

/// Unfinished work.
///
/// Invariant: while `handed_out`, neither `stage` nor `entry` changes but by the acknowledgement,
/// or by an end that makes the effect obsolete.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Task {
    /// The row as it shall be; the ledger has it once the stage that writes it is acknowledged.
    pub entry: Entry,
    /// Where it stands.
    pub stage: Stage,
    /// The effect of this stage is out, and not acknowledged.
    pub handed_out: bool,
    /// It holds a slot of its own, not its parent's.
    pub own_slot: bool,
    /// A start was handed out, so something of it may run or lie about.
    pub begun: bool,
    /// It is to be cut short, or was.
    pub cut: Option<Cut>,
}

impl Task {
    pub(super) fn new(entry: Entry, stage: Stage) -> Self {
        Self { entry, stage, handed_out: false, own_slot: false, begun: false, cut: None }
    }

    /// Enters a stage whose effect is yet to be handed out.
    pub(super) fn enter(&mut self, stage: Stage) {
        self.stage = stage;
        self.handed_out = false;
    }

    /// Whether something of it may run: a start was handed out, and its end is not known.
    pub(super) fn may_run(&self) -> bool {
        self.begun && self.stage >= Stage::Starting && self.stage <= Stage::AwaitingStop
    }

    /// The step that counts it (Ex1): from here on its row says `Admitted`.
    pub(super) fn admit(&mut self, version: &Version) {
        self.entry.state = BuildState::Admitted;
        self.entry.attempts = self.entry.attempts.saturating_add(1);
        self.entry.admitted_by = Some(version.clone());
        self.enter(Stage::Admitting);
    }

    /// It ended by itself, or has stopped: the release path begins (Ex3).
    pub(super) fn end(&mut self, state: BuildState) {
        if state == BuildState::Pending {
            self.entry.attempts = self.entry.attempts.saturating_sub(1);
        }
        self.entry.state = state;
        // What was never begun leaves nothing behind.
        self.enter(if self.begun { Stage::StoringArtifacts } else { Stage::Recording });
    }

    /// The end of work that has stopped because it was cut short.
    pub(super) fn end_cut(&mut self, work: &Work) {
        self.end(match (self.cut, work) {
            (Some(Cut::Interrupted), Work::Local(_)) => BuildState::Pending,
            (Some(Cut::Cancelled) | None, _) | (Some(Cut::Interrupted), Work::Granted(_)) => {
                BuildState::Cancelled
            }
        });
    }

    /// Acts on the wish to cut it short, as far as no effect of it is out.
    pub(super) fn honour_cut(&mut self, work: &Work) {
        if self.cut.is_none() || self.handed_out {
            return;
        }
        match self.stage {
            Stage::Enqueuing | Stage::Waiting { .. } | Stage::Handed => {
                mark!(Ex1CancelledPending);
                self.entry.state = BuildState::Cancelled;
                self.enter(Stage::Retiring);
            }
            Stage::Admitting => self.end_cut(work),
            Stage::Starting if !self.begun => self.end_cut(work),
            Stage::Starting | Stage::Running => {
                mark!(Ex1CancelledUnderWay);
                self.enter(Stage::Stopping);
            }
            Stage::Stopping
            | Stage::AwaitingStop
            | Stage::StoringArtifacts
            | Stage::Recording
            | Stage::Declaring { .. }
            | Stage::Removing
            | Stage::Releasing
            | Stage::Retiring => {}
        }
    }

    /// The effect of the stage, but for a drain's declaration, which depends on the drain in force.
    pub(super) fn effect(&self, work: &Work) -> Option<ExecutorEffect> {
        let work = work.clone();
        match self.stage {
            Stage::Enqueuing | Stage::Admitting | Stage::Recording => {
                Some(ExecutorEffect::StoreEntry { work, entry: Some(self.entry.clone()) })
            }
            Stage::Retiring => {
                // Work under a grant ends in the release path; only a boot retires it (Ex5).
                let entry = (!work.is_granted()).then(|| self.entry.clone());
                Some(ExecutorEffect::StoreEntry { work, entry })
            }
            Stage::Handed => match work {
                Work::Local(build) => Some(ExecutorEffect::Wake(Waiter::Build(build))),
                Work::Granted(_) => None,
            },
            Stage::Starting => Some(ExecutorEffect::Start { work }),
            Stage::Stopping => Some(ExecutorEffect::Stop { work }),
            Stage::StoringArtifacts => Some(ExecutorEffect::StoreArtifacts { work }),
            Stage::Removing => Some(ExecutorEffect::Remove { work }),
            Stage::Releasing => Some(ExecutorEffect::Release { work }),
            Stage::Waiting { .. }
            | Stage::Running
            | Stage::AwaitingStop
            | Stage::Declaring { .. } => None,
        }
    }
}
