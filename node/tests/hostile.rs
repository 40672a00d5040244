//! Surroundings that do what they may, and users that do what they should not.

mod common;

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use common::World;
use common::faulty::FaultyStore;
use common::shop::Shop;
use futures_core::Stream;
use handover_node::core::journal::CommitAnswer;
use handover_node::core::{
    AtDeadline, Change, Chunk, Gate, GrantId, HostId, Incarnation, Name, RecordId, RecordParts,
    Revision, Version,
};
use handover_node::{
    BootError, Build, BuildError, Builder, Changes, Clock, DrainWish, Liveness, ManualClock,
    Membership, MembershipError, MemoryLedger, MemoryMembership, MemoryStore, Node, Options, Parts,
    Predecessors, RecordStore, Sightings, StoreError,
};

fn at_once() -> impl Builder {
    |_: Build| async { Ok::<_, BuildError>(()) }
}

/// The parts of a node on this membership.
fn parts<M: Membership>(
    world: &World,
    membership: M,
) -> Parts<MemoryStore, M, impl Clock + use<M>, MemoryLedger, impl Builder + use<M>> {
    Parts {
        store: Arc::new(MemoryStore::new(RecordId(7))),
        membership: Arc::new(membership),
        clock: Arc::new(world.clock.clone()),
        ledger: Arc::new(MemoryLedger::new()),
        builder: Arc::new(at_once()),
    }
}

/// Tells something each time that it is asked, or ends at once.
struct Chatter {
    tells: bool,
}

impl Stream for Chatter {
    type Item = (HostId, Liveness);

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.tells.then(|| (HostId::new("b", 1), Liveness::Suspect)))
    }
}

/// A membership whose watches never come to rest.
struct Restless {
    inner: MemoryMembership,
    tells: bool,
    opened: Arc<AtomicU64>,
}

impl Membership for Restless {
    async fn next_incarnation(
        &self,
        name: &Name,
        above: Incarnation,
    ) -> Result<Incarnation, MembershipError> {
        self.inner.next_incarnation(name, above).await
    }

    async fn join(&self, host: &HostId) -> Result<Predecessors, MembershipError> {
        self.inner.join(host).await
    }

    async fn leave(&self, host: &HostId) -> Result<(), MembershipError> {
        self.inner.leave(host).await
    }

    async fn watch(&self) -> Result<Sightings, MembershipError> {
        self.opened.fetch_add(1, Ordering::SeqCst);
        Ok(Sightings::new(Chatter { tells: self.tells }))
    }
}

/// A node on such a membership, as a task.
fn on_restless(world: &mut World, tells: bool) -> (Node, Arc<AtomicU64>) {
    let opened = Arc::new(AtomicU64::new(0));
    let membership =
        Restless { inner: MemoryMembership::new(), tells, opened: Arc::clone(&opened) };
    let booted = Node::boot(Options::new("a", "v1"), parts(world, membership));
    let (node, mut driver) = world.block_on("boot", booted).expect("all is there");
    world.spawn(async move { drop(driver.run().await) });
    (node, opened)
}

#[test]
fn a_watch_that_tells_without_end_stops_nobody() {
    let mut world = World::new(1);
    let (node, _) = on_restless(&mut world, true);
    world.run_until("it is open", || node.gate().is_open());
}

#[test]
fn a_watch_of_membership_that_ends_at_once_is_opened_ever_more_slowly() {
    let mut world = World::new(1);
    let (_node, opened) = on_restless(&mut world, false);
    world.run_for(Duration::from_secs(600));
    let opened = opened.load(Ordering::SeqCst);
    assert!((100..300).contains(&opened), "{opened} in ten minutes");
}

/// A membership that takes its time, and notes who leaves.
struct Slow {
    inner: Arc<MemoryMembership>,
    clock: ManualClock,
    left: Arc<Mutex<Vec<String>>>,
}

impl Membership for Slow {
    async fn next_incarnation(
        &self,
        name: &Name,
        above: Incarnation,
    ) -> Result<Incarnation, MembershipError> {
        self.inner.next_incarnation(name, above).await
    }

    async fn join(&self, host: &HostId) -> Result<Predecessors, MembershipError> {
        self.clock.sleep(Duration::from_secs(5)).await;
        self.inner.join(host).await
    }

    async fn leave(&self, host: &HostId) -> Result<(), MembershipError> {
        self.clock.sleep(Duration::from_secs(9)).await;
        self.left.lock().expect("no panic").push(host.to_string());
        self.inner.leave(host).await
    }

    async fn watch(&self) -> Result<Sightings, MembershipError> {
        self.inner.watch().await
    }
}

#[test]
fn who_ends_while_he_comes_back_leaves_both_identities_and_takes_up_neither() {
    let (mut world, shop) = (World::new(1), Shop::new());
    let (clock, left) = (world.clock.clone(), Arc::default());
    let membership = Slow { inner: Arc::clone(&shop.membership), clock, left: Arc::clone(&left) };
    let mut of_a = parts(&world, membership);
    of_a.store = Arc::clone(&shop.store);
    let booted = world.block_on("boot", Node::boot(Options::new("a", "v1"), of_a));
    let (node, mut driver) = booted.expect("all is there");
    let task = world.spawn(async move { drop(driver.run().await) });
    shop.start(&mut world, Options::new("b", "v1"), at_once());
    world.run_until("it is open", || node.gate().is_open());
    world.run_for(Duration::from_secs(5));
    shop.membership.say(node.id(), Liveness::Gone);
    let is_gone = || shop.store.record().is_gone(&HostId::new("a", 1));
    world.run_until("the record says so", is_gone);
    world.run_for(Duration::from_secs(1));
    node.shutdown();
    world.run_until("it ends", || has_left(&left));
    world.run_for(Duration::from_secs(10));
    assert!(world.is_over(task));
    assert_eq!(*left.lock().expect("no panic"), ["a", "a.2"]);
    assert_eq!(node.id(), HostId::new("a", 1));
}

fn has_left(left: &Mutex<Vec<String>>) -> bool {
    !left.lock().expect("no panic").is_empty()
}

/// A store whose watches end at once.
struct Brief {
    inner: MemoryStore,
    opened: AtomicU64,
}

impl RecordStore for Brief {
    async fn load(&self) -> Result<RecordParts, StoreError> {
        self.inner.load().await
    }

    async fn commit(&self, change: &Change) -> CommitAnswer {
        self.inner.commit(change).await
    }

    async fn watch(&self, _: Revision) -> Result<Changes, StoreError> {
        struct Over;

        impl Stream for Over {
            type Item = Result<Arc<Change>, StoreError>;

            fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
                Poll::Ready(None)
            }
        }

        self.opened.fetch_add(1, Ordering::SeqCst);
        Ok(Changes::new(Over))
    }
}

#[test]
fn a_watch_of_the_store_that_ends_at_once_is_opened_ever_more_slowly() {
    let mut world = World::new(1);
    let shop = Shop::on(Brief { inner: MemoryStore::new(RecordId(7)), opened: AtomicU64::new(0) });
    let node = shop.start(&mut world, Options::new("a", "v1"), at_once());
    world.run_until("it is open", || node.is_open());
    world.run_for(Duration::from_secs(600));
    let opened = shop.store.opened.load(Ordering::SeqCst);
    assert!((100..300).contains(&opened), "{opened} in ten minutes");
}

#[test]
fn the_longest_waits_are_waits_and_no_panic() {
    let mut world = World::new(1);
    world.clock.advance(Duration::from_secs(1));
    let options = Options::new("a", "v1")
        .patience(Duration::MAX)
        .offer_patience(Duration::MAX)
        .rewatch(Duration::MAX)
        .spread(Duration::MAX)
        .retry(Duration::MAX, Duration::MAX)
        .drain_deadline(Duration::MAX);
    let shop = Shop::new();
    let node = shop.start(&mut world, options, at_once());
    world.run_until("it is open", || node.is_open());
    shop.membership.say(HostId::new("b", 1), Liveness::Gone);
    let executor = node.node.executor();
    let deadline = Some((Duration::MAX, AtDeadline::Interrupt));
    let wish = DrainWish { deadline, ..DrainWish::new("for ever") };
    let drained = world.block_on("it is written", async move { executor.drain(wish).await });
    assert!(drained.is_ok());
    world.run_for(Duration::from_secs(60));
    shop.store.end_watches();
    node.node.shutdown();
    world.run_until("it ends", || node.end().is_some());
}

#[test]
fn who_is_told_to_try_again_at_once_still_lets_time_pass() {
    let mut world = World::new(1);
    let shop = Shop::on(FaultyStore::new(MemoryStore::new(RecordId(7)), 1));
    shop.store.set_faults(false);
    shop.store.set_away(true);
    let options = Options::new("a", "v1").retry(Duration::ZERO, Duration::ZERO);
    let node = shop.start(&mut world, options, at_once());
    let clock = world.clock.clone();
    world.run_until("seconds pass", || clock.now() > Duration::from_secs(5));
    shop.store.set_away(false);
    world.run_until("it is open", || node.is_open());
}

/// A waker that knows who keeps it.
struct Kept;

impl Wake for Kept {
    fn wake(self: Arc<Self>) {}
}

#[test]
fn who_waits_no_more_leaves_nothing_behind() {
    let (mut world, shop) = (World::new(1), Shop::new());
    let node = shop.start(&mut world, Options::new("a", "v1").watch_only(), at_once());
    world.run_for(Duration::from_secs(60));
    let kept = Arc::new(Kept);
    for _ in 0..1_000 {
        let gate = node.node.gate();
        let mut opened = Box::pin(gate.opened());
        let waker = Waker::from(Arc::clone(&kept));
        assert!(opened.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        assert_eq!(Arc::strong_count(&kept), 3, "it waits");
    }
    assert_eq!(Arc::strong_count(&kept), 1);
}

/// Never makes a plan, and knows how many are being made.
struct Undecided(Arc<AtomicU64>);

struct Making(Arc<AtomicU64>);

impl Drop for Making {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Builder for Undecided {
    async fn plan(&self, _: &Version, _: GrantId) -> Result<BTreeSet<Chunk>, BuildError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        let _making = Making(Arc::clone(&self.0));
        std::future::pending().await
    }

    async fn build(&self, _: Build) -> Result<(), BuildError> {
        Ok(())
    }
}

#[test]
fn a_host_that_never_comes_to_a_plan_makes_one_at_a_time() {
    let (mut world, shop) = (World::new(1), Shop::new());
    let making = [Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0))];
    for (name, making) in ["a", "b"].into_iter().zip(&making) {
        shop.start(&mut world, Options::new(name, "v1"), Undecided(Arc::clone(making)));
    }
    world.run_for(Duration::from_secs(1_200));
    let grants = shop.store.record().next_grant();
    assert!(grants > GrantId(20), "only {grants} were handed out");
    for making in &making {
        assert_eq!(making.load(Ordering::SeqCst), 1);
    }
}

#[test]
fn a_node_without_a_name_or_a_version_does_not_begin() {
    let mut world = World::new(1);
    for (name, version) in [("", "v1"), ("a", "")] {
        let boot = Node::boot(Options::new(name, version), parts(&world, MemoryMembership::new()));
        let refused = world.block_on("boot", async move { boot.await.map(drop) });
        let unnamed = BootError::Unnamed { name: name.into(), version: version.into() };
        assert_eq!(refused, Err(unnamed));
    }
}

#[test]
fn an_operator_finds_the_grant_in_what_a_node_has_read() {
    let (mut world, shop) = (World::new(1), Shop::new());
    let broken = |_: Build| async { Err::<(), BuildError>("it does not compile".into()) };
    let node = shop.start(&mut world, Options::new("a", "v1"), broken);
    let gate = node.node.gate();
    world.run_until("it has failed", || matches!(gate.read(), Gate::Blocked { .. }));
    let view = node.node.view().expect("it has read the record");
    let grant = view.verdict.expect("its version has failed").grant;
    let operator = node.node.clone();
    let retried = world.block_on("an answer", async move { operator.retry("v1", grant).await });
    assert_eq!(retried, Ok(None));
}
