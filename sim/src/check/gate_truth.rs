//! `GateTruth`: an open gate implies `Approved` in the committed record, and approvals never go,
//! neither from the record nor from a process that has been shown one.
//!
//! Carried by Ar7 (an approval is never overwritten), Ar9 (views come from what is committed) and
//! Ca8 (the gate is what the view shows).

use super::{Commit, Property, Transition, Violation, demand};
use crate::mark::mark;
use crate::world::{Process, Who, World};

pub(super) fn check(step: &Transition<'_>) -> Result<(), Violation> {
    step.commits().try_for_each(|commit| approvals_stay(&commit))?;
    let living = step.touched().filter(|(_, _, process)| process.lives());
    for (who, before, process) in living {
        if process.host.gate().is_open() {
            gate_is_true(step.after, who, process)?;
        } else {
            let was_open = before.is_some_and(|before| before.host.gate().is_open());
            demand(Property::GateTruth, !was_open, || {
                format!("the gate of {} has closed again", step.after.label(who))
            })?;
        }
    }
    Ok(())
}

pub(super) fn approvals_stay(commit: &Commit<'_>) -> Result<(), Violation> {
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
    mark!(GateTruthOpen);
    let version = process.host.version();
    let verdict = world.committed().verdict(version);
    let approved = verdict.is_some_and(|verdict| verdict.is_approved());
    demand(Property::GateTruth, approved, || {
        let label = world.label(who);
        format!("the gate of {label} is open, and {version} is not approved in the record")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::{A, Made, approved, building, judge_to_rest};

    const PROPERTY: Property = Property::GateTruth;

    #[test]
    fn a_rollout_opens_true_gates() {
        let rested = judge_to_rest(building(), PROPERTY).expect("it holds");
        assert!(rested.process(A).host.gate().is_open());
    }

    #[test]
    fn an_approval_that_goes_breaks_it() {
        let made = Made::committing(&approved(), None, |parts| parts.verdicts.clear());
        made.breaks(PROPERTY, "Approved(g1) of v1 has become nothing");
    }

    #[test]
    fn an_open_gate_without_an_approval_breaks_it() {
        let mut world = approved();
        world.edit_record(|parts| parts.verdicts.clear());
        let why = "the gate of a is open, and v1 is not approved in the record";
        Made::changing(&world, A, |process| process.slow = 2).breaks(PROPERTY, why);
    }

    #[test]
    fn a_dead_process_has_no_gate() {
        let mut world = approved();
        world.edit_record(|parts| parts.verdicts.clear());
        let dies = |process: &mut Process| process.life = crate::world::Life::Crashed;
        Made::changing(&world, A, dies).holds(PROPERTY);
    }
}
