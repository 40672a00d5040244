//! `no-seq`: a word counts when it arrives, not by its number.
//!
//! An asking that was said before the acceptance, and arrives after it, takes a started hold back from
//! a host that is about to build (Systemorph/MeshWeaver#1155). It leaves out the number of St1 and the
//! refusal `Outdated` of Ar1, and breaks `NoEviction`.

use std::collections::BTreeSet;

use handover_core::{Change, HostId, Input, Record, Refusal, Seq};

use super::{Property, Protocol};

#[derive(Debug)]
pub(super) struct NoSeq;

impl Protocol for NoSeq {
    fn name(&self) -> &'static str {
        "no-seq"
    }

    fn summary(&self) -> &'static str {
        "a statement counts when it arrives, whatever its number"
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
        let Input::Statement(statement) = input else {
            return record.fold(input, suspects);
        };
        let mut parts = record.to_parts();
        if let Some(line) = parts.lines.get_mut(&statement.host) {
            line.seq = Seq(statement.seq.0.saturating_sub(1));
        }
        let forgetful = Record::from_parts(parts).expect("numbers of words bind nothing else");
        // Without numbers an old word is no reason for an alarm.
        let folded = forgetful.fold(input, suspects);
        if folded == Err(Refusal::Impossible) {
            return Err(Refusal::Outdated { seen: statement.seq });
        }
        folded
    }
}
