//! `reused-number-unnoticed`: a host does not notice that somebody else speaks under its identity.
//!
//! A boot has taken a number that was used. The record knows of later words than the host has said,
//! and refuses all that it says as outdated, for ever (Systemorph/MeshWeaver#1366). It leaves out
//! St3: a word above the host's own means that it has to come back anew, with an alarm. Breaks
//! `NoWedge`, and only where a number is reused (against Dr4). Asked to speak, it repeats itself
//! without end: a walk, which sees no more than that it goes on, calls that a livelock.

use handover_core::View;

use super::{Property, Protocol};
use crate::world::Process;

#[derive(Debug)]
pub(super) struct ReusedNumberUnnoticed;

impl Protocol for ReusedNumberUnnoticed {
    fn name(&self) -> &'static str {
        "reused-number-unnoticed"
    }

    fn summary(&self) -> &'static str {
        "a host does not notice the words that another has said under its identity"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::NoWedge)
    }

    fn needs_reuse(&self) -> bool {
        true
    }

    fn hear(&self, view: &View, process: &Process) -> View {
        let seq = process.host.candidate().seq();
        let acknowledged = view.acknowledged.filter(|seen| *seen <= seq);
        View { acknowledged, ..view.clone() }
    }
}
