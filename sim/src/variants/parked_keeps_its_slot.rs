//! `parked-keeps-its-slot`: a build that finds the gate closed waits with the slot that it was
//! handed.
//!
//! What in-flight work waits for finds no slot, and who waits for free slots waits for ever
//! (apache/airflow#43448). It leaves out Ex4: a parked build gives its slot back. Breaks
//! `SlotHeldOnce`.

use handover_core::executor::Stage;
use handover_core::{Executor, ExecutorEffect, Waiter, Work};

use super::{Property, Protocol};
use crate::world::Process;

#[derive(Debug)]
pub(super) struct ParkedKeepsItsSlot;

impl Protocol for ParkedKeepsItsSlot {
    fn name(&self) -> &'static str {
        "parked-keeps-its-slot"
    }

    fn summary(&self) -> &'static str {
        "a build that is parked under a drain does not give its slot back"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::SlotHeldOnce)
    }

    fn performed(&self, process: &mut Process, order: &ExecutorEffect) {
        let ExecutorEffect::Wake(Waiter::Build(build)) = order else {
            return;
        };
        let mut parts = process.host.executor().clone().into_parts();
        let task = parts.tasks.get(&Work::Local(build.clone()));
        if task.is_some_and(|task| task.stage == Stage::Waiting { parked: true }) {
            parts.free -= 1;
            process.host = process.host.clone().with_executor(Executor::from_parts(parts));
        }
    }
}
