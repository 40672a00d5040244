//! `QueueKept`: what is refused a start stays pending, in its place, with its attempts, and
//! without a workspace; undrain wakes it.
//!
//! It leaves the queue only by being admitted or cancelled, what is new goes behind it, and no row
//! of the book is lost but those of work under a grant. Carried by Ex1, Ex4 and Ex6.

use std::collections::BTreeMap;
use std::sync::Arc;

use handover_core::executor::{Queued, Stage};
use handover_core::{BuildState, Waiter, Work};

use super::{Property, Transition, Violation, is_same_executor};
use crate::mark::mark;
use crate::world::{Event, Process};

pub(super) fn check(step: &Transition<'_>) -> Result<(), Violation> {
    if let Event::LoseDisk(_) = step.event {
        // What a disk takes with it nobody keeps.
        return Ok(());
    }
    for (who, before, after) in step.touched().filter(|(_, _, after)| after.lives()) {
        if before.is_some_and(|before| is_same_executor(before, after)) {
            continue;
        }
        let kept = before.and_then(|before| {
            lost_row(before, after)
                .or_else(|| early_workspace(before, after))
                .or_else(|| disturbed_queue(before, after))
        });
        if let Some(why) = kept.or_else(|| overtaken(before, after)) {
            let why = format!("on {} {why}", step.after.label(who));
            return Err(Violation::new(Property::QueueKept, why));
        }
    }
    Ok(())
}

/// The book keeps its rows, and what is pending there its place and attempts.
fn lost_row(before: &Process, after: &Process) -> Option<String> {
    if Arc::ptr_eq(&before.ledger, &after.ledger) {
        return None;
    }
    for (work, row) in &before.ledger.entries {
        let now = after.ledger.entries.get(work);
        let Some(now) = now else {
            if work.is_granted() {
                continue;
            }
            return Some(format!("the row of {work} is lost"));
        };
        // What is cut short comes back to its place, and its attempt is given back.
        let due = match row.state {
            BuildState::Pending => row.attempts,
            BuildState::Admitted => row.attempts.saturating_sub(1),
            BuildState::Succeeded | BuildState::Failed(_) | BuildState::Cancelled => continue,
        };
        if row.state == BuildState::Admitted && now.state == BuildState::Pending {
            mark!(QueueKeptPending);
        }
        if now.state == BuildState::Pending && (row.place, due) != (now.place, now.attempts) {
            return Some(format!("{work} is pending and lost its place, or paid in attempts"));
        }
    }
    None
}

/// A workspace is prepared only for what was admitted.
fn early_workspace(before: &Process, after: &Process) -> Option<String> {
    if Arc::ptr_eq(&before.workspaces, &after.workspaces) {
        return None;
    }
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
    mark!(QueueKeptWaits);
    let (waited, waits) = (by_waiter(&old), by_waiter(&new));
    for queued in &old {
        let Waiter::Build(build) = &queued.waiter else {
            continue;
        };
        let work = Work::Local(build.clone());
        let Some(now) = waits.get(&queued.waiter) else {
            if leaves_well(after, &work) {
                continue;
            }
            return Some(format!("{work} left the queue, neither admitted nor cancelled"));
        };
        if now.place != queued.place || was.attempts(&work) != is.attempts(&work) {
            return Some(format!("{work} lost its place or its attempts"));
        }
    }
    let last = old.iter().map(|queued| queued.place).max();
    for queued in &new {
        let waited = waited.contains_key(&queued.waiter);
        if !waited && is_new(before, &queued.waiter) && Some(queued.place) <= last {
            return Some(format!("{} is new and stands before others", name(&queued.waiter)));
        }
        if queued.parked && !is.is_draining() {
            return Some(format!("{} is parked under an open gate", name(&queued.waiter)));
        }
    }
    None
}

/// A queue to look into: hundreds may wait, and all are looked up in each step.
fn by_waiter(queue: &[Queued]) -> BTreeMap<&Waiter, &Queued> {
    queue.iter().map(|queued| (&queued.waiter, queued)).collect()
}

/// A slot goes to the first of those who wait for one of their own, after a boot too.
fn overtaken(before: Option<&Process>, after: &Process) -> Option<String> {
    let executor = after.host.executor();
    let place = |work: &Work| {
        let entry = executor.entry(work).filter(|entry| entry.parent.is_none());
        entry.map(|entry| entry.place)
    };
    let has_slot = |process: &Process, work: &Work| {
        process.host.executor().stage(work).is_some_and(Stage::needs_slot)
    };
    let queue = executor.queue();
    let waiting = queue.iter().filter(|queued| !queued.parked);
    let waiting = waiting.filter_map(|queued| match &queued.waiter {
        Waiter::Build(build) => Some(Work::Local(build.clone())),
        Waiter::Candidate => None,
    });
    let waiting = waiting.filter(|work| !has_slot(after, work));
    let first = waiting.filter_map(|work| Some((place(&work)?, work))).min()?;
    mark!(QueueKeptTurn);
    let rows = executor.ledger().entries.keys().filter(|work| !work.is_granted());
    let mut handed = rows.filter(|work| {
        has_slot(after, work) && !before.is_some_and(|before| has_slot(before, work))
    });
    let younger = handed.find(|work| place(work).is_some_and(|place| place > first.0))?;
    Some(format!("{younger} is handed a slot before {}", first.1))
}

/// Admitted, or cancelled?
fn leaves_well(after: &Process, work: &Work) -> bool {
    let executor = after.host.executor();
    let cancelled = executor.entry(work).is_some_and(|entry| entry.state == BuildState::Cancelled);
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

#[cfg(test)]
mod tests {
    use handover_core::executor::{ExecutorParts, Task};
    use handover_core::{AtDeadline, EndAction, GrantId, Term};

    use std::sync::Arc;

    use super::*;
    use crate::check::testing::{
        A, Made, after, building, calm_step, edit_executor, judge_to_rest, local, queueing, submit,
        until,
    };
    use crate::world::{Event, World};

    const PROPERTY: Property = Property::QueueKept;

    /// `l1` runs in the only slot of `a`, `l2` and `l3` wait.
    fn waiting() -> World {
        queueing(&["l1", "l2", "l3"])
    }

    fn changing(edit: impl FnOnce(&mut Process)) -> Made {
        Made::changing(&waiting(), A, edit)
    }

    fn executing(edit: impl FnOnce(&mut ExecutorParts)) -> Made {
        changing(|process| edit_executor(process, edit))
    }

    fn l2(parts: &mut ExecutorParts) -> &mut Task {
        parts.tasks.get_mut(&local("l2")).expect("l2 waits")
    }

    fn drain() -> Event {
        Event::Drain {
            who: A,
            term: Term::UntilUndrained,
            end: EndAction::Nothing,
            at_deadline: AtDeadline::Interrupt,
        }
    }

    #[test]
    fn a_queue_is_kept_through_starts_cancels_and_a_drain() {
        judge_to_rest(waiting(), PROPERTY).expect("it holds");
        let cancels = Event::CancelBuild { who: A, build: "l2".into() };
        let cancelled = Made::by(&waiting(), cancels);
        cancelled.holds(PROPERTY);
        judge_to_rest(cancelled.after, PROPERTY).expect("it holds");
        let drained = after(waiting(), [drain(), Event::Deadline(A)]);
        let parked = judge_to_rest(drained, PROPERTY).expect("it holds");
        assert_eq!(parked.process(A).host.executor().queue().len(), 3);
        let woken = Made::by(&parked, Event::Undrain(A));
        woken.holds(PROPERTY);
        judge_to_rest(woken.after, PROPERTY).expect("it holds");
    }

    #[test]
    fn a_row_that_is_lost_breaks_it() {
        let made = changing(|process| {
            Arc::make_mut(&mut process.ledger).entries.remove(&local("l2"));
        });
        made.breaks(PROPERTY, "on a the row of l2 is lost");
    }

    #[test]
    fn a_younger_build_that_is_handed_a_slot_first_breaks_it() {
        let made = executing(|parts| {
            let task = parts.tasks.get_mut(&local("l3")).expect("l3 waits");
            task.stage = Stage::Handed;
        });
        made.breaks(PROPERTY, "on a l3 is handed a slot before l2");
    }

    #[test]
    fn a_row_of_granted_work_may_go() {
        let granted = Work::Granted(GrantId(1));
        let world =
            until(building(), |world| world.process(A).ledger.entries.contains_key(&granted));
        let made = Made::changing(&world, A, |process| {
            Arc::make_mut(&mut process.ledger).entries.remove(&granted);
        });
        made.holds(PROPERTY);
    }

    #[test]
    fn a_pending_row_that_changes_breaks_it() {
        let made = changing(|process| {
            let row = Arc::make_mut(&mut process.ledger).entries.get_mut(&local("l2"));
            row.expect("l2 is in the book").attempts = 1;
        });
        made.breaks(PROPERTY, "on a l2 is pending and lost its place, or paid in attempts");
    }

    #[test]
    fn an_interruption_that_costs_an_attempt_or_the_place_breaks_it() {
        let interrupted = |attempts: u32, moved: u64| {
            changing(|process| {
                let row = Arc::make_mut(&mut process.ledger)
                    .entries
                    .get_mut(&local("l1"))
                    .expect("l1 runs");
                row.state = BuildState::Pending;
                row.attempts = attempts;
                row.place += moved;
            })
        };
        interrupted(0, 0).holds(PROPERTY);
        let why = "on a l1 is pending and lost its place, or paid in attempts";
        interrupted(1, 0).breaks(PROPERTY, why);
        interrupted(0, 9).breaks(PROPERTY, why);
    }

    #[test]
    fn a_workspace_of_what_waits_breaks_it() {
        let made = changing(|process| {
            Arc::make_mut(&mut process.workspaces).insert(local("l2"));
        });
        let why = "on a a workspace was prepared for l2, which is not admitted";
        made.breaks(PROPERTY, why);
    }

    #[test]
    fn what_leaves_the_queue_without_a_word_breaks_it() {
        let made = executing(|parts| {
            parts.tasks.remove(&local("l2"));
        });
        made.breaks(PROPERTY, "on a l2 left the queue, neither admitted nor cancelled");
    }

    #[test]
    fn a_place_or_an_attempt_that_is_lost_breaks_it() {
        let why = "on a l2 lost its place or its attempts";
        executing(|parts| l2(parts).entry.place = 99).breaks(PROPERTY, why);
        executing(|parts| l2(parts).entry.attempts = 1).breaks(PROPERTY, why);
    }

    #[test]
    fn what_is_new_and_stands_before_others_breaks_it() {
        let made = executing(|parts| {
            let mut task = l2(parts).clone();
            task.entry.place = 0;
            parts.tasks.insert(local("l9"), task);
        });
        made.breaks(PROPERTY, "on a l9 is new and stands before others");
        Made::by(&waiting(), submit(A, "l9", None)).holds(PROPERTY);
    }

    #[test]
    fn what_stays_parked_under_an_open_gate_breaks_it() {
        let made = executing(|parts| l2(parts).stage = Stage::Waiting { parked: true });
        made.breaks(PROPERTY, "on a l2 is parked under an open gate");
    }

    #[test]
    fn a_refused_start_keeps_its_place_and_attempts() {
        let drained = after(waiting(), [drain()]);
        let is_parked = |made: &Made| {
            let queue = made.after.process(A).host.executor().queue();
            queue.iter().any(|queued| queued.parked)
        };
        calm_step(drained, is_parked).holds(PROPERTY);
    }
}
