//! The executor's durable book on one host: per build its state and attempts, and the drain.
//!
//! The book alone decides what a boot does (Ex1, Ex5, Ex7), so it holds nothing that only a
//! running process knows, and whoever writes it does so by [`Ledger::write`].

use alloc::collections::BTreeMap;
use core::fmt;

use super::{Drain, DrainRequest, ExecutorEffect};
use crate::ids::{BuildId, GrantId, Reason, Version};

/// What occupies or wants a slot: a local build, or the build of a record's grant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Work {
    /// A build that was submitted on this host.
    Local(BuildId),
    /// The build that the record handed to this host under this grant.
    Granted(GrantId),
}

impl Work {
    /// Whether the record handed it out. Such work is never queued again here (Ex5): the record
    /// hands it out anew.
    #[must_use]
    pub fn is_granted(&self) -> bool {
        match self {
            Self::Local(_) => false,
            Self::Granted(_) => true,
        }
    }
}

/// `x1`, `g3`.
impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(build) => fmt::Display::fmt(build, f),
            Self::Granted(grant) => fmt::Display::fmt(grant, f),
        }
    }
}

/// The durable states of a build (Ex1). Preparing and running are phases of `Admitted` that only
/// memory knows; interrupted is a reason to be `Pending` again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum BuildState {
    /// In the queue.
    Pending,
    /// Counted as in flight.
    Admitted,
    /// Ended well; its artifacts are stored.
    Succeeded,
    /// Ended badly by itself.
    Failed(Reason),
    /// Ended by an explicit cancel or, under a grant, by any stop.
    Cancelled,
}

impl BuildState {
    /// Whether nothing follows this state.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        match self {
            Self::Pending | Self::Admitted => false,
            Self::Succeeded | Self::Failed(_) | Self::Cancelled => true,
        }
    }
}

/// A row of the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Entry {
    /// Where the build stands.
    pub state: BuildState,
    /// How often it was admitted. An interruption and a crash take their admission back.
    pub attempts: u32,
    /// The order in the queue, kept over parking and interruption; lower is earlier.
    pub place: u64,
    /// The build that waits for this one. While the parent is in flight this build runs on the
    /// parent's slot (Ex6); once the parent has ended it is a build like any other.
    pub parent: Option<BuildId>,
    /// What its success still has to declare: a deployment. `None` once declared, which
    /// [`Ledger::write`] notes together with the drain, so that a boot after an undrain does not
    /// declare it a second time.
    pub drains: Option<DrainRequest>,
    /// The version of the host that admitted it last. A recorded success declares a drain for
    /// `ThisVersion` only at a boot of this version.
    pub admitted_by: Option<Version>,
}

/// The durable book of one host.
///
/// Invariant: `next_place` is above each entry's place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Ledger {
    /// The format of the book; see [`Ledger::FORMAT`].
    pub format: u32,
    /// A row per build, ended ones included: an id is known for ever.
    #[cfg_attr(feature = "serde", serde(with = "super::pairs"))]
    pub entries: BTreeMap<Work, Entry>,
    /// The declared drain.
    pub drain: Option<Drain>,
    /// The place of the next build.
    pub next_place: u64,
    /// The number of the next drain.
    pub next_drain: u64,
}

impl Default for Ledger {
    fn default() -> Self {
        Self {
            format: Self::FORMAT,
            entries: BTreeMap::new(),
            drain: None,
            next_place: 1,
            next_drain: 1,
        }
    }
}

impl Ledger {
    /// The format that this version reads and writes. A higher one is refused, not guessed.
    pub const FORMAT: u32 = 1;

    /// The highest number that a book may have come to; higher ones no executor has given out.
    pub(super) const NUMBER_MAX: u64 = u64::MAX / 2;

    /// Does what a store does with [`ExecutorEffect::StoreEntry`] and
    /// [`ExecutorEffect::StoreDrain`]; other effects change nothing. One effect is one atomic
    /// write, and writing it again changes nothing.
    ///
    /// A drain that was declared by a build also notes in that build's row that nothing is left
    /// to declare. One that is over with its process is not kept.
    pub fn write(&mut self, effect: &ExecutorEffect) {
        match effect {
            ExecutorEffect::StoreEntry { work, entry: Some(entry) } => {
                self.next_place = self.next_place.max(entry.place + 1);
                self.entries.insert(work.clone(), entry.clone());
            }
            ExecutorEffect::StoreEntry { work, entry: None } => {
                self.entries.remove(work);
            }
            ExecutorEffect::StoreDrain { drain } => self.write_drain(drain.as_ref()),
            ExecutorEffect::Wake(_)
            | ExecutorEffect::Start { .. }
            | ExecutorEffect::Stop { .. }
            | ExecutorEffect::StoreArtifacts { .. }
            | ExecutorEffect::Remove { .. }
            | ExecutorEffect::Release { .. }
            | ExecutorEffect::Drained { .. } => {}
        }
    }

    fn write_drain(&mut self, drain: Option<&Drain>) {
        if let Some(drain) = drain {
            self.next_drain = self.next_drain.max(drain.number() + 1);
            if let Some(by) = &drain.by
                && let Some(entry) = self.entries.get_mut(&Work::Local(by.clone()))
            {
                entry.drains = None;
            }
        }
        self.drain = drain.filter(|drain| drain.is_written()).cloned();
    }

    /// Gives out the next place in the queue.
    pub(super) fn take_place(&mut self) -> u64 {
        let place = self.next_place;
        self.next_place += 1;
        place
    }

    /// Gives out the number of the next drain.
    pub(super) fn take_drain_number(&mut self) -> u64 {
        let number = self.next_drain;
        self.next_drain += 1;
        number
    }
}

/// Why a ledger cannot be recovered. Nothing is changed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LedgerError {
    /// Written by a later version, whose meaning would have to be guessed.
    NewerFormat {
        /// The ledger's format.
        found: u32,
    },
    /// Two builds claim one place, so their order is lost.
    PlaceTwice {
        /// The place.
        place: u64,
    },
    /// A build stands before the one that waits for it, which was submitted first.
    BeforeParent {
        /// The child.
        build: BuildId,
    },
    /// A place or the number of a drain is so near its end that the next ones would be reused.
    Exhausted,
}

impl fmt::Display for LedgerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NewerFormat { found } => write!(
                f,
                "the ledger has format {found}, above {}, the highest that this version reads",
                Ledger::FORMAT
            ),
            Self::PlaceTwice { place } => {
                write!(f, "two builds of the ledger have the place {place}")
            }
            Self::BeforeParent { build } => {
                write!(f, "the build {build} of the ledger stands before its parent")
            }
            Self::Exhausted => write!(f, "a number of the ledger has come to its end"),
        }
    }
}

impl core::error::Error for LedgerError {}
