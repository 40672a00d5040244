//! `always-broken`: the canary. Each hand-over has the number of the first.
//!
//! It leaves out Ar8 (a grant is given out once), and breaks `GrantsIncrease` at the first offer,
//! whatever else happens: a search that does not find it does not look.

use std::collections::BTreeSet;
use std::sync::Arc;

use handover_core::{Change, GrantId, HoldRow, HostId, Input, Record, Refusal};

use super::{Property, Protocol};

#[derive(Debug)]
pub(super) struct AlwaysBroken;

impl Protocol for AlwaysBroken {
    fn name(&self) -> &'static str {
        "always-broken"
    }

    fn summary(&self) -> &'static str {
        "each hand-over has a number that was given before"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::GrantsIncrease)
    }

    fn fold(
        &self,
        record: &Record,
        input: &Input,
        suspects: &BTreeSet<HostId>,
    ) -> Result<Change, Refusal> {
        let mut change = record.fold(input, suspects)?;
        if let Some(HoldRow::Held(hold)) = &mut change.hold
            && hold.grant == record.next_grant()
        {
            Arc::make_mut(hold).grant = GrantId(0);
        }
        Ok(change)
    }
}
