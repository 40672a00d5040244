//! `slot-released-at-cancel`: a build that is told to stop gives its slot back at once.
//!
//! The next one runs beside it while it still stops, so that more run than there are slots. It
//! leaves out Ho5: from cancelling, a slot is released only when the build has really stopped.
//! Breaks `SlotHeldOnce`.

use handover_core::{Executor, ExecutorEffect};

use super::{Property, Protocol};
use crate::world::Process;

#[derive(Debug)]
pub(super) struct SlotReleasedAtCancel;

impl Protocol for SlotReleasedAtCancel {
    fn name(&self) -> &'static str {
        "slot-released-at-cancel"
    }

    fn summary(&self) -> &'static str {
        "a build gives its slot back when it is told to stop, not when it has stopped"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::SlotHeldOnce)
    }

    fn performed(&self, process: &mut Process, order: &ExecutorEffect) {
        let ExecutorEffect::Stop { work } = order else {
            return;
        };
        let mut parts = process.host.executor().clone().into_parts();
        if parts.tasks.get(work).is_some_and(|task| task.own_slot) {
            parts.free += 1;
            process.host = process.host.clone().with_executor(Executor::from_parts(parts));
        }
    }
}
