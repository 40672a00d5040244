//! `silent-stand-down`: a host that stands down asks its own copy first.
//!
//! The copy does not name it as the holder, so it says nothing. When the offer crosses the stand
//! down, the record names a process that is alive, healthy and idle, for ever
//! (Systemorph/MeshWeaver#3567). Breaks `NoWedge`. The rule that it leaves out is Ca6: a stand-down
//! is said whatever the view shows.

use handover_core::{Standing, Wish};

use super::{Property, Protocol, Said, Saying};

#[derive(Debug)]
pub(super) struct SilentStandDown;

impl Protocol for SilentStandDown {
    fn name(&self) -> &'static str {
        "silent-stand-down"
    }

    fn summary(&self) -> &'static str {
        "a host stands down silently when its view does not name it as the holder"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::NoWedge)
    }

    fn say(&self, saying: &Saying<'_>) -> Said {
        let candidate = saying.process.host.candidate();
        let stands_down =
            saying.statement.standing == Standing::StoodDown && candidate.wish() == Wish::StandDown;
        let named = candidate.view().is_some_and(|view| view.hold_of(candidate.host()).is_some());
        if stands_down && !named {
            Said::Kept { acknowledged: false }
        } else {
            Said::Sent(saying.statement.clone())
        }
    }
}
