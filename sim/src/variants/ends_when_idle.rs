//! `ends-when-idle`: a drained process ends when nothing runs in it.
//!
//! Its report is on its way and the record still names it: an approval is lost with the process. It
//! leaves out the second half of Ho4: and the record knows all that it must. Breaks `TruthfulIdle`.

use handover_core::Host;

use super::{Property, Protocol};

#[derive(Debug)]
pub(super) struct EndsWhenIdle;

impl Protocol for EndsWhenIdle {
    fn name(&self) -> &'static str {
        "ends-when-idle"
    }

    fn summary(&self) -> &'static str {
        "a drained process ends although its last word is not folded"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::TruthfulIdle)
    }

    fn is_drained(&self, host: &Host) -> bool {
        host.executor().is_drained()
    }
}
