//! `admitted-before-the-gate`: a build is recorded as admitted before it reads the gate.
//!
//! It finds the gate closed and goes back into the queue, in the book with an attempt that it never
//! had. It leaves out Ex4: a parked build stays pending and keeps
//! its attempts. Breaks `QueueKept`.

use std::sync::Arc;

use handover_core::executor::Stage;
use handover_core::{Executor, ExecutorEffect, Waiter, Work};

use super::{Property, Protocol};
use crate::world::Process;

#[derive(Debug)]
pub(super) struct AdmittedBeforeTheGate;

impl Protocol for AdmittedBeforeTheGate {
    fn name(&self) -> &'static str {
        "admitted-before-the-gate"
    }

    fn summary(&self) -> &'static str {
        "a build is recorded as admitted before it has read the gate"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::QueueKept)
    }

    fn performed(&self, process: &mut Process, order: &ExecutorEffect) {
        let ExecutorEffect::Wake(Waiter::Build(build)) = order else {
            return;
        };
        let work = Work::Local(build.clone());
        let mut parts = process.host.executor().clone().into_parts();
        let Some(task) = parts.tasks.get_mut(&work) else {
            return;
        };
        if task.stage != (Stage::Waiting { parked: true }) {
            return;
        }
        task.entry.attempts += 1;
        let write = ExecutorEffect::StoreEntry { work, entry: Some(task.entry.clone()) };
        parts.ledger.write(&write);
        Arc::make_mut(&mut process.ledger).write(&write);
        process.host = process.host.clone().with_executor(Executor::from_parts(parts));
    }
}
