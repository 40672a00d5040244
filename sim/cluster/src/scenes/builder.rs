//! What happens to a builder.

use std::time::Duration;

use handover_core::Phase;
use madsim::time::sleep;

use super::rollout::approved;
use crate::bell::lock;
use crate::cluster::Cluster;
use crate::judge::Failure;
use crate::oracle::Seen;
use crate::pace::Pace;

fn three(cluster: &mut Cluster) {
    for _ in 0..3 {
        cluster.add("v1");
    }
    cluster.draw_weather();
}

/// A phase of the hand-over, by number.
fn is_phase(number: u64, phase: Phase) -> bool {
    match phase {
        Phase::Planning { .. } => number == 0,
        Phase::Accepted { .. } => number == 1,
        Phase::Building { .. } => number == 2,
        Phase::Finished { .. } => number == 3,
        Phase::Idle
        | Phase::Asking
        | Phase::Cancelling { .. }
        | Phase::StoodDown
        | Phase::Expelled { .. } => false,
    }
}

pub(super) async fn builder_dies(cluster: &mut Cluster) -> Result<(), Failure> {
    three(cluster);
    let phase = cluster.below(4);
    let in_the_middle = cluster.chance(300);
    let dies = if in_the_middle {
        let builds = cluster.builder().await?;
        cluster.wait(Duration::from_millis(500)).await?;
        cluster.crash(builds);
        builds
    } else {
        cluster.crash_in("it comes that far", move |now| is_phase(phase, now)).await?
    };
    cluster.wait(Duration::from_secs(20)).await?;
    cluster.boot(dies, "v1");
    cluster.rest().await?;
    cluster.expect_served("v1")
}

pub(super) async fn frozen_builder(cluster: &mut Cluster) -> Result<(), Failure> {
    three(cluster);
    let frozen = cluster.builder().await?;
    cluster.wait(Duration::from_millis(200)).await?;
    cluster.freeze(frozen);
    cluster.say_wrongly(frozen, Seen::Gone);
    if cluster.chance(700) {
        let another = |world: &handover_sim::world::World| {
            let hold = world.committed().hold();
            approved(world, "v1") || hold.is_some_and(handover_core::Hold::is_started)
        };
        cluster.until("another builds", another).await?;
    }
    cluster.wait(Duration::from_secs(5)).await?;
    cluster.thaw(frozen);
    cluster.rest().await?;
    cluster.expect_served("v1")
}

pub(super) async fn slow_builder(cluster: &mut Cluster) -> Result<(), Failure> {
    three(cluster);
    lock(&cluster.common.shop).takes = (Duration::from_secs(5), Duration::from_secs(120));
    let slow = cluster.builder().await?;
    cluster.set_pace(slow, Pace::Slow(Duration::from_millis(500 + cluster.below(2_000))));
    let grant = cluster.judge.record().hold().map(|hold| hold.grant);
    for _ in 0..3 {
        cluster.say_wrongly(slow, Seen::Suspect);
        cluster.wait(Duration::from_secs(20)).await?;
        if cluster.chance(300) {
            cluster.say_wrongly(slow, Seen::Alive);
        }
    }
    cluster.until("v1 is approved", |world| approved(world, "v1")).await?;
    let verdict = cluster.judge.record().verdict(&"v1".into()).map(|verdict| verdict.grant);
    if verdict != grant {
        return Err(Failure::unmet(format!("{grant:?} was evicted for {verdict:?}")));
    }
    sleep(Duration::from_millis(1)).await;
    cluster.rest().await?;
    cluster.expect_served("v1")
}
