//! What a candidate is in, what it orders, what it refuses.

use core::fmt;

use crate::{GrantId, Incarnation, Revision, Seq};

/// What a candidate is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub enum Phase {
    /// It has said nothing; it may hold a gate all the same.
    Idle,
    /// It would take the job.
    Asking,
    /// It sees an offer and has asked the driver for a plan; to others it still asks.
    Planning {
        /// The offer.
        grant: GrantId,
    },
    /// It has taken the offer; work has not begun.
    Accepted {
        /// The hand-over.
        grant: GrantId,
    },
    /// Its build runs.
    Building {
        /// The hand-over.
        grant: GrantId,
    },
    /// It has told its build to stop; nothing is said until that has really happened.
    Cancelling {
        /// The hand-over.
        grant: GrantId,
    },
    /// It has reported, and holds the report until it is acknowledged.
    Finished {
        /// The hand-over.
        grant: GrantId,
    },
    /// It does not want the job.
    StoodDown,
    /// It was declared gone (Ca0): it says nothing more under this identity.
    Expelled {
        /// The build that has not really stopped yet.
        running: Option<GrantId>,
    },
}

impl Phase {
    /// The grant that it has a claim to: accepted, building or finished, so that its word names
    /// this grant and a started hold of it is not taken back (Ar7, Ca3 to Ca5). None once it
    /// cancels, though its build may still run.
    #[must_use]
    pub fn works_under(self) -> Option<GrantId> {
        match self {
            Self::Accepted { grant } | Self::Building { grant } | Self::Finished { grant } => {
                Some(grant)
            }
            Self::Idle
            | Self::Asking
            | Self::Planning { .. }
            | Self::Cancelling { .. }
            | Self::StoodDown
            | Self::Expelled { .. } => None,
        }
    }
}

/// What whoever runs the process wants of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Wish {
    /// To know whether it may serve.
    Watch,
    /// To have the job, if it is not done.
    Job,
    /// Not to have it.
    StandDown,
}

/// An order to the driver. One effect is one atomic step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub enum CandidateEffect {
    /// Say which chunks this build will sign off: answer with [`Candidate::handle_plan`](super::Candidate::handle_plan).
    MakePlan {
        /// The offer.
        grant: GrantId,
    },
    /// Start the build. It lasts from here to [`Candidate::handle_build_end`](super::Candidate::handle_build_end).
    StartBuild {
        /// The hand-over: artifacts are stored under it.
        grant: GrantId,
    },
    /// Stop the build, and say when it has really stopped.
    CancelBuild {
        /// The hand-over.
        grant: GrantId,
    },
    /// Come back under a new incarnation by [`Candidate::come_back`](super::Candidate::come_back) (Ca0, Ca7).
    Return {
        /// The new incarnation is above this one.
        above: Incarnation,
    },
    /// Something that no correct world does; nothing is to be done but to look.
    Alarm(Alarm),
}

/// What should not be possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub enum Alarm {
    /// The record has a word of this identity that this process never said (St3).
    ForeignWord {
        /// The number of that word.
        seen: Seq,
        /// The number of the newest own word.
        own: Seq,
    },
}

/// Why an input of a candidate changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CandidateRefusal {
    /// A view at least as new is held.
    OldView {
        /// Its revision.
        held: Revision,
    },
    /// The view is another host's, or of another life.
    NotMine,
    /// The record has a format that is not known here; the gate is unknown now.
    NewerFormat {
        /// The format.
        found: u32,
    },
    /// The record was replaced by another; nothing is read before the host has come back.
    Replaced,
    /// No build runs under this grant, or none that is to be planned.
    NoSuchBuild,
    /// Only who was expelled, and whose build has stopped, comes back.
    NotExpelled,
    /// The incarnation is not above the highest that is known of this name.
    IncarnationReused {
        /// It has to be above this one.
        above: Incarnation,
    },
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Idle => write!(f, "idle"),
            Self::Asking => write!(f, "asking"),
            Self::Planning { grant } => write!(f, "planning({grant})"),
            Self::Accepted { grant } => write!(f, "accepted({grant})"),
            Self::Building { grant } => write!(f, "building({grant})"),
            Self::Cancelling { grant } => write!(f, "cancelling({grant})"),
            Self::Finished { grant } => write!(f, "finished({grant})"),
            Self::StoodDown => write!(f, "stood-down"),
            Self::Expelled { running: None } => write!(f, "gone"),
            Self::Expelled { running: Some(grant) } => write!(f, "gone, stopping({grant})"),
        }
    }
}

impl CandidateRefusal {
    /// The refusal in one word.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::OldView { .. } => "OldView",
            Self::NotMine => "NotMine",
            Self::NewerFormat { .. } => "NewerFormat",
            Self::Replaced => "Replaced",
            Self::NoSuchBuild => "NoSuchBuild",
            Self::NotExpelled => "NotExpelled",
            Self::IncarnationReused { .. } => "IncarnationReused",
        }
    }
}

impl fmt::Display for CandidateRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.name())?;
        match self {
            Self::OldView { held } => write!(f, "a view at {held} is held"),
            Self::NotMine => write!(f, "the view is for another host or another life"),
            Self::NewerFormat { found } => write!(f, "format {found} is not known here"),
            Self::Replaced => write!(f, "the record was replaced; come back first"),
            Self::NoSuchBuild => write!(f, "no build of this grant is in this phase"),
            Self::NotExpelled => write!(f, "only who was declared gone comes back"),
            Self::IncarnationReused { above } => write!(f, "it has to be above {above}"),
        }
    }
}

impl core::error::Error for CandidateRefusal {}
