//! What holds of whole hosts over random walks: slots, drains, crashes and the record together.

use crate::common::{Hosts, SLOTS, Tally, property};
use handover_core::{Gate, Phase, Work};
use proptest::prelude::*;

fn each_walk(floors: &[(&'static str, u64)], test: impl Fn(Vec<u32>, &Tally)) {
    let draws = prop::collection::vec(any::<u32>(), 150..450);
    property(200, &draws, floors, test);
}

#[test]
fn slots_suffice_one_builds_and_drained_means_at_rest() {
    let floors = [
        ("all slots taken", 1_000),
        ("a granted build runs", 800),
        ("drained", 150),
        ("crash", 150),
        ("declined", 2_500),
        ("build stopped", 8),
        ("deadline", 35),
    ];
    each_walk(&floors, |draws, tally| {
        let mut hosts = Hosts::new();
        for draw in draws {
            let done = hosts.step(draw);
            if !done.is_empty() {
                tally.saw(done);
            }
            let mut builders = 0;
            for place in &hosts.places {
                let running = place.running.len();
                assert!(running <= SLOTS as usize, "Capacity");
                tally.saw_if(running == SLOTS as usize, "all slots taken");
                tally.saw_if(place.host.is_queued(), "declined");
                for work in &place.running {
                    let Work::Granted(grant) = work else { continue };
                    if hosts.revoked.contains(grant) || hosts.record.is_gone(place.host.id()) {
                        continue;
                    }
                    let held = hosts.record.hold().expect("who builds holds");
                    assert_eq!(place.host.candidate().running(), Some(*grant));
                    assert_eq!((held.grant, &held.host), (*grant, place.host.id()));
                    builders += 1;
                    tally.saw("a granted build runs");
                }
                if place.host.is_drained() {
                    assert_eq!(running, 0, "TruthfulIdle");
                    let held = hosts.record.hold().filter(|it| it.host == *place.host.id());
                    assert_eq!(held, None, "TruthfulIdle");
                }
            }
            assert!(builders <= 1, "SingleBuilder");
        }
    });
}

#[test]
fn after_any_walk_calm_serves_who_asks_and_frees_all_slots() {
    let floors = [("served", 150), ("blocked", 15), ("not wanted", 15)];
    each_walk(&floors, |draws, tally| {
        let mut hosts = Hosts::new();
        for draw in draws {
            hosts.step(draw);
        }
        assert!(hosts.calm(), "it comes to rest");
        assert_eq!(hosts.record.hold(), None);
        for place in &hosts.places {
            let executor = place.host.executor();
            assert_eq!(executor.slots_free(), SLOTS, "each slot was given back");
            match place.host.gate() {
                Gate::Open => tally.saw("served"),
                Gate::Blocked { .. } => tally.saw("blocked"),
                Gate::Waiting { .. } | Gate::Unknown { .. } => {
                    let phase = place.host.candidate().phase();
                    let stood_down = phase == Phase::StoodDown || phase == Phase::Idle;
                    assert!(stood_down && !place.host.wants_job(), "{phase}");
                    tally.saw("not wanted");
                }
            }
        }
    });
}
