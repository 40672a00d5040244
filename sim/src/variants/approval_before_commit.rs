//! `approval-before-commit`: an approval is told to the hosts, and committed after.
//!
//! The commit is lost (to a crash, or to another arbiter), and who was told has no reason to say it
//! again: gates are open for a version that the record knows nothing of
//! (Systemorph/MeshWeaver#1437). It leaves out that views come from what is committed (Ar9).
//! Breaks `GateTruth`.

use handover_core::Change;

use super::{Property, Protocol};

#[derive(Debug)]
pub(super) struct ApprovalBeforeCommit;

impl Protocol for ApprovalBeforeCommit {
    fn name(&self) -> &'static str {
        "approval-before-commit"
    }

    fn summary(&self) -> &'static str {
        "an approval is published before it is committed"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::GateTruth)
    }

    fn tells_first(&self, change: &Change) -> bool {
        change.verdicts.values().flatten().any(|verdict| verdict.is_approved())
    }
}
