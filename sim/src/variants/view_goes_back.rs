//! `view-goes-back`: a host takes whatever view arrives, the older one too.
//!
//! Nearly masked: an approval once shown stays shown (Ca8), an old offer answers an old asking (St2),
//! a grant is a number that is never given again (Ar8), and the newest view is repeated until it is
//! read (Dr1). But a builder that reads a view from before its own start takes itself for superseded
//! and cancels, and what its build has come to by then is lost. It leaves out that a view never goes
//! back. Breaks `NoLostReport`.

use handover_core::{Revision, View};

use super::{Property, Protocol};
use crate::world::Process;

#[derive(Debug)]
pub(super) struct ViewGoesBack;

impl Protocol for ViewGoesBack {
    fn name(&self) -> &'static str {
        "view-goes-back"
    }

    fn summary(&self) -> &'static str {
        "a host takes a view that is older than the one it holds"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::NoLostReport)
    }

    fn hear(&self, view: &View, process: &Process) -> View {
        // Numbers of its own, in the order of arrival; those of the next life are above.
        let life = Revision(process.host.id().incarnation.0 << 20);
        let held = process.host.candidate().view().map(|view| view.revision);
        View { revision: held.unwrap_or(life).next(), ..view.clone() }
    }
}
