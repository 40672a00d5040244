//! A ledger that is lost for good: the job goes on elsewhere, the gate stays, the process can end.

mod common;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::World;
use common::shop::{Running, Shop};
use handover_node::core::{ExecutorEffect, Ledger};
use handover_node::{
    Build, Builder, DrainWish, DriverError, Ended, ExecutorError, LedgerStore, LedgerStoreError,
    MemoryLedger, Options, WaitsFor,
};

/// A book of which so many writes succeed, and so many behind them fail.
struct Dying {
    book: MemoryLedger,
    good: AtomicU32,
    bad: AtomicU32,
    error: LedgerStoreError,
}

impl Dying {
    /// After so many writes the disk dies, and says so.
    fn after(good: u32) -> Arc<Self> {
        let error = LedgerStoreError::Lost { why: "dead disk".to_owned() };
        Self::failing(good, u32::MAX, error)
    }

    fn failing(good: u32, bad: u32, error: LedgerStoreError) -> Arc<Self> {
        let (good, bad) = (AtomicU32::new(good), AtomicU32::new(bad));
        Arc::new(Self { book: MemoryLedger::new(), good, bad, error })
    }

    /// The next write fails.
    fn die(&self) {
        self.good.store(0, Ordering::SeqCst);
    }
}

fn take_one(of: &AtomicU32) -> bool {
    let less = |left: u32| left.checked_sub(1);
    of.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).is_ok()
}

impl LedgerStore for Dying {
    async fn load(&self) -> Result<Option<Ledger>, LedgerStoreError> {
        self.book.load().await
    }

    async fn write(&self, effect: &ExecutorEffect) -> Result<(), LedgerStoreError> {
        if !take_one(&self.good) && take_one(&self.bad) {
            return Err(self.error.clone());
        }
        self.book.write(effect).await
    }
}

/// What was started, on which host.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn started(&self) -> Vec<String> {
        self.0.lock().expect("no panic").clone()
    }

    /// Builds under a grant end at once, local ones when they are told to.
    fn builder(&self) -> impl Builder + use<> {
        let log = self.clone();
        move |build: Build| {
            let name = format!("{} on {}", build.work(), build.host());
            log.0.lock().expect("no panic").push(name);
            async move {
                match build.grant() {
                    Some(_) => Ok(()),
                    None => build.until_cancelled(std::future::pending()).await,
                }
            }
        }
    }
}

fn why_lost(node: &Running) -> Option<String> {
    node.node.executor().status().ledger_lost.map(|why| why.to_string())
}

fn submit(world: &mut World, node: &Running, build: &'static str) -> Result<(), String> {
    let executor = node.node.executor();
    let submitted = async move { executor.submit(build, None, None).await };
    world.block_on("submit", submitted).map_err(|error| error.to_string())
}

#[test]
fn the_job_of_a_host_whose_ledger_is_lost_goes_to_another() {
    // The first write of a build comes before it starts, the second behind its end.
    for (good, started) in [(0, "g2 on b"), (1, "g1 on a")] {
        for seed in 0..20 {
            let (mut world, shop, log) = (World::new(seed), Shop::new(), Log::default());
            let (options, ledger) = (Options::new("a", "v1").priority(1), Dying::after(good));
            let a = shop.start_with(&mut world, options, log.builder(), ledger);
            world.run_until("a has the job", || shop.store.record().hold().is_some());
            let b = shop.start(&mut world, Options::new("b", "v1"), log.builder());
            world.run_until("both are open", || a.is_open() && b.is_open());
            assert_eq!(log.started(), [started], "seed {seed}");
            assert_eq!(why_lost(&a).as_deref(), Some("dead disk"));
            assert_eq!(why_lost(&b), None);
            world.run_for(Duration::from_secs(60));
            assert!(shop.store.record().hold().is_none());
        }
    }
}

#[test]
fn a_host_whose_ledger_is_lost_takes_no_offer_and_is_alive() {
    let (mut world, shop, log) = (World::new(3), Shop::new(), Log::default());
    let options = Options::new("a", "v1").watch_only();
    let a = shop.start_with(&mut world, options, log.builder(), Dying::after(0));
    let refused = submit(&mut world, &a, "x");
    let why = "the ledger is lost, and this is not written down: dead disk";
    assert_eq!(refused, Err(why.to_owned()));
    a.node.ask();
    world.run_for(Duration::from_secs(60));
    assert!(shop.store.record().hold().is_none(), "it does not ask");
    let b = shop.start(&mut world, Options::new("b", "v1"), log.builder());
    world.run_until("both are open", || a.is_open() && b.is_open());
    assert_eq!(log.started(), ["g1 on b"]);
}

#[test]
fn an_open_gate_stays_open_when_the_ledger_is_lost() {
    let (mut world, shop, log) = (World::new(4), Shop::new(), Log::default());
    let ledger = Dying::after(u32::MAX);
    let a = shop.start_with(&mut world, Options::new("a", "v1"), log.builder(), ledger.clone());
    world.run_until("it is open", || a.is_open());
    ledger.die();
    assert!(submit(&mut world, &a, "x").is_err());
    let executor = a.node.executor();
    let drain = async move { executor.drain(DrainWish::new("maintenance")).await };
    let drained = world.block_on("drain", drain);
    assert!(matches!(drained, Err(ExecutorError::LedgerLost { .. })), "{drained:?}");
    assert!(a.node.executor().status().drain.is_some(), "it is in force all the same");
    world.run_for(Duration::from_secs(300));
    assert!(a.is_open() && a.end().is_none());
    assert_eq!(log.started(), ["g1 on a"], "x is not written, so it does not start");
}

#[test]
fn the_second_shutdown_ends_a_node_whose_ledger_is_lost() {
    for seed in 0..20 {
        let (mut world, shop, log) = (World::new(seed), Shop::new(), Log::default());
        let ledger = Dying::after(u32::MAX);
        let options = || Options::new("a", "v1").watch_only();
        let a = shop.start_with(&mut world, options(), log.builder(), Arc::clone(&ledger));
        submit(&mut world, &a, "x").expect("it is written");
        world.run_until("x runs", || log.started() == ["x on a"]);
        ledger.die();
        assert!(submit(&mut world, &a, "y").is_err());
        a.node.shutdown();
        world.run_for(Duration::from_secs(300));
        assert_eq!(a.end(), None, "x runs, and may finish");
        assert!(a.node.executor().status().waits_for.contains(&WaitsFor::Ledger));
        a.node.shutdown();
        world.run_until("it ends", || a.end().is_some());
        let why = "dead disk".into();
        assert_eq!(a.end(), Some(Err(DriverError::LedgerLost { why })));

        ledger.bad.store(0, Ordering::SeqCst);
        let again = shop.start_with(&mut world, options(), log.builder(), ledger);
        world.run_until("the next life finds x", || log.started().len() == 2);
        assert_eq!(why_lost(&again), None);
        assert_eq!(log.started(), ["x on a", "x on a.2"]);
        assert!(again.node.executor().status().queue.is_empty(), "and y it does not");
    }
}

#[test]
fn a_lost_ledger_that_has_nothing_to_write_holds_no_shutdown_up() {
    let (mut world, shop, log) = (World::new(5), Shop::new(), Log::default());
    let a = shop.start_with(&mut world, Options::new("a", "v1"), log.builder(), Dying::after(1));
    world.run_until("it is approved", || a.is_open());
    assert!(why_lost(&a).is_some());
    a.node.shutdown();
    world.run_until("it ends", || a.end().is_some());
    assert_eq!(a.end(), Some(Ok(Ended::Shutdown)));
}

#[test]
fn a_ledger_counts_as_lost_after_so_many_failures_in_a_row_and_no_sooner() {
    for (bad, lost) in [(2, None), (3, Some("full"))] {
        let (mut world, shop, log) = (World::new(6), Shop::new(), Log::default());
        let error = LedgerStoreError::NotWritten { why: "full".to_owned() };
        let (options, ledger) = (Options::new("a", "v1"), Dying::failing(0, bad, error));
        let a = shop.start_with(&mut world, options.ledger_tries(3), log.builder(), ledger);
        world.run_for(Duration::from_secs(60));
        assert_eq!(why_lost(&a).as_deref(), lost);
        assert_eq!(a.is_open(), lost.is_none());
        let b = shop.start(&mut world, Options::new("b", "v1"), log.builder());
        world.run_until("both are open", || a.is_open() && b.is_open());
        assert_eq!(log.started().len(), 1);
    }
}
