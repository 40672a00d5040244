//! `latest-verdict`: the record keeps the latest verdict, whatever version it is about.
//!
//! The approval of the version that serves is forgotten when the next one is judged, and a process
//! that restarts waits for a build that nobody needs (Systemorph/MeshWeaver#945). It leaves out that
//! approvals never go (one entry a version). Breaks `GateTruth`.

use std::collections::BTreeSet;

use handover_core::{Change, HostId, Input, Record, Refusal};

use super::{Property, Protocol};

#[derive(Debug)]
pub(super) struct LatestVerdict;

impl Protocol for LatestVerdict {
    fn name(&self) -> &'static str {
        "latest-verdict"
    }

    fn summary(&self) -> &'static str {
        "a verdict replaces the approvals of all other versions"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::GateTruth)
    }

    fn fold(
        &self,
        record: &Record,
        input: &Input,
        suspects: &BTreeSet<HostId>,
    ) -> Result<Change, Refusal> {
        let mut change = record.fold(input, suspects)?;
        if change.verdicts.values().any(Option::is_some) {
            let approved = record.verdicts().filter(|(_, verdict)| verdict.is_approved());
            for (version, _) in approved {
                change.verdicts.entry(version.clone()).or_insert(None);
            }
        }
        Ok(change)
    }
}
