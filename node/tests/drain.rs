//! What runs on one host, and what drains.

mod common;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::World;
use common::shop::{Running, Shop};
use handover_node::core::executor::DrainRefusal;
use handover_node::core::{AtDeadline, BuildState, DrainRequest, EndAction, Gate, Term, Work};
use handover_node::{
    Build, Builder, DrainWish, Ended, ExecutorError, MemoryLedger, Options, WaitsFor,
};

/// Local builds end when they are let go, by name, or are told to stop.
#[derive(Clone, Default)]
struct Bench {
    started: Arc<Mutex<Vec<String>>>,
    free: Arc<Mutex<Vec<String>>>,
    wakers: Arc<Mutex<Vec<std::task::Waker>>>,
}

impl Bench {
    fn builder(&self) -> impl Builder + use<> {
        let bench = self.clone();
        move |build: Build| {
            let bench = bench.clone();
            async move {
                let name = build.work().to_string();
                bench.started.lock().expect("no panic").push(name.clone());
                let let_go = std::future::poll_fn(|context| {
                    let mut free = bench.free.lock().expect("no panic");
                    if let Some(at) = free.iter().position(|free| *free == name) {
                        free.remove(at);
                        return std::task::Poll::Ready(());
                    }
                    bench.wakers.lock().expect("no panic").push(context.waker().clone());
                    std::task::Poll::Pending
                });
                build.until_cancelled(let_go).await
            }
        }
    }

    fn let_go(&self, name: &str) {
        self.free.lock().expect("no panic").push(name.to_owned());
        let wakers = std::mem::take(&mut *self.wakers.lock().expect("no panic"));
        wakers.into_iter().for_each(std::task::Waker::wake);
    }

    fn started(&self) -> Vec<String> {
        self.started.lock().expect("no panic").clone()
    }
}

/// A host that never asks, so that what runs is what was submitted.
fn watching() -> Options {
    Options::new("a", "v1").watch_only()
}

fn submit(world: &mut World, on: &Running, build: &'static str) {
    let executor = on.node.executor();
    let answer = world.block_on(build, async move { executor.submit(build, None, None).await });
    assert_eq!(answer, Ok(()));
}

#[test]
fn builds_wait_for_slots_in_their_order() {
    let (mut world, shop, bench) = (World::new(1), Shop::new(), Bench::default());
    let a = shop.start(&mut world, watching().slots(2), bench.builder());
    for build in ["x", "y", "z"] {
        submit(&mut world, &a, build);
    }
    world.run_until("two run", || bench.started().len() == 2);
    let slots = a.node.executor().slots();
    assert_eq!((slots.total, slots.free), (2, 0));
    let queue = a.node.executor().status().queue;
    assert_eq!(queue.len(), 1);
    let executor = a.node.executor();
    let again = world.block_on("again", async move { executor.submit("z", None, None).await });
    assert!(matches!(again, Err(ExecutorError::Refused(_))), "a build's id is known for ever");
    bench.let_go("x");
    world.run_until("the third runs", || bench.started() == ["x", "y", "z"]);
}

#[test]
fn a_drain_lets_what_runs_finish_and_starts_nothing() {
    for seed in 0..20 {
        let (mut world, shop, bench) = (World::new(seed), Shop::new(), Bench::default());
        let a = shop.start(&mut world, watching(), bench.builder());
        submit(&mut world, &a, "x");
        submit(&mut world, &a, "y");
        world.run_until("x runs", || bench.started() == ["x"]);
        let executor = a.node.executor();
        let wish = DrainWish::new("maintenance");
        let drain = world.block_on("drain", async move { executor.drain(wish).await });
        let drain = drain.expect("no other is in force");
        let status = a.node.executor().status();
        assert_eq!(status.drain.as_ref(), Some(&drain));
        let waits: Vec<_> = status.waits_for.iter().collect();
        assert!(
            matches!(&waits[..], [WaitsFor::Build { work: Work::Local(x), .. }] if x.as_str() == "x"),
            "{waits:?}"
        );
        let executor = a.node.executor();
        let second = DrainWish::new("impatience");
        let weaker = world.block_on("weaker", async move { executor.drain(second).await });
        let active = Box::new(drain);
        assert_eq!(weaker, Err(ExecutorError::Refused(DrainRefusal { active })));
        bench.let_go("x");
        let executor = a.node.executor();
        world.block_on("drained", async move { executor.drained().await }).expect("it lives");
        world.run_for(Duration::from_secs(60));
        assert_eq!(bench.started(), ["x"], "seed {seed}");
        let executor = a.node.executor();
        world.block_on("undrain", async move { executor.undrain().await }).expect("it drains");
        world.run_until("y is woken", || bench.started() == ["x", "y"]);
        bench.let_go("y");
        let executor = a.node.executor();
        let outcome = world.block_on("y", async move { executor.outcome("y").await });
        assert_eq!(outcome, Ok(BuildState::Succeeded));
    }
}

#[test]
fn a_drain_that_stops_ends_the_driver_when_all_is_on_record() {
    for seed in 0..20 {
        let (mut world, shop, bench) = (World::new(seed), Shop::new(), Bench::default());
        let a = shop.start(&mut world, Options::new("a", "v1"), bench.builder());
        world.run_until("a builds", || bench.started() == ["g1"]);
        let executor = a.node.executor();
        let wish = DrainWish { end: EndAction::Stop, ..DrainWish::new("scale down") };
        world.block_on("drain", async move { executor.drain(wish).await }).expect("no other");
        world.run_for(Duration::from_secs(60));
        assert_eq!(a.end(), None, "its build runs");
        bench.let_go("g1");
        world.run_until("it ends", || a.end().is_some());
        assert_eq!(a.end(), Some(Ok(Ended::Stop)));
        let record = shop.store.record();
        assert!(record.verdict(&"v1".into()).is_some_and(|verdict| verdict.is_approved()));
        assert!(a.is_open(), "an approval never goes");
        let executor = a.node.executor();
        let late = world.block_on("late", async move { executor.submit("x", None, None).await });
        assert_eq!(late, Err(ExecutorError::Ended));
    }
}

#[test]
fn the_deadline_of_a_drain_does_what_it_named() {
    let (mut world, shop, bench) = (World::new(3), Shop::new(), Bench::default());
    let a = shop.start(&mut world, watching(), bench.builder());
    submit(&mut world, &a, "x");
    world.run_until("x runs", || bench.started() == ["x"]);
    let deadline = Some((Duration::from_secs(30), AtDeadline::Interrupt));
    let executor = a.node.executor();
    let wish = DrainWish { deadline, ..DrainWish::new("maintenance") };
    world.block_on("drain", async move { executor.drain(wish).await }).expect("no other");
    world.run_until("it is drained", || a.node.executor().status().drained);
    let executor = a.node.executor();
    world.block_on("undrain", async move { executor.undrain().await }).expect("it drains");
    world.run_until("x runs again", || bench.started() == ["x", "x"]);
}

#[test]
fn a_deployment_drains_when_it_succeeds_and_has_the_deadline_of_the_node() {
    let (mut world, shop, bench) = (World::new(3), Shop::new(), Bench::default());
    let options = watching().slots(2).drain_deadline(Duration::from_secs(30));
    let a = shop.start(&mut world, options, bench.builder());
    submit(&mut world, &a, "x");
    let drains = DrainRequest {
        reason: "deployed".into(),
        term: Term::ThisVersion,
        end: EndAction::Restart,
        at_deadline: AtDeadline::Interrupt,
        since: 0,
    };
    let executor = a.node.executor();
    let deploy = async move { executor.submit("deploy", None, Some(drains)).await };
    assert_eq!(world.block_on("deploy", deploy), Ok(()));
    world.run_until("both run", || bench.started().len() == 2);
    bench.let_go("deploy");
    world.run_until("it drains", || a.node.executor().status().drain.is_some());
    world.run_for(Duration::from_secs(20));
    assert_eq!(a.end(), None, "x runs");
    world.run_until("x is interrupted, and all has ended", || a.end().is_some());
    assert_eq!(a.end(), Some(Ok(Ended::Restart)));
}

#[test]
fn an_undrained_drain_has_no_deadline_any_more() {
    let (mut world, shop, bench) = (World::new(3), Shop::new(), Bench::default());
    let a = shop.start(&mut world, watching(), bench.builder());
    submit(&mut world, &a, "x");
    world.run_until("x runs", || bench.started() == ["x"]);
    let executor = a.node.executor();
    let deadline = Some((Duration::from_secs(3), AtDeadline::Interrupt));
    let wish = DrainWish { deadline, ..DrainWish::new("maintenance") };
    let done = world.block_on("drain and undrain", async move {
        executor.drain(wish).await.expect("no other is in force");
        executor.undrain().await
    });
    assert_eq!(done, Ok(()));
    world.run_for(Duration::from_secs(60));
    assert_eq!(bench.started(), ["x"]);
    assert!(a.node.executor().status().drain.is_none());
}

#[test]
fn shutdown_drains_and_once_more_interrupts() {
    for seed in 0..20 {
        let (mut world, shop, bench) = (World::new(seed), Shop::new(), Bench::default());
        let ledger = Arc::new(MemoryLedger::new());
        let options = || Options::new("a", "v1").slots(2);
        let a = shop.start_with(&mut world, options(), bench.builder(), Arc::clone(&ledger));
        submit(&mut world, &a, "x");
        world.run_until("both run", || bench.started().len() == 2);
        a.node.shutdown();
        world.run_for(Duration::from_millis(1));
        assert_eq!(a.end(), None, "what runs may finish");
        a.node.shutdown();
        world.run_until("it ends", || a.end().is_some());
        assert_eq!(a.end(), Some(Ok(Ended::Shutdown)));
        assert!(shop.store.record().hold().is_none(), "the job was given back, in words");

        let again = shop.start_with(&mut world, options(), bench.builder(), ledger);
        world.run_until("x is queued again, and the job is asked for", || {
            bench.started().len() == 4
        });
        assert_eq!(again.node.executor().status().drain, None, "the drain ended with its process");
    }
}

#[test]
fn shutdown_of_a_host_without_work_ends_at_once() {
    let (mut world, shop, bench) = (World::new(2), Shop::new(), Bench::default());
    let a = shop.start(&mut world, watching(), bench.builder());
    a.node.shutdown();
    world.run_until("it ends", || a.end().is_some());
    assert_eq!(a.end(), Some(Ok(Ended::Shutdown)));
    assert!(matches!(a.node.gate().read(), Gate::Waiting { .. } | Gate::Unknown { .. }));
}

#[test]
fn an_operators_drain_outlives_the_shutdown_that_met_it() {
    let (mut world, shop, bench) = (World::new(4), Shop::new(), Bench::default());
    let ledger = Arc::new(MemoryLedger::new());
    let a = shop.start_with(&mut world, watching(), bench.builder(), Arc::clone(&ledger));
    let executor = a.node.executor();
    let wish = DrainWish { term: Term::UntilUndrained, ..DrainWish::new("broken disk") };
    let drain = world.block_on("drain", async move { executor.drain(wish).await });
    a.node.shutdown();
    world.run_until("it ends", || a.end().is_some());
    let again = shop.start_with(&mut world, watching(), bench.builder(), ledger);
    assert_eq!(again.node.executor().status().drain, drain.ok());
}

#[test]
fn an_undrain_takes_a_shutdown_back() {
    let (mut world, shop, bench) = (World::new(6), Shop::new(), Bench::default());
    let a = shop.start(&mut world, Options::new("a", "v1"), bench.builder());
    world.run_until("a builds", || bench.started() == ["g1"]);
    a.node.shutdown();
    let executor = a.node.executor();
    world.block_on("undrain", async move { executor.undrain().await }).expect("it drains");
    bench.let_go("g1");
    world.run_until("it is approved", || a.is_open());
    world.run_for(Duration::from_secs(60));
    assert_eq!(a.end(), None);
}
