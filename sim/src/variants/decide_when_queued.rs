//! `decide-when-queued`: the decision is a pass of its own, woken only by a host that waits.
//!
//! A report, a stand-down or an acceptance that nobody waits behind is written down and decided by
//! nobody (Systemorph/MeshWeaver#3598). It leaves out the third principle: folding, taking back,
//! publishing a verdict and offering happen in one fold. Breaks `Settled`.

use std::collections::{BTreeMap, BTreeSet};

use handover_core::{Change, HostId, Input, Record, Refusal, Standing};

use super::{Property, Protocol};

#[derive(Debug)]
pub(super) struct DecideWhenQueued;

impl Protocol for DecideWhenQueued {
    fn name(&self) -> &'static str {
        "decide-when-queued"
    }

    fn summary(&self) -> &'static str {
        "what a word means is decided only while somebody waits for the job"
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
        if !matches!(input, Input::Statement(_)) || somebody_waits(record, &change) {
            return Ok(change);
        }
        Ok(undecided(record, change))
    }
}

/// What was said is written down, and nothing follows from it.
pub(super) fn undecided(record: &Record, change: Change) -> Change {
    let (next_grant, verdicts) = (record.next_grant(), BTreeMap::new());
    Change { hold: None, verdicts, next_grant, ..change }
}

pub(super) fn somebody_waits(record: &Record, change: &Change) -> bool {
    let asks = |standing: &Standing| matches!(standing, Standing::Asking { .. });
    let changed = change.lines.values().flatten();
    let mut others = record.lines().filter(|(host, _)| !change.lines.contains_key(*host));
    changed.map(|line| &line.standing).any(asks) || others.any(|(_, line)| asks(&line.standing))
}
