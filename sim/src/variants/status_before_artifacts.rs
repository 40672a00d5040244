//! `status-before-artifacts`: a build is recorded as a success before its artifacts are stored.
//!
//! A crash in between leaves a success that nobody repeats and nobody can serve. It leaves out Ex3:
//! artifacts before status. Breaks `RecoveryExact`.

use std::sync::Arc;

use handover_core::executor::Stage;
use handover_core::{Executor, ExecutorEffect, Phase};

use super::{Property, Protocol};
use crate::world::Process;

#[derive(Debug)]
pub(super) struct StatusBeforeArtifacts;

impl Protocol for StatusBeforeArtifacts {
    fn name(&self) -> &'static str {
        "status-before-artifacts"
    }

    fn summary(&self) -> &'static str {
        "a build is recorded as ended before its artifacts are stored"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::RecoveryExact)
    }

    /// The artifacts are put off.
    fn moved(&self, process: &mut Process, _from: Phase) {
        let mut parts = process.host.executor().clone().into_parts();
        let mut tasks = parts.tasks.iter_mut();
        let next =
            tasks.find(|(_, task)| task.stage == Stage::StoringArtifacts && !task.handed_out);
        let Some((work, task)) = next else {
            return;
        };
        task.stage = Stage::Recording;
        process.put_off.push(ExecutorEffect::StoreArtifacts { work: work.clone() });
        process.host = process.host.clone().with_executor(Executor::from_parts(parts));
    }

    /// They are stored with the slot's release.
    fn performed(&self, process: &mut Process, order: &ExecutorEffect) {
        let ExecutorEffect::Release { work } = order else {
            return;
        };
        let late = ExecutorEffect::StoreArtifacts { work: work.clone() };
        if let Some(at) = process.put_off.iter().position(|order| *order == late) {
            process.put_off.remove(at);
            Arc::make_mut(&mut process.artifacts).insert(work.clone());
        }
    }
}
