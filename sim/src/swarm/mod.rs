//! Many seeds over a large rollout: what they break, and what a clean run is worth.
//!
//! A seed makes a run by itself: it draws the rollout within the [`Settings`], the faults, the
//! delays, and the schedule by its [`Strategy`]. First faults strike; then all faults end, and the
//! world has to converge. What many seeds come to ([`Tally`]) does not depend on how they were
//! shared out, over threads or over machines.

mod decisive;
mod group;
mod novelty;
mod retell;
mod run;
mod shard;
mod sketch;
mod tally;

pub use group::{Cause, Group};
pub use novelty::Novelty;
pub use retell::Retold;
pub use run::{Ran, Swarm};
pub use shard::Shard;
pub use sketch::Sketch;
pub use tally::{End, Failed, KEPT_MAX, Tally};

pub use crate::choose::WalkSettings as Settings;
pub use crate::choose::{PctBound, Plan, Strategy};
use crate::choose::{WalkReport, walk_by};
use crate::variants::Protocol;

/// Runs one seed. Where many are run, a [`Plan`] that is made once spares each its preparation.
#[must_use]
pub fn run_seed(
    seed: u64,
    settings: &Settings,
    strategy: Strategy,
    protocol: &'static dyn Protocol,
) -> WalkReport {
    walk_by(seed, &Plan::new(settings, strategy, protocol))
}
