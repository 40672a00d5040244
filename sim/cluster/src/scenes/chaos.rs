//! A rolling update in which things go wrong at moments that nobody has chosen.

use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use madsim::time::TimeHandle;

use super::rollout::roll;
use crate::cluster::Cluster;
use crate::judge::Failure;
use crate::oracle::Seen;
use crate::pace::Pace;

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    /// A process dies, and the next one of its name starts.
    Crash,
    /// The same, and its disk is lost.
    CrashWithDisk,
    /// The same, and the counter of its name too.
    CrashWithAll,
    /// The disk of a process that lives is lost.
    Disk,
    /// A process does nothing for a while.
    Pause,
    /// The same, and membership declares it gone.
    PausedAndGone,
    /// Membership declares gone who lives.
    Gone,
    /// Membership suspects who lives.
    Suspect,
    /// Nothing goes between a host and the store for a while.
    Cut,
    /// The clock of a host jumps.
    Clock,
    /// A host becomes slow.
    Slow,
    /// The store dies, and comes back with what was committed.
    Store,
}

impl Fault {
    const ALL: [Self; 12] = [
        Self::Crash,
        Self::CrashWithDisk,
        Self::CrashWithAll,
        Self::Disk,
        Self::Pause,
        Self::PausedAndGone,
        Self::Gone,
        Self::Suspect,
        Self::Cut,
        Self::Clock,
        Self::Slow,
        Self::Store,
    ];

    const OF_DISKS: [Self; 4] = [Self::Crash, Self::CrashWithDisk, Self::CrashWithAll, Self::Disk];
}

pub(super) async fn disks_lost(cluster: &mut Cluster) -> Result<(), Failure> {
    rolls_through(cluster, &Fault::OF_DISKS).await
}

pub(super) async fn anything(cluster: &mut Cluster) -> Result<(), Failure> {
    // As with the weather: a run has few of them, and those often.
    let mut on: Vec<Fault> = Fault::ALL.into_iter().filter(|_| cluster.chance(500)).collect();
    if on.is_empty() {
        on.extend(Fault::ALL);
    }
    rolls_through(cluster, &on).await
}

/// Five hosts go from v1 to v2 while these faults strike; then all heals, and all serve.
async fn rolls_through(cluster: &mut Cluster, faults: &[Fault]) -> Result<(), Failure> {
    for _ in 0..5 {
        cluster.add("v1");
    }
    cluster.draw_weather();
    let cluster = &*cluster;
    both(roll(cluster), strikes(cluster, faults)).await?;
    cluster.rest().await?;
    cluster.expect_served("v2")
}

/// What ends a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Ends {
    Down,
    Pause,
    Cut,
}

async fn strikes(cluster: &Cluster, faults: &[Fault]) -> Result<(), Failure> {
    let mut open: BTreeMap<(usize, Ends), Duration> = BTreeMap::new();
    let pause = Duration::from_millis(500 + cluster.below(5_000));
    for _ in 0..3 + cluster.below(10) {
        cluster.wait(pause).await?;
        end_due(cluster, &mut open, TimeHandle::current().elapsed());
        let index = cluster.pick();
        let fault = faults[usize::try_from(cluster.below(faults.len() as u64)).expect("an index")];
        let struck: BTreeSet<usize> = open.keys().map(|(index, _)| *index).collect();
        if fault == Fault::Store {
            cluster.restart_store().await?;
        } else if !struck.contains(&index)
            && let Some(ends) = strike(cluster, index, fault)
        {
            let lasts = Duration::from_millis(cluster.below(20_000));
            open.insert((index, ends), TimeHandle::current().elapsed() + lasts);
        }
    }
    while !open.is_empty() {
        cluster.wait(pause).await?;
        end_due(cluster, &mut open, TimeHandle::current().elapsed());
    }
    Ok(())
}

/// Strikes one host; what ends it, where it lasts.
fn strike(cluster: &Cluster, index: usize, fault: Fault) -> Option<Ends> {
    match fault {
        Fault::Crash | Fault::CrashWithDisk | Fault::CrashWithAll => {
            cluster.crash(index);
            if fault != Fault::Crash {
                cluster.lose_disk(index);
            }
            if fault == Fault::CrashWithAll {
                cluster.lose_counter(index);
            }
            return Some(Ends::Down);
        }
        Fault::Disk => {
            // Who is about to boot has read his book already.
            if cluster.place(index).lives() {
                cluster.lose_disk(index);
            }
        }
        Fault::Pause | Fault::PausedAndGone => {
            cluster.freeze(index);
            if fault == Fault::PausedAndGone {
                cluster.say_wrongly(index, Seen::Gone);
            }
            return Some(Ends::Pause);
        }
        Fault::Gone => cluster.say_wrongly(index, Seen::Gone),
        Fault::Suspect => cluster.say_wrongly(index, Seen::Suspect),
        Fault::Cut => {
            cluster.cut(index);
            return Some(Ends::Cut);
        }
        Fault::Clock => {
            let by = Duration::from_millis(cluster.below(3_600_000));
            cluster.place(index).clock.jump(by);
        }
        Fault::Slow => {
            let most = Duration::from_millis(1 + cluster.below(1_000));
            cluster.set_pace(index, Pace::Slow(most));
        }
        Fault::Store => {}
    }
    None
}

fn end_due(cluster: &Cluster, open: &mut BTreeMap<(usize, Ends), Duration>, now: Duration) {
    open.retain(|(index, ends), until| {
        if *until > now {
            return true;
        }
        match ends {
            Ends::Down => cluster.boot_again(*index),
            Ends::Pause => cluster.thaw(*index),
            Ends::Cut => cluster.mend(*index),
        }
        false
    });
}

/// Two at once, until both are through or one has failed.
async fn both(
    one: impl Future<Output = Result<(), Failure>>,
    other: impl Future<Output = Result<(), Failure>>,
) -> Result<(), Failure> {
    let (mut one, mut other) = (pin!(one), pin!(other));
    let (mut one_is_over, mut other_is_over) = (false, false);
    poll_fn(|context| {
        if !one_is_over && let Poll::Ready(ended) = one.as_mut().poll(context) {
            ended?;
            one_is_over = true;
        }
        if !other_is_over && let Poll::Ready(ended) = other.as_mut().poll(context) {
            ended?;
            other_is_over = true;
        }
        if one_is_over && other_is_over { Poll::Ready(Ok(())) } else { Poll::Pending }
    })
    .await
}
