//! `SingleBuilder`: nobody but the holder builds under the hold's grant, and at most one host that
//! is not gone builds.
//!
//! A build lasts from its start to the driver's word that it has stopped. One whose grant was
//! revoked after its start does not count until it has stopped: that is what a revocation costs
//! (Ar6). Carried by St2, Ar1, Ar7, Ar9, Ca3 and Ca4.

use handover_core::GrantId;

use super::{Property, Transition, Violation};
use crate::world::{Fact, Who, World};

pub(super) fn check(step: &Transition<'_>) -> Result<(), Violation> {
    if !step.facts.iter().any(concerns) {
        return Ok(());
    }
    let world = step.after;
    let building = builds(world);
    let hold = world.committed().hold();
    for (who, grant) in &building {
        if let Some(hold) = hold.filter(|hold| hold.grant == *grant)
            && hold.host != *world.process(*who).host.id()
        {
            let (label, held) = (world.label(*who), world.hold_label(hold));
            let why = format!("{label} builds under {grant}, and the record says {held}");
            return Err(Violation::new(Property::SingleBuilder, why));
        }
    }
    if let [(first, one), (second, other), ..] = building[..] {
        let (first, second) = (world.label(first), world.label(second));
        let why = format!("{first} builds under {one} and {second} builds under {other}");
        return Err(Violation::new(Property::SingleBuilder, why));
    }
    Ok(())
}

/// Only these bring a build about, or change who may build.
fn concerns(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::Moved { .. } | Fact::BuildRuns { .. } | Fact::Committed { .. }
    )
}

/// The builds under a grant that count: on living hosts that are not gone, not revoked.
fn builds(world: &World) -> Vec<(Who, GrantId)> {
    let counts = |(who, grant): &(Who, GrantId)| {
        !world.history().revoked.contains(grant)
            && !world.committed().is_gone(world.process(*who).host.id())
    };
    let builds = world.processes().filter(|(_, process)| process.lives());
    builds
        .flat_map(|(who, process)| process.granted_builds().map(move |grant| (who, grant)))
        .filter(counts)
        .collect()
}
