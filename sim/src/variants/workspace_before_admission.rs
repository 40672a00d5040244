//! `workspace-before-admission`: a build prepares its workspace before its admission is recorded.
//!
//! A closed gate, or a crash, leaves a workspace that no book knows of. It leaves out Ex1 and Ex4: the
//! admission is written in the step that counts the build, and what is parked prepares nothing.
//! Breaks `QueueKept`.

use std::sync::Arc;

use handover_core::{ExecutorEffect, Waiter, Work};

use super::{Property, Protocol};
use crate::world::Process;

#[derive(Debug)]
pub(super) struct WorkspaceBeforeAdmission;

impl Protocol for WorkspaceBeforeAdmission {
    fn name(&self) -> &'static str {
        "workspace-before-admission"
    }

    fn summary(&self) -> &'static str {
        "a build prepares its workspace as soon as it has a slot"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::QueueKept)
    }

    fn performed(&self, process: &mut Process, order: &ExecutorEffect) {
        if let ExecutorEffect::Wake(Waiter::Build(build)) = order {
            Arc::make_mut(&mut process.workspaces).insert(Work::Local(build.clone()));
        }
    }
}
