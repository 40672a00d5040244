//! `NoLivelock`: no cycle without faults avoids convergence.
//!
//! Judged by a bound: a calm world that has not come to rest after far more steps than any rollout
//! needs never will. Carried by St2, Ar4, Ar8, Ca5 and Ho1.

use super::{Property, Violation};
use crate::world::World;

/// Steps after which a calm world that has not come to rest never will: each host takes part in
/// at most a few hand-overs of a few dozen steps.
pub(super) fn bound(world: &World) -> usize {
    let hosts = world.processes().count();
    1_000 + 200 * hosts * hosts
}

/// What is said of a world that goes on after so many steps.
pub(super) fn endless(steps: usize) -> Violation {
    let why = format!("after {steps} calm steps it still goes on");
    Violation::new(Property::NoLivelock, why)
}
