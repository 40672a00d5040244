//! Builds that come to no good end, and operators.

use std::time::Duration;

use handover_core::{GrantId, Then};
use handover_node::{Node, OrderError};
use handover_sim::world::World;

use super::rollout::approved;
use crate::bell::lock;
use crate::cluster::Cluster;
use crate::judge::Failure;

fn failed(world: &World) -> Option<GrantId> {
    let verdict = world.committed().verdict(&"v1".into());
    verdict.filter(|verdict| !verdict.is_approved()).map(|verdict| verdict.grant)
}

/// An operator who does not get through asks again; one who is refused has been overtaken.
async fn order<F>(cluster: &Cluster, index: usize, order: impl Fn(Node) -> F) -> Result<(), Failure>
where
    F: Future<Output = Result<Option<handover_core::Remark>, OrderError>>,
{
    let node = cluster.node(index).await?;
    match madsim::time::timeout(Duration::from_secs(300), order(node)).await {
        Ok(Ok(_) | Err(OrderError::Refused(_))) => Ok(()),
        Ok(Err(error)) => Err(Failure::unmet(format!("an operator hears: {error}"))),
        Err(_) => Err(Failure::unmet("an operator is never answered")),
    }
}

pub(super) async fn fails_then_retried(cluster: &mut Cluster) -> Result<(), Failure> {
    for _ in 0..3 {
        cluster.add("v1");
    }
    cluster.draw_weather();
    lock(&cluster.common.shop).fails.insert("v1".into());
    for round in 0..=cluster.below(3) {
        cluster.until("v1 has failed", |world| failed(world).is_some()).await?;
        let grant = cluster.judge.look(failed).expect("it was just seen");
        cluster.wait(Duration::from_secs(5)).await?;
        let repaired = round == 2 || cluster.chance(300);
        if repaired {
            lock(&cluster.common.shop).fails.clear();
        }
        let index = cluster.pick();
        order(cluster, index, |node| async move { node.retry("v1", grant).await }).await?;
        if repaired {
            break;
        }
    }
    lock(&cluster.common.shop).fails.clear();
    // A build that was under way when the version was repaired may still fail.
    while cluster.judge.look(|world| !approved(world, "v1")) {
        if let Some(grant) = cluster.judge.look(failed) {
            let index = cluster.pick();
            order(cluster, index, |node| async move { node.retry("v1", grant).await }).await?;
        }
        let judged = |world: &World| failed(world).is_some() || approved(world, "v1");
        cluster.until("v1 has a verdict", judged).await?;
    }
    cluster.rest().await?;
    cluster.expect_served("v1")
}

pub(super) async fn hung_build(cluster: &mut Cluster) -> Result<(), Failure> {
    for _ in 0..3 {
        cluster.add("v1");
    }
    cluster.draw_weather();
    lock(&cluster.common.shop).hangs.insert("v1".into());
    let hung = cluster.builder().await?;
    let held = |world: &World| world.committed().hold().map(|hold| hold.grant);
    let Some(grant) = cluster.judge.look(held) else {
        return Err(Failure::unmet("somebody builds without a hold"));
    };
    cluster.wait(Duration::from_secs(30)).await?;
    lock(&cluster.common.shop).hangs.clear();
    if cluster.chance(300) {
        cluster.crash(hung);
        cluster.boot(hung, "v1");
    }
    let index = cluster.pick();
    order(cluster, index, |node| async move { node.cancel(grant, "it hangs", Then::Again).await })
        .await?;
    cluster.rest().await?;
    cluster.expect_served("v1")
}
