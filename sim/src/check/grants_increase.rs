//! `GrantsIncrease`: each hand-over has a grant above all before.
//!
//! So do the revisions, and no number is given out twice: a grant is the fencing token of its
//! build. Carried by Ar8.

use super::{Around, Commit, Property, Transition, Violation, demand};
use crate::mark::mark;

pub(super) fn check(step: &Transition<'_>) -> Result<(), Violation> {
    step.commits().try_for_each(|commit| judge(step.after, &commit))
}

pub(super) fn judge(world: &dyn Around, commit: &Commit<'_>) -> Result<(), Violation> {
    let (before, after) = (commit.before, commit.after);
    let (old, new) = (before.revision(), after.revision());
    demand(Property::GrantsIncrease, new > old, || format!("{old} was followed by {new}"))?;
    let (old, new) = (before.next_grant(), after.next_grant());
    demand(Property::GrantsIncrease, new >= old, || {
        format!("the next grant was {old} and is {new}")
    })?;
    let (old, new) = (before.next_ticket(), after.next_ticket());
    demand(Property::GrantsIncrease, new >= old, || {
        format!("the next ticket was {old} and is {new}")
    })?;
    let Some(hold) = after.hold() else {
        return Ok(());
    };
    let kept = before.hold().is_some_and(|before| {
        before.grant == hold.grant && before.host == hold.host && before.version == hold.version
    });
    let fresh = hold.grant >= before.next_grant() && hold.grant < after.next_grant();
    if fresh {
        mark!(GrantsIncreaseFresh);
    }
    demand(Property::GrantsIncrease, kept || fresh, || {
        let held = world.hold_label(hold);
        format!("{held} has a grant that was given before; {} is next", before.next_grant())
    })
}

#[cfg(test)]
mod tests {
    use handover_core::{GrantId, RecordParts, Ticket};

    use super::*;
    use crate::check::testing::{Made, approved, building, judge_to_rest};
    use crate::world::World;

    const PROPERTY: Property = Property::GrantsIncrease;

    /// A world in which nine grants and nine tickets were given out.
    fn counted(mut world: World) -> World {
        world.edit_record(|parts| {
            parts.next_grant = GrantId(9);
            parts.next_ticket = Ticket(9);
        });
        world
    }

    fn hold_under(grant: u64) -> impl FnOnce(&mut RecordParts) {
        move |parts| {
            parts.hold.as_mut().expect("a builds").grant = GrantId(grant);
            parts.next_grant = GrantId(grant.max(8) + 1);
        }
    }

    #[test]
    fn a_rollout_gives_out_growing_numbers() {
        judge_to_rest(building(), PROPERTY).expect("it holds");
    }

    #[test]
    fn a_revision_that_does_not_grow_breaks_it() {
        let world = approved();
        let revision = world.committed().revision();
        let made = Made::committing(&world, None, |parts| parts.revision = revision);
        made.breaks(PROPERTY, &format!("{revision} was followed by {revision}"));
    }

    #[test]
    fn a_counter_that_shrinks_breaks_it() {
        let world = counted(approved());
        let made = Made::committing(&world, None, |parts| parts.next_grant = GrantId(8));
        made.breaks(PROPERTY, "the next grant was g9 and is g8");
        let made = Made::committing(&world, None, |parts| parts.next_ticket = Ticket(8));
        made.breaks(PROPERTY, "the next ticket was t9 and is t8");
    }

    #[test]
    fn a_grant_that_is_given_twice_breaks_it() {
        let world = counted(building());
        Made::committing(&world, None, hold_under(9)).holds(PROPERTY);
        let why = "Started(a, g5) has a grant that was given before; g9 is next";
        Made::committing(&world, None, hold_under(5)).breaks(PROPERTY, why);
    }
}
