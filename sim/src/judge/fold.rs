//! One committed change, folded again from its inputs and judged.

use std::collections::BTreeSet;

use handover_core::{Change, HostId, Input, Record};

use super::{Breach, Finding, Place};
use crate::check::{Around, Commit, Violation, check_commit};

/// A change as its proposal says.
pub(super) struct Proposed<'a> {
    pub(super) change: &'a Change,
    pub(super) inputs: &'a [Input],
    pub(super) suspects: &'a BTreeSet<HostId>,
}

/// The record behind a committed change, and what is not as it should be. No record: the change
/// cannot be taken.
pub(super) fn refold(
    record: &Record,
    proposed: &Proposed<'_>,
    around: &dyn Around,
    place: &Place,
) -> (Option<Record>, Vec<Finding>) {
    let mut after = record.clone();
    if let Err(error) = after.apply(proposed.change) {
        let why = format!("{} was committed, and {error}", proposed.change.revision);
        return (None, vec![Finding::new(Breach::Replay, place, why)]);
    }
    let found = |violation: Violation| {
        let Violation { property, why } = violation;
        Finding::new(Breach::Property(property), place, why)
    };
    if let Some(commits) = one_by_one(record, proposed)
        && commits.last().map_or(record, |(_, after)| after) == &after
    {
        let mut before = record;
        for (input, after) in &commits {
            let commit = Commit { input: *input, before, after };
            if let Err(violation) = check_commit(around, &commit) {
                return (Some(after.clone()), vec![found(violation)]);
            }
            before = after;
        }
        return (Some(after), Vec::new());
    }
    let why = format!("{} is not what its inputs fold to", proposed.change.revision);
    let mut findings = vec![Finding::new(Breach::Replay, place, why)];
    // Nobody can say which of them made it: what none of them explains is broken.
    let inputs = proposed.inputs.iter().map(Some);
    let inputs = inputs.chain(proposed.inputs.is_empty().then_some(None));
    let judged =
        inputs.map(|input| check_commit(around, &Commit { input, before: record, after: &after }));
    if let Ok(mut violations) =
        judged.map(|judged| judged.err().ok_or(())).collect::<Result<Vec<_>, _>>()
    {
        findings.extend(violations.pop().map(found));
    }
    (Some(after), findings)
}

/// Is the change what its inputs fold to on this record?
pub(super) fn follows(record: &Record, proposed: &Proposed<'_>) -> bool {
    let mut after = record.clone();
    let folded = one_by_one(record, proposed);
    after.apply(proposed.change).is_ok()
        && folded
            .is_some_and(|commits| commits.last().map_or(record, |(_, folded)| folded) == &after)
}

/// The record behind each input; none if one of them is refused.
fn one_by_one<'a>(
    record: &Record,
    proposed: &Proposed<'a>,
) -> Option<Vec<(Option<&'a Input>, Record)>> {
    let mut commits = Vec::new();
    let mut now = record.clone();
    if proposed.inputs.is_empty() {
        let change = now.settle(proposed.suspects)?;
        now.apply(&change).ok()?;
        return Some(vec![(None, now)]);
    }
    for input in proposed.inputs {
        let change = now.fold(input, proposed.suspects).ok()?;
        now.apply(&change).ok()?;
        commits.push((Some(input), now.clone()));
    }
    Some(commits)
}
