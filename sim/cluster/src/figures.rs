//! What a cluster costs: a boot on the store in memory, and a hand-over over the network.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use handover_core::journal::CommitAnswer;
use handover_core::{Change, RecordParts, Revision, Standing};
use handover_node::{
    Build, Changes, GateHandle, MemoryLedger, MemoryMembership, MemoryStore, Node, Options, Parts,
    RecordStore, StoreError,
};
use handover_sim::world::World;
use madsim::Config;
use madsim::runtime::Runtime;
use madsim::time::{TimeHandle, sleep};

use crate::bell::lock;
use crate::clock::Skewed;
use crate::cluster::Cluster;
use crate::judge::{Failure, Judge, RECORD};
use crate::shells::Shell;

/// What the boots of so many hosts came to, all at once on one store in memory, until each gate is
/// open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Boots {
    /// How many hosts.
    pub hosts: u64,
    /// Commits that were tried.
    pub attempted: u64,
    /// Commits that were made.
    pub committed: u64,
    /// Bytes of the changes that were tried, as JSON.
    pub written: u64,
    /// Bytes of the records and changes that were read, as JSON.
    pub read: u64,
}

/// A store that counts.
struct Metered {
    inner: MemoryStore,
    counted: Arc<Mutex<Counted>>,
}

#[derive(Default)]
struct Counted {
    boots: Boots,
    /// The size of each change, so that it is measured once.
    sizes: BTreeMap<Revision, u64>,
}

fn size(of: &impl serde::Serialize) -> u64 {
    serde_json::to_vec(of).expect("it is data without maps by odd keys").len() as u64
}

impl RecordStore for Metered {
    async fn load(&self) -> Result<RecordParts, StoreError> {
        let parts = self.inner.load().await?;
        lock(&self.counted).boots.read += size(&parts);
        Ok(parts)
    }

    async fn commit(&self, change: &Change) -> CommitAnswer {
        let bytes = size(change);
        let answer = self.inner.commit(change).await;
        let mut counted = lock(&self.counted);
        counted.boots.attempted += 1;
        counted.boots.written += bytes;
        if answer == CommitAnswer::Committed {
            counted.boots.committed += 1;
            counted.sizes.insert(change.revision, bytes);
        }
        answer
    }

    async fn watch(&self, after: Revision) -> Result<Changes, StoreError> {
        let changes = Mutex::new(self.inner.watch(after).await?);
        Ok(Changes::new(Read { changes, counted: Arc::clone(&self.counted) }))
    }
}

struct Read {
    changes: Mutex<Changes>,
    counted: Arc<Mutex<Counted>>,
}

impl Stream for Read {
    type Item = Result<Arc<Change>, StoreError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let polled = lock(&self.changes).as_stream().poll_next(context);
        if let Poll::Ready(Some(Ok(change))) = &polled {
            let mut counted = lock(&self.counted);
            let bytes = counted.sizes.get(&change.revision).copied().unwrap_or_default();
            counted.boots.read += bytes;
        }
        polled
    }
}

/// Boots so many hosts of one version within a second, and counts until each gate is open and what
/// there was to say is said.
#[must_use]
pub fn boots(hosts: u64, seed: u64) -> Boots {
    on_a_thread(seed, move || async move {
        let counted = Arc::<Mutex<Counted>>::default();
        let store = Metered { inner: MemoryStore::new(RECORD), counted: Arc::clone(&counted) };
        let store = Arc::new(store);
        let membership = Arc::new(MemoryMembership::new());
        let mut gates = Vec::new();
        for host in 0..hosts {
            gates.push(boot(host, &store, &membership).await);
            sleep(Duration::from_millis(1_000 / hosts.max(1))).await;
        }
        while !gates.iter().all(GateHandle::is_open) {
            sleep(Duration::from_millis(100)).await;
        }
        sleep(Duration::from_secs(30)).await;
        let boots = lock(&counted).boots;
        Boots { hosts, ..boots }
    })
}

async fn boot(host: u64, store: &Arc<Metered>, membership: &Arc<MemoryMembership>) -> GateHandle {
    let parts = Parts {
        store: Arc::clone(store),
        membership: Arc::clone(membership),
        clock: Arc::new(Skewed { zero: Duration::ZERO, rate: 1_000, jumped: Arc::default() }),
        ledger: Arc::new(MemoryLedger::new()),
        builder: Arc::new(|_: Build| async {
            sleep(Duration::from_millis(500)).await;
            Ok(())
        }),
    };
    let options = Options::new(format!("h{host}").as_str(), "v1");
    let (node, mut driver) =
        Node::boot(options, parts).await.expect("ledger and membership are in memory");
    let gate = node.gate();
    madsim::task::spawn(async move { driver.run().await.map(|_| drop(node)) });
    gate
}

/// From the end of a build to the start of the next, and how many commits that took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandOver {
    /// Simulated time from the end of the first build until the second runs.
    pub time: Duration,
    /// Commits from the first report to the next offer, both included.
    pub commits: u64,
}

/// Two versions, one after the other, on two hosts without faults; `polls`: the hosts look into the
/// store only so often, where they else hear of each change.
///
/// # Errors
/// If it does not come to that.
pub fn hand_over(seed: u64, polls: Option<Duration>) -> Result<HandOver, Failure> {
    on_a_thread(seed, move || measured(seed, polls))
}

async fn measured(seed: u64, polls: Option<Duration>) -> Result<HandOver, Failure> {
    let mut cluster = Cluster::new(seed, Shell::Current, Judge::new(false, false));
    cluster.common.polls = polls;
    // Long enough that the second asks before the first build ends.
    lock(&cluster.common.shop).takes = (Duration::from_secs(4), Duration::from_secs(5));
    cluster.add("v1");
    cluster.builder().await?;
    cluster.add("v2");
    let asks = |world: &World| world.committed().lines().count() == 2;
    cluster.until("the second asks", asks).await?;
    let ended = |world: &World| !world.history().ended.is_empty();
    cluster.until("the first build ends", ended).await?;
    let start = TimeHandle::current().elapsed();
    let reported = |world: &World| {
        let mut lines = world.committed().lines();
        lines.any(|(_, line)| {
            line.version.as_str() == "v1" && matches!(line.standing, Standing::Finished { .. })
        })
    };
    cluster.until("the first report is folded", reported).await?;
    let before = cluster.judge.commits();
    let offered =
        |world: &World| world.committed().hold().is_some_and(|hold| hold.version.as_str() == "v2");
    cluster.until("the second is offered", offered).await?;
    let commits = cluster.judge.commits() - before + 1;
    let runs = |world: &World| {
        let mut processes = world.processes();
        processes.any(|(_, process)| {
            process.host.version().as_str() == "v2" && !process.builds.is_empty()
        })
    };
    cluster.until("the second builds", runs).await?;
    Ok(HandOver { time: TimeHandle::current().elapsed() - start, commits })
}

fn on_a_thread<T, F>(seed: u64, future: impl FnOnce() -> F + Send) -> T
where
    T: Send,
    F: Future<Output = T>,
{
    std::thread::scope(|scope| {
        let run = scope.spawn(|| {
            let runtime = Runtime::with_seed_and_config(seed, Config::default());
            runtime.block_on(future())
        });
        run.join().expect("nothing here panics")
    })
}
