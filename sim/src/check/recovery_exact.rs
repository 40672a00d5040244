//! `RecoveryExact`: after a crash exactly the builds that were cut are pending again, once.
//!
//! In their places, at no cost in attempts; work under a grant never is: the record hands it out
//! anew. What was pending or had ended stays as it was. Carried by Ex1 and Ex5.

use handover_core::executor::Stage;
use handover_core::{BuildState, Entry, Executor, Waiter, Work};

use super::{Property, Transition, Violation, dead_before};

pub(super) fn check(step: &Transition<'_>) -> Result<(), Violation> {
    let Some((dead, who, booted)) = dead_before(step) else {
        return Ok(());
    };
    let executor = booted.host.executor();
    let rows = &dead.ledger.entries;
    let wrong = rows
        .iter()
        .find_map(|(work, row)| wrong_row(executor, work, row))
        .or_else(|| {
            let known = |work: &Work| rows.contains_key(work);
            let added = added(executor, known)?;
            Some(format!("{added} is queued, and the book does not have it"))
        });
    match wrong {
        Some(why) => {
            let why = format!("{} has booted, and {why}", step.after.label(who));
            Err(Violation::new(Property::RecoveryExact, why))
        }
        None => Ok(()),
    }
}

fn wrong_row(executor: &Executor, work: &Work, row: &Entry) -> Option<String> {
    let Some(now) = executor.entry(work) else {
        return Some(format!("the row of {work} is lost"));
    };
    let unfinished = !row.state.is_terminal();
    if work.is_granted() && unfinished {
        let dropped = executor.stage(work) == Some(Stage::Retiring);
        return (!dropped).then(|| format!("{work}, which the record handed out, goes on"));
    }
    if now.place != row.place || now.attempts > row.attempts {
        return Some(format!("{work} lost its place, or paid in attempts"));
    }
    let expected = if unfinished {
        &BuildState::Pending
    } else {
        &row.state
    };
    if now.state != *expected {
        return Some(format!("{work} was {:?} and is {:?}", row.state, now.state));
    }
    if row.state != BuildState::Admitted && now.attempts != row.attempts {
        return Some(format!("{work} was not cut, and its attempts have changed"));
    }
    let queued = match executor.stage(work) {
        Some(Stage::Enqueuing | Stage::Waiting { .. } | Stage::Handed) => true,
        Some(
            Stage::Retiring
            | Stage::Admitting
            | Stage::Starting
            | Stage::Running
            | Stage::Stopping
            | Stage::AwaitingStop
            | Stage::StoringArtifacts
            | Stage::Recording
            | Stage::Declaring { .. }
            | Stage::Removing
            | Stage::Releasing,
        )
        | None => false,
    };
    (queued != unfinished).then(|| {
        let is = if queued { "is" } else { "is not" };
        format!("{work} was {:?} and {is} in the queue", row.state)
    })
}

/// A queued build that nobody knows of.
fn added(executor: &Executor, known: impl Fn(&Work) -> bool) -> Option<Work> {
    executor
        .queue()
        .into_iter()
        .find_map(|queued| match queued.waiter {
            Waiter::Build(build) => Some(Work::Local(build)).filter(|work| !known(work)),
            Waiter::Candidate => None,
        })
}
