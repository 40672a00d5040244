//! `GateTruth`: an open gate implies `Approved` in the committed record, and approvals never go.
//!
//! Carried by Ar7 (an approval is never overwritten), Ar9 (views come from what is committed) and
//! Ca8 (the gate is what the view shows).

use super::{Commit, Property, Transition, Violation, demand};
use crate::world::{Process, Who, World};

pub(super) fn check(step: &Transition<'_>) -> Result<(), Violation> {
    step.commits()
        .try_for_each(|commit| approvals_stay(&commit))?;
    step.touched()
        .try_for_each(|(who, _, process)| gate_is_true(step.after, who, process))
}

fn approvals_stay(commit: &Commit<'_>) -> Result<(), Violation> {
    for (version, verdict) in commit.before.verdicts() {
        let stays = !verdict.is_approved() || commit.after.verdict(version) == Some(verdict);
        demand(Property::GateTruth, stays, || {
            let now = commit.after.verdict(version);
            let now = now.map_or_else(|| "nothing".into(), ToString::to_string);
            format!("{verdict} of {version} has become {now}")
        })?;
    }
    Ok(())
}

fn gate_is_true(world: &World, who: Who, process: &Process) -> Result<(), Violation> {
    if !process.lives() || !process.host.gate().is_open() {
        return Ok(());
    }
    let version = process.host.version();
    let verdict = world.committed().verdict(version);
    let approved = verdict.is_some_and(|verdict| verdict.is_approved());
    demand(Property::GateTruth, approved, || {
        let label = world.label(who);
        format!("the gate of {label} is open, and {version} is not approved in the record")
    })
}
