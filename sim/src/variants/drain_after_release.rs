//! `drain-after-release`: a deployment gives its slot back first and declares its drain after.
//!
//! A waiting build wakes in between, reads "not draining" and starts under the outgoing version,
//! where the drain waits for it or cuts it short (Werkator PR 66). Breaks `QuietDrain`. The rule that it leaves out
//! is Ex3: declare before release.

use handover_core::{Executor, ExecutorEffect, Work};

use super::{Property, Protocol};
use crate::world::Process;

#[derive(Debug)]
pub(super) struct DrainAfterRelease;

impl Protocol for DrainAfterRelease {
    fn name(&self) -> &'static str {
        "drain-after-release"
    }

    fn summary(&self) -> &'static str {
        "a deployment gives its slot back before it declares its drain"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::QuietDrain)
    }

    /// The declaration is acknowledged to the release path, and taken back until the release. What an
    /// operator adds to the drain of a deployment that is long over is no such declaration.
    fn performed(&self, process: &mut Process, order: &ExecutorEffect) {
        if let ExecutorEffect::StoreDrain { drain: Some(drain) } = order
            && let Some(build) = drain.by.clone()
            && process.host.executor().stage(&Work::Local(build)).is_some()
            && !has_parked(process)
        {
            set_drain(process, None);
            process.put_off.push(order.clone());
        }
    }

    fn perform_late(&self, process: &mut Process) {
        if let Some(ExecutorEffect::StoreDrain { drain }) = process.put_off.pop() {
            set_drain(process, drain);
        }
    }
}

/// A drain was in force before, and goes on: it cannot be put off.
fn has_parked(process: &Process) -> bool {
    process.host.executor().queue().iter().any(|queued| queued.parked)
}

fn set_drain(process: &mut Process, drain: Option<handover_core::Drain>) {
    let mut parts = process.host.executor().clone().into_parts();
    parts.drain = drain;
    process.host = process.host.clone().with_executor(Executor::from_parts(parts));
}
