//! `elect-at-publication`: the election is a pass of its own, before each publication.
//!
//! It leaves out Ar8 as a part of the fold, so that `Settled` is broken for a moment, and nothing
//! else ever is: what was committed and not published is published after a restart too (Ar9), so the
//! pass is never forgotten. One that is forgotten is `offer-in-a-later-fold`.

use std::collections::BTreeSet;

use handover_core::{Change, HoldRow, HostId, Input, Record, Refusal};

use super::{Property, Protocol};

#[derive(Debug)]
pub(super) struct ElectAtPublication;

impl Protocol for ElectAtPublication {
    fn name(&self) -> &'static str {
        "elect-at-publication"
    }

    fn summary(&self) -> &'static str {
        "the job is offered by a pass of its own, before what was committed is published"
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
        if change.next_grant == next_grant {
            return Ok(change);
        }
        let hold = record.hold().map(|_| HoldRow::Nobody);
        Ok(Change { hold, next_grant, ..change })
    }

    fn before_publication(&self, record: &Record, suspects: &BTreeSet<HostId>) -> Option<Change> {
        record.settle(suspects)
    }
}
