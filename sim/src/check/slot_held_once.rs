//! `SlotHeldOnce`: a slot is held exactly in the states that need it.
//!
//! Neither lost nor made, reserved for the candidate exactly from its acceptance to its start (or
//! from its turn to the answer to its asking), and held by whatever really runs. Carried by Ex4,
//! Ho1 and Ho5. Broken in PrefectHQ/prefect#22580, where count and holders differed.

use handover_core::Phase;
use handover_core::executor::Stage;

use super::{Property, Transition, Violation};
use crate::mark::mark;
use crate::world::Process;

pub(super) fn check(step: &Transition<'_>) -> Result<(), Violation> {
    for (who, _, process) in step.touched() {
        if let Some(why) = miscounted(process).filter(|_| process.lives()) {
            let why = format!("on {} {why}", step.after.label(who));
            return Err(Violation::new(Property::SlotHeldOnce, why));
        }
    }
    Ok(())
}

fn miscounted(process: &Process) -> Option<String> {
    let executor = process.host.executor();
    let (free, held, slots) = (executor.slots_free(), executor.slots_held(), executor.slots());
    if free + held != slots {
        return Some(format!("{free} slots are free and {held} held, of {slots}"));
    }
    let needed = reservation(process);
    if needed == Some(true) {
        mark!(SlotHeldOnceReserved);
    }
    if !process.builds.is_empty() {
        mark!(SlotHeldOnceRuns);
    }
    if needed.is_some_and(|needed| needed != executor.has_reservation()) {
        let phase = process.phase();
        let verb = if needed == Some(true) { "lacks" } else { "has" };
        return Some(format!("the candidate is {phase} and {verb} a reservation"));
    }
    let holds = |stage: Option<Stage>| stage.is_some_and(Stage::needs_slot);
    let mut running = process.builds.keys();
    let without = running.find(|work| !holds(executor.stage(work)));
    without.map(|work| format!("{work} runs without a slot"))
}

/// Whether a slot has to be reserved; none where the turn in the queue decides it.
fn reservation(process: &Process) -> Option<bool> {
    let candidate = process.host.candidate();
    match candidate.phase() {
        Phase::Accepted { .. } => Some(true),
        // Once its asking is answered, it has an offer or the slot is released.
        Phase::Asking => candidate.is_acknowledged().then_some(false),
        Phase::Planning { .. } => None,
        Phase::Idle
        | Phase::Building { .. }
        | Phase::Cancelling { .. }
        | Phase::Finished { .. }
        | Phase::StoodDown
        | Phase::Expelled { .. } => Some(false),
    }
}

#[cfg(test)]
mod tests {
    use handover_core::{Executor, Host, Settings};

    use super::*;
    use crate::check::testing::{
        A, B, Made, after, building, edit_executor, judge_to_rest, local, queueing, run, two, until,
    };
    use crate::world::{Event, World};

    const PROPERTY: Property = Property::SlotHeldOnce;

    fn changing(world: &World, edit: impl FnOnce(&mut Process)) -> Made {
        Made::changing(world, A, edit)
    }

    /// The host of these fields with its only slot reserved, whatever its candidate is in.
    fn reserving(host: &Host) -> Host {
        let mut fields = serde_json::to_value(host).expect("a host is data");
        fields["executor"]["reserved"] = true.into();
        fields["executor"]["free"] = 0.into();
        serde_json::from_value(fields).expect("and comes back")
    }

    #[test]
    fn a_rollout_and_a_queue_count_their_slots() {
        judge_to_rest(building(), PROPERTY).expect("it holds");
        judge_to_rest(queueing(&["l1", "l2"]), PROPERTY).expect("it holds");
    }

    #[test]
    fn a_slot_that_is_made_or_lost_breaks_it() {
        let made = changing(&two(), |process| {
            edit_executor(process, |parts| parts.free = 2);
        });
        made.breaks(PROPERTY, "on a 2 slots are free and 0 held, of 1");
        let made = changing(&two(), |process| {
            edit_executor(process, |parts| parts.free = 0);
        });
        made.breaks(PROPERTY, "on a 0 slots are free and 0 held, of 1");
    }

    #[test]
    fn an_acceptance_without_a_reservation_breaks_it() {
        let accepts = |world: &World| matches!(world.process(A).phase(), Phase::Accepted { .. });
        let world = until(after(two(), [Event::Ask(A)]), accepts);
        changing(&world, |process| process.slow = 2).holds(PROPERTY);
        let made = changing(&world, |process| {
            let executor = Executor::new(Settings::new(1, false), process.host.version().clone());
            process.host = process.host.clone().with_executor(executor);
        });
        made.breaks(PROPERTY, "on a the candidate is accepted(g1) and lacks a reservation");
    }

    #[test]
    fn a_reservation_that_nothing_needs_breaks_it() {
        let reserves = |process: &mut Process| process.host = reserving(&process.host);
        let idle = changing(&two(), reserves);
        idle.breaks(PROPERTY, "on a the candidate is idle and has a reservation");
        let asks = after(two(), [Event::Ask(A)]);
        changing(&asks, reserves).holds(PROPERTY);
        let answered =
            until(building(), |world| world.process(B).host.candidate().is_acknowledged());
        let made = Made::changing(&answered, B, reserves);
        made.breaks(PROPERTY, "on b the candidate is asking and has a reservation");
    }

    #[test]
    fn what_runs_without_a_slot_breaks_it() {
        let made = changing(&two(), |process| run(process, local("l")));
        made.breaks(PROPERTY, "on a l runs without a slot");
    }
}
