//! The three races that the project comes from.

use std::time::Duration;

use handover_core::{AtDeadline, DrainRequest, EndAction, Standing, Term};
use handover_node::DrainWish;
use handover_sim::world::World;
use madsim::time::sleep;

use super::rollout::approved;
use crate::bell::lock;
use crate::cluster::Cluster;
use crate::judge::Failure;
use crate::pace::Pace;
use crate::shells::Shell;

pub(super) async fn crossed_stand_down(cluster: &mut Cluster) -> Result<(), Failure> {
    // No offer lapses: whoever was offered the job has to say so himself.
    *lock(&cluster.common.offer_patience) = Duration::from_secs(86_400);
    lock(&cluster.common.shop).hangs.insert("v1".into());
    let first = cluster.add("v1");
    cluster.draw_weather();
    cluster.builder().await?;
    let crosses = cluster.add("v1");
    let node = cluster.node(crosses).await?;
    let place = cluster.place(crosses).clone();
    let id = move |world: &World| place.who().map(|who| world.process(who).host.id().clone());
    let asks = |world: &World| {
        let line = id(world).and_then(|id| world.committed().line(&id).cloned());
        line.is_some_and(|line| matches!(line.standing, Standing::Asking { .. }))
    };
    cluster.until("it asks", asks).await?;
    let waits = cluster.add("v1");
    cluster.node(waits).await?;
    cluster.set_pace(crosses, Pace::Slow(Duration::from_millis(5 + cluster.below(100))));
    lock(&cluster.common.shop).hangs.clear();
    cluster.node(first).await?.stand_down();
    if cluster.chance(800) {
        let offered = |world: &World| {
            let hold = world.committed().hold();
            hold.is_some_and(|hold| Some(&hold.host) == id(world).as_ref())
        };
        cluster.until("it is offered", |world| offered(world) || approved(world, "v1")).await?;
    } else {
        cluster.wait(Duration::from_millis(600)).await?;
    }
    node.stand_down();
    cluster.rest().await?;
    cluster.expect_served("v1")
}

pub(super) async fn second_approval(cluster: &mut Cluster) -> Result<(), Failure> {
    let first = cluster.add("v1");
    cluster.draw_weather();
    cluster.node(first).await?;
    if cluster.chance(500) {
        cluster.until("v1 is approved", |world| approved(world, "v1")).await?;
    }
    let second = cluster.add("v2");
    cluster.set_pace(second, Pace::Slow(Duration::from_millis(1 + cluster.below(200))));
    cluster.until("v2 is approved", |world| approved(world, "v2")).await?;
    cluster.rest().await
}

pub(super) async fn slot_before_drain(cluster: &mut Cluster) -> Result<(), Failure> {
    let only = cluster.add("v1");
    cluster.draw_weather();
    cluster.set_pace(only, Pace::Slow(Duration::from_millis(1 + cluster.below(50))));
    cluster.until("v1 is approved", |world| approved(world, "v1")).await?;
    lock(&cluster.common.deployments).insert("deploy".into());
    let node = cluster.node(only).await?;
    let executor = node.executor();
    let wish = DrainWish {
        reason: "deployed".into(),
        term: Term::ThisVersion,
        end: EndAction::Restart,
        deadline: None,
    };
    *lock(&cluster.place(only).version) = "v2".into();
    let by_itself = cluster.common.shell == Shell::DrainAfterSlot;
    let request = DrainRequest {
        reason: wish.reason.clone(),
        term: wish.term,
        end: wish.end,
        at_deadline: AtDeadline::Report,
        since: 0,
    };
    let deploys = executor.clone();
    let dawdles = Duration::from_millis(cluster.below(500));
    madsim::task::spawn(async move {
        // Its host ends with it, so it may not be answered.
        let _ = deploys.submit("deploy", None, (!by_itself).then_some(request)).await;
        if by_itself && deploys.outcome("deploy").await.is_ok() {
            sleep(dawdles).await;
            let _ = deploys.drain(wish).await;
        }
    });
    sleep(Duration::from_millis(1 + cluster.below(20))).await;
    madsim::task::spawn(async move {
        let _ = executor.submit("next", None, None).await;
    });
    let place = cluster.place(only).clone();
    cluster
        .until("v2 is up", |world| {
            let runs = place.who().map(|who| world.process(who).host.version().as_str());
            runs == Some("v2")
        })
        .await?;
    cluster.rest().await?;
    cluster.expect_served("v2")
}
