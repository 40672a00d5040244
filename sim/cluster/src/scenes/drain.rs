//! A drain that somebody has to end.

use std::time::Duration;

use handover_core::{AtDeadline, EndAction, Term, Work};
use handover_node::DrainWish;
use handover_sim::world::World;

use crate::bell::lock;
use crate::cluster::Cluster;
use crate::judge::Failure;

pub(super) async fn drained_at_deadline(cluster: &mut Cluster) -> Result<(), Failure> {
    for _ in 0..3 {
        cluster.add("v1");
    }
    cluster.draw_weather();
    lock(&cluster.common.shop).hangs.insert("v1".into());
    let hung = cluster.builder().await?;
    let runs = |world: &World| {
        let mut works = world.processes().flat_map(|(_, process)| process.builds.keys());
        works.any(Work::is_granted)
    };
    cluster.until("its build runs", runs).await?;
    // Whoever is handed the job next comes to an end.
    lock(&cluster.common.shop).hangs.clear();
    *lock(&cluster.place(hung).version) = "v2".into();
    let patience = Duration::from_millis(500 + cluster.below(20_000));
    let wish = DrainWish {
        reason: "a new version".into(),
        term: Term::ThisVersion,
        end: EndAction::Restart,
        deadline: Some((patience, AtDeadline::Interrupt)),
    };
    let executor = cluster.node(hung).await?.executor();
    madsim::task::spawn(async move {
        // It may be drained, and gone, before it is answered.
        let _ = executor.drain(wish).await;
    });
    let place = cluster.place(hung).clone();
    let is_up = |world: &World| {
        let runs = place.who().map(|who| world.process(who).host.version().as_str());
        runs == Some("v2")
    };
    cluster.until("the next version is up", is_up).await?;
    cluster.rest().await?;
    for index in cluster.places() {
        if !cluster.node(index).await?.gate().is_open() {
            return Err(Failure::unmet(format!("h{} does not serve at rest", index + 1)));
        }
    }
    Ok(())
}
