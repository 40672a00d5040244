//! `TruthfulIdle`: drained implies that all outcomes are recorded and all reports folded.
//!
//! A process that says so may end, so that whatever it had not handed on would be lost with it.
//! Carried by Ex2, Ex3 and Ho4.

use handover_core::executor::Stage;
use handover_core::{BuildState, Seq};

use super::{Property, Transition, Violation};
use crate::mark::mark;
use crate::world::{Fact, Process, Who, World};

pub(super) fn check(step: &Transition<'_>) -> Result<(), Violation> {
    check_outcome(step)?;
    let exits = |who: Who| {
        let mut facts = step.facts.iter();
        facts.any(|fact| matches!(fact, Fact::Exited { who: exited } if *exited == who))
    };
    for (who, _, process) in step.touched() {
        if (process.lives() && process.host.is_drained()) || exits(who) {
            judge(step.after, who)?;
        }
    }
    // The job may be handed to somebody who is drained, without a word of his.
    for commit in step.commits() {
        let holder = commit.after.hold().and_then(|hold| step.after.by_id(&hold.host));
        let drained = holder.filter(|who| {
            let process = step.after.process(*who);
            process.lives() && process.host.is_drained()
        });
        drained.map_or(Ok(()), |who| judge(step.after, who))?;
    }
    Ok(())
}

/// An outcome is recorded as it was: a success that was none would never be repeated.
fn check_outcome(step: &Transition<'_>) -> Result<(), Violation> {
    for fact in step.facts {
        let Fact::Performed { who, work: Some(work), wrote: Some(wrote), .. } = fact else {
            continue;
        };
        let ended = step.after.process(*who).ended.get(work);
        let (says, was) = match *wrote {
            "succeeded" => (true, ended == Some(&true)),
            "failed" => (true, ended == Some(&false)),
            _ => (false, true),
        };
        if says {
            mark!(TruthfulIdleOutcome);
        }
        if says && !was {
            let label = step.after.label(*who);
            let why = format!("{work} on {label} is recorded as {wrote}, and did not end so");
            return Err(Violation::new(Property::TruthfulIdle, why));
        }
    }
    Ok(())
}

fn judge(world: &World, who: Who) -> Result<(), Violation> {
    mark!(TruthfulIdleDrained);
    let process = world.process(who);
    match unfinished(process).or_else(|| unsaid(world, process)) {
        Some(why) => {
            let why = format!("{} is drained, and {why}", world.label(who));
            Err(Violation::new(Property::TruthfulIdle, why))
        }
        None => Ok(()),
    }
}

/// What the process has not brought to its end.
fn unfinished(process: &Process) -> Option<String> {
    if let Some(work) = process.builds.keys().next() {
        return Some(format!("{work} runs"));
    }
    let rows = process.ledger.entries.iter();
    let mut admitted = rows.filter(|(_, entry)| entry.state == BuildState::Admitted);
    // What a boot found cut has no outcome; it is cut again by the next boot.
    let recovered = [Some(Stage::Enqueuing), Some(Stage::Retiring)];
    let executor = process.host.executor();
    let lost = admitted.find(|(work, _)| !recovered.contains(&executor.stage(work)));
    lost.map(|(work, _)| format!("the outcome of {work} is not recorded"))
}

/// What the record does not know of it.
fn unsaid(world: &World, process: &Process) -> Option<String> {
    let id = process.host.id();
    let committed = world.committed();
    if committed.is_gone(id) || world.history().reused {
        return None;
    }
    if let Some(hold) = committed.hold().filter(|hold| hold.host == *id) {
        return Some(format!("the record says {}", world.hold_label(hold)));
    }
    let seq = process.host.candidate().seq();
    let folded = committed.line(id).is_some_and(|line| line.seq >= seq);
    (seq > Seq(0) && !folded).then(|| "its last word is not folded".into())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use handover_core::{AtDeadline, EndAction, Entry, Hold, Stage as HoldStage, Term};

    use std::sync::Arc;

    use super::*;
    use crate::check::testing::{
        A, G1, Made, after, building, calm_step, local, queueing, run, two, until,
    };
    use crate::world::{Event, Life};

    const PROPERTY: Property = Property::TruthfulIdle;

    fn drain(end: EndAction) -> Event {
        Event::Drain { who: A, term: Term::UntilUndrained, end, at_deadline: AtDeadline::Report }
    }

    /// `a` had the job, was drained, and has nothing left to do.
    fn drained() -> World {
        let world = after(building(), [drain(EndAction::Nothing)]);
        until(world, |world| world.process(A).host.is_drained())
    }

    fn changing(world: &World, edit: impl FnOnce(&mut Process)) -> Made {
        Made::changing(world, A, edit)
    }

    fn touched(mut world: World, edit: impl FnOnce(&mut handover_core::RecordParts)) -> Made {
        world.edit_record(edit);
        changing(&world, |process| process.slow = 2)
    }

    fn admitted() -> Entry {
        Entry {
            state: BuildState::Admitted,
            attempts: 1,
            place: 7,
            parent: None,
            drains: None,
            admitted_by: None,
        }
    }

    fn hold_a(parts: &mut handover_core::RecordParts) {
        parts.verdicts.clear();
        let mut lines = parts.lines.iter();
        let (host, line) = lines.next().expect("a has spoken");
        parts.hold = Some(Hold {
            host: host.clone(),
            version: line.version.clone(),
            grant: G1,
            stage: HoldStage::Offered,
            signed_off: BTreeMap::new(),
            cancelling: None,
        });
    }

    #[test]
    fn a_drained_builder_has_told_all() {
        changing(&drained(), |process| process.slow = 2).holds(PROPERTY);
    }

    #[test]
    fn a_build_that_runs_breaks_it() {
        let made = changing(&drained(), |process| run(process, local("l")));
        made.breaks(PROPERTY, "a is drained, and l runs");
    }

    #[test]
    fn a_build_that_runs_at_the_exit_breaks_it() {
        let world = after(two(), [drain(EndAction::Stop)]);
        let exits = |made: &Made| made.after.process(A).life == Life::Exited;
        let mut made = calm_step(world, exits);
        made.holds(PROPERTY);
        made.after.edit_process(A, |process| run(process, local("l")));
        made.breaks(PROPERTY, "a is drained, and l runs");
    }

    #[test]
    fn an_outcome_that_is_not_recorded_breaks_it() {
        let made = changing(&drained(), |process| {
            Arc::make_mut(&mut process.ledger).entries.insert(local("l"), admitted());
        });
        made.breaks(PROPERTY, "a is drained, and the outcome of l is not recorded");
    }

    #[test]
    fn what_a_boot_has_just_found_cut_has_no_outcome() {
        let running = after(queueing(&["l"]), [drain(EndAction::Nothing)]);
        let stored = until(running, |world| world.process(A).ledger.drain.is_some());
        let dead = after(stored, [Event::Crash(A)]);
        let boot = Event::Boot { name: "a".into(), version: None };
        let made = Made::by(&dead, boot);
        let booted = made.after.newest(&"a".into()).expect("it has booted");
        let booted = made.after.process(booted);
        assert!(booted.host.executor().is_drained(), "its drain lasts");
        assert!(!booted.host.is_drained(), "it does not end before its book is mended");
        let row = &booted.ledger.entries[&local("l")];
        assert_eq!(row.state, BuildState::Admitted, "the book is not mended yet");
        made.holds(PROPERTY);
    }

    #[test]
    fn a_hold_of_the_drained_breaks_it() {
        let made = touched(drained(), hold_a);
        made.breaks(PROPERTY, "a is drained, and the record says Offered(a, g1)");
    }

    #[test]
    fn an_offer_to_the_drained_breaks_it_without_a_step_of_theirs() {
        let made = Made::committing(&drained(), None, hold_a);
        made.breaks(PROPERTY, "a is drained, and the record says Offered(a, g1)");
    }

    #[test]
    fn a_last_word_that_is_not_folded_breaks_it() {
        let made = touched(drained(), |parts| {
            let line = parts.lines.values_mut().next();
            line.expect("a has spoken").seq = Seq(1);
        });
        made.breaks(PROPERTY, "a is drained, and its last word is not folded");
    }

    #[test]
    fn who_is_gone_or_has_never_spoken_has_nothing_to_say() {
        let gone = touched(drained(), |parts| {
            let (id, _) = parts.lines.pop_first().expect("a has spoken");
            parts.gone.insert(id.name, id.incarnation);
        });
        gone.holds(PROPERTY);
        Made::by(&two(), drain(EndAction::Nothing)).holds(PROPERTY);
    }
}
