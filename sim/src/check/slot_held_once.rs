//! `SlotHeldOnce`: a slot is held exactly in the states that need it.
//!
//! Neither lost nor made, reserved for the candidate exactly from its acceptance to its start (or
//! from its turn to the answer to its asking), and held by whatever really runs. Carried by Ex4,
//! Ho1 and Ho5. Broken in PrefectHQ/prefect#22580, where count and holders differed.

use handover_core::Phase;
use handover_core::executor::Stage;

use super::{Property, Transition, Violation};
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
    let (free, held, slots) = (
        executor.slots_free(),
        executor.slots_held(),
        executor.slots(),
    );
    if free + held != slots {
        return Some(format!("{free} slots are free and {held} held, of {slots}"));
    }
    let needed = reservation(process);
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
