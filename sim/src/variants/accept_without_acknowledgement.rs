//! `accept-without-acknowledgement`: an offer is taken in whatever view it is seen.
//!
//! The view may answer an asking that the host has taken back since. Its late stand-down then takes
//! back a hold that it has accepted anew, and is about to build under. It leaves out St2: an offer is
//! accepted only in a view that acknowledges the present asking. Breaks `NoEviction`.

use handover_core::{Phase, View};

use super::{Property, Protocol};
use crate::world::Process;

#[derive(Debug)]
pub(super) struct AcceptWithoutAcknowledgement;

impl Protocol for AcceptWithoutAcknowledgement {
    fn name(&self) -> &'static str {
        "accept-without-acknowledgement"
    }

    fn summary(&self) -> &'static str {
        "a host takes an offer that answers an older asking of its own"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::NoEviction)
    }

    fn hear(&self, view: &View, process: &Process) -> View {
        as_if_acknowledged(view, process)
    }
}

/// A view with an offer, as if it answered the present asking.
pub(super) fn as_if_acknowledged(view: &View, process: &Process) -> View {
    let candidate = process.host.candidate();
    let would_take = matches!(candidate.phase(), Phase::Asking | Phase::Planning { .. });
    let offered = view.hold_of(candidate.host()).is_some_and(|hold| !hold.is_started());
    let acknowledged =
        if would_take && offered { Some(candidate.seq()) } else { view.acknowledged };
    View { acknowledged, ..view.clone() }
}
