//! What a boot costs in a fleet, and that it does not grow faster than the fleet.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use common::World;
use common::shop::{Running, Shop};
use futures_core::Stream;
use handover_node::core::journal::CommitAnswer;
use handover_node::core::{Change, RecordId, RecordParts, Revision};
use handover_node::{Build, BuildError, Changes, MemoryStore, Options, RecordStore, StoreError};

/// A store that counts what is asked of it, and takes its time to commit.
struct Counting {
    inner: MemoryStore,
    clock: handover_node::ManualClock,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    attempted: AtomicU64,
    committed: AtomicU64,
    read: AtomicU64,
    written: AtomicU64,
}

fn bytes(of: &impl serde::Serialize) -> u64 {
    serde_json::to_vec(of).expect("it is plain data").len() as u64
}

impl RecordStore for Counting {
    async fn load(&self) -> Result<RecordParts, StoreError> {
        let parts = self.inner.load().await?;
        self.counts.read.fetch_add(bytes(&parts), Ordering::Relaxed);
        Ok(parts)
    }

    async fn commit(&self, change: &Change) -> CommitAnswer {
        self.counts.attempted.fetch_add(1, Ordering::Relaxed);
        handover_node::Clock::sleep(&self.clock, Duration::from_millis(1)).await;
        let answer = self.inner.commit(change).await;
        if answer == CommitAnswer::Committed {
            self.counts.committed.fetch_add(1, Ordering::Relaxed);
            self.counts.written.fetch_add(bytes(change), Ordering::Relaxed);
        }
        answer
    }

    async fn watch(&self, after: Revision) -> Result<Changes, StoreError> {
        let counts = Arc::clone(&self.counts);
        let mut changes = self.inner.watch(after).await?;
        Ok(Changes::new(Mapped(move |context: &mut std::task::Context<'_>| {
            let polled = changes.as_stream().poll_next(context);
            if let std::task::Poll::Ready(Some(Ok(change))) = &polled {
                counts.read.fetch_add(bytes(&**change), Ordering::Relaxed);
            }
            polled
        })))
    }
}

struct Mapped<F>(F);

impl<F> Stream for Mapped<F>
where
    F: FnMut(
            &mut std::task::Context<'_>,
        ) -> std::task::Poll<Option<Result<Arc<Change>, StoreError>>>
        + Unpin,
{
    type Item = Result<Arc<Change>, StoreError>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        (self.0)(context)
    }
}

/// What one boot costs where so many hosts boot at once: commits attempted and committed, bytes
/// read and written.
#[derive(Debug)]
struct Cost {
    attempted: f64,
    committed: f64,
    read: f64,
    written: f64,
}

fn boot_of(hosts: u32) -> Cost {
    let mut world = World::new(u64::from(hosts));
    let counts = Arc::new(Counts::default());
    let store = Counting {
        inner: MemoryStore::new(RecordId(7)),
        clock: world.clock.clone(),
        counts: Arc::clone(&counts),
    };
    let shop = Shop::on(store);
    let builder = |_: Build| async { Ok::<_, BuildError>(()) };
    let nodes: Vec<Running> = (0..hosts)
        .map(|n| shop.start(&mut world, Options::new(format!("h{n}").as_str(), "v1"), builder))
        .collect();
    world.run_until("all gates open", || nodes.iter().all(Running::is_open));
    world.run_for(Duration::from_secs(60));
    let each = |count: &AtomicU64| count.load(Ordering::Relaxed) as f64 / f64::from(hosts);
    Cost {
        attempted: each(&counts.attempted),
        committed: each(&counts.committed),
        read: each(&counts.read),
        written: each(&counts.written),
    }
}

#[test]
fn the_cost_of_a_boot_grows_no_faster_than_the_fleet() {
    let (few, more, many) = (boot_of(10), boot_of(40), boot_of(160));
    println!("10 {few:?}\n40 {more:?}\n160 {many:?}");
    for (small, large) in [(&few, &more), (&more, &many)] {
        for cost in [
            |c: &Cost| c.attempted,
            |c: &Cost| c.committed,
            |c: &Cost| c.read,
            |c: &Cost| c.written,
        ] {
            // Four times the hosts: at most four times the cost of one boot, and some slack.
            assert!(cost(large) <= 5.0 * cost(small), "{small:?} {large:?}");
        }
    }
    assert!(many.committed < 3.0, "a boot has a word or two to say: {many:?}");
}
