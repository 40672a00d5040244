//! `ignore-revocation`: a builder does not look up from its build.
//!
//! Its grant was revoked or is being cancelled, and it builds on; a hung build has no other remedy. It
//! leaves out Ca4: a view without the grant cancels the build. Breaks `SupersededStops`.

use handover_core::{Phase, View};

use super::{Property, Protocol};
use crate::world::Process;

#[derive(Debug)]
pub(super) struct IgnoreRevocation;

impl Protocol for IgnoreRevocation {
    fn name(&self) -> &'static str {
        "ignore-revocation"
    }

    fn summary(&self) -> &'static str {
        "a builder goes on although it has read that its grant was revoked"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::SupersededStops)
    }

    fn hear(&self, view: &View, process: &Process) -> View {
        let candidate = process.host.candidate();
        let Phase::Building { .. } = candidate.phase() else {
            return view.clone();
        };
        let own = |view: &&View| view.hold_of(candidate.host()).is_some();
        let before = candidate.view().filter(own).unwrap_or(view);
        View { hold: before.hold.clone(), ..view.clone() }
    }
}
