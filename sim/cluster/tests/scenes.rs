//! Each scene, over many seeds, with the node as it ships.
#![cfg(madsim)]

use handover_cluster::{Plan, Scene, run};

#[test]
fn first() {
    for seed in 0..20 {
        let plan = Plan::new(Scene::RollingUpdate);
        let outcome = run(plan, seed);
        println!("{seed} {:?} {:?} steps {} commits {} {}", outcome.failure, outcome.time, outcome.steps, outcome.commits, outcome.digest);
    }
}
