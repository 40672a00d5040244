//! `StaleIsNoEffect`: a statement about another grant changes neither hold nor verdicts.
//!
//! Nor does one about the hold's grant by another host. Carried by Ar1 (the line is replaced, so
//! that it is acknowledged) and Ar7 (a line about another grant leaves an offer alone).

use handover_core::{GrantId, Hold, Input, Statement};

use super::{Commit, Property, Transition, Violation, demand};
use crate::world::World;

pub(super) fn check(step: &Transition<'_>) -> Result<(), Violation> {
    step.commits()
        .try_for_each(|commit| judge(step.after, &commit))
}

fn judge(world: &World, commit: &Commit<'_>) -> Result<(), Violation> {
    let Some(Input::Statement(statement)) = commit.input else {
        return Ok(());
    };
    let Some(grant) = statement.standing.grant() else {
        return Ok(());
    };
    if speaks_of(statement, grant, commit.before.hold()) {
        return Ok(());
    }
    let unchanged = commit.before.hold() == commit.after.hold()
        && commit.before.verdicts().eq(commit.after.verdicts());
    demand(Property::StaleIsNoEffect, unchanged, || {
        let host = world.host_label(&statement.host);
        let before = commit.hold_before(world);
        format!("{statement} of {host} changed the record, which said {before}")
    })
}

/// Is it the holder's word about the hold?
fn speaks_of(statement: &Statement, grant: GrantId, hold: Option<&Hold>) -> bool {
    hold.is_some_and(|hold| hold.grant == grant && hold.host == statement.host)
}
