//! `free-at-start`: an arbiter that starts frees the job that it finds taken and not begun.
//!
//! It belongs to a host that lives and may have begun since; the crash was the arbiter's own. It
//! leaves out what a restart does (settle the committed record, publish) and the fourth principle.
//! Breaks `NoEviction`.

use std::collections::BTreeSet;

use handover_core::{Change, Hold, HostId, Input, Record, Standing};

use super::{Property, Protocol};

#[derive(Debug)]
pub(super) struct FreeAtStart;

impl Protocol for FreeAtStart {
    fn name(&self) -> &'static str {
        "free-at-start"
    }

    fn summary(&self) -> &'static str {
        "a restarted arbiter frees a job that was taken and, as far as it knows, not begun"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::NoEviction)
    }

    fn settle(&self, record: &Record, suspects: &BTreeSet<HostId>) -> Option<Change> {
        let idle = |hold: &&Hold| {
            let line = record.line(&hold.host).map(|line| &line.standing);
            hold.is_started() && matches!(line, Some(Standing::Accepted { .. }))
        };
        let Some(hold) = record.hold().filter(idle) else {
            return record.settle(suspects);
        };
        let freed = Input::Revoke { grant: hold.grant, reason: "left over".into() };
        record.fold(&freed, suspects).ok()
    }
}
