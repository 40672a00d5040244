//! `Capacity`: never more builds than slots, those that are still stopping included.
//!
//! What really runs is counted, not what the executor believes. Work that in-flight work waits for
//! runs on the slot of that work and counts with it (Ex6). Carried by Ex3 (remove before release)
//! and Ho5.

use std::collections::BTreeSet;

use handover_core::executor::Stage;
use handover_core::{Executor, Work};

use super::{Property, Transition, Violation, demand};
use crate::mark::mark;

pub(super) fn check(step: &Transition<'_>) -> Result<(), Violation> {
    for (who, _, process) in step.touched() {
        let executor = process.host.executor();
        let slots = executor.slots() as usize;
        if !process.lives() || process.builds.len() <= slots {
            continue;
        }
        let roots = process.builds.keys().map(|work| root(executor, work));
        let used = roots.collect::<BTreeSet<_>>().len();
        mark!(CapacityShared);
        demand(Property::Capacity, used <= slots, || {
            let label = step.after.label(who);
            format!("builds run on {used} slots of {label}, which has {slots}")
        })?;
    }
    Ok(())
}

/// On whose slot a work runs: that of the first of its ancestors in flight that is no child of one.
fn root(executor: &Executor, work: &Work) -> Work {
    let mut root = work.clone();
    loop {
        let parent = executor.entry(&root).and_then(|entry| entry.parent.clone());
        let parent = parent.map(Work::Local);
        let lends = |parent: &Work| executor.stage(parent).is_some_and(Stage::is_current);
        match parent.filter(lends) {
            Some(parent) => root = parent,
            None => return root,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::{
        A, Made, after, judge_to_rest, local, queueing, run, submit, until,
    };

    const PROPERTY: Property = Property::Capacity;

    #[test]
    fn a_queue_runs_one_after_the_other() {
        judge_to_rest(queueing(&["l1", "l2", "l3"]), PROPERTY).expect("it holds");
    }

    #[test]
    fn two_builds_on_one_slot_break_it() {
        let made = Made::changing(&queueing(&["l1", "l2"]), A, |process| {
            run(process, local("l2"));
        });
        made.breaks(PROPERTY, "builds run on 2 slots of a, which has 1");
    }

    #[test]
    fn children_count_with_what_waits_for_them() {
        let children = [submit(A, "child1", Some("l1")), submit(A, "child2", Some("l1"))];
        let world = after(queueing(&["l1", "l2"]), children);
        let world = until(world, |world| world.process(A).builds.len() == 3);
        Made::changing(&world, A, |process| process.slow = 2).holds(PROPERTY);
        let parent_ended = Made::changing(&world, A, |process| {
            std::sync::Arc::make_mut(&mut process.builds).remove(&local("l1"));
        });
        parent_ended.holds(PROPERTY);
        let made = Made::changing(&world, A, |process| run(process, local("l2")));
        made.breaks(PROPERTY, "builds run on 2 slots of a, which has 1");
    }
}
