//! `abandoned-before-stopped`: the end of a build is said together with the order to stop it.
//!
//! The record hands the job on while the build still stops: if it comes to its own end first, its
//! report is lost, and if not, two hosts build. It leaves out Ca4: nothing is said until the build has
//! really stopped. Breaks `NoLostReport`, and a few steps later `SingleBuilder`.

use std::collections::{BTreeMap, BTreeSet};

use handover_core::{
    Change, ExecutorEffect, GrantId, HostId, Input, Outcome, Record, Refusal, Seq, Standing,
    Statement, View, Work,
};

use super::{Property, Protocol};
use crate::world::Process;

#[derive(Debug)]
pub(super) struct AbandonedBeforeStopped;

impl Protocol for AbandonedBeforeStopped {
    fn name(&self) -> &'static str {
        "abandoned-before-stopped"
    }

    fn summary(&self) -> &'static str {
        "a host says that its build was abandoned before it has stopped"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::NoLostReport)
    }

    fn says_on_top(&self, process: &Process, order: &ExecutorEffect) -> Option<Statement> {
        on_top(process, order, |grant| Standing::Finished {
            grant,
            outcome: Outcome::Abandoned,
            signed_off: BTreeMap::new(),
        })
    }

    fn fold(
        &self,
        record: &Record,
        input: &Input,
        suspects: &BTreeSet<HostId>,
    ) -> Result<Change, Refusal> {
        end_of_the_same_number(record, input, suspects)
    }

    fn hear(&self, view: &View, process: &Process) -> View {
        without_what_was_said_on_top(view, process)
    }
}

/// What is said together with the order to stop a build of the record, under the next number.
pub(super) fn on_top(
    process: &Process,
    order: &ExecutorEffect,
    standing: impl FnOnce(GrantId) -> Standing,
) -> Option<Statement> {
    let ExecutorEffect::Stop { work: work @ Work::Granted(grant) } = order else {
        return None;
    };
    if !process.builds.contains_key(work) {
        return None;
    }
    let statement = process.host.statement()?;
    let (seq, standing) = (statement.seq.next(), standing(*grant));
    Some(Statement { seq, standing, ..statement })
}

/// The end that its core reports later has the number of what was said on top, and is heard all the
/// same. Where it then ends what it does not hold, that is no alarm.
pub(super) fn end_of_the_same_number(
    record: &Record,
    input: &Input,
    suspects: &BTreeSet<HostId>,
) -> Result<Change, Refusal> {
    let heard = record.fold(input, suspects);
    let (Err(Refusal::Outdated { seen }), Input::Statement(statement)) = (&heard, input) else {
        return heard;
    };
    let mut parts = record.to_parts();
    let line = parts.lines.get_mut(&statement.host).expect("an outdated word has a line");
    if *seen != statement.seq || !matches!(statement.standing, Standing::Finished { .. }) {
        return heard;
    }
    line.seq = Seq(seen.0 - 1);
    let behind = Record::from_parts(parts).expect("numbers of words bind nothing else");
    let folded = behind.fold(input, suspects);
    if folded == Err(Refusal::Impossible) { heard } else { folded }
}

/// Its core does not know that it has said so.
pub(super) fn without_what_was_said_on_top(view: &View, process: &Process) -> View {
    let seq = process.host.candidate().seq();
    View { acknowledged: view.acknowledged.map(|seen| seen.min(seq)), ..view.clone() }
}
