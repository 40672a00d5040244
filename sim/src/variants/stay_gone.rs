//! `stay-gone`: a host that was declared gone by mistake does not come back.
//!
//! The record refuses it for ever, and it waits for a turn that cannot come
//! (quartznet/quartznet#683). It leaves out the second half of Ca0: if still wanted, come back as a
//! new incarnation. Breaks `NoWedge`.

use handover_core::Effect;

use super::{Property, Protocol};

#[derive(Debug)]
pub(super) struct StayGone;

impl Protocol for StayGone {
    fn name(&self) -> &'static str {
        "stay-gone"
    }

    fn summary(&self) -> &'static str {
        "a host that was wrongly declared gone does not come back"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::NoWedge)
    }

    fn heeds(&self, order: &Effect) -> bool {
        !matches!(order, Effect::Return { .. })
    }
}
