//! `RecoveryExact`: after a crash exactly the builds that were cut are pending again, once.
//!
//! In their places, at no cost in attempts; work under a grant never is: the record hands it out
//! anew. What was pending or had ended stays as it was; so a success has its artifacts. Carried by Ex1 and Ex5.

use handover_core::executor::Stage;
use handover_core::{BuildState, Entry, Executor, Waiter, Work};

use super::{Property, Transition, Violation, dead_before};
use crate::mark::mark;
use crate::world::Fact;

pub(super) fn check(step: &Transition<'_>) -> Result<(), Violation> {
    if let Some(why) = success_without_artifacts(step) {
        return Err(Violation::new(Property::RecoveryExact, why));
    }
    let Some((dead, who, booted)) = dead_before(step) else {
        return Ok(());
    };
    let executor = booted.host.executor();
    let rows = &dead.ledger.entries;
    let wrong = rows.iter().find_map(|(work, row)| wrong_row(executor, work, row)).or_else(|| {
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
    if row.state == BuildState::Admitted {
        mark!(RecoveryExactCut);
    }
    if work.is_granted() && unfinished {
        mark!(RecoveryExactGranted);
        let dropped = executor.stage(work) == Some(Stage::Retiring);
        return (!dropped).then(|| format!("{work}, which the record handed out, goes on"));
    }
    let expected = if unfinished { &BuildState::Pending } else { &row.state };
    if now.state != *expected {
        return Some(format!("{work} was {:?} and is {:?}", row.state, now.state));
    }
    if row.state != BuildState::Admitted && now.attempts != row.attempts {
        return Some(format!("{work} was not cut, and its attempts have changed"));
    }
    if now.place != row.place || now.attempts != attempts_before(row) {
        return Some(format!("{work} lost its place, or paid in attempts"));
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

/// What is cut short does not pay: the attempt that its admission had counted is given back.
fn attempts_before(row: &Entry) -> u32 {
    let cut = u32::from(row.state == BuildState::Admitted);
    row.attempts.saturating_sub(cut)
}

/// A success on the disk without its artifacts would never be repeated (Ex3).
fn success_without_artifacts(step: &Transition<'_>) -> Option<String> {
    step.facts.iter().find_map(|fact| {
        let Fact::Performed { who, work: Some(work), wrote: Some("succeeded"), .. } = fact else {
            return None;
        };
        mark!(RecoveryExactSuccess);
        let lacks = !step.after.process(*who).artifacts.contains(work);
        let label = step.after.label(*who);
        lacks.then(|| format!("{work} succeeded on {label}, and its artifacts are not stored"))
    })
}

/// A queued build that nobody knows of.
fn added(executor: &Executor, known: impl Fn(&Work) -> bool) -> Option<Work> {
    executor.queue().into_iter().find_map(|queued| match queued.waiter {
        Waiter::Build(build) => Some(Work::Local(build)).filter(|work| !known(work)),
        Waiter::Candidate => None,
    })
}

#[cfg(test)]
mod tests {
    use handover_core::executor::{ExecutorParts, Task};

    use std::sync::Arc;

    use super::*;
    use crate::check::testing::{
        A, G1, Made, after, building, edit_executor, local, queueing, until,
    };
    use crate::world::{Event, StepKind, World};

    const PROPERTY: Property = Property::RecoveryExact;

    /// `a` crashes in this world, and boots.
    fn booting(world: World) -> Made {
        let boot = Event::Boot { name: "a".into(), version: None };
        Made::by(&after(world, [Event::Crash(A)]), boot)
    }

    /// `l1` has ended, `l2` was cut, `l3` had not begun.
    fn cut() -> Made {
        let world = until(queueing(&["l1", "l2", "l3"]), |world| {
            world.process(A).builds.contains_key(&local("l2"))
        });
        booting(world)
    }

    fn bent(mut made: Made, edit: impl FnOnce(&mut ExecutorParts)) -> Made {
        let booted = made.after.newest(&"a".into()).expect("it has booted");
        made.after.edit_process(booted, |process| edit_executor(process, edit));
        made
    }

    fn task<'a>(parts: &'a mut ExecutorParts, build: &str) -> &'a mut Task {
        parts.tasks.get_mut(&local(build)).expect("it is queued")
    }

    #[track_caller]
    fn breaks(edit: impl FnOnce(&mut ExecutorParts), why: &str) {
        bent(cut(), edit).breaks(PROPERTY, &format!("a has booted, and {why}"));
    }

    #[test]
    fn a_boot_queues_exactly_what_was_cut() {
        let made = cut();
        made.holds(PROPERTY);
        let booted = made.after.newest(&"a".into()).expect("it has booted");
        let executor = made.after.process(booted).host.executor();
        assert_eq!(executor.queue().len(), 2);
        assert_eq!(executor.attempts(&local("l2")), 0, "the cut one was not charged");
    }

    #[test]
    fn a_cut_build_that_is_not_queued_again_breaks_it() {
        let forget = |parts: &mut ExecutorParts| {
            parts.tasks.remove(&local("l2"));
        };
        breaks(forget, "l2 was Admitted and is Admitted");
        let retire = |parts: &mut ExecutorParts| task(parts, "l2").stage = Stage::Retiring;
        breaks(retire, "l2 was Admitted and is not in the queue");
    }

    #[test]
    fn a_pending_build_that_is_not_queued_breaks_it() {
        let forget = |parts: &mut ExecutorParts| {
            parts.tasks.remove(&local("l3"));
        };
        breaks(forget, "l3 was Pending and is not in the queue");
    }

    #[test]
    fn a_success_without_artifacts_breaks_it() {
        let world = queueing(&["l1"]);
        let mut made = Made::still(&world);
        let (kind, work) = (StepKind::StoreEntry, Some(local("l1")));
        let wrote = Some("succeeded");
        made.facts.push(Fact::Performed { who: A, kind, work, wrote });
        made.breaks(PROPERTY, "l1 succeeded on a, and its artifacts are not stored");
        made.after.edit_process(A, |process| {
            Arc::make_mut(&mut process.artifacts).insert(local("l1"));
        });
        made.holds(PROPERTY);
    }

    #[test]
    fn a_cut_build_that_pays_or_loses_its_place_breaks_it() {
        let why = "l2 lost its place, or paid in attempts";
        breaks(|parts| task(parts, "l2").entry.attempts = 2, why);
        breaks(|parts| task(parts, "l2").entry.attempts = 1, why);
        breaks(|parts| task(parts, "l2").entry.place = 9, why);
    }

    #[test]
    fn a_build_that_ended_and_is_queued_again_breaks_it() {
        let again = |state: BuildState| {
            move |parts: &mut ExecutorParts| {
                let mut task = task(parts, "l3").clone();
                task.entry = parts.ledger.entries[&local("l1")].clone();
                task.entry.state = state;
                parts.tasks.insert(local("l1"), task);
            }
        };
        breaks(again(BuildState::Pending), "l1 was Succeeded and is Pending");
        breaks(again(BuildState::Succeeded), "l1 was Succeeded and is in the queue");
    }

    #[test]
    fn a_row_that_is_lost_breaks_it() {
        let lose = |parts: &mut ExecutorParts| {
            parts.ledger.entries.remove(&local("l1"));
        };
        breaks(lose, "the row of l1 is lost");
    }

    #[test]
    fn attempts_of_what_was_not_cut_that_change_break_it() {
        let forget = |parts: &mut ExecutorParts| {
            let row = parts.ledger.entries.get_mut(&local("l1"));
            row.expect("l1 has ended").attempts = 0;
        };
        breaks(forget, "l1 was not cut, and its attempts have changed");
    }

    #[test]
    fn a_build_that_the_book_does_not_have_breaks_it() {
        let invent = |parts: &mut ExecutorParts| {
            let mut task = task(parts, "l3").clone();
            task.entry.place = 9;
            parts.tasks.insert(local("l9"), task);
        };
        breaks(invent, "l9 is queued, and the book does not have it");
    }

    #[test]
    fn granted_work_that_goes_on_breaks_it() {
        let made = booting(building());
        made.holds(PROPERTY);
        let granted = Work::Granted(G1);
        let goes_on = bent(made, |parts| {
            let task = parts.tasks.get_mut(&granted).expect("it is to be retired");
            task.stage = Stage::Enqueuing;
        });
        let why = "a has booted, and g1, which the record handed out, goes on";
        goes_on.breaks(PROPERTY, why);
    }
}
