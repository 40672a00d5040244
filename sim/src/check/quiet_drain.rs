//! `QuietDrain`: nothing is reserved or started after the declaration of a drain, but what
//! in-flight work waits for; and once the slot of a deployment is released, nothing starts until
//! the drain that its success owes is declared.
//!
//! A durable drain that lasts is in force from the boot on. Carried by Ex3, Ex4, Ex6 and Ho1 to
//! Ho3. Broken in Werkator PR 66, where the slot was free before the drain was declared.

use handover_core::executor::Stage;
use handover_core::{BuildState, Executor, Ledger, Term, Version, Work};

use super::{Property, Transition, Violation, dead_before, demand};
use crate::world::Process;

pub(super) fn check(step: &Transition<'_>) -> Result<(), Violation> {
    for (who, before, after) in step.touched() {
        let Some(before) = before.filter(|_| after.lives()) else {
            continue;
        };
        let Some(closed) = closed(before) else {
            continue;
        };
        let (was, is) = (before.host.executor(), after.host.executor());
        let reserves = is.has_reservation() && !was.has_reservation();
        demand(Property::QuietDrain, !reserves, || {
            let label = step.after.label(who);
            format!("{label} reserves a slot, and {closed}")
        })?;
        for (work, _) in is.current() {
            let began = !is_current(was, work) && !is_waited_for(is, work);
            demand(Property::QuietDrain, !began, || {
                let label = step.after.label(who);
                format!("{work} begins on {label}, and {closed}")
            })?;
        }
    }
    check_boot(step)
}

/// Why nothing may begin there, if so.
fn closed(process: &Process) -> Option<String> {
    let executor = process.host.executor();
    if let Some(drain) = executor.active_drain() {
        return Some(format!("the drain {} is declared", drain.id));
    }
    let mut owed = process.owes_drain.iter();
    let released = |work: Work| executor.stage(&work).is_none();
    let build = owed.find(|build| released(Work::Local((*build).clone())))?;
    Some(format!(
        "{build} has released its slot and owes its drain's declaration"
    ))
}

fn is_current(executor: &Executor, work: &Work) -> bool {
    executor.stage(work).is_some_and(Stage::is_current)
}

/// Does in-flight work wait for it (Ex6)?
fn is_waited_for(executor: &Executor, work: &Work) -> bool {
    let parent = executor.entry(work).and_then(|entry| entry.parent.clone());
    parent.is_some_and(|parent| is_current(executor, &Work::Local(parent)))
}

/// Ex7: a boot neither forgets a drain nor the debt of one.
fn check_boot(step: &Transition<'_>) -> Result<(), Violation> {
    let Some((dead, who, booted)) = dead_before(step) else {
        return Ok(());
    };
    let pinned = booted.host.executor().settings().pinned();
    let due = drain_due(&dead.ledger, booted.host.version(), pinned);
    let drains = booted.host.executor().is_draining();
    demand(Property::QuietDrain, drains || !due, || {
        let label = step.after.label(who);
        format!("{label} has booted with an open gate, and its book has a drain that lasts")
    })
}

fn drain_due(ledger: &Ledger, version: &Version, pinned: bool) -> bool {
    let lasts = |term: Term, declared_by: &Version| match term {
        Term::ThisVersion => declared_by == version,
        Term::UntilUndrained => true,
    };
    let declared = ledger
        .drain
        .as_ref()
        .is_some_and(|drain| lasts(drain.term, &drain.version));
    let owed = ledger.entries.values().any(|entry| {
        let request = entry.drains.as_ref();
        let by = entry.admitted_by.as_ref();
        let lasts = request
            .zip(by)
            .is_some_and(|(request, by)| lasts(request.term, by));
        !pinned && entry.state == BuildState::Succeeded && lasts
    });
    declared || owed
}
