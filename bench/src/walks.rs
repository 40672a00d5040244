//! Walks: what an event costs with checks and digest, without them, and by the number of hosts.

use handover_sim::check::{Transition, check};
use handover_sim::choose::{WalkReport, WalkSettings, walk};
use handover_sim::digest::Digest;
use handover_sim::variants::Current;
use handover_sim::world::World;

/// A rolling update with faults; a larger one goes on for longer.
pub fn settings(hosts: u16) -> WalkSettings {
    let rolling = WalkSettings::rolling_update();
    let steps_max = rolling.steps_max.max(600 * usize::from(hosts));
    WalkSettings { hosts, steps_max, ..rolling }
}

/// Walks so many seeds; says how many events that were.
pub fn walk_seeds(seeds: u64, settings: &WalkSettings) -> u64 {
    (0..seeds).map(|seed| walk(seed, settings, &Current).steps as u64).sum()
}

/// The walks of so many seeds, to be replayed.
pub fn reports(seeds: u64, settings: &WalkSettings) -> Vec<WalkReport> {
    (0..seeds).map(|seed| walk(seed, settings, &Current)).collect()
}

/// What is done for each step of a replay, on top of the step.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum OnTop {
    /// Nothing.
    Nothing,
    /// All safety properties, and the digest.
    ChecksAndDigest,
}

/// Replays walks; says how many events that were. Between two replays that differ in what is done
/// on top lies exactly what checks and digest cost.
pub fn replay(reports: &[WalkReport], on_top: OnTop) -> u64 {
    let mut events = 0;
    for report in reports {
        let mut world = World::new(report.setup.clone());
        let mut before = world.clone();
        let (mut facts, mut digest) = (Vec::new(), Digest::new());
        for event in &report.schedule {
            facts.clear();
            world.apply(event, &mut facts).expect("the walk has applied it to the same world");
            if on_top == OnTop::ChecksAndDigest {
                digest.step(event, &before, &world);
                let step = Transition { before: &before, event, facts: &facts, after: &world };
                check(&step).expect("the walk has judged it");
            }
            before.follow(&mut world);
            events += 1;
        }
        let replayed = on_top == OnTop::Nothing || digest == report.digest;
        assert!(replayed, "the same schedule has the same digest");
    }
    events
}
