//! `gate-read-before-counted`: the gate is read when the slot is handed over, and the build counted
//! when it wakes.
//!
//! The drain that is declared in between is not seen (assembledhq/143#1431, OpenFn/kit#910). It leaves
//! out Ex4 and Ho1: reading the gate and being counted is one step. Breaks `QuietDrain`.

use handover_core::executor::{CandidateWait, Stage};
use handover_core::{BuildState, Executor, ExecutorEffect, Waiter, Work};

use super::{Property, Protocol};
use crate::world::Process;

#[derive(Debug)]
pub(super) struct GateReadBeforeCounted;

impl Protocol for GateReadBeforeCounted {
    fn name(&self) -> &'static str {
        "gate-read-before-counted"
    }

    fn summary(&self) -> &'static str {
        "a build reads the gate when it is handed a slot, and is counted a step later"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::QuietDrain)
    }

    /// It was open then, or no slot would have been handed over.
    fn performed(&self, process: &mut Process, order: &ExecutorEffect) {
        let ExecutorEffect::Wake(waiter) = order else {
            return;
        };
        let mut parts = process.host.executor().clone().into_parts();
        match waiter {
            Waiter::Build(build) => {
                let Some(task) = parts.tasks.get_mut(&Work::Local(build.clone())) else {
                    return;
                };
                if task.stage != (Stage::Waiting { parked: true }) {
                    return;
                }
                task.stage = Stage::Admitting;
                task.own_slot = true;
                task.entry.state = BuildState::Admitted;
                task.entry.attempts += 1;
                task.entry.admitted_by = Some(parts.version.clone());
            }
            Waiter::Candidate => {
                let CandidateWait::Waiting { parked: true, .. } = parts.candidate else {
                    return;
                };
                parts.candidate = CandidateWait::Absent;
                parts.reserved = true;
            }
        }
        parts.free -= 1;
        process.host = process.host.clone().with_executor(Executor::from_parts(parts));
    }
}
