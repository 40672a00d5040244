//! `age-is-death`: a holder that is suspected loses its job.
//!
//! It is slow, not dead, and builds on while the next one begins (Systemorph/MeshWeaver#1355). It
//! leaves out the fourth principle: only `Gone`, the host's own word or the operator takes a started
//! job back. Breaks `NoEviction`.

use std::collections::BTreeSet;

use handover_core::{Change, HoldRow, HostId, Input, Record, Refusal};

use super::{Property, Protocol};

#[derive(Debug)]
pub(super) struct AgeIsDeath;

impl Protocol for AgeIsDeath {
    fn name(&self) -> &'static str {
        "age-is-death"
    }

    fn summary(&self) -> &'static str {
        "a started hold is taken back when its host is suspected"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::NoEviction)
    }

    fn fold(
        &self,
        record: &Record,
        input: &Input,
        suspects: &BTreeSet<HostId>,
    ) -> Result<Change, Refusal> {
        let started = record.hold().filter(|hold| hold.is_started() && !hold.is_cancelling());
        if started.is_none_or(|hold| !suspects.contains(&hold.host)) {
            return record.fold(input, suspects);
        }
        let parts = handover_core::RecordParts { hold: None, ..record.to_parts() };
        let freed = Record::from_parts(parts).expect("nobody has to hold");
        let change = freed.fold(input, suspects)?;
        Ok(Change { hold: change.hold.or(Some(HoldRow::Nobody)), ..change })
    }
}
