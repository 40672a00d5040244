//! The words of the language that stand for one value out of a fixed few.

use std::fmt;

/// A value written as one fixed word.
pub trait Keyword: Copy + Eq + 'static {
    /// All values, in the order in which messages list them.
    const ALL: &'static [Self];

    /// The word.
    fn word(self) -> &'static str;
}

macro_rules! keywords {
    ($($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $value:ident = $word:literal,)+ })+) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
            pub enum $name {
                $($(#[$about])* $value,)+
            }

            impl Keyword for $name {
                const ALL: &'static [Self] = &[$(Self::$value,)+];

                fn word(self) -> &'static str {
                    match self {
                        $(Self::$value => $word,)+
                    }
                }
            }

            impl fmt::Display for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.pad(self.word())
                }
            }
        )+
    };
}

keywords! {
    /// A property of the protocol, by its name.
    Property {
        /// Nobody but the holder builds, and at most one host does.
        SingleBuilder = "SingleBuilder",
        /// Approved only by the holder's own clean and complete report.
        ApprovalTruth = "ApprovalTruth",
        /// A started hold of a live host is never taken back.
        NoEviction = "NoEviction",
        /// An open gate implies a committed approval, and approvals never go.
        GateTruth = "GateTruth",
        /// A clean and complete report has its approval.
        NoLostReport = "NoLostReport",
        /// A statement about another grant changes neither hold nor verdicts.
        StaleIsNoEffect = "StaleIsNoEffect",
        /// Settle changes nothing after a fold.
        Settled = "Settled",
        /// Grants only grow.
        GrantsIncrease = "GrantsIncrease",
        /// A host that has read a view without its grant has cancelled.
        SupersededStops = "SupersededStops",
        /// Correct hosts raise no alarm.
        NoAlarm = "NoAlarm",
        /// Nothing starts behind a declared drain but what in-flight work waits for.
        QuietDrain = "QuietDrain",
        /// Drained implies that all is recorded and reported.
        TruthfulIdle = "TruthfulIdle",
        /// A slot is held exactly in the states that need it.
        SlotHeldOnce = "SlotHeldOnce",
        /// No more builds than slots.
        Capacity = "Capacity",
        /// The queue keeps its order and its members.
        QueueKept = "QueueKept",
        /// A cut build is queued again exactly once.
        RecoveryExact = "RecoveryExact",
        /// From every state, with faults off, a converged state can be reached.
        NoWedge = "NoWedge",
        /// No fault-free cycle avoids convergence.
        NoLivelock = "NoLivelock",
    }

    /// How long a drain holds.
    Term {
        /// Over at the boot of another version.
        ThisVersion = "this-version",
        /// Survives restarts until it is taken back. The default.
        UntilUndrained = "until-undrained",
    }

    /// What follows a drain, from the weakest to the strongest.
    EndAction {
        /// The host stays. The default.
        Nothing = "nothing",
        /// The process ends and comes back.
        Restart = "restart",
        /// The process ends.
        Stop = "stop",
    }

    /// What becomes of a drain that is not done at its deadline.
    DeadlineOutcome {
        /// What still runs is cut.
        Interrupt = "interrupt",
        /// The drain is taken back.
        Undrain = "undrain",
        /// The drain goes on; it is only said. The default.
        Report = "report",
    }

    /// What an operator's cancel of a grant leaves behind (rule Ar5).
    CancelThen {
        /// No verdict: the job is offered again.
        Again = "again",
        /// The verdict becomes failed. The default.
        Block = "block",
    }

    /// What the serve gate shows.
    Gate {
        /// Traffic may come.
        Open = "open",
        /// Somebody else still prepares the version.
        Waiting = "waiting",
        /// The version has failed.
        Blocked = "blocked",
        /// No view yet, or one that cannot be read.
        Unknown = "unknown",
    }

    /// What the record says of a version.
    VerdictState {
        /// Nothing yet.
        None = "none",
        /// Prepared.
        Approved = "approved",
        /// Not to be had without an operator.
        Failed = "failed",
    }

    /// The kind of a standing (rule St1).
    Standing {
        /// Wants the job.
        Asking = "Asking",
        /// Takes the offer; work has not begun.
        Accepted = "Accepted",
        /// Work has begun.
        Building = "Building",
        /// Work has ended, well or not.
        Finished = "Finished",
        /// Wants nothing.
        StoodDown = "StoodDown",
    }

    /// What a host's candidate itself is in.
    HostState {
        /// Has asked nothing yet.
        Idle = "idle",
        /// Wants the job.
        Asking = "asking",
        /// Makes the plan for an offer.
        Planning = "planning",
        /// Has taken the offer.
        Accepted = "accepted",
        /// Builds.
        Building = "building",
        /// Was told to stop; the build has not stopped yet.
        Cancelling = "cancelling",
        /// Has reported and waits for the acknowledgement.
        Finished = "finished",
        /// Wants nothing.
        StoodDown = "stood-down",
        /// Has seen that it was declared gone.
        Gone = "gone",
        /// Has crashed.
        Crashed = "crashed",
        /// Waits in its executor's queue for a slot.
        Waiting = "waiting",
    }

    /// The remark with which an input was accepted (rule Ar1).
    Remark {
        /// About a grant that is not the hold's.
        StaleGrant = "StaleGrant",
        /// About the hold's grant, by another host.
        NotHolder = "NotHolder",
        /// A chunk outside the plan.
        UnknownChunk = "UnknownChunk",
    }

    /// What the ledger says of a build (rule Ex1).
    BuildState {
        /// The ledger does not know it.
        None = "none",
        /// Queued.
        Pending = "pending",
        /// Counted as in flight.
        Admitted = "admitted",
        /// Ended well.
        Succeeded = "succeeded",
        /// Ended badly.
        Failed = "failed",
        /// Ended by the operator.
        Cancelled = "cancelled",
    }
}
