//! `drain-before-status`: a deployment declares its drain before its success is on record.
//!
//! A crash in between runs the deployment again, under a gate that its own drain has closed; and a
//! status that turns out to be a failure has closed it for nothing. It leaves out Ex3: status before
//! declare. Breaks `QuietDrain`.

use std::sync::Arc;

use handover_core::{Drain, DrainId, Executor, ExecutorEffect, Work};

use super::{Property, Protocol};
use crate::world::Process;

#[derive(Debug)]
pub(super) struct DrainBeforeStatus;

impl Protocol for DrainBeforeStatus {
    fn name(&self) -> &'static str {
        "drain-before-status"
    }

    fn summary(&self) -> &'static str {
        "a deployment declares its drain before its success is on record"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::QuietDrain)
    }

    /// Its artifacts are stored, which comes next to last; what it declares lasts.
    fn performed(&self, process: &mut Process, order: &ExecutorEffect) {
        let ExecutorEffect::StoreArtifacts { work } = order else {
            return;
        };
        let Work::Local(build) = work else {
            return;
        };
        let executor = process.host.executor();
        let wish = executor.entry(work).and_then(|entry| entry.drains.clone());
        let Some(request) = wish.filter(|_| !executor.is_draining()) else {
            return;
        };
        if process.ended.get(work) != Some(&true) {
            return;
        }
        let mut parts = executor.clone().into_parts();
        let drain = Drain {
            id: DrainId::new("d1"),
            version: parts.version.clone(),
            by: Some(build.clone()),
            reason: request.reason,
            term: request.term,
            end: request.end,
            at_deadline: request.at_deadline,
            since: request.since,
        };
        parts.drain = Some(drain.clone());
        parts.ledger.drain = Some(drain.clone());
        Arc::make_mut(&mut process.ledger).drain = Some(drain);
        process.host = process.host.clone().with_executor(Executor::from_parts(parts));
    }
}
