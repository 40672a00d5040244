//! Which rules a run has come through: a mark for each branch that decides something.
//!
//! A rule that no test comes through is one that nobody would miss. With the feature `marks` a
//! branch notes that it was taken, in a table for the whole program; without it `mark!` is nothing,
//! and neither table nor enum is compiled.

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
pub use table::{Mark, Reach};

#[cfg(feature = "marks")]
mod table {
    use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

    /// Who can come through a branch.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Reach {
        /// A simulated rollout does.
        World,
        /// Only what the simulated world does not have: another record, a later format, a store
        /// that fails. The tests of this crate do.
        Elsewhere,
        /// No correct host and driver: it is there for the others.
        Never,
    }

    macro_rules! marks {
        ($($reach:ident { $($(#[$doc:meta])* $mark:ident,)* })*) => {
            /// A branch that decides something, by its rule.
            #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
            pub enum Mark {
                $($($(#[$doc])* $mark,)*)*
            }

            impl Mark {
                /// All of them.
                pub const ALL: &[Self] = &[$($(Self::$mark,)*)*];

                /// Who can come through it.
                #[must_use]
                pub const fn reach(self) -> Reach {
                    match self {
                        $($(Self::$mark)|* => Reach::$reach,)*
                    }
                }
            }
        };
    }

    marks! {
        World {
            /// Ar1: refused, the host is gone.
            Ar1Gone,
            /// Ar1: refused, a word at least as new is known.
            Ar1Outdated,
            /// Ar1: refused with an alarm: by an arbiter that is behind and folds again (Ar9), or
            /// where an identity is used twice, against Dr4.
            Ar1Impossible,
            /// Ar1: asks, and did not before.
            Ar1NewTicket,
            /// Ar1: asks again, and keeps its place.
            Ar1KeptTicket,
            /// Ar1: accepted, about a grant that is not the hold's.
            Ar1StaleGrant,
            /// Ar2: a line goes.
            Ar2LineGoes,
            /// Ar2: somebody who has said nothing is gone.
            Ar2Unheard,
            /// Ar2: refused, declared before.
            Ar2AlreadyGone,
            /// Ar3: a failure goes.
            Ar3Retried,
            /// Ar3: refused, an approval never goes.
            Ar3NotFailed,
            /// Ar3: refused, another verdict or none.
            Ar3StaleGrant,
            /// Ar4: an offer lapses.
            Ar4Lapsed,
            /// Ar4: refused, it is accepted.
            Ar4AlreadyStarted,
            /// Ar4: refused, there is nobody else.
            Ar4NobodyElse,
            /// Ar5: an offer is withdrawn.
            Ar5Offer,
            /// Ar5: a started hold is marked.
            Ar5Started,
            /// Ar5: refused, it is marked.
            Ar5AlreadyCancelling,
            /// Ar6: an offer is taken back.
            Ar6Offer,
            /// Ar6: a started hold is taken back.
            Ar6Started,
            /// Ar4 to Ar6: refused, another hold or none.
            ArStaleGrant,
            /// Ar7: its host is gone.
            Ar7HostGone,
            /// Ar7: an offer is accepted.
            Ar7Accepted,
            /// Ar7: chunks are signed off.
            Ar7Merged,
            /// Ar7: an offer is given back.
            Ar7OfferGivenBack,
            /// Ar7: a started hold is given back, by a stand-down.
            Ar7StoodDown,
            /// Ar7: a started hold is given back, by an asking.
            Ar7AsksAgain,
            /// Ar7: an offer has not been seen.
            Ar7NotSeen,
            /// Ar7: the acceptance of an earlier offer.
            Ar7OldAcceptance,
            /// Ar7: approved.
            Ar7Approved,
            /// Ar7: a clean end, and a chunk is missing.
            Ar7Missing,
            /// Ar7: a build that has failed.
            Ar7Failed,
            /// Ar7: a build that was abandoned.
            Ar7Abandoned,
            /// Ar5: a cancelled build blocks its version.
            Ar5Blocks,
            /// Ar5: a cancelled build is to be made again.
            Ar5Again,
            /// Ar8: the first asker is alive, and is offered the job.
            Ar8Elected,
            /// Ar8: a suspect is offered the job.
            Ar8Suspect,
            /// Ar8: one that was passed over is offered the job.
            Ar8PassedOver,
            /// Ar8: nobody asks.
            Ar8Nobody,
            /// Ca0: reads that it is gone.
            Ca0Gone,
            /// St3: reads a word of its own that it has not said.
            St3ForeignWord,
            /// Ca0: gone, its build is stopped first.
            Ca0StopsFirst,
            /// Ca0: its build has stopped.
            Ca0Stopped,
            /// Ca1: asks.
            Ca1Asks,
            /// Ca1: asked while it asks or works.
            Ca1AsksAlready,
            /// Ca2: its version is approved.
            Ca2Approved,
            /// Ca2: an offer that answers its asking.
            Ca2Offered,
            /// Ca2: the offer has gone while it was planned for.
            Ca2OfferGone,
            /// Ca3: approved by another's build.
            Ca3Approved,
            /// Ca3: cancelled before the start.
            Ca3Cancelling,
            /// Ca3: started.
            Ca3Started,
            /// Ca3: its acceptance has not been folded.
            Ca3Waits,
            /// Ca3: withdrawn.
            Ca3Withdrawn,
            /// Ca4: a chunk is signed off.
            Ca4SignedOff,
            /// Ca4: a chunk is signed off in silence, while the build is stopped.
            Ca4SignedOffInSilence,
            /// Ca4: cancels what it builds.
            Ca4Cancels,
            /// Ca4: reports an end.
            Ca4Reports,
            /// Ca5: its report is not acknowledged.
            Ca5Holds,
            /// Ca5: stands down, acknowledged.
            Ca5StandsDown,
            /// Ca5: asks again, acknowledged.
            Ca5AsksAgain,
            /// Ca6: stands down at once.
            Ca6StandsDown,
            /// Ca6: stops its build first.
            Ca6StopsFirst,
            /// Ca6: notes the wish.
            Ca6Noted,
            /// Ca6: lets its build end.
            Ca6After,
            /// Ca7: comes back.
            Ca7ComesBack,
            /// Ar9: refused, a view that is not newer.
            Ar9OldView,
            /// Ar9: refused, a view for another life.
            Ar9NotMine,
            /// Ex1: a cancel of what is pending.
            Ex1CancelledPending,
            /// Ex1: a cancel of what is under way.
            Ex1CancelledUnderWay,
            /// Ex1: cut short, and pending again.
            Ex1Interrupted,
            /// Ex2, Ex4: the gate is open, and it is counted.
            Ex4Counted,
            /// Ex4: the gate is closed, and it is parked.
            Ex4Parked,
            /// Ex4: the undrain wakes what is parked.
            Ex4Woken,
            /// Ex3: artifacts stored.
            Ex3Artifacts,
            /// Ex3: status recorded.
            Ex3Recorded,
            /// Ex3: drain declared.
            Ex3Declared,
            /// Ex3: removed from the current set.
            Ex3Removed,
            /// Ex3: slot released.
            Ex3Released,
            /// Ex3: drained is said.
            Ex3Drained,
            /// Ex5: what was cut is queued again.
            Ex5Requeued,
            /// Ex5: what was pending stays.
            Ex5Pending,
            /// Ex5: what a grant had handed out is dropped.
            Ex5Dropped,
            /// Ex5: what has ended stays.
            Ex5Ended,
            /// Ex7: a boot finds a drain that lasts.
            Ex7Lasts,
            /// Ex7: a boot finds a drain that is over.
            Ex7Over,
            /// Ex7: a boot declares what a success owes.
            Ex7Owed,
            /// Ex7: what a success owes is over, or not heeded.
            Ex7NotOwed,
            /// Ex6: what in-flight work waits for passes.
            Ex6Passes,
            /// Ex6: refused, the id is known.
            Ex6Known,
            /// Ex6: refused, the parent is not in flight.
            Ex6NoParent,
            /// Ex7: declared.
            Ex7Declared,
            /// Ex7: a stronger request.
            Ex7Strengthened,
            /// Ex7: refused, not stronger.
            Ex7Refused,
            /// Ex7: refused, there is no drain.
            Ex7NotDraining,
            /// Ex7: the deadline interrupts.
            Ex7Interrupts,
            /// Ex7: the deadline undrains.
            Ex7Undrains,
            /// Ex7: the deadline is reported.
            Ex7Reports,
            /// Ex1: refused, it has ended.
            Ex1Ended,
            /// Ex1: refused, it is not known.
            Ex1NotKnown,
            /// Ex1: refused, it is being cancelled.
            Ex1Cancelling,
            /// Ho1: reserved, and accepted.
            Ho1Reserved,
            /// Ho1: no slot is free: declined.
            Ho1Declined,
            /// Ho1: its turn: reserved, and asked.
            Ho1Turn,
            /// Ho3: the drain is told to the candidate.
            Ho3Told,
            /// Ho3: the undrain is told to the candidate.
            Ho3AsksAgain,
            /// Ho4: drained, with its candidate at rest.
            Ho4Drained,
            /// Ho5: a reservation is released.
            Ho5Released,
        }
        Elsewhere {
            /// Ar9: the record was replaced by another.
            Ar9OtherRecord,
            /// Ar9: refused, a view of a later format.
            Ar9NewerFormat,
            /// Dr3: a step that failed, or may have, is due again.
            Dr3Again,
        }
        Never {
            /// Ar1: refused, an incarnation has one version.
            Ar1VersionChanged,
            /// Ar1: about the hold's grant, by another host.
            Ar1NotHolder,
            /// Ar1: a chunk outside the plan.
            Ar1UnknownChunk,
            /// Ar7: an approval stands, and its version was held.
            Ar7ApprovalStands,
            /// Ex4: the candidate finds the gate closed. A host takes it out of the queue in the
            /// step that declares the drain.
            Ex4CandidateParked,
            /// Ho1: the gate is closed, and the candidate was not told.
            Ho1Closed,
            /// Ho2: the gate is closed at the start, and the candidate was not told.
            Ho2Closed,
        }
    }

    static HIT: [AtomicBool; Mark::ALL.len()] = [const { AtomicBool::new(false) }; Mark::ALL.len()];

    impl Mark {
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
