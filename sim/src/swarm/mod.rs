//! Many seeds over a large rollout: what they break, and what a clean run is worth.
//!
//! A seed makes a run by itself: it draws the rollout within the [`Settings`], the faults, the
//! delays, and the schedule by its [`Strategy`]. First faults strike; then all faults end, and the
//! world has to converge.

use crate::choose::{WalkReport, walk_by};
use crate::variants::Protocol;

pub use crate::choose::Strategy;
pub use crate::choose::WalkSettings as Settings;

/// Runs one seed.
#[must_use]
pub fn run_seed(
    seed: u64,
    settings: &Settings,
    strategy: Strategy,
    protocol: &'static dyn Protocol,
) -> WalkReport {
    walk_by(seed, settings, strategy, protocol)
}
