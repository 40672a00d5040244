//! A seed is one run: alone, again, inside a sweep, beside others, in another process.
#![cfg(madsim)]

use std::collections::BTreeMap;
use std::process::Command;

use handover_cluster::{Plan, Scene, Shell, run, sweep, tell};

/// By scene and seed.
fn digests_of_sweeps(jobs: usize) -> BTreeMap<(Scene, u64), String> {
    let mut digests = BTreeMap::new();
    for scene in Scene::ALL {
        sweep(Plan::new(scene), 0..6, jobs, |outcome| {
            digests.insert((scene, outcome.seed), outcome.digest.to_string());
            true
        });
    }
    digests
}

#[test]
fn a_seed_is_the_same_run_alone_and_in_a_sweep_of_any_breadth() {
    let swept = digests_of_sweeps(1);
    assert_eq!(swept, digests_of_sweeps(3));
    for (scene, seed) in [(Scene::RollingUpdate, 5), (Scene::BuilderDies, 3)] {
        let alone = run(Plan::new(scene), seed).digest.to_string();
        assert_eq!(swept[&(scene, seed)], alone, "{} {seed}", scene.name());
    }
}

#[test]
fn a_run_that_is_told_of_is_the_same_run() {
    for scene in Scene::ALL {
        let (quiet, told) = (run(Plan::new(scene), 7), tell(Plan::new(scene), 7));
        assert_eq!((quiet.digest, quiet.time), (told.digest, told.time), "{}", scene.name());
        assert!(told.told.is_some_and(|told| !told.trace.is_empty() && !told.journals.is_empty()));
    }
}

#[test]
fn another_seed_another_scene_and_another_shell_are_other_runs() {
    let plan = Plan::new(Scene::SecondApproval);
    let digests = [
        run(plan, 0).digest,
        run(plan, 1).digest,
        run(Plan::new(Scene::CutInHalf), 0).digest,
        run(plan.under(Shell::GuardedReport), 0).digest,
    ];
    for (i, digest) in digests.iter().enumerate() {
        assert!(!digests[..i].contains(digest), "two of them are the same: {digests:?}");
    }
}

#[test]
fn a_seed_is_the_same_run_in_another_process() {
    let here = run(Plan::new(Scene::RollingUpdate), 4).digest.to_string();
    let output = Command::new(env!("CARGO_BIN_EXE_handover-cluster"))
        .args(["--scene", "rolling-update", "--seeds", "4..5", "--digests"])
        .output()
        .expect("cargo has built it");
    let text = String::from_utf8(output.stdout).expect("it prints text");
    assert!(text.contains(&here), "{here} is not in: {text}");
}
