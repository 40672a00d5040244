//! A rolling update.

use std::time::Duration;

use handover_core::{EndAction, Term};
use handover_node::DrainWish;

use crate::bell::lock;
use crate::cluster::Cluster;
use crate::judge::Failure;

pub(super) async fn rolling_update(cluster: &mut Cluster, hosts: usize) -> Result<(), Failure> {
    for _ in 0..hosts {
        cluster.add("v1");
    }
    cluster.draw_weather();
    roll(cluster).await?;
    cluster.rest().await?;
    cluster.expect_served("v2")
}

/// Once v1 is approved each place goes to v2, one after another.
pub(super) async fn roll(cluster: &Cluster) -> Result<(), Failure> {
    for index in cluster.places() {
        cluster.node(index).await?;
        if cluster.chance(300) {
            submit(cluster, index, "nightly").await?;
        }
    }
    cluster.until("v1 is approved", |world| approved(world, "v1")).await?;
    for index in cluster.places() {
        replace(cluster, index, "v2").await?;
        cluster.wait(Duration::from_secs(2)).await?;
    }
    Ok(())
}

pub(super) fn approved(world: &handover_sim::world::World, version: &str) -> bool {
    let verdict = world.committed().verdict(&version.into());
    verdict.is_some_and(|verdict| verdict.is_approved())
}

/// A build of the host's own; who asks does not wait for it.
async fn submit(cluster: &Cluster, index: usize, build: &'static str) -> Result<(), Failure> {
    let executor = cluster.node(index).await?.executor();
    madsim::task::spawn(async move {
        // The host may end before it is written down.
        let _ = executor.submit(build, None, None).await;
    });
    Ok(())
}

/// Drains what runs at a place, and starts the next version there once it is drained.
pub(super) async fn replace(cluster: &Cluster, index: usize, version: &str) -> Result<(), Failure> {
    let node = cluster.node(index).await?;
    *lock(&cluster.place(index).version) = version.into();
    let wish = DrainWish {
        reason: "a new version".into(),
        term: Term::ThisVersion,
        end: EndAction::Restart,
        deadline: None,
    };
    let executor = node.executor();
    madsim::task::spawn(async move {
        // It may be drained, and gone, before it is answered.
        let _ = executor.drain(wish).await;
    });
    let place = cluster.place(index).clone();
    cluster
        .until("the next version is up", |world| {
            let runs = place.who().map(|who| world.process(who).host.version().as_str());
            place.node().is_some() && runs == Some(version)
        })
        .await
}
