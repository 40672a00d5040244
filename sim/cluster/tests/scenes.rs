//! Each scene over many seeds, with the node as it ships: 100 seeds from 0, or as
//! `MADSIM_TEST_SEED` and `MADSIM_TEST_NUM` say. What the journals of a run tell is judged too, and
//! has to hold: the two levels agree.
#![cfg(madsim)]

use std::path::Path;

use handover_cluster::{Plan, Scene, report, seeds_of_environment, sweep};

/// Where traces and journals of what failed go.
const INTO: &str = env!("CARGO_TARGET_TMPDIR");

#[track_caller]
fn holds(scene: Scene) {
    let plan = Plan::new(scene).judged();
    let swept = sweep(plan, seeds_of_environment(100), 1, |outcome| outcome.failure.is_none());
    if let Some(failed) = swept.failures.first() {
        let text = report(plan, failed, Path::new(INTO)).expect("the target folder is ours");
        panic!("{text}again, as a test: MADSIM_TEST_SEED={} cargo test", failed.seed);
    }
    assert!(swept.steps > 0, "nothing was judged");
}

#[test]
fn a_rolling_update_of_eight_hosts_with_drains_comes_to_its_end() {
    holds(Scene::RollingUpdate);
}

#[test]
fn a_builder_that_dies_in_any_phase_is_succeeded() {
    holds(Scene::BuilderDies);
}

#[test]
fn a_frozen_builder_that_was_declared_gone_wakes_and_harms_nobody() {
    holds(Scene::FrozenBuilder);
}

#[test]
fn a_slow_builder_is_never_evicted() {
    holds(Scene::SlowBuilder);
}

#[test]
fn a_store_that_restarts_while_it_commits_has_what_was_committed() {
    holds(Scene::StoreRestarts);
}

#[test]
fn hosts_that_were_cut_off_from_the_store_catch_up() {
    holds(Scene::CutInHalf);
}

#[test]
fn a_version_that_fails_serves_once_it_is_repaired_and_retried() {
    holds(Scene::FailsThenRetried);
}

#[test]
fn a_hung_build_is_cancelled_and_handed_on() {
    holds(Scene::HungBuild);
}

#[test]
fn a_stand_down_that_crosses_the_offer_wedges_nobody() {
    holds(Scene::CrossedStandDown);
}

#[test]
fn the_second_build_in_a_row_is_approved() {
    holds(Scene::SecondApproval);
}

#[test]
fn a_hung_build_ends_with_the_deadline_of_its_hosts_drain() {
    holds(Scene::DrainedAtDeadline);
}

#[test]
fn a_store_that_was_restored_is_refused_by_whoever_has_read_more() {
    holds(Scene::StoreRestored);
}

#[test]
fn disks_that_are_lost_stop_no_rollout() {
    holds(Scene::DisksLost);
}

#[test]
fn whatever_goes_wrong_in_a_rolling_update_it_comes_to_its_end_once_all_is_healed() {
    holds(Scene::Anything);
}

#[test]
fn a_waiting_build_finds_the_drain_of_the_deployment_before_it() {
    holds(Scene::SlotBeforeDrain);
}
