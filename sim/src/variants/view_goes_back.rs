//! `view-goes-back`: a host takes whatever view arrives, the older one too.
//!
//! Nearly masked: an approval once shown stays shown (Ca8), an old offer answers an old asking (St2),
//! a grant is a number that is never given again (Ar8), and whoever speaks is answered with what is
//! newest. But a host that waits has nothing to say. Where what it has read last is that the build
//! has failed, and an older view arrives after that, it waits for a build that nobody is going to
//! begin (Systemorph/MeshWeaver#945). It leaves out that a view never goes back (Ar9). Breaks
//! `NoWedge`; and, between two steps of a slow driver that has begun to build, `NoLostReport`.

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
        Some(Property::NoWedge)
    }

    fn hear(&self, view: &View, process: &Process) -> View {
        // Numbers of its own, in the order of arrival; those of the next life are above.
        let life = Revision(process.host.id().incarnation.0 << 20);
        let held = process.host.candidate().view().map(|view| view.revision);
        View { revision: held.unwrap_or(life).next(), ..view.clone() }
    }
}
