//! `no-grants-at-the-offer`: hand-overs have no number, and work begins at the offer.
//!
//! What was said of an earlier hand-over counts for the present one. With the handshake that alone is
//! made up for; without it a build begins that the record knows nothing of. It leaves out the grants
//! of Ar1 and Ar8, and Ca3. Breaks `SingleBuilder`.

use handover_core::{Phase, Record, Statement};

use super::build_at_the_offer::begin_at_the_offer;
use super::no_grants::about_the_present_hold;
use super::{Property, Protocol};
use crate::world::Process;

#[derive(Debug)]
pub(super) struct NoGrantsAtTheOffer;

impl Protocol for NoGrantsAtTheOffer {
    fn name(&self) -> &'static str {
        "no-grants-at-the-offer"
    }

    fn summary(&self) -> &'static str {
        "a word counts for whatever its host holds, and a host builds at the offer"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::SingleBuilder)
    }

    fn moved(&self, process: &mut Process, from: Phase) {
        begin_at_the_offer(process, from);
    }

    fn take(&self, record: &Record, statement: Statement) -> Statement {
        about_the_present_hold(record, statement)
    }
}
