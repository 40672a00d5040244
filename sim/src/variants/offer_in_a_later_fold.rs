//! `offer-in-a-later-fold`: what ends a hold does not offer the job to the next; the next input does.
//!
//! If there is none, nobody is offered anything, and after a crash of the arbiter nobody knows that
//! something was due (Systemorph/MeshWeaver#2076). It leaves out Ar8 as a part of each fold. Breaks
//! `Settled`.

use std::collections::BTreeSet;

use handover_core::{Change, HoldRow, HostId, Input, Record, Refusal};

use super::{Property, Protocol};

#[derive(Debug)]
pub(super) struct OfferInALaterFold;

impl Protocol for OfferInALaterFold {
    fn name(&self) -> &'static str {
        "offer-in-a-later-fold"
    }

    fn summary(&self) -> &'static str {
        "the job is offered by the fold after the one that frees it"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::Settled)
    }

    fn fold(
        &self,
        record: &Record,
        input: &Input,
        suspects: &BTreeSet<HostId>,
    ) -> Result<Change, Refusal> {
        let change = record.fold(input, suspects)?;
        let next_grant = record.next_grant();
        if record.hold().is_none() || change.next_grant == next_grant {
            return Ok(change);
        }
        Ok(Change { hold: Some(HoldRow::Nobody), next_grant, ..change })
    }
}
