//! `reservation-kept`: the slot that was reserved for an offer is kept when the offer goes.
//!
//! The host's next offer finds no slot, since its own last one holds it (PrefectHQ/prefect#22580). It
//! leaves out Ho5: released exactly once, in the step that leaves the state. Breaks `SlotHeldOnce`.

use handover_core::{Executor, Phase};

use super::{Property, Protocol};
use crate::world::Process;

#[derive(Debug)]
pub(super) struct ReservationKept;

impl Protocol for ReservationKept {
    fn name(&self) -> &'static str {
        "reservation-kept"
    }

    fn summary(&self) -> &'static str {
        "a slot stays reserved for an offer that has gone"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::SlotHeldOnce)
    }

    fn moved(&self, process: &mut Process, from: Phase) {
        let gone = matches!((from, process.phase()), (Phase::Accepted { .. }, Phase::Asking));
        let mut parts = process.host.executor().clone().into_parts();
        if gone && parts.free > 0 {
            parts.free -= 1;
            process.host = process.host.clone().with_executor(Executor::from_parts(parts));
        }
    }
}
