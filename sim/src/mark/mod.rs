//! Which branches of the checks a run has come through, and what has happened in it at some time.
//!
//! A check whose interesting case never occurs proves nothing. With the feature `marks` each such
//! case notes that it occurred, in a table for the whole program, beside the marks of core; without
//! it `mark!` is nothing.

/// Notes that this branch was taken.
#[cfg(feature = "marks")]
macro_rules! mark {
    ($mark:ident) => {
        $crate::mark::Mark::$mark.hit()
    };
}

/// Nothing.
#[cfg(not(feature = "marks"))]
macro_rules! mark {
    ($mark:ident) => {};
}

pub(crate) use mark;

#[cfg(feature = "marks")]
mod sometimes;
#[cfg(feature = "marks")]
pub(crate) use sometimes::sometimes;
#[cfg(feature = "marks")]
pub use table::Mark;

#[cfg(feature = "marks")]
mod table {
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    macro_rules! marks {
        ($($(#[$doc:meta])* $mark:ident,)*) => {
            /// A case that the checks are there for, or that a walk has to come through.
            #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
            pub enum Mark {
                $($(#[$doc])* $mark,)*
            }

            impl Mark {
                /// All of them.
                pub const ALL: &[Self] = &[$(Self::$mark,)*];
            }
        };
    }

    marks! {
        /// `SingleBuilder`: somebody builds.
        SingleBuilderBuilds,
        /// `ApprovalTruth`: a version is approved.
        ApprovalTruthApproved,
        /// `ApprovalTruth`: an approval stands.
        ApprovalTruthStands,
        /// `ApprovalTruth`: a report fails a version.
        ApprovalTruthFailed,
        /// `ApprovalTruth`: a hold ends that an operator has blocked.
        ApprovalTruthBlocked,
        /// `ApprovalTruth`: an operator lifts a failure.
        ApprovalTruthRetried,
        /// `NoEviction`: a started hold goes, and for a reason.
        NoEvictionGoes,
        /// `NoEviction`: a started hold is taken back from a host that does not work under it.
        NoEvictionGivenBack,
        /// `NoEviction`: membership names somebody, and the record marks him as gone.
        NoEvictionNamed,
        /// `GateTruth`: a gate is open.
        GateTruthOpen,
        /// `NoLostReport`: a host is done with its report.
        NoLostReportDone,
        /// `NoLostReport`: and the report calls for an approval.
        NoLostReportCounts,
        /// `StaleIsNoEffect`: a word about a grant that is not its host's.
        StaleIsNoEffectStale,
        /// `GrantsIncrease`: a hand-over.
        GrantsIncreaseFresh,
        /// `SupersededStops`: a build goes on, and its host has read a view.
        SupersededStopsGoesOn,
        /// `NoAlarm`: an identity was used twice, so alarms are in order.
        NoAlarmReused,
        /// `QuietDrain`: a drain is declared, and something changes.
        QuietDrainDeclared,
        /// `QuietDrain`: a slot is released, and a drain owed.
        QuietDrainOwed,
        /// `QuietDrain`: a build declares a drain.
        QuietDrainEarned,
        /// `QuietDrain`: what in-flight work waits for begins all the same.
        QuietDrainWaitedFor,
        /// `QuietDrain`: a deadline interrupts.
        QuietDrainInterrupted,
        /// `QuietDrain`: a deadline undrains.
        QuietDrainUndrained,
        /// `QuietDrain`: a deadline is reported.
        QuietDrainReported,
        /// `QuietDrain`: a boot finds a drain that lasts.
        QuietDrainBoot,
        /// `TruthfulIdle`: a process is drained, or ends.
        TruthfulIdleDrained,
        /// `TruthfulIdle`: an outcome is recorded.
        TruthfulIdleOutcome,
        /// `SlotHeldOnce`: the candidate needs a reservation.
        SlotHeldOnceReserved,
        /// `SlotHeldOnce`: a build runs.
        SlotHeldOnceRuns,
        /// `Capacity`: more builds than slots, on the slots of their parents.
        CapacityShared,
        /// `QueueKept`: somebody waits.
        QueueKeptWaits,
        /// `QueueKept`: what was cut short is pending again.
        QueueKeptPending,
        /// `QueueKept`: somebody waits for a slot of his own.
        QueueKeptTurn,
        /// `RecoveryExact`: a boot finds a build that was cut.
        RecoveryExactCut,
        /// `RecoveryExact`: a boot finds a build that the record had handed out.
        RecoveryExactGranted,
        /// `RecoveryExact`: a success is recorded.
        RecoveryExactSuccess,
        /// Sometimes a suspect is offered the job.
        SometimesSuspectIsOffered,
        /// Sometimes a host stands down while the record offers it the job, and does not know it.
        SometimesStandDownCrossesTheOffer,
        /// Sometimes a host declares a drain while the record offers it the job.
        SometimesDrainCrossesTheOffer,
        /// Sometimes the job is offered to a process that has ended.
        SometimesTheDeadAreOffered,
        /// Sometimes two processes of one name live.
        SometimesTwoLivesOfOneName,
        /// Sometimes a process builds that was declared gone.
        SometimesTheGoneBuild,
        /// Sometimes a report is folded whose process has ended.
        SometimesTheDeadReport,
        /// Sometimes a build approves that was to be cancelled.
        SometimesCancelledIsApproved,
        /// Sometimes two hosts really build, since a grant was revoked.
        SometimesTwoBuild,
        /// Sometimes a build comes to its own end while it is being stopped.
        SometimesEndsWhileStopping,
        /// Sometimes an arbiter loses a compare-and-set.
        SometimesConflict,
        /// Sometimes the answer of a commit is lost.
        SometimesAnswerLost,
        /// Sometimes a drained process ends.
        SometimesExits,
        /// Sometimes the holder of a started job is suspected.
        SometimesHolderIsSuspected,
        /// Sometimes a host reads a view that is older than the one it holds.
        SometimesOldView,
    }

    static HIT: [AtomicBool; Mark::ALL.len()] = [const { AtomicBool::new(false) }; Mark::ALL.len()];

    impl Mark {
        /// Those that only a wrong protocol comes through.
        pub const NEVER: &[Self] = &[Self::QuietDrainOwed];

        pub(crate) fn hit(self) {
            // Read first: a line of memory that all threads write would slow them all down.
            let hit = &HIT[self as usize];
            if !hit.load(Relaxed) {
                hit.store(true, Relaxed);
            }
        }

        /// Was it hit since the program began?
        #[must_use]
        pub fn was_hit(self) -> bool {
            HIT[self as usize].load(Relaxed)
        }
    }
}
