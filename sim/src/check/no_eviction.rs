//! `NoEviction`: a started hold of a live host in accepted, building or finished is never taken
//! back.
//!
//! It goes by its host's own report, by an operator's revocation, or with its host. A host that
//! cancels, asks or has stood down has itself said otherwise. Carried by St1 and St2 (no old word
//! undoes a newer one), Ar1, Ar2 and Ar7 (silence and suspicion take nothing back).

use handover_core::{GrantId, Hold, Input, Phase, Standing};

use super::{Commit, Property, Transition, Violation, demand};
use crate::world::World;

pub(super) fn check(step: &Transition<'_>) -> Result<(), Violation> {
    step.commits()
        .try_for_each(|commit| judge(step.after, &commit))
}

fn judge(world: &World, commit: &Commit<'_>) -> Result<(), Violation> {
    let Some(hold) = commit.before.hold().filter(|hold| hold.is_started()) else {
        return Ok(());
    };
    let stays = commit.after.hold().is_some_and(|after| {
        after.grant == hold.grant && after.host == hold.host && after.is_started()
    });
    let goes = commit.input.is_some_and(|input| ends(input, hold))
        || commit.after.is_gone(&hold.host)
        || world.history().revoked.contains(&hold.grant);
    if stays || goes {
        return Ok(());
    }
    let holder = world.by_id(&hold.host).map(|who| world.process(who));
    let works = holder
        .is_some_and(|holder| holder.lives() && works_under(holder.phase()) == Some(hold.grant));
    demand(Property::NoEviction, !works, || {
        let held = world.hold_label(hold);
        format!("{held} was taken back, and its host lives and works under it")
    })
}

/// Is this the holder's own report, or the operator's force?
fn ends(input: &Input, hold: &Hold) -> bool {
    match input {
        Input::Statement(statement) => {
            let reports = matches!(
                &statement.standing,
                Standing::Finished { grant, .. } if *grant == hold.grant
            );
            reports && statement.host == hold.host
        }
        Input::Revoke { grant, .. } => *grant == hold.grant,
        Input::Gone(_) | Input::Retry { .. } | Input::Lapse { .. } | Input::Cancel { .. } => false,
    }
}

fn works_under(phase: Phase) -> Option<GrantId> {
    match phase {
        Phase::Accepted { grant } | Phase::Building { grant } | Phase::Finished { grant } => {
            Some(grant)
        }
        Phase::Idle
        | Phase::Asking
        | Phase::Planning { .. }
        | Phase::Cancelling { .. }
        | Phase::StoodDown
        | Phase::Expelled { .. } => None,
    }
}
