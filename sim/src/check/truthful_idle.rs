//! `TruthfulIdle`: drained implies that all outcomes are recorded and all reports folded.
//!
//! A process that says so may end, so that whatever it had not handed on would be lost with it.
//! Carried by Ex2, Ex3 and Ho4.

use handover_core::executor::Stage;
use handover_core::{BuildState, Seq};

use super::{Property, Transition, Violation};
use crate::world::{Fact, Process, Who, World};

pub(super) fn check(step: &Transition<'_>) -> Result<(), Violation> {
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
        let holder = commit
            .after
            .hold()
            .and_then(|hold| step.after.by_id(&hold.host));
        let drained = holder.filter(|who| {
            let process = step.after.process(*who);
            process.lives() && process.host.is_drained()
        });
        drained.map_or(Ok(()), |who| judge(step.after, who))?;
    }
    Ok(())
}

fn judge(world: &World, who: Who) -> Result<(), Violation> {
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
