//! Each public future is polled k times and dropped, for every k until it ends by itself; then what
//! its documentation says of that is looked at.

mod common;

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use common::shop::{Running, Shop};
use common::{World, cut};
use handover_node::core::{BuildState, ExecutorEffect, GrantId, Ledger, RecordId, Then};
use handover_node::{
    Build, BuildError, Builder, DrainWish, LedgerStore, LedgerStoreError, MemoryLedger,
    MemoryMembership, MemoryStore, Node, Options, Parts,
};

/// Runs `check` for 0, 1, 2 polls and so on, until the future ended by itself in time; that it was
/// cut at least `floor` times shows that there was something to drop.
fn for_every_poll(floor: u32, mut check: impl FnMut(u32) -> bool) {
    let mut polls = 0;
    while !check(polls) {
        polls += 1;
        assert!(polls < 1000, "it never ends");
    }
    assert!(polls >= floor, "it was cut only {polls} times");
}

fn endless() -> impl Builder {
    |build: Build| async move {
        build.cancelled().await;
        Err(BuildError::Stopped)
    }
}

fn at_once() -> impl Builder {
    |_: Build| async { Ok(()) }
}

/// A disk that takes its time.
struct Slow;

/// Pending so many times, woken at once.
async fn pause(times: u32) {
    let mut left = times;
    std::future::poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(());
        }
        left -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

impl LedgerStore for Slow {
    async fn load(&self) -> Result<Option<Ledger>, LedgerStoreError> {
        pause(3).await;
        Ok(None)
    }

    async fn write(&self, _: &ExecutorEffect) -> Result<(), LedgerStoreError> {
        Ok(())
    }
}

/// A node that only watches, and has come to rest.
fn watching(builder: impl Builder) -> (World, Shop, Running) {
    let (mut world, shop) = (World::new(1), Shop::new());
    let node = shop.start(&mut world, Options::new("a", "v1").watch_only(), builder);
    world.run_for(Duration::from_secs(1));
    (world, shop, node)
}

/// A node whose build under the first grant runs, and has come to rest.
fn building() -> (World, Shop, Running) {
    let (mut world, shop) = (World::new(1), Shop::new());
    let node = shop.start(&mut world, Options::new("a", "v1"), endless());
    world.run_until("it builds", || !node.node.executor().status().in_flight.is_empty());
    world.run_for(Duration::from_secs(1));
    (world, shop, node)
}

#[test]
fn a_boot_that_is_dropped_wastes_a_number_and_no_more() {
    for_every_poll(1, |polls| {
        let mut world = World::new(1);
        let store = Arc::new(MemoryStore::new(RecordId(7)));
        let membership = Arc::new(MemoryMembership::new());
        let parts = || Parts {
            store: Arc::clone(&store),
            membership: Arc::clone(&membership),
            clock: Arc::new(world.clock.clone()),
            ledger: Arc::new(Slow),
            builder: Arc::new(at_once()),
        };
        let first = cut(&mut World::new(2), polls, Node::boot(Options::new("a", "v1"), parts()));
        let (ledger, options) = (Arc::new(MemoryLedger::new()), Options::new("a", "v1"));
        let shop = Shop { store: Arc::clone(&store), membership: Arc::clone(&membership) };
        let second = shop.start_with(&mut world, options, at_once(), ledger);
        world.run_until("the next boot is as good as ever", || second.is_open());
        first.is_some()
    });
}

/// Drops what `run` returned after so many polls, and calls it again, for ever.
async fn run_in_pieces(mut driver: handover_node::Driver, polls: u32) {
    loop {
        let mut left = polls;
        let mut run: Pin<Box<dyn Future<Output = _> + Send + '_>> = Box::pin(driver.run());
        let piece = std::future::poll_fn(|context| {
            let polled = run.as_mut().poll(context).map(Some);
            left -= 1;
            if left == 0 && polled.is_pending() {
                context.waker().wake_by_ref();
                return Poll::Ready(None);
            }
            polled
        });
        let ended = piece.await;
        if ended.is_some() {
            return;
        }
        // What is not woken by the next call is not polled in between: it goes on by itself.
        std::future::poll_fn({
            let mut once = false;
            move |context: &mut std::task::Context<'_>| {
                context.waker().wake_by_ref();
                if std::mem::replace(&mut once, true) { Poll::Ready(()) } else { Poll::Pending }
            }
        })
        .await;
    }
}

#[test]
fn a_run_in_pieces_is_the_same_run() {
    for polls in 1..60 {
        let (mut world, shop) = (World::new(u64::from(polls)), Shop::new());
        let builds = Arc::new(Mutex::new(0));
        let mut nodes = Vec::new();
        for name in ["a", "b"] {
            let builds = Arc::clone(&builds);
            let builder = move |build: Build| {
                let builds = Arc::clone(&builds);
                async move {
                    *builds.lock().expect("no panic") += 1;
                    build.sign_off("a chunk", handover_node::core::SignOff::Clean);
                    Ok::<_, BuildError>(())
                }
            };
            let parts = Parts {
                store: Arc::clone(&shop.store),
                membership: Arc::clone(&shop.membership),
                clock: Arc::new(world.clock.clone()),
                ledger: Arc::new(MemoryLedger::new()),
                builder: Arc::new(builder),
            };
            let booted = world.block_on("boot", Node::boot(Options::new(name, "v1"), parts));
            let (node, driver) = booted.expect("nothing is away");
            world.spawn(run_in_pieces(driver, polls));
            nodes.push(node);
        }
        // A run that is dropped and called at once never rests, so nothing moves the clock.
        while !nodes.iter().all(|node| node.gate().is_open()) {
            for _ in 0..100 {
                world.step();
            }
            world.clock.advance(Duration::from_millis(5));
            assert!(world.polls < 1_000_000, "both gates open");
        }
        assert_eq!(*builds.lock().expect("no panic"), 1, "cut after {polls} polls: one build");
    }
}

#[test]
fn a_submission_that_is_dropped_is_in_the_queue_from_its_first_poll() {
    for_every_poll(2, |polls| {
        let (mut world, _shop, a) = watching(at_once());
        let executor = a.node.executor();
        let done = cut(&mut world, polls, async move { executor.submit("x", None, None).await });
        let executor = a.node.executor();
        if polls == 0 {
            assert_eq!(executor.status().queue, [], "nothing was asked for");
            return false;
        }
        let outcome = world.block_on("x", async move { executor.outcome("x").await });
        assert_eq!(outcome, Ok(BuildState::Succeeded));
        done.is_some()
    });
}

#[test]
fn a_cancel_of_a_build_that_is_dropped_cancels_from_its_first_poll() {
    for_every_poll(2, |polls| {
        let (mut world, _shop, a) = watching(endless());
        let executor = a.node.executor();
        world.block_on("x", async move { executor.submit("x", None, None).await }).expect("new");
        world.run_for(Duration::from_secs(1));
        let executor = a.node.executor();
        let done = cut(&mut world, polls, async move { executor.cancel("x").await });
        world.run_for(Duration::from_secs(1));
        let in_flight = a.node.executor().status().in_flight;
        assert_eq!(in_flight.is_empty(), polls > 0);
        done.is_some()
    });
}

#[test]
fn a_drain_and_an_undrain_that_are_dropped_are_in_force_from_their_first_poll() {
    for_every_poll(2, |polls| {
        let (mut world, _shop, a) = watching(at_once());
        let executor = a.node.executor();
        let wish = DrainWish::new("maintenance");
        let done = cut(&mut world, polls, async move { executor.drain(wish).await });
        assert_eq!(a.node.executor().status().drain.is_some(), polls > 0);
        done.is_some()
    });
    for_every_poll(2, |polls| {
        let (mut world, _shop, a) = watching(at_once());
        let executor = a.node.executor();
        let wish = DrainWish::new("maintenance");
        world.block_on("drain", async move { executor.drain(wish).await }).expect("no other");
        let executor = a.node.executor();
        let done = cut(&mut world, polls, async move { executor.undrain().await });
        assert_eq!(a.node.executor().status().drain.is_none(), polls > 0);
        done.is_some()
    });
}

#[test]
fn an_order_that_is_dropped_is_carried_out_or_not_and_a_second_one_is_answered() {
    for_every_poll(2, |polls| {
        let (mut world, shop, a) = building();
        let (node, grant) = (a.node.clone(), GrantId(1));
        let order = async move { node.cancel(grant, "enough", Then::Block).await };
        let done = cut(&mut world, polls, order);
        world.run_for(Duration::from_secs(30));
        let blocked = shop.store.record().verdict(&"v1".into()).is_some();
        let node = a.node.clone();
        let order = async move { node.cancel(grant, "enough", Then::Block).await };
        let second = world.block_on("the second", order);
        assert_eq!(second.is_ok(), !blocked, "cut after {polls} polls: {second:?}");
        world.run_until("it is blocked", || shop.store.record().verdict(&"v1".into()).is_some());
        done.is_some()
    });
    for_every_poll(2, |polls| {
        let (mut world, shop, a) = building();
        let node = a.node.clone();
        let order = async move { node.revoke(GrantId(1), "enough").await };
        let done = cut(&mut world, polls, order);
        world.run_for(Duration::from_secs(30));
        shop.store.record().check();
        let grant = shop.store.record().hold().expect("it is handed out again").grant;
        assert!(grant == GrantId(1) || grant == GrantId(2));
        done.is_some()
    });
    for_every_poll(2, |polls| {
        let (mut world, shop, a) = building();
        let node = a.node.clone();
        let order = async move { node.cancel(GrantId(1), "enough", Then::Block).await };
        world.block_on("cancel", order).expect("it is the hold's");
        world.run_until("blocked", || shop.store.record().verdict(&"v1".into()).is_some());
        let node = a.node.clone();
        let done = cut(&mut world, polls, async move { node.retry("v1", GrantId(1)).await });
        world.run_for(Duration::from_secs(30));
        shop.store.record().check();
        done.is_some()
    });
}

#[test]
fn what_only_looks_changes_nothing_when_it_is_dropped() {
    for polls in 0..3 {
        let (mut world, shop, a) = building();
        let before = (shop.store.record(), a.node.executor().status());
        let gate = a.node.gate();
        assert_eq!(cut(&mut world, polls, async move { gate.opened().await }), None);
        let executor = a.node.executor();
        assert_eq!(cut(&mut world, polls, async move { executor.drained().await }), None);
        let executor = a.node.executor();
        assert_eq!(cut(&mut world, polls, async move { executor.outcome("x").await }), None);
        world.run_for(Duration::from_secs(1));
        assert_eq!((shop.store.record(), a.node.executor().status()), before);
    }
}

#[test]
fn a_wait_for_the_cancellation_that_is_dropped_can_be_begun_again() {
    let builder = |build: Build| async move {
        for _ in 0..5 {
            let mut wait = Box::pin(build.cancelled());
            std::future::poll_fn(|context| {
                assert!(wait.as_mut().poll(context).is_pending(), "nobody has cancelled it yet");
                Poll::Ready(())
            })
            .await;
        }
        // Here it is told to stop, and drops what it waits for.
        build.until_cancelled(std::future::pending::<()>()).await
    };
    let (mut world, _shop, a) = watching(builder);
    let executor = a.node.executor();
    world.block_on("x", async move { executor.submit("x", None, None).await }).expect("it is new");
    world.run_for(Duration::from_secs(1));
    let executor = a.node.executor();
    let outcome = world.block_on("cancel", async move { executor.cancel("x").await });
    assert_eq!(outcome, Ok(BuildState::Cancelled));
}
