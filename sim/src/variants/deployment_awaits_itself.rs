//! `deployment-awaits-itself`: a deployment waits for drained before it leaves the current set.
//!
//! The set is never empty, for it is in it (Werkator PR 66). It leaves out Ex3: the wait for drained
//! comes last. Breaks `NoWedge`.

use handover_core::executor::Stage;
use handover_core::{Executor, Phase, Work};

use super::{Property, Protocol};
use crate::world::Process;

#[derive(Debug)]
pub(super) struct DeploymentAwaitsItself;

impl Protocol for DeploymentAwaitsItself {
    fn name(&self) -> &'static str {
        "deployment-awaits-itself"
    }

    fn summary(&self) -> &'static str {
        "a deployment waits for the end of its drain before it is over itself"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::NoWedge)
    }

    /// It waits like a build that is yet to end, where it should be removed.
    fn moved(&self, process: &mut Process, _from: Phase) {
        let drain = process.host.executor().active_drain();
        let Some(build) = drain.and_then(|drain| drain.by.clone()) else {
            return;
        };
        let mut parts = process.host.executor().clone().into_parts();
        if let Some(task) = parts.tasks.get_mut(&Work::Local(build))
            && task.stage == Stage::Removing
            && !task.handed_out
        {
            task.stage = Stage::AwaitingStop;
            process.host = process.host.clone().with_executor(Executor::from_parts(parts));
        }
    }
}
