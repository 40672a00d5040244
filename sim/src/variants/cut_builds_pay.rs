//! `cut-builds-pay`: a build that a crash has cut keeps its admission in the count.
//!
//! After a few restarts it has used its attempts up without ever having failed. It leaves out Ex1: an
//! interruption costs no attempt. Breaks `RecoveryExact`.

use handover_core::{BuildState, Ledger};

use super::{Property, Protocol};

#[derive(Debug)]
pub(super) struct CutBuildsPay;

impl Protocol for CutBuildsPay {
    fn name(&self) -> &'static str {
        "cut-builds-pay"
    }

    fn summary(&self) -> &'static str {
        "a build that a crash has cut pays for it with an attempt"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::RecoveryExact)
    }

    fn recover(&self, mut ledger: Ledger) -> Ledger {
        for entry in ledger.entries.values_mut() {
            if entry.state == BuildState::Admitted {
                entry.attempts += 2;
            }
        }
        ledger
    }
}
