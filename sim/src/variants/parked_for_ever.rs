//! `parked-for-ever`: an undrain opens the gate and wakes nobody.
//!
//! What was parked under the drain waits until the next restart. It leaves out the last sentence of
//! Ex4: undrain clears, then wakes all that is parked. Breaks `QueueKept`.

use handover_core::executor::Stage;
use handover_core::{Executor, ExecutorEffect};

use super::{Property, Protocol};
use crate::world::Process;

#[derive(Debug)]
pub(super) struct ParkedForEver;

impl Protocol for ParkedForEver {
    fn name(&self) -> &'static str {
        "parked-for-ever"
    }

    fn summary(&self) -> &'static str {
        "an undrain does not wake what was parked"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::QueueKept)
    }

    fn performed(&self, process: &mut Process, order: &ExecutorEffect) {
        if !matches!(order, ExecutorEffect::StoreDrain { drain: None }) {
            return;
        }
        let mut parts = process.host.executor().clone().into_parts();
        for task in parts.tasks.values_mut() {
            if task.stage == (Stage::Waiting { parked: false }) {
                task.stage = Stage::Waiting { parked: true };
            }
        }
        process.host = process.host.clone().with_executor(Executor::from_parts(parts));
    }
}
