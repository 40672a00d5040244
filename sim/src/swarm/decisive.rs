//! The event that decides a failure: how its schedule ends.
//!
//! Of a safety property it is the step that breaks it. Of a liveness property it is a step before
//! which the world, healed, still comes calmly to its end, and after which it does not any more; it
//! is found by going back from the end, and by halving.

use crate::check::{Property, Violation};
use crate::choose::{Kind, WalkReport};
use crate::world::{Event, World};

/// Calm steps after which a world is taken for one that never comes to rest: more than any rollout
/// that converges takes, for each process.
const CALM_STEPS_MAX: usize = 400;

/// The decisive event of a failure: its index in the schedule, and its kind in words.
pub(super) fn decisive(report: &WalkReport, violation: &Violation) -> (usize, String) {
    let last = report.schedule.len().saturating_sub(1);
    let index = match violation.property {
        Property::NoWedge | Property::NoLivelock => lost_at(report),
        Property::SingleBuilder
        | Property::ApprovalTruth
        | Property::NoEviction
        | Property::GateTruth
        | Property::NoLostReport
        | Property::StaleIsNoEffect
        | Property::Settled
        | Property::GrantsIncrease
        | Property::SupersededStops
        | Property::NoAlarm
        | Property::QuietDrain
        | Property::TruthfulIdle
        | Property::SlotHeldOnce
        | Property::Capacity
        | Property::QueueKept
        | Property::RecoveryExact => last,
    };
    let words = report.schedule.get(index).map(|event| Kind::of(event).to_string());
    (index, words.unwrap_or_default())
}

/// The step at which convergence was lost for good: it may be lost and won again, so the end is
/// looked at first, and then further and further back.
fn lost_at(report: &WalkReport) -> usize {
    let events = &report.schedule[..report.faults_end.min(report.schedule.len())];
    let after = |steps: usize| {
        let mut world = World::new(report.setup.clone());
        apply(&mut world, &events[..steps]);
        world
    };
    // Before `from` it converges, after `to` it does not: between them is a step that decides.
    let (mut from, mut to, mut stride) = (0, events.len(), 1);
    while to > 0 {
        let earlier = to.saturating_sub(stride);
        if converges(after(earlier)) {
            from = earlier;
            break;
        }
        (to, stride) = (earlier, stride * 2);
    }
    let mut world = after(from);
    while to - from > 1 {
        let middle = from.midpoint(to);
        let mut further = world.clone();
        apply(&mut further, &events[from..middle]);
        if converges(further.clone()) {
            (from, world) = (middle, further);
        } else {
            to = middle;
        }
    }
    from
}

fn apply(world: &mut World, events: &[Event]) {
    for event in events {
        world.apply(event, &mut Vec::new()).expect("the walk has applied it to the same world");
    }
}

fn converges(mut world: World) -> bool {
    apply(&mut world, &[Event::Heal]);
    let bound = CALM_STEPS_MAX * (1 + world.processes().count());
    for _ in 0..bound {
        let Some(event) = world.next_calm() else {
            return world.stuck().is_empty();
        };
        apply(&mut world, &[event]);
    }
    false
}
