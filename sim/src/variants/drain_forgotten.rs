//! `drain-forgotten`: a boot begins with an open gate.
//!
//! The outgoing version crashes while it drains, comes up, and takes on new work to be cut short again.
//! It leaves out Ex7: a drain lasts as its term says, and what a recorded success owes is declared
//! again. Breaks `QuietDrain`.

use handover_core::Ledger;

use super::{Property, Protocol};

#[derive(Debug)]
pub(super) struct DrainForgotten;

impl Protocol for DrainForgotten {
    fn name(&self) -> &'static str {
        "drain-forgotten"
    }

    fn summary(&self) -> &'static str {
        "a boot forgets the drain that its book has"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::QuietDrain)
    }

    fn recover(&self, mut ledger: Ledger) -> Ledger {
        ledger.drain = None;
        for entry in ledger.entries.values_mut() {
            entry.drains = None;
        }
        ledger
    }
}
