//! `QuietDrain`: nothing is reserved or started after the declaration of a drain, but what
//! in-flight work waits for; and once the slot of a deployment is released, nothing starts until
//! the drain that its success owes is declared. Nor is that drain declared before the success is on
//! record: a build that has yet to fail, or is run again after a crash, closes no gate.
//!
//! A durable drain that lasts is in force from the boot on, and one that is over is not; and a
//! drain does what its request named (Ex7). Carried by Ex3, Ex4, Ex6, Ex7 and Ho1 to Ho3. Broken in
//! Werkator PR 66, where the slot was free before the drain was declared.

use handover_core::executor::Stage;
use handover_core::{BuildId, BuildState, Drain, Executor, Ledger, Term, Version, Work};

use super::{Property, Transition, Violation, dead_before, demand, drain_as_asked};
use crate::mark::mark;
use crate::world::{Process, Who};

pub(super) fn check(step: &Transition<'_>) -> Result<(), Violation> {
    for (who, before, after) in step.touched() {
        let Some(before) = before.filter(|_| after.lives()) else {
            continue;
        };
        check_earned(step, who, before, after)?;
        let Some(closed) = closed(before) else {
            continue;
        };
        let (was, is) = (before.host.executor(), after.host.executor());
        if is.is_unchanged_since(was) {
            continue;
        }
        let reserves = is.has_reservation() && !was.has_reservation();
        demand(Property::QuietDrain, !reserves, || {
            let label = step.after.label(who);
            format!("{label} reserves a slot, and {}", closed.why())
        })?;
        for (work, _) in is.current() {
            let begins = !is_current(was, work);
            let began = begins && !is_waited_for(is, work);
            if begins && !began {
                mark!(QuietDrainWaitedFor);
            }
            demand(Property::QuietDrain, !began, || {
                let label = step.after.label(who);
                format!("{work} begins on {label}, and {}", closed.why())
            })?;
        }
    }
    drain_as_asked::check(step)?;
    check_boot(step)
}

/// A drain that a build declares is one that its recorded success has earned (Ex3).
fn check_earned(
    step: &Transition<'_>,
    who: Who,
    before: &Process,
    after: &Process,
) -> Result<(), Violation> {
    let by = |process: &Process| {
        let drain = process.host.executor().active_drain();
        drain.and_then(|drain| drain.by.clone())
    };
    let Some(build) = by(after).filter(|_| by(before) != by(after)) else {
        return Ok(());
    };
    mark!(QuietDrainEarned);
    let row = after.ledger.entries.get(&Work::Local(build.clone()));
    let succeeded = row.is_some_and(|row| row.state == BuildState::Succeeded);
    demand(Property::QuietDrain, succeeded, || {
        let label = step.after.label(who);
        format!("{build} declares a drain on {label}, and its success is not on record")
    })
}

/// Why nothing may begin.
#[derive(Clone, Copy, Debug)]
enum Closed<'a> {
    Drained(&'a Drain),
    Owed(&'a BuildId),
}

impl Closed<'_> {
    fn why(self) -> String {
        match self {
            Self::Drained(drain) => format!("the drain {} is declared", drain.id),
            Self::Owed(build) => {
                format!("{build} has released its slot and owes its drain's declaration")
            }
        }
    }
}

/// Why nothing may begin there, if so.
fn closed(process: &Process) -> Option<Closed<'_>> {
    let executor = process.host.executor();
    if let Some(drain) = executor.active_drain() {
        mark!(QuietDrainDeclared);
        return Some(Closed::Drained(drain));
    }
    let mut owed = process.owes_drain.iter();
    let released = |work: Work| executor.stage(&work).is_none();
    let build = owed.find(|build| released(Work::Local((*build).clone())))?;
    mark!(QuietDrainOwed);
    Some(Closed::Owed(build))
}

fn is_current(executor: &Executor, work: &Work) -> bool {
    executor.stage(work).is_some_and(Stage::is_current)
}

/// Does in-flight work wait for it (Ex6)?
fn is_waited_for(executor: &Executor, work: &Work) -> bool {
    let parent = executor.entry(work).and_then(|entry| entry.parent.clone());
    parent.is_some_and(|parent| is_current(executor, &Work::Local(parent)))
}

/// Ex7: a boot neither forgets a drain nor the debt of one, nor takes up what is over.
fn check_boot(step: &Transition<'_>) -> Result<(), Violation> {
    let Some((dead, who, booted)) = dead_before(step) else {
        return Ok(());
    };
    let pinned = booted.host.executor().settings().pinned();
    let due = drain_due(&dead.ledger, booted.host.version(), pinned);
    if due {
        mark!(QuietDrainBoot);
    }
    let drains = booted.host.executor().is_draining();
    demand(Property::QuietDrain, drains == due, || {
        let label = step.after.label(who);
        if due {
            format!("{label} has booted with an open gate, and its book has a drain that lasts")
        } else {
            format!("{label} has booted with a closed gate, and its book has no drain that lasts")
        }
    })
}

fn drain_due(ledger: &Ledger, version: &Version, pinned: bool) -> bool {
    let lasts = |term: Term, declared_by: &Version| match term {
        Term::ThisProcess => false,
        Term::ThisVersion => declared_by == version,
        Term::UntilUndrained => true,
    };
    let declared = ledger.drain.as_ref().is_some_and(|drain| lasts(drain.term, &drain.version));
    let owed = ledger.entries.values().any(|entry| {
        let request = entry.drains.as_ref();
        let by = entry.admitted_by.as_ref();
        let lasts = request.zip(by).is_some_and(|(request, by)| lasts(request.term, by));
        !pinned && entry.state == BuildState::Succeeded && lasts
    });
    declared || owed
}

#[cfg(test)]
mod tests {
    use handover_core::{AtDeadline, EndAction};

    use super::*;
    use crate::check::testing::{
        A, Made, after, calm_step, edit_executor, judge_to_rest, local, queueing, submit, two,
        two_under, until,
    };
    use crate::world::{Event, World};

    const PROPERTY: Property = Property::QuietDrain;

    fn drain(term: Term) -> Event {
        Event::Drain { who: A, term, end: EndAction::Nothing, at_deadline: AtDeadline::Report }
    }

    /// `a` has declared a drain, and becomes in one step what it is in this world.
    fn from_drained(process: Process) -> Made {
        let drained = after(two(), [drain(Term::UntilUndrained)]);
        Made::changing(&drained, A, |changed| *changed = process)
    }

    /// A deployment and another build are queued on `a`.
    fn deploying(protocol: &str) -> World {
        let deploy = Event::Submit {
            who: A,
            build: "d".into(),
            parent: None,
            drains: Some(EndAction::Nothing),
        };
        after(two_under(protocol), [deploy, submit(A, "l", None)])
    }

    #[test]
    fn a_deployment_drains_before_the_next_build_begins() {
        let rested = judge_to_rest(deploying("current"), PROPERTY).expect("it holds");
        let executor = rested.process(A).host.executor();
        assert!(executor.is_draining(), "the deployment has drained");
        assert_eq!(executor.queue().len(), 1, "the other build is parked");
    }

    #[test]
    fn a_reservation_under_a_drain_breaks_it() {
        let asked = after(two(), [Event::Ask(A)]);
        let reserved = until(asked, |world| world.process(A).host.executor().has_reservation());
        let made = from_drained(reserved.process(A).clone());
        made.breaks(PROPERTY, "a reserves a slot, and the drain d1 is declared");
    }

    #[test]
    fn a_build_that_begins_under_a_drain_breaks_it() {
        let running = queueing(&["l"]);
        let made = from_drained(running.process(A).clone());
        made.breaks(PROPERTY, "l begins on a, and the drain d1 is declared");
    }

    #[test]
    fn what_in_flight_work_waits_for_may_begin() {
        let world =
            after(queueing(&["l"]), [drain(Term::UntilUndrained), submit(A, "child", Some("l"))]);
        let begins = calm_step(world, |made| {
            is_current(made.after.process(A).host.executor(), &local("child"))
        });
        begins.holds(PROPERTY);
    }

    #[test]
    fn a_slot_before_its_drain_breaks_it() {
        let why = "l begins on a, and d has released its slot and owes its drain's declaration";
        let broken = judge_to_rest(deploying("drain-after-release"), PROPERTY).map(|_| ());
        assert_eq!(broken, Err(why.to_owned()));
    }

    #[test]
    fn a_drain_before_the_success_is_on_record_breaks_it() {
        let why = "d declares a drain on a, and its success is not on record";
        let broken = judge_to_rest(deploying("drain-before-status"), PROPERTY).map(|_| ());
        assert_eq!(broken, Err(why.to_owned()));
    }

    /// The boot of `a` after a crash in this world.
    fn booting(world: World, version: &str) -> Made {
        let boot = Event::Boot { name: "a".into(), version: Some(version.into()) };
        Made::by(&after(world, [Event::Crash(A)]), boot)
    }

    /// The same boot, with a gate that is open after it.
    fn forgetful(mut made: Made) -> Made {
        let booted = made.after.newest(&"a".into()).expect("it has booted");
        made.after.edit_process(booted, |process| {
            edit_executor(process, |parts| parts.drain = None);
        });
        made
    }

    const FORGOTTEN: &str = "a has booted with an open gate, and its book has a drain that lasts";

    #[test]
    fn a_boot_that_forgets_a_drain_breaks_it() {
        let stored = |term| {
            let world = after(two(), [drain(term)]);
            until(world, |world| world.process(A).ledger.drain.is_some())
        };
        let kept = booting(stored(Term::UntilUndrained), "v2");
        kept.holds(PROPERTY);
        forgetful(kept).breaks(PROPERTY, FORGOTTEN);
        let kept = booting(stored(Term::ThisVersion), "v1");
        kept.holds(PROPERTY);
        forgetful(kept).breaks(PROPERTY, FORGOTTEN);
        let over = booting(stored(Term::ThisVersion), "v2");
        assert!(!over.after.process(Who(2)).host.executor().is_draining());
        over.holds(PROPERTY);
        let mut outlives = over;
        let drained = stored(Term::ThisVersion).process(A).host.executor().active_drain().cloned();
        outlives.after.edit_process(Who(2), |process| {
            edit_executor(process, |parts| parts.drain = drained);
        });
        outlives.breaks(
            PROPERTY,
            "a has booted with a closed gate, and its book has no drain that lasts",
        );
    }

    #[test]
    fn a_boot_that_forgets_what_a_deployment_owes_breaks_it() {
        let owes = until(deploying("current"), |world| {
            let row = world.process(A).ledger.entries.get(&local("d"));
            row.is_some_and(|row| row.state == BuildState::Succeeded && row.drains.is_some())
        });
        let kept = booting(owes, "v1");
        kept.holds(PROPERTY);
        forgetful(kept).breaks(PROPERTY, FORGOTTEN);
    }
}
