//! Random inputs, acknowledgements and crashes against the executor's rules (Ex1 to Ex7).
//!
//! The runs are fixed, so that a test can also demand how often its case has to occur in them: a
//! property over cases that never come says nothing.

mod judge;
mod world;

use std::cell::Cell;

use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use world::{Seen, World};

fn run(slots: u32, pinned: bool, cases: u32) -> Seen {
    let seen = Seen::default();
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let actions = vec((any::<u8>(), any::<u8>(), any::<u8>()), 50..400);
    let result = runner.run(&actions, |actions| {
        let mut world = World::new(&seen, slots, pinned);
        for action in actions {
            world.act(action);
        }
        world.settle();
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
    seen
}

#[track_caller]
fn at_least(floor: u32, cell: &Cell<u32>) {
    assert!(cell.get() >= floor, "the case came {} times, not {floor}", cell.get());
}

#[test]
fn rules_hold_in_random_runs_on_one_slot() {
    let seen = run(1, false, 1000);
    at_least(5000, &seen.released);
    at_least(1000, &seen.parked);
    at_least(800, &seen.woken_by_undrain);
    at_least(300, &seen.cut_by_crash);
    at_least(30, &seen.interrupted);
    at_least(300, &seen.drained);
    at_least(2000, &seen.declared);
    at_least(5, &seen.derived_at_boot);
    at_least(50, &seen.over_at_boot);
    at_least(50, &seen.passed_as_child);
    at_least(200, &seen.parent_waited);
    at_least(100, &seen.candidate_turns);
    at_least(40, &seen.granted_ended);
}

#[test]
fn rules_hold_in_random_runs_on_two_slots() {
    let seen = run(2, false, 1000);
    at_least(5000, &seen.released);
    at_least(1500, &seen.parked);
    at_least(1000, &seen.woken_by_undrain);
    at_least(500, &seen.cut_by_crash);
    at_least(50, &seen.interrupted);
    at_least(200, &seen.drained);
    at_least(2000, &seen.declared);
    at_least(10, &seen.derived_at_boot);
    at_least(50, &seen.over_at_boot);
    at_least(50, &seen.passed_as_child);
    at_least(300, &seen.parent_waited);
    at_least(150, &seen.candidate_turns);
    at_least(50, &seen.granted_ended);
}

#[test]
fn no_build_drains_a_pinned_instance() {
    let seen = run(2, true, 500);
    at_least(3000, &seen.released);
    assert_eq!(seen.declared.get(), 0, "no success declares a drain");
    assert_eq!(seen.derived_at_boot.get(), 0, "nor does a boot");
}
