//! What is played: each scene sets a cluster up, does to it what it is named for, and demands that
//! it comes to its end. When, how long and what else goes wrong is drawn from the seed.

mod builder;
mod chaos;
mod drain;
mod origin;
mod rollout;
mod store;
mod verdict;

use std::future::Future;
use std::pin::Pin;

use crate::cluster::Cluster;
use crate::judge::Failure;

/// What is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scene {
    /// Eight hosts go from v1 to v2, each drained first, in any weather.
    RollingUpdate,
    /// The builder dies in each phase that it goes through.
    BuilderDies,
    /// A builder freezes, is declared gone, wakes and finishes.
    FrozenBuilder,
    /// A builder is slow, and suspected: nobody takes the job from it.
    SlowBuilder,
    /// The store dies while it commits, and comes back with what was committed.
    StoreRestarts,
    /// Half of the hosts cannot reach the store for a while.
    CutInHalf,
    /// Builds of a version fail, until it is repaired and an operator says so.
    FailsThenRetried,
    /// A build hangs, and an operator cancels it.
    HungBuild,
    /// A stand-down crosses the offer (MeshWeaver#3567).
    CrossedStandDown,
    /// The second build in a row reports (MeshWeaver#4708).
    SecondApproval,
    /// A deployment ends while another build waits for its slot (Werkator PR 66).
    SlotBeforeDrain,
    /// A host is drained while its build hangs: the deadline passes, and what ends its process
    /// follows.
    DrainedAtDeadline,
    /// The store is restored from a backup: whoever has read more refuses it.
    StoreRestored,
    /// Disks are lost in a rolling update: the books of hosts, and counters of incarnations.
    DisksLost,
    /// Whatever can go wrong goes wrong at any moment of a rolling update.
    Anything,
}

type Played<'a> = Pin<Box<dyn Future<Output = Result<(), Failure>> + 'a>>;

impl Scene {
    /// All.
    pub const ALL: [Self; 15] = [
        Self::RollingUpdate,
        Self::BuilderDies,
        Self::FrozenBuilder,
        Self::SlowBuilder,
        Self::StoreRestarts,
        Self::CutInHalf,
        Self::FailsThenRetried,
        Self::HungBuild,
        Self::CrossedStandDown,
        Self::SecondApproval,
        Self::SlotBeforeDrain,
        Self::DrainedAtDeadline,
        Self::StoreRestored,
        Self::DisksLost,
        Self::Anything,
    ];

    /// Its name in reports and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::RollingUpdate => "rolling-update",
            Self::BuilderDies => "builder-dies",
            Self::FrozenBuilder => "frozen-builder",
            Self::SlowBuilder => "slow-builder",
            Self::StoreRestarts => "store-restarts",
            Self::CutInHalf => "cut-in-half",
            Self::FailsThenRetried => "fails-then-retried",
            Self::HungBuild => "hung-build",
            Self::CrossedStandDown => "crossed-stand-down",
            Self::SecondApproval => "second-approval",
            Self::SlotBeforeDrain => "slot-before-drain",
            Self::DrainedAtDeadline => "drained-at-deadline",
            Self::StoreRestored => "store-restored",
            Self::DisksLost => "disks-lost",
            Self::Anything => "anything",
        }
    }

    pub(crate) fn play(self, cluster: &mut Cluster, hosts: usize) -> Played<'_> {
        match self {
            Self::RollingUpdate => Box::pin(rollout::rolling_update(cluster, hosts)),
            Self::BuilderDies => Box::pin(builder::builder_dies(cluster)),
            Self::FrozenBuilder => Box::pin(builder::frozen_builder(cluster)),
            Self::SlowBuilder => Box::pin(builder::slow_builder(cluster)),
            Self::StoreRestarts => Box::pin(store::store_restarts(cluster)),
            Self::CutInHalf => Box::pin(store::cut_in_half(cluster)),
            Self::FailsThenRetried => Box::pin(verdict::fails_then_retried(cluster)),
            Self::HungBuild => Box::pin(verdict::hung_build(cluster)),
            Self::CrossedStandDown => Box::pin(origin::crossed_stand_down(cluster)),
            Self::SecondApproval => Box::pin(origin::second_approval(cluster)),
            Self::SlotBeforeDrain => Box::pin(origin::slot_before_drain(cluster)),
            Self::DrainedAtDeadline => Box::pin(drain::drained_at_deadline(cluster)),
            Self::StoreRestored => Box::pin(store::store_restored(cluster)),
            Self::DisksLost => Box::pin(chaos::disks_lost(cluster)),
            Self::Anything => Box::pin(chaos::anything(cluster)),
        }
    }
}
