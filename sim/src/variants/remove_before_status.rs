//! `remove-before-status`: a build leaves the current set before its end is recorded.
//!
//! Whoever waits for drained is told that all is done, and the process ends with the outcome of a
//! build that nobody ever learns. It leaves out Ex3: status before remove. Breaks `TruthfulIdle`.

use std::sync::Arc;

use handover_core::executor::Stage;
use handover_core::{Executor, ExecutorEffect, Phase};

use super::{Property, Protocol};
use crate::world::Process;

#[derive(Debug)]
pub(super) struct RemoveBeforeStatus;

impl Protocol for RemoveBeforeStatus {
    fn name(&self) -> &'static str {
        "remove-before-status"
    }

    fn summary(&self) -> &'static str {
        "a build is no longer counted when its end is not yet recorded"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::TruthfulIdle)
    }

    /// The status of a local build is put off.
    fn moved(&self, process: &mut Process, _from: Phase) {
        let mut parts = process.host.executor().clone().into_parts();
        let mut next = parts.tasks.iter_mut().filter(|(work, task)| {
            let ends = task.entry.state.is_terminal() && task.entry.drains.is_none();
            task.stage == Stage::Recording && !task.handed_out && ends && !work.is_granted()
        });
        let Some((work, task)) = next.next() else {
            return;
        };
        task.stage = Stage::Removing;
        let (work, entry) = (work.clone(), Some(task.entry.clone()));
        process.put_off.push(ExecutorEffect::StoreEntry { work, entry });
        process.host = process.host.clone().with_executor(Executor::from_parts(parts));
    }

    /// It is written once the slot is released.
    fn performed(&self, process: &mut Process, order: &ExecutorEffect) {
        let ExecutorEffect::Release { work: released } = order else {
            return;
        };
        let is_of = |order: &ExecutorEffect| matches!(order, ExecutorEffect::StoreEntry { work, .. } if work == released);
        let Some(at) = process.put_off.iter().position(is_of) else {
            return;
        };
        let write = process.put_off.remove(at);
        Arc::make_mut(&mut process.ledger).write(&write);
        let mut parts = process.host.executor().clone().into_parts();
        parts.ledger.write(&write);
        process.host = process.host.clone().with_executor(Executor::from_parts(parts));
    }
}
