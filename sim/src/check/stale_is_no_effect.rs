//! `StaleIsNoEffect`: a statement about another grant changes neither hold nor verdicts.
//!
//! Nor does one about the hold's grant by another host. Carried by Ar1 (the line is replaced, so
//! that it is acknowledged) and Ar7 (a line about another grant leaves an offer alone).

use handover_core::{GrantId, Hold, Input, Statement};

use super::{Around, Commit, Property, Transition, Violation, demand};
use crate::mark::mark;

pub(super) fn check(step: &Transition<'_>) -> Result<(), Violation> {
    step.commits().try_for_each(|commit| judge(step.after, &commit))
}

pub(super) fn judge(world: &dyn Around, commit: &Commit<'_>) -> Result<(), Violation> {
    let Some(Input::Statement(statement)) = commit.input else {
        return Ok(());
    };
    let Some(grant) = statement.standing.grant() else {
        return Ok(());
    };
    if speaks_of(statement, grant, commit.before.hold()) {
        return Ok(());
    }
    mark!(StaleIsNoEffectStale);
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

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use handover_core::{RecordParts, Standing};

    use super::*;
    use crate::check::testing::{A, B, G1, Made, approved, building, judge_to_rest, saying};
    use crate::world::{Who, World};

    const PROPERTY: Property = Property::StaleIsNoEffect;

    fn building_under(world: &World, who: Who, grant: GrantId) -> Option<Input> {
        let signed_off = BTreeMap::new();
        Some(saying(world, who, Standing::Building { grant, signed_off }))
    }

    fn nothing(_: &mut RecordParts) {}

    fn take_back(parts: &mut RecordParts) {
        parts.hold = None;
    }

    #[test]
    fn a_rollout_heeds_no_stale_word() {
        judge_to_rest(building(), PROPERTY).expect("it holds");
    }

    #[test]
    fn a_word_about_another_grant_that_moves_the_hold_breaks_it() {
        let world = building();
        let stale = building_under(&world, A, G1.next());
        Made::committing(&world, stale.clone(), nothing).holds(PROPERTY);
        let why = "Building(g2) seq=4 of a changed the record, which said Started(a, g1)";
        Made::committing(&world, stale, take_back).breaks(PROPERTY, why);
    }

    #[test]
    fn a_word_about_anothers_hold_that_moves_it_breaks_it() {
        let world = building();
        let foreign = building_under(&world, B, G1);
        let why = "Building(g1) seq=2 of b changed the record, which said Started(a, g1)";
        Made::committing(&world, foreign, take_back).breaks(PROPERTY, why);
    }

    #[test]
    fn a_word_about_a_past_grant_that_moves_a_verdict_breaks_it() {
        let world = approved();
        let plan = BTreeSet::new();
        let said = saying(&world, A, Standing::Accepted { grant: G1, plan });
        let made = Made::committing(&world, Some(said), |parts| parts.verdicts.clear());
        assert!(made.judge(PROPERTY).is_err());
    }

    #[test]
    fn the_holders_own_word_and_one_about_no_grant_may_move_it() {
        let world = building();
        let own = building_under(&world, A, G1);
        Made::committing(&world, own, take_back).holds(PROPERTY);
        let leaves = Some(saying(&world, A, Standing::StoodDown));
        Made::committing(&world, leaves, take_back).holds(PROPERTY);
    }
}
