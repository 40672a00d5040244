//! `accepted-waits`: a host that has accepted waits for its start, whatever becomes of its offer.
//!
//! The offer was withdrawn, and the host never asks again: nobody is left to be offered the job. It
//! leaves out Ca3: no longer this grant, so back to asking. Breaks `NoWedge`.

use handover_core::{Phase, View};

use super::{Property, Protocol};
use crate::world::Process;

#[derive(Debug)]
pub(super) struct AcceptedWaits;

impl Protocol for AcceptedWaits {
    fn name(&self) -> &'static str {
        "accepted-waits"
    }

    fn summary(&self) -> &'static str {
        "a host that has accepted goes on waiting although its offer was withdrawn"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::NoWedge)
    }

    fn hear(&self, view: &View, process: &Process) -> View {
        let candidate = process.host.candidate();
        let Phase::Accepted { grant } = candidate.phase() else {
            return view.clone();
        };
        let named = |view: &View| view.hold_of(candidate.host()).map(|hold| hold.grant);
        if named(view) == Some(grant) {
            return view.clone();
        }
        let before = candidate.view().filter(|before| named(before) == Some(grant));
        View { hold: before.and_then(|before| before.hold.clone()), ..view.clone() }
    }
}
