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
        /// Over with the process.
        ThisProcess = "this-process",
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

    /// Why an input, a view or a request changed nothing.
    Refusal {
        /// The host was declared gone.
        Gone = "Gone",
        /// A word at least as new has been folded.
        Outdated = "Outdated",
        /// A version never changes within an incarnation.
        VersionChanged = "VersionChanged",
        /// No correct host says this.
        Impossible = "Impossible",
        /// The hold or the verdict has another grant, or there is none.
        StaleGrant = "StaleGrant",
        /// The host was declared gone before.
        AlreadyGone = "AlreadyGone",
        /// The verdict is an approval, which never goes.
        NotFailed = "NotFailed",
        /// The hold was accepted: it does not lapse.
        AlreadyStarted = "AlreadyStarted",
        /// Nobody else could be offered the job.
        NobodyElse = "NobodyElse",
        /// An operator has asked for its end before.
        AlreadyCancelling = "AlreadyCancelling",
        /// A view at least as new is held.
        OldView = "OldView",
        /// The view is for another host or another life.
        NotMine = "NotMine",
        /// The record has a format that is not known here.
        NewerFormat = "NewerFormat",
        /// The record was replaced by another.
        Replaced = "Replaced",
        /// No build of this grant is in this phase.
        NoSuchBuild = "NoSuchBuild",
        /// Only who was declared gone comes back.
        NotExpelled = "NotExpelled",
        /// The incarnation has to be above the highest that is known.
        IncarnationReused = "IncarnationReused",
        /// The executor of a host refused what its user asked for.
        Declined = "Declined",
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use handover_core::{
        CandidateRefusal as Candidate, Incarnation, Refusal as Record, Revision, Seq,
    };

    use super::*;

    /// A refusal of core that is added does not compile here until it is in the list below.
    const fn is_listed(record: &Record, candidate: &Candidate) {
        match record {
            Record::Gone
            | Record::Outdated { .. }
            | Record::VersionChanged { .. }
            | Record::Impossible
            | Record::StaleGrant { .. }
            | Record::AlreadyGone
            | Record::NotFailed
            | Record::AlreadyStarted
            | Record::NobodyElse
            | Record::AlreadyCancelling => {}
        }
        match candidate {
            Candidate::OldView { .. }
            | Candidate::NotMine
            | Candidate::NewerFormat { .. }
            | Candidate::Replaced
            | Candidate::NoSuchBuild
            | Candidate::NotExpelled
            | Candidate::IncarnationReused { .. } => {}
        }
    }

    #[test]
    fn the_refusals_of_the_language_are_those_of_core_and_what_an_executor_declines() {
        let record = [
            Record::Gone,
            Record::Outdated { seen: Seq(1) },
            Record::VersionChanged { known: "v1".into() },
            Record::Impossible,
            Record::StaleGrant { found: None },
            Record::AlreadyGone,
            Record::NotFailed,
            Record::AlreadyStarted,
            Record::NobodyElse,
            Record::AlreadyCancelling,
        ];
        let candidate = [
            Candidate::OldView { held: Revision(1) },
            Candidate::NotMine,
            Candidate::NewerFormat { found: 2 },
            Candidate::Replaced,
            Candidate::NoSuchBuild,
            Candidate::NotExpelled,
            Candidate::IncarnationReused { above: Incarnation(1) },
        ];
        is_listed(&record[0], &candidate[0]);
        let names = record.iter().map(Record::name).chain(candidate.iter().map(Candidate::name));
        let of_core: BTreeSet<&str> = names.chain(["Declined"]).collect();
        let words: BTreeSet<&str> = Refusal::ALL.iter().map(|refusal| refusal.word()).collect();
        assert_eq!(words, of_core);
    }
}
