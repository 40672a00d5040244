//! `silent-when-approved`: a host that sees its version approved stands down without a word.
//!
//! Masked by Ar8: the election never offers the job for a version with a verdict, so nobody misses the
//! word. With an election that ignores verdicts it is `silent-on-approval`. It leaves out Ca2 and Ca3.

use handover_core::Standing;

use super::{Property, Protocol, Said, Saying};

#[derive(Debug)]
pub(super) struct SilentWhenApproved;

impl Protocol for SilentWhenApproved {
    fn name(&self) -> &'static str {
        "silent-when-approved"
    }

    fn summary(&self) -> &'static str {
        "a host stands down silently when its version is approved"
    }

    fn breaks(&self) -> Option<Property> {
        None
    }

    fn masked_by(&self) -> Option<&'static str> {
        Some("Ar8: nobody is offered the job for a version with a verdict")
    }

    fn say(&self, saying: &Saying<'_>) -> Said {
        let candidate = saying.process.host.candidate();
        let view = candidate.view().filter(|view| view.is_approved());
        let unnamed = view.is_some_and(|view| view.hold_of(candidate.host()).is_none());
        if saying.statement.standing == Standing::StoodDown && unnamed {
            Said::Kept { acknowledged: false }
        } else {
            Said::Sent(saying.statement.clone())
        }
    }
}
