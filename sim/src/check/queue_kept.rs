//! `QueueKept`: what is refused a start stays pending, in its place, with its attempts, and
//! without a workspace; undrain wakes it.
//!
//! It leaves the queue only by being admitted or cancelled, what is new goes behind it, and no row
//! of the book is lost but those of work under a grant. Carried by Ex1, Ex4 and Ex6.

use handover_core::executor::{Queued, Stage};
use handover_core::{BuildState, Waiter, Work};

use super::{Property, Transition, Violation};
use crate::world::Process;

pub(super) fn check(step: &Transition<'_>) -> Result<(), Violation> {
    for (who, before, after) in step.touched() {
        let Some(before) = before.filter(|_| after.lives()) else {
            continue;
        };
        let why = lost_row(before, after)
            .or_else(|| early_workspace(before, after))
            .or_else(|| disturbed_queue(before, after));
        if let Some(why) = why {
            let why = format!("on {} {why}", step.after.label(who));
            return Err(Violation::new(Property::QueueKept, why));
        }
    }
    Ok(())
}

/// The book keeps its rows, and what is pending there its place and attempts.
fn lost_row(before: &Process, after: &Process) -> Option<String> {
    for (work, row) in &before.ledger.entries {
        let now = after.ledger.entries.get(work);
        let Some(now) = now else {
            if work.is_granted() {
                continue;
            }
            return Some(format!("the row of {work} is lost"));
        };
        let pending = row.state == BuildState::Pending && now.state == BuildState::Pending;
        if pending && (row.place, row.attempts) != (now.place, now.attempts) {
            return Some(format!("the row of {work} changed while it was pending"));
        }
    }
    None
}

/// A workspace is prepared only for what was admitted.
fn early_workspace(before: &Process, after: &Process) -> Option<String> {
    let executor = before.host.executor();
    let mut prepared = after.workspaces.difference(&before.workspaces);
    let early = prepared.find(|work| !executor.stage(work).is_some_and(Stage::is_current));
    early.map(|work| format!("a workspace was prepared for {work}, which is not admitted"))
}

fn disturbed_queue(before: &Process, after: &Process) -> Option<String> {
    let (was, is) = (before.host.executor(), after.host.executor());
    let (old, new) = (was.queue(), is.queue());
    if old.is_empty() && new.is_empty() {
        return None;
    }
    let same = |queue: &'_ [Queued], waiter: &Waiter| {
        let mut queue = queue.iter();
        queue.find(|queued| queued.waiter == *waiter).cloned()
    };
    for queued in &old {
        let Waiter::Build(build) = &queued.waiter else {
            continue;
        };
        let work = Work::Local(build.clone());
        let Some(now) = same(&new, &queued.waiter) else {
            if leaves_well(after, &work) {
                continue;
            }
            return Some(format!(
                "{work} left the queue, neither admitted nor cancelled"
            ));
        };
        if now.place != queued.place || was.attempts(&work) != is.attempts(&work) {
            return Some(format!("{work} lost its place or its attempts"));
        }
    }
    let last = old.iter().map(|queued| queued.place).max();
    for queued in &new {
        let waits = same(&old, &queued.waiter).is_some();
        if !waits && is_new(before, &queued.waiter) && Some(queued.place) <= last {
            return Some(format!(
                "{} is new and stands before others",
                name(&queued.waiter)
            ));
        }
        if queued.parked && !is.is_draining() {
            return Some(format!(
                "{} is parked under an open gate",
                name(&queued.waiter)
            ));
        }
    }
    None
}

/// Admitted, or cancelled?
fn leaves_well(after: &Process, work: &Work) -> bool {
    let executor = after.host.executor();
    let cancelled = executor
        .entry(work)
        .is_some_and(|entry| entry.state == BuildState::Cancelled);
    cancelled || executor.stage(work).is_some_and(Stage::is_current)
}

/// Not an interrupted build on its way back to its place?
fn is_new(before: &Process, waiter: &Waiter) -> bool {
    match waiter {
        Waiter::Build(build) => {
            let work = Work::Local(build.clone());
            before.host.executor().entry(&work).is_none()
        }
        Waiter::Candidate => true,
    }
}

fn name(waiter: &Waiter) -> String {
    match waiter {
        Waiter::Build(build) => build.to_string(),
        Waiter::Candidate => "the candidate".into(),
    }
}
