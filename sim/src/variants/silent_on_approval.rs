//! `silent-on-approval`: a host that sees its version approved stands down without a word.
//!
//! By itself that is masked: the right election never offers the job for a version with a verdict.
//! The system that this comes from had an election that ignored verdicts, so the silent host was
//! offered the job and held it for ever (Systemorph/MeshWeaver#3567). Breaks `NoWedge`. The rules
//! that it leaves out are Ca2 (says `StoodDown`) and Ar8 (no offer for a version with a verdict).

use std::collections::{BTreeMap, BTreeSet};

use handover_core::{Change, HostId, Input, Record, RecordParts, Refusal, Standing};

use super::{Property, Protocol, Said, Saying};

#[derive(Debug)]
pub(super) struct SilentOnApproval;

impl Protocol for SilentOnApproval {
    fn name(&self) -> &'static str {
        "silent-on-approval"
    }

    fn summary(&self) -> &'static str {
        "a host stands down silently when its version is approved, and the election ignores verdicts"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::NoWedge)
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

    fn fold(
        &self,
        record: &Record,
        input: &Input,
        suspects: &BTreeSet<HostId>,
    ) -> Result<Change, Refusal> {
        let parts = RecordParts { verdicts: BTreeMap::new(), ..record.to_parts() };
        let blind = Record::from_parts(parts).expect("a record without verdicts is a record");
        blind.fold(input, suspects)
    }
}
