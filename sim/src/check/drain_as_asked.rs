//! The part of `QuietDrain` that Ex7 says: a drain does what its request named, and no more.
//!
//! What happens once drained, and at the deadline, is what was acknowledged, until a stronger
//! request replaces it. A drain whose end is nothing ends no process. A deadline that interrupts
//! leaves nothing running, one that undrains no drain, and one that is to be reported stops nothing
//! and gives nothing up.

use handover_core::executor::Stage;
use handover_core::{AtDeadline, DrainRequest, Executor, Work};

use super::{Property, Transition, Violation, demand};
use crate::mark::mark;
use crate::world::{Event, Fact, Life, Process, Who};

pub(super) fn check(step: &Transition<'_>) -> Result<(), Violation> {
    for (who, before, after) in step.touched() {
        let Some(before) = before else {
            continue;
        };
        check_named(step, who, before, after)?;
        check_exit(step, who, before, after)?;
    }
    check_deadline(step)
}

/// What was acknowledged stands, but for a stronger request.
fn check_named(
    step: &Transition<'_>,
    who: Who,
    before: &Process,
    after: &Process,
) -> Result<(), Violation> {
    let (was, is) = (before.host.executor(), after.host.executor());
    let Some(drain) = is.active_drain().filter(|drain| was.active_drain() != Some(*drain)) else {
        return Ok(());
    };
    let named = (drain.end, drain.at_deadline);
    let kept = was.active_drain().filter(|was| was.id == drain.id);
    let asked = if let Event::Drain { who: of, end, at_deadline, .. } = step.event
        && *of == who
    {
        Some((*end, *at_deadline))
    } else {
        None
    };
    let by = drain.by.as_ref().and_then(|build| {
        let work = Work::Local(build.clone());
        request(was, &work).or_else(|| request(is, &work))
    });
    let owed = by.map(|request| (request.end, request.at_deadline));
    let known = [kept.map(|kept| (kept.end, kept.at_deadline)), owed, asked];
    // One that is declared when its row is gone, nobody knows the request of any more.
    let is_new = known.iter().all(Option::is_none);
    let is_asked = is_new || known.contains(&Some(named));
    demand(Property::QuietDrain, is_asked, || {
        let label = step.after.label(who);
        format!("the drain {} on {label} is to do what nobody has asked for", drain.id)
    })
}

fn request<'a>(executor: &'a Executor, work: &Work) -> Option<&'a DrainRequest> {
    executor.entry(work).and_then(|entry| entry.drains.as_ref())
}

/// A drain that ends nothing leaves its process up.
fn check_exit(
    step: &Transition<'_>,
    who: Who,
    before: &Process,
    after: &Process,
) -> Result<(), Violation> {
    if !before.lives() || after.life != Life::Exited {
        return Ok(());
    }
    // Whoever else ends a process needs no drain for it.
    let performs = |fact: &Fact| matches!(fact, Fact::Performed { who: of, .. } if *of == who);
    let by_its_driver = step.facts.iter().any(performs);
    demand(Property::QuietDrain, !by_its_driver || before.ends_when_drained(), || {
        let label = step.after.label(who);
        format!("{label} ends, and no drain of it is to end it")
    })
}

/// At its deadline a drain does what its request named.
fn check_deadline(step: &Transition<'_>) -> Result<(), Violation> {
    let Event::Deadline(who) = step.event else { return Ok(()) };
    let was = step.before.process(*who).host.executor();
    let is = step.after.process(*who).host.executor();
    let Some(drain) = was.active_drain() else { return Ok(()) };
    let label = || step.after.label(*who);
    match drain.at_deadline {
        AtDeadline::Interrupt => {
            mark!(QuietDrainInterrupted);
            check_interrupted(is, label)
        }
        AtDeadline::Undrain => {
            mark!(QuietDrainUndrained);
            demand(Property::QuietDrain, !is.is_draining(), || {
                format!("{} goes on draining after the deadline that was to undrain it", label())
            })
        }
        AtDeadline::Report => {
            mark!(QuietDrainReported);
            check_reported(was, is, label)
        }
    }
}

/// Nothing runs on that was not told to stop.
fn check_interrupted(is: &Executor, label: impl Fn() -> String) -> Result<(), Violation> {
    let spared = is.current().find(|(_, stage)| *stage == Stage::Running).map(|(work, _)| work);
    demand(Property::QuietDrain, spared.is_none(), || {
        let spared = spared.map(ToString::to_string).unwrap_or_default();
        format!("{spared} goes on running on {} after the deadline", label())
    })
}

/// Nothing changes.
fn check_reported(
    was: &Executor,
    is: &Executor,
    label: impl Fn() -> String,
) -> Result<(), Violation> {
    let unlike = was.current().find(|(work, stage)| is.stage(work) != Some(*stage));
    demand(Property::QuietDrain, unlike.is_none(), || {
        let work = unlike.map(|(work, _)| work.to_string()).unwrap_or_default();
        format!("{work} on {} is stopped by a deadline that was to be reported", label())
    })?;
    demand(Property::QuietDrain, is.is_draining(), || {
        format!("the drain of {} is given up by a deadline that was to be reported", label())
    })
}

#[cfg(test)]
mod tests {
    use handover_core::{EndAction, Term};

    use super::*;
    use crate::check::testing::{
        A, Made, after, calm_step, edit_executor, judge_to_rest, local, queueing, submit, two,
    };
    use crate::world::World;

    const PROPERTY: Property = Property::QuietDrain;

    fn drain(end: EndAction, at_deadline: AtDeadline) -> Event {
        Event::Drain { who: A, term: Term::UntilUndrained, end, at_deadline }
    }

    /// A build runs on `a`, which drains to do this in the end and at the deadline.
    fn draining(end: EndAction, at_deadline: AtDeadline) -> World {
        after(queueing(&["l"]), [drain(end, at_deadline)])
    }

    /// The drain does something else in the end, or at the deadline.
    fn bent(made: &mut Made, end: EndAction, at_deadline: AtDeadline) {
        made.after.edit_process(A, |process| {
            edit_executor(process, |parts| {
                let drain = parts.drain.as_mut().expect("it drains");
                (drain.end, drain.at_deadline) = (end, at_deadline);
            });
        });
    }

    #[test]
    fn a_drain_does_what_its_request_named() {
        judge_to_rest(draining(EndAction::Stop, AtDeadline::Report), PROPERTY).expect("it holds");
        let weak = draining(EndAction::Nothing, AtDeadline::Report);
        Made::by(&weak, drain(EndAction::Stop, AtDeadline::Interrupt)).holds(PROPERTY);
        let strong = draining(EndAction::Stop, AtDeadline::Report);
        Made::by(&strong, drain(EndAction::Nothing, AtDeadline::Interrupt)).holds(PROPERTY);
        let deploy = Event::Submit {
            who: A,
            build: "d".into(),
            parent: None,
            drains: Some(EndAction::Restart),
        };
        judge_to_rest(after(two(), [deploy]), PROPERTY).expect("it holds");
    }

    #[test]
    fn a_drain_that_does_what_nobody_asked_for_breaks_it() {
        let why = "the drain d1 on a is to do what nobody has asked for";
        let world = draining(EndAction::Nothing, AtDeadline::Report);
        for (end, at_deadline) in [
            (EndAction::Stop, AtDeadline::Report),
            (EndAction::Nothing, AtDeadline::Interrupt),
            (EndAction::Nothing, AtDeadline::Undrain),
        ] {
            let mut later = Made::still(&world);
            bent(&mut later, end, at_deadline);
            later.breaks(PROPERTY, why);
            let mut first = Made::by(&two(), drain(EndAction::Nothing, AtDeadline::Report));
            first.holds(PROPERTY);
            bent(&mut first, end, at_deadline);
            first.breaks(PROPERTY, why);
        }
        let mut weaker = Made::still(&draining(EndAction::Stop, AtDeadline::Report));
        bent(&mut weaker, EndAction::Nothing, AtDeadline::Report);
        weaker.breaks(PROPERTY, why);
    }

    #[test]
    fn a_process_that_ends_by_a_drain_that_ends_nothing_breaks_it() {
        let world = after(two(), [drain(EndAction::Stop, AtDeadline::Report)]);
        let exits = |made: &Made| made.after.process(A).life == Life::Exited;
        let mut made = calm_step(world, exits);
        made.holds(PROPERTY);
        bent(&mut made, EndAction::Nothing, AtDeadline::Report);
        made.before.edit_process(A, |process| {
            process.host = made.after.process(A).host.clone();
        });
        made.breaks(PROPERTY, "a ends, and no drain of it is to end it");
    }

    #[test]
    fn a_deadline_that_is_to_be_reported_and_does_more_breaks_it() {
        let reports = draining(EndAction::Nothing, AtDeadline::Report);
        let mut made = Made::by(&reports, Event::Deadline(A));
        made.holds(PROPERTY);
        made.after.edit_process(A, |process| edit_executor(process, |parts| parts.drain = None));
        let why = "the drain of a is given up by a deadline that was to be reported";
        made.breaks(PROPERTY, why);
        let interrupts = draining(EndAction::Nothing, AtDeadline::Interrupt);
        let mut made = Made::by(&interrupts, Event::Deadline(A));
        made.holds(PROPERTY);
        assert_ne!(
            made.after.process(A).host.executor().stage(&local("l")),
            made.before.process(A).host.executor().stage(&local("l")),
            "it is told to stop"
        );
        made.before = reports;
        bent(&mut made, EndAction::Nothing, AtDeadline::Report);
        let why = "l on a is stopped by a deadline that was to be reported";
        made.breaks(PROPERTY, why);
    }

    #[test]
    fn a_deadline_that_is_to_interrupt_or_undrain_and_does_not_breaks_it() {
        let idle = |world: &World| Made::by(world, Event::Deadline(A));
        for (at_deadline, why) in [
            (AtDeadline::Interrupt, "l goes on running on a after the deadline"),
            (AtDeadline::Undrain, "a goes on draining after the deadline that was to undrain it"),
        ] {
            let asked = draining(EndAction::Nothing, at_deadline);
            idle(&asked).holds(PROPERTY);
            let mut made = idle(&draining(EndAction::Nothing, AtDeadline::Report));
            bent(&mut made, EndAction::Nothing, at_deadline);
            made.before = asked;
            made.breaks(PROPERTY, why);
        }
    }

    #[test]
    fn a_queue_behind_a_drain_that_is_reported_changes_nothing() {
        let world = after(
            draining(EndAction::Nothing, AtDeadline::Report),
            [submit(A, "m", None), Event::Deadline(A)],
        );
        judge_to_rest(world, PROPERTY).expect("it holds");
    }
}
