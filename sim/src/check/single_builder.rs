//! `SingleBuilder`: nobody but the holder builds under the hold's grant, and at most one host that
//! is not gone builds.
//!
//! A build lasts from its start to the driver's word that it has stopped. One whose grant was
//! revoked after its start does not count until it has stopped: that is what a revocation costs
//! (Ar6). Carried by St2, Ar1, Ar7, Ar9, Ca3 and Ca4.

use handover_core::GrantId;

use super::{Property, Transition, Violation};
use crate::mark::mark;
use crate::world::{Fact, Who, World};

pub(super) fn check(step: &Transition<'_>) -> Result<(), Violation> {
    if !concerned(step) {
        return Ok(());
    }
    let world = step.after;
    let building = builds(world);
    let hold = world.committed().hold();
    for (who, grant) in &building {
        mark!(SingleBuilderBuilds);
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

/// Only a commit changes who may build, and only who has moved or begun builds who did not.
fn concerned(step: &Transition<'_>) -> bool {
    step.facts.iter().any(|fact| match fact {
        Fact::Committed { .. } => true,
        Fact::Moved { who, .. } | Fact::BuildRuns { who, .. } => {
            step.after.process(*who).granted_builds().next().is_some()
        }
        Fact::Said { .. }
        | Fact::Lost { .. }
        | Fact::Gate { .. }
        | Fact::Refused { .. }
        | Fact::Conflicted { .. }
        | Fact::AnswerLost { .. }
        | Fact::Published { .. }
        | Fact::Restarted { .. }
        | Fact::Read { .. }
        | Fact::Ordered { .. }
        | Fact::Performed { .. }
        | Fact::PutOff { .. }
        | Fact::BuildEnded { .. }
        | Fact::BuildStopped { .. }
        | Fact::Declined { .. }
        | Fact::Booted { .. }
        | Fact::CameBack { .. }
        | Fact::Crashed { .. }
        | Fact::Exited { .. }
        | Fact::Alarm { .. } => false,
    })
}

/// How many builds of a world count.
pub(crate) fn counted_builds(world: &World) -> usize {
    builds(world).len()
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

#[cfg(test)]
mod tests {
    use handover_core::Work;

    use super::*;
    use crate::check::testing::{B, G1, Made, building, judge_to_rest, run};

    const G9: GrantId = GrantId(9);

    /// While `a` builds under `g1`, `b` begins to build.
    fn second(grant: GrantId) -> Made {
        let work = Work::Granted(grant);
        let mut made = Made::changing(&building(), B, |process| run(process, work.clone()));
        made.facts.push(Fact::BuildRuns { who: B, work });
        made
    }

    #[test]
    fn a_rollout_has_one_builder() {
        judge_to_rest(building(), Property::SingleBuilder).expect("it holds");
    }

    #[test]
    fn two_builders_break_it() {
        let why = "a builds under g1 and b builds under g9";
        second(G9).breaks(Property::SingleBuilder, why);
    }

    #[test]
    fn a_builder_who_is_not_the_holder_breaks_it() {
        let why = "b builds under g1, and the record says Started(a, g1)";
        second(G1).breaks(Property::SingleBuilder, why);
    }

    #[test]
    fn a_revoked_build_does_not_count() {
        let mut made = second(G9);
        made.after.edit_history(|history| {
            history.revoked.insert(G9);
        });
        made.holds(Property::SingleBuilder);
    }
}
