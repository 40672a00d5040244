//! What a host knows of the record, and what it lets through.

use alloc::sync::Arc;
use core::fmt;

use crate::record::{Hold, Verdict};
use crate::{HostId, Incarnation, Reason, RecordId, Revision, Seq};

/// A projection of the record for one host (Ar9). It may be late; a host never goes back to a
/// lower revision.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct View {
    /// For whom: a view of an earlier life says nothing to the next.
    pub host: HostId,
    /// Which record.
    pub record: RecordId,
    /// In which format; a view of a higher one is not read.
    pub format: u32,
    /// As of when.
    pub revision: Revision,
    /// The job, whoever has it: one for the record and all views of it.
    pub hold: Option<Arc<Hold>>,
    /// The host's newest statement that was folded.
    pub acknowledged: Option<Seq>,
    /// What is known of the host's version, likewise.
    pub verdict: Option<Arc<Verdict>>,
    /// The host was declared gone.
    pub gone: bool,
    /// The highest incarnation of the host's name that is gone or has spoken: a process that comes
    /// back takes a higher one.
    pub name_floor: Option<Incarnation>,
}

impl View {
    /// May the host's version serve?
    #[must_use]
    pub fn is_approved(&self) -> bool {
        self.verdict.as_ref().is_some_and(|verdict| verdict.is_approved())
    }

    /// The hold, if this host has it.
    #[must_use]
    pub fn hold_of(&self, host: &HostId) -> Option<&Hold> {
        self.hold.as_deref().filter(|hold| hold.host == *host)
    }
}

/// The serve gate: may this process take traffic (Ca8)? A level, to be read whenever it matters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub enum Gate {
    /// Its version is approved.
    Open,
    /// There is no verdict yet.
    Waiting {
        /// Who has the job, if somebody has.
        on: Option<HostId>,
    },
    /// Its version failed, until an operator says `Retry`.
    Blocked {
        /// Why it failed.
        reason: Reason,
    },
    /// Neither yes nor no.
    Unknown {
        /// Why nothing is known.
        why: Unreadable,
    },
}

/// Why nothing is known of the record.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub enum Unreadable {
    /// No view has arrived yet.
    NoView,
    /// The record is written by newer code.
    NewerFormat {
        /// Its format.
        found: u32,
    },
    /// The record that the host began with was replaced by another one.
    OtherRecord {
        /// The other's id.
        found: RecordId,
    },
    /// The driver could not read it, and says why.
    Unavailable {
        /// In the driver's words.
        reason: Reason,
    },
}

impl Gate {
    /// May the process take traffic?
    #[must_use]
    pub fn is_open(&self) -> bool {
        match self {
            Self::Open => true,
            Self::Waiting { .. } | Self::Blocked { .. } | Self::Unknown { .. } => false,
        }
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open => write!(f, "open"),
            Self::Waiting { on: None } => write!(f, "waiting"),
            Self::Waiting { on: Some(host) } => write!(f, "waiting for {host}"),
            Self::Blocked { reason } => write!(f, "blocked: {reason}"),
            Self::Unknown { why } => write!(f, "unknown: {why}"),
        }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoView => write!(f, "no view yet"),
            Self::NewerFormat { found } => write!(f, "the record has the newer format {found}"),
            Self::OtherRecord { found } => write!(f, "the record was replaced by {found}"),
            Self::Unavailable { reason } => write!(f, "{reason}"),
        }
    }
}
