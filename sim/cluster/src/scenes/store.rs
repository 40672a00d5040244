//! What happens to the store, and on the way to it.

use std::time::Duration;

use handover_core::Gate;

use super::rollout::{approved, replace};
use crate::cluster::Cluster;
use crate::faults::Chances;
use crate::judge::Failure;

pub(super) async fn store_restarts(cluster: &mut Cluster) -> Result<(), Failure> {
    for _ in 0..4 {
        cluster.add("v1");
    }
    cluster.draw_weather();
    let slow = Chances { slow_commit: 700, ..cluster.common.faults.read() };
    cluster.set_faults(slow);
    for _ in 0..4 {
        // A commit takes up to 200 ms before it is durable, and again before it is answered.
        cluster.wait(Duration::from_millis(1_500)).await?;
        cluster.restart_store().await?;
    }
    cluster.until("v1 is approved", |world| approved(world, "v1")).await?;
    replace(cluster, 0, "v2").await?;
    cluster.wait(Duration::from_millis(800)).await?;
    cluster.restart_store().await?;
    for index in 1..4 {
        replace(cluster, index, "v2").await?;
    }
    cluster.rest().await?;
    cluster.expect_served("v2")
}

pub(super) async fn store_restored(cluster: &mut Cluster) -> Result<(), Failure> {
    for _ in 0..4 {
        cluster.add("v1");
    }
    cluster.draw_weather();
    cluster.builder().await?;
    cluster.back_up();
    cluster.until("v1 is approved", |world| approved(world, "v1")).await?;
    cluster.rest().await?;
    cluster.expect_served("v1")?;
    let mut nodes = Vec::new();
    for index in cluster.places() {
        nodes.push(cluster.node(index).await?);
    }
    let commits = cluster.judge.commits();
    cluster.restore().await?;
    // Nobody goes on from a record that has lost its past, and no probe is told that it may serve.
    for node in &nodes {
        if !matches!(node.gate().read(), Gate::Unknown { .. }) {
            let why = format!("{} serves from a record that was restored", node.id());
            return Err(Failure::unmet(why));
        }
    }
    if cluster.judge.commits() != commits {
        return Err(Failure::unmet("somebody has committed to a record that was restored"));
    }
    Ok(())
}

pub(super) async fn cut_in_half(cluster: &mut Cluster) -> Result<(), Failure> {
    for _ in 0..6 {
        cluster.add("v1");
    }
    cluster.draw_weather();
    cluster.wait(Duration::from_secs(2)).await?;
    let first = usize::try_from(cluster.below(6)).expect("it is small");
    let half: Vec<usize> = (0..3).map(|at| (first + 2 * at) % 6).collect();
    for index in &half {
        cluster.cut(*index);
    }
    cluster.wait(Duration::from_secs(60)).await?;
    for index in &half {
        cluster.mend(*index);
        cluster.wait(Duration::from_secs(1)).await?;
    }
    cluster.rest().await?;
    cluster.expect_served("v1")
}
