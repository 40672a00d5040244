//! `stale-word-takes-offer-back`: a word about an earlier grant ends the present offer.
//!
//! An acceptance that crossed a lapse arrives when its host has been offered the job anew, and costs
//! it the new offer. It leaves out Ar7's "an old acceptance: keep". Breaks `StaleIsNoEffect`.

use std::collections::BTreeSet;
use std::sync::Arc;

use handover_core::{Change, HostId, Input, Record, Refusal, Standing, Statement};

use super::{Property, Protocol};

#[derive(Debug)]
pub(super) struct StaleWordTakesOfferBack;

impl Protocol for StaleWordTakesOfferBack {
    fn name(&self) -> &'static str {
        "stale-word-takes-offer-back"
    }

    fn summary(&self) -> &'static str {
        "a late acceptance of an earlier grant takes the present offer back"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::StaleIsNoEffect)
    }

    fn fold(
        &self,
        record: &Record,
        input: &Input,
        suspects: &BTreeSet<HostId>,
    ) -> Result<Change, Refusal> {
        let Input::Statement(statement) = input else {
            return record.fold(input, suspects);
        };
        let offer = record.hold().filter(|hold| !hold.is_started() && hold.host == statement.host);
        let named = statement.standing.grant();
        if offer.is_none_or(|offer| named.is_none_or(|grant| grant == offer.grant)) {
            return record.fold(input, suspects);
        }
        let left = Statement { standing: Standing::StoodDown, ..statement.clone() };
        let mut change = record.fold(&Input::Statement(left), suspects)?;
        if let Some(Some(line)) = change.lines.get_mut(&statement.host) {
            Arc::make_mut(line).standing = statement.standing.clone();
        }
        Ok(change)
    }
}
