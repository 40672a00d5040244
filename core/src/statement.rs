//! What a host says of itself.
//!
//! A statement is a level, not an edge: it says the whole of what a host is now, so that a lost one
//! is cured by saying it again, and a late one is told by its number (St1).

use alloc::collections::{BTreeMap, BTreeSet};
use core::fmt;

use crate::{Chunk, GrantId, HostId, Priority, Reason, Seq, Version};

/// A host's whole word about itself, numbered by the host (St1).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Statement {
    /// Who says it.
    pub host: HostId,
    /// What it runs; never changes within an incarnation.
    pub version: Version,
    /// Grows by one with each change of standing; a newer statement replaces an older one.
    pub seq: Seq,
    /// What it says.
    pub standing: Standing,
}

/// Where a host stands (St1).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub enum Standing {
    /// It would take the job.
    Asking {
        /// Higher is elected earlier.
        priority: Priority,
    },
    /// It takes the offer of this grant; work has not begun.
    Accepted {
        /// The hand-over that it answers.
        grant: GrantId,
        /// The chunks that it will sign off; may be empty.
        plan: BTreeSet<Chunk>,
    },
    /// Its build runs.
    Building {
        /// The hand-over that it builds under.
        grant: GrantId,
        /// All sign-offs so far.
        signed_off: BTreeMap<Chunk, SignOff>,
    },
    /// Its build has really ended.
    Finished {
        /// The hand-over that it built under.
        grant: GrantId,
        /// How it ended.
        outcome: Outcome,
        /// All sign-offs.
        signed_off: BTreeMap<Chunk, SignOff>,
    },
    /// It does not want the job, whatever anybody hands to it.
    StoodDown,
}

impl Standing {
    /// The hand-over that it is about.
    #[must_use]
    pub fn grant(&self) -> Option<GrantId> {
        match self {
            Self::Accepted { grant, .. }
            | Self::Building { grant, .. }
            | Self::Finished { grant, .. } => Some(*grant),
            Self::Asking { .. } | Self::StoodDown => None,
        }
    }

    /// The sign-offs that it carries.
    #[must_use]
    pub fn signed_off(&self) -> Option<&BTreeMap<Chunk, SignOff>> {
        match self {
            Self::Building { signed_off, .. } | Self::Finished { signed_off, .. } => {
                Some(signed_off)
            }
            Self::Asking { .. } | Self::Accepted { .. } | Self::StoodDown => None,
        }
    }
}

/// The outcome of one chunk of a build.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum SignOff {
    /// The chunk is as it should be.
    Clean,
    /// It is not, and why.
    Failed(Reason),
}

/// How a build ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Outcome {
    /// By itself, well.
    Clean,
    /// By itself, badly.
    Failed(Reason),
    /// It was stopped before its end.
    Abandoned,
}

/// `StoodDown seq=2`.
impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} seq={}", self.standing, self.seq)
    }
}

/// `Accepted(g1, base+assets)`.
impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Asking { priority: Priority(0) } => write!(f, "Asking"),
            Self::Asking { priority } => write!(f, "Asking({priority})"),
            Self::Accepted { grant, plan } => {
                write!(f, "Accepted({grant}")?;
                for (i, chunk) in plan.iter().enumerate() {
                    write!(f, "{}{chunk}", if i == 0 { ", plan " } else { "+" })?;
                }
                write!(f, ")")
            }
            Self::Building { grant, signed_off } => {
                write!(f, "Building({grant}")?;
                write_sign_offs(f, signed_off)?;
                write!(f, ")")
            }
            Self::Finished { grant, outcome, signed_off } => {
                write!(f, "Finished({grant}, {outcome}")?;
                write_sign_offs(f, signed_off)?;
                write!(f, ")")
            }
            Self::StoodDown => write!(f, "StoodDown"),
        }
    }
}

fn write_sign_offs(
    f: &mut fmt::Formatter<'_>,
    signed_off: &BTreeMap<Chunk, SignOff>,
) -> fmt::Result {
    for (i, (chunk, sign_off)) in signed_off.iter().enumerate() {
        let mark = match sign_off {
            SignOff::Clean => "",
            SignOff::Failed(_) => "!",
        };
        write!(f, "{}{chunk}{mark}", if i == 0 { ", signed " } else { "+" })?;
    }
    Ok(())
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clean => write!(f, "Clean"),
            Self::Failed(reason) => write!(f, "Failed: {reason}"),
            Self::Abandoned => write!(f, "Abandoned"),
        }
    }
}
