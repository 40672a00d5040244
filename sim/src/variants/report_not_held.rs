//! `report-not-held`: a builder says that it has finished, and goes on at once.
//!
//! Its next word may overtake the report, or replace it before it was heard: the build is done, and
//! nobody is told (Systemorph/MeshWeaver#4728). It leaves out St2: a host stays finished until its
//! report is acknowledged. Breaks `NoLostReport`.

use handover_core::{Phase, View};

use super::{Property, Protocol};
use crate::world::Process;

#[derive(Debug)]
pub(super) struct ReportNotHeld;

impl Protocol for ReportNotHeld {
    fn name(&self) -> &'static str {
        "report-not-held"
    }

    fn summary(&self) -> &'static str {
        "a host does not wait until its report is acknowledged"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::NoLostReport)
    }

    fn hear(&self, view: &View, process: &Process) -> View {
        let reports = matches!(process.phase(), Phase::Finished { .. });
        let acknowledged =
            if reports { Some(process.host.candidate().seq()) } else { view.acknowledged };
        View { acknowledged, ..view.clone() }
    }
}
