//! `NoWedge`: from every reachable state, with faults off, a converged state can be reached.
//!
//! Judged at rest: where nothing can happen any more, the rollout has to have come to its end.
//! Broken in Systemorph/MeshWeaver#3567, where the record named a host that was alive and idle for
//! ever. Carried by St2, Ar2, Ar7, Ar8, Ca0, Ca5, Ca6, Ho1, Ho5 and Dr1 to Dr5.

use super::{Property, Violation};
use crate::world::World;

/// Demands that a world in which nothing more happens has converged.
///
/// # Errors
/// The violation, with all that is stuck.
pub(super) fn at_rest(world: &World) -> Result<(), Violation> {
    let stuck = world.stuck();
    if stuck.is_empty() {
        return Ok(());
    }
    let stuck: Vec<String> = stuck.into_iter().map(|stuck| stuck.0).collect();
    Err(Violation::new(Property::NoWedge, stuck.join("; ")))
}
