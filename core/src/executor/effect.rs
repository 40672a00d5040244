//! What the executor orders and what it hears back.

use alloc::boxed::Box;

use super::{Drain, EndAction, Entry, Work};
use crate::ids::{BuildId, DrainId, Reason};

/// Who stands in the queue.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Waiter {
    /// A local build.
    Build(BuildId),
    /// The host's candidate, which wants a slot before it asks again (Ho1).
    Candidate,
}

/// One atomic step. It is handed out once, and again after an acknowledgement as failed or
/// unknown, so performing it again must change nothing more.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub enum ExecutorEffect {
    /// The waiter has been handed a slot. Acknowledging it reads the gate, in one step (Ex4):
    /// open, it is counted as in flight; closed, it is parked and gives the slot back.
    Wake(Waiter),
    /// Write a row durably, or remove it.
    StoreEntry {
        /// The key of the row.
        work: Work,
        /// The row; `None` removes it.
        entry: Option<Entry>,
    },
    /// Prepare the workspace and run.
    Start {
        /// What to run.
        work: Work,
    },
    /// Stop what runs of it. Acknowledged once the order is given; that the build has really
    /// stopped is said by `stopped` or `ended`. Where nothing runs of it, that too is said by
    /// `stopped`.
    Stop {
        /// What to stop.
        work: Work,
    },
    /// Store what the build leaves behind.
    StoreArtifacts {
        /// Whose artifacts.
        work: Work,
    },
    /// Write the drain durably, or that there is none; see [`Ledger::write`](super::Ledger::write)
    /// for what belongs to the same write.
    StoreDrain {
        /// The drain.
        drain: Option<Drain>,
    },
    /// Take the build out of the current set; in memory.
    Remove {
        /// Which.
        work: Work,
    },
    /// Give the slot back, or to the next in the queue; in memory.
    Release {
        /// Whose slot.
        work: Work,
    },
    /// The wait for drained is over: perform the end action. Once per drain and end action. Void
    /// once an undrain has overtaken it: see that it is still drained in the step that ends the
    /// process, or the process takes with it what it has said since.
    Drained {
        /// What to do.
        end: EndAction,
        /// For which drain.
        drain: DrainId,
    },
}

/// How an effect went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Acknowledgement {
    /// Performed.
    Done,
    /// Not performed.
    Failed,
    /// Performed or not; it has to be performed again to know.
    Unknown,
}

/// How a build ended by itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum End {
    /// Well.
    Succeeded,
    /// Badly; a panic and a lost build are failures too.
    Failed(Reason),
}

/// What an acknowledgement brought that others have to know.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub enum Progress {
    /// The candidate's turn has come and the gate was open: a slot is reserved for it (Ho1).
    CandidateTurn,
    /// The build has started.
    Started {
        /// Which.
        work: Work,
    },
    /// Its terminal status is durable; of granted work the host now says `Finished`.
    Recorded {
        /// Which.
        work: Work,
    },
    /// The effect is not handed out at present; nothing was changed.
    Refused,
}

macro_rules! plain_error {
    ($(#[$doc:meta])* $name:ident, $text:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $name;

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str($text)
            }
        }

        impl core::error::Error for $name {}
    };
}

macro_rules! refusal {
    ($(#[$doc:meta])* $name:ident { $($(#[$case_doc:meta])* $case:ident => $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$case_doc])* $case,)+
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(match self {
                    $(Self::$case => $text,)+
                })
            }
        }

        impl core::error::Error for $name {}
    };
}

plain_error! {
    /// No drain is in force.
    NotDraining, "no drain is in force"
}

plain_error! {
    /// The work is not running here, or has not been told to stop.
    NotRunning, "the work is not running here, or was not told to stop"
}

refusal! {
    /// Why a build is not taken into the queue.
    SubmitRefusal {
        /// The id is in the ledger already, in whatever state.
        Known => "a build of this id is known already",
        /// The parent is not in flight, has ended or is being stopped, so it waits for nothing.
        ParentNotInFlight => "the parent is not in flight, so it waits for nothing",
    }
}

refusal! {
    /// Why there is nothing to cancel.
    CancelRefusal {
        /// No such build.
        NotKnown => "no build of this id is known",
        /// It has ended already; an end that came first stays.
        Ended => "the build has ended already",
        /// It is being cancelled already.
        Cancelling => "the build is being cancelled already",
    }
}

refusal! {
    /// Why no slot is reserved (Ho1).
    ReserveRefusal {
        /// A drain is in force.
        Closed => "a drain is in force",
        /// No slot is free.
        Full => "no slot is free",
        /// A slot is reserved already.
        Already => "a slot is reserved already",
    }
}

refusal! {
    /// Why the reservation does not become a running build (Ho2). It is released.
    StartRefusal {
        /// A drain is in force.
        Closed => "a drain is in force",
        /// Nothing was reserved.
        NotReserved => "no slot is reserved",
        /// A build of this grant is in the ledger; a grant is started once.
        Known => "a build of this grant is known already",
    }
}

/// A drain is in force that is as strong as the request or stronger.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DrainRefusal {
    /// The drain in force.
    pub active: Box<Drain>,
}

impl core::fmt::Display for DrainRefusal {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "the drain {} is in force and not weaker: {}", self.active.id, self.active.reason)
    }
}

impl core::error::Error for DrainRefusal {}
