//! `release-before-remove`: a build gives its slot back while it is still counted.
//!
//! The next one is counted beside it, so that more builds are in flight than there are slots. It leaves
//! out Ex3: remove before release. Breaks `SlotHeldOnce`.

use handover_core::executor::Stage;
use handover_core::{Executor, ExecutorEffect};

use super::{Property, Protocol};
use crate::world::Process;

#[derive(Debug)]
pub(super) struct ReleaseBeforeRemove;

impl Protocol for ReleaseBeforeRemove {
    fn name(&self) -> &'static str {
        "release-before-remove"
    }

    fn summary(&self) -> &'static str {
        "a build gives its slot back before it leaves the current set"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::SlotHeldOnce)
    }

    fn performed(&self, process: &mut Process, order: &ExecutorEffect) {
        let ExecutorEffect::StoreEntry { work, .. } = order else {
            return;
        };
        let mut parts = process.host.executor().clone().into_parts();
        if let Some(task) = parts.tasks.get_mut(work)
            && task.stage == Stage::Removing
            && task.own_slot
        {
            parts.free += 1;
            process.host = process.host.clone().with_executor(Executor::from_parts(parts));
        }
    }
}
