//! `GrantsIncrease`: each hand-over has a grant above all before.
//!
//! So do the revisions, and no number is given out twice: a grant is the fencing token of its
//! build. Carried by Ar8.

use super::{Commit, Property, Transition, Violation, demand};
use crate::world::World;

pub(super) fn check(step: &Transition<'_>) -> Result<(), Violation> {
    step.commits()
        .try_for_each(|commit| judge(step.after, &commit))
}

fn judge(world: &World, commit: &Commit<'_>) -> Result<(), Violation> {
    let (before, after) = (commit.before, commit.after);
    let (old, new) = (before.revision(), after.revision());
    demand(Property::GrantsIncrease, new > old, || {
        format!("{old} was followed by {new}")
    })?;
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
    demand(Property::GrantsIncrease, kept || fresh, || {
        let held = world.hold_label(hold);
        format!(
            "{held} has a grant that was given before; {} is next",
            before.next_grant()
        )
    })
}
