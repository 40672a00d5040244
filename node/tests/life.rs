//! Nodes on one store, from the first word to the open gate, and all that comes between.

mod common;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::World;
use common::shop::{Running, Shop};
use handover_node::core::{
    Chunk, Gate, GrantId, HostId, Incarnation, Name, Refusal, SignOff, Then, Version,
};
use handover_node::{
    Build, BuildError, Builder, Liveness, Membership, MembershipError, MemoryLedger,
    MemoryMembership, Node, Options, OrderError, Parts, Predecessors, Sightings,
};

/// Who built, under which grant.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<(String, GrantId)>>>);

impl Log {
    fn note(&self, build: &Build) {
        let grant = build.grant().expect("only the record hands out work here");
        self.0.lock().expect("no panic").push((build.host().to_string(), grant));
    }

    fn names(&self) -> Vec<String> {
        self.0.lock().expect("no panic").iter().map(|(name, _)| name.clone()).collect()
    }

    fn last(&self) -> Option<GrantId> {
        self.0.lock().expect("no panic").last().map(|(_, grant)| *grant)
    }
}

/// Builds at once.
fn quick(log: &Log) -> impl Builder + use<> {
    let log = log.clone();
    move |build: Build| {
        log.note(&build);
        async { Ok(()) }
    }
}

/// Builds for ever, until it is told to stop.
fn endless(log: &Log) -> impl Builder + use<> {
    let log = log.clone();
    move |build: Build| {
        log.note(&build);
        async move {
            build.cancelled().await;
            Err(BuildError::Stopped)
        }
    }
}

fn all_open(nodes: &[Running]) -> bool {
    nodes.iter().all(Running::is_open)
}

#[test]
fn one_of_two_nodes_builds_and_both_gates_open() {
    for seed in 0..50 {
        let (mut world, shop, log) = (World::new(seed), Shop::new(), Log::default());
        let start =
            |world: &mut World, name| shop.start(world, Options::new(name, "v1"), quick(&log));
        let nodes = ["a", "b"].map(|name| start(&mut world, name));
        world.run_until("both gates open", || all_open(&nodes));
        assert_eq!(log.names().len(), 1, "seed {seed}: one build");
        world.run_for(Duration::from_secs(60));
        assert!(shop.store.record().hold().is_none());
    }
}

#[test]
fn the_second_build_in_a_row_is_approved_too() {
    let (mut world, shop, log) = (World::new(1), Shop::new(), Log::default());
    let first = shop.start(&mut world, Options::new("a", "v1"), quick(&log));
    world.run_until("v1 is approved", || first.is_open());
    let second = shop.start(&mut world, Options::new("b", "v2"), quick(&log));
    world.run_until("v2 is approved", || second.is_open());
    assert_eq!(log.names(), ["a", "b"]);
}

#[test]
fn a_process_of_an_approved_version_opens_without_a_word() {
    let (mut world, shop, log) = (World::new(1), Shop::new(), Log::default());
    let first = shop.start(&mut world, Options::new("a", "v1"), quick(&log));
    world.run_until("v1 is approved", || first.is_open());
    world.run_for(Duration::from_secs(60));
    let before = shop.store.record().revision();
    let second = shop.start(&mut world, Options::new("b", "v1"), quick(&log));
    world.run_until("it reads the approval", || second.is_open());
    world.run_for(Duration::from_secs(60));
    assert_eq!(shop.store.record().revision(), before);
}

#[test]
fn a_builder_that_dies_is_succeeded_once_it_is_known_to_be_gone() {
    for seed in 0..20 {
        let (mut world, shop, log) = (World::new(seed), Shop::new(), Log::default());
        let a = shop.start(&mut world, Options::new("a", "v1"), endless(&log));
        world.run_until("a builds", || log.last().is_some());
        let b = shop.start(&mut world, Options::new("b", "v1"), quick(&log));
        world.run_for(Duration::from_secs(300));
        assert_eq!(log.names(), ["a"], "silence is not death");
        world.kill(a.task);
        world.run_for(Duration::from_secs(300));
        assert_eq!(log.names(), ["a"], "nor is the end of a process that nobody has seen");
        shop.membership.say(a.node.id(), Liveness::Gone);
        world.run_until("b has built", || b.is_open());
        assert_eq!(log.names(), ["a", "b"]);
    }
}

/// Joining takes what the former life of the name held, so that it is known to have ended.
struct Locks(MemoryMembership);

impl Membership for Locks {
    async fn next_incarnation(
        &self,
        name: &Name,
        above: Incarnation,
    ) -> Result<Incarnation, MembershipError> {
        self.0.next_incarnation(name, above).await
    }

    async fn join(&self, host: &HostId) -> Result<Predecessors, MembershipError> {
        self.0.join(host).await?;
        Ok(Predecessors::Ended)
    }

    async fn leave(&self, host: &HostId) -> Result<(), MembershipError> {
        self.0.leave(host).await
    }

    async fn watch(&self) -> Result<Sightings, MembershipError> {
        self.0.watch().await
    }
}

#[test]
fn a_successor_says_that_its_predecessor_has_ended_before_it_speaks() {
    for seed in 0..20 {
        let (mut world, shop, log) = (World::new(seed), Shop::new(), Log::default());
        let membership = Arc::new(Locks(MemoryMembership::new()));
        let boot = |world: &mut World, builder| {
            let parts = Parts {
                store: Arc::clone(&shop.store),
                membership: Arc::clone(&membership),
                clock: Arc::new(world.clock.clone()),
                ledger: Arc::new(MemoryLedger::new()),
                builder: Arc::new(builder),
            };
            let booted = world.block_on("boot", Node::boot(Options::new("a", "v1"), parts));
            let (node, mut driver) = booted.expect("nothing is away");
            let task = world.spawn(async move { drop(driver.run().await) });
            (node, task)
        };
        let (first, task) = boot(&mut world, endless(&log));
        world.run_until("the first life builds", || log.last().is_some());
        world.kill(task);
        let before = shop.store.record().revision();
        let (second, _) = boot(&mut world, endless(&log));
        world.run_until("the second builds", || log.names().len() == 2);
        let record = shop.store.record();
        assert!(record.is_gone(&first.id()) && record.line(&second.id()).is_some());
        // Gone and its first word in one commit, the acceptance, the build.
        assert!(record.revision().0 <= before.0 + 4, "seed {seed}");
    }
}

#[test]
fn a_host_taken_for_gone_stops_and_comes_back_as_another() {
    let (mut world, shop, log) = (World::new(3), Shop::new(), Log::default());
    let a = shop.start(&mut world, Options::new("a", "v1"), endless(&log));
    let b = shop.start(&mut world, Options::new("b", "v2").watch_only(), quick(&log));
    world.run_until("a builds", || log.last().is_some());
    let before = a.node.id();
    shop.membership.say(before.clone(), Liveness::Gone);
    world.run_until("a builds again, as another", || log.names().len() == 2);
    assert!(a.node.id().incarnation > before.incarnation);
    assert_eq!(log.names(), ["a", "a.2"]);
    drop(b);
}

#[test]
fn a_panic_is_a_failure_that_blocks_until_an_operator_retries() {
    let (mut world, shop) = (World::new(5), Shop::new());
    let tries = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&tries);
    let builder = move |_: Build| {
        let tries = Arc::clone(&counted);
        async move {
            let mut tries = tries.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            *tries += 1;
            assert!(*tries > 1, "no disk");
            Ok::<_, BuildError>(())
        }
    };
    let a = shop.start(&mut world, Options::new("a", "v1"), builder);
    world.run_until("it is blocked", || matches!(a.node.gate().read(), Gate::Blocked { .. }));
    assert_eq!(a.node.gate().read().to_string(), "blocked: the build panicked: no disk");
    let version = Version::from("v1");
    let grant = shop.store.record().verdict(&version).expect("it failed").grant;
    let node = a.node.clone();
    let wrong = world
        .block_on("a wrong grant", async move { node.retry("v1", GrantId(grant.0 + 5)).await });
    assert_eq!(wrong, Err(OrderError::Refused(Refusal::StaleGrant { found: Some(grant) })));
    let node = a.node.clone();
    let retried = world.block_on("retry", async move { node.retry("v1", grant).await });
    assert_eq!(retried, Ok(None));
    world.run_until("the second try is approved", || a.is_open());
}

#[test]
fn a_build_whose_task_is_dropped_is_a_failure() {
    let (mut world, shop, log) = (World::new(5), Shop::new(), Log::default());
    let options = Options::new("a", "v1").spawner(drop);
    let a = shop.start(&mut world, options, quick(&log));
    world.run_until("it is blocked", || matches!(a.node.gate().read(), Gate::Blocked { .. }));
    let said = a.node.gate().read().to_string();
    assert_eq!(said, "blocked: the build was dropped before its end");
}

#[test]
fn a_hung_build_is_cancelled_and_built_again() {
    let (mut world, shop, log) = (World::new(7), Shop::new(), Log::default());
    let a = shop.start(&mut world, Options::new("a", "v1"), endless(&log));
    world.run_until("a builds", || log.last().is_some());
    let b = shop.start(&mut world, Options::new("b", "v1").priority(1), quick(&log));
    let grant = log.last().expect("it was just seen");
    let node = b.node.clone();
    let answer =
        world.block_on("cancel", async move { node.cancel(grant, "it hangs", Then::Again).await });
    assert_eq!(answer, Ok(None));
    world.run_until("b has built", || b.is_open() && a.is_open());
    assert_eq!(log.names(), ["a", "b"]);
}

#[test]
fn a_revoked_build_stops_when_its_host_reads_it() {
    let (mut world, shop, log) = (World::new(8), Shop::new(), Log::default());
    let a = shop.start(&mut world, Options::new("a", "v1"), endless(&log));
    world.run_until("a builds", || log.last().is_some());
    let grant = log.last().expect("it was just seen");
    let node = a.node.clone();
    let answer = world.block_on("revoke", async move { node.revoke(grant, "it hangs").await });
    assert_eq!(answer, Ok(None));
    world.run_until("a is handed it again", || log.last() > Some(grant));
}

/// Makes no plan the first times.
struct Clueless {
    log: Log,
    plans: Mutex<u32>,
}

impl Builder for Clueless {
    async fn plan(&self, _: &Version, _: GrantId) -> Result<BTreeSet<Chunk>, BuildError> {
        let mut plans = self.plans.lock().expect("no panic");
        *plans += 1;
        if *plans < 4 { Err("no manifest".into()) } else { Ok(["base".into()].into()) }
    }

    async fn build(&self, build: Build) -> Result<(), BuildError> {
        self.log.note(&build);
        build.sign_off("base", SignOff::Clean);
        Ok(())
    }
}

#[test]
fn a_host_without_a_plan_declines_and_another_builds() {
    let (mut world, shop, log) = (World::new(9), Shop::new(), Log::default());
    let clueless = Clueless { log: log.clone(), plans: Mutex::new(0) };
    let a = shop.start(&mut world, Options::new("a", "v1").priority(9), clueless);
    let b = shop.start(&mut world, Options::new("b", "v1"), quick(&log));
    world.run_until("both are open", || a.is_open() && b.is_open());
    assert_eq!(log.names(), ["b"]);
}

#[test]
fn a_lone_host_without_a_plan_asks_again_until_it_has_one() {
    let (mut world, shop, log) = (World::new(9), Shop::new(), Log::default());
    let clueless = Clueless { log: log.clone(), plans: Mutex::new(0) };
    let a = shop.start(&mut world, Options::new("a", "v1"), clueless);
    world.run_until("it is open", || a.is_open());
    let verdicts = shop.store.record();
    let verdict = verdicts.verdict(&"v1".into()).expect("it is approved");
    assert_eq!(verdict.signed_off.len(), 1, "the chunk of its plan");
}

#[test]
fn an_offer_that_nobody_takes_lapses() {
    let (mut world, shop, log) = (World::new(11), Shop::new(), Log::default());
    let frozen = {
        // It asks, and then is never polled again.
        let a = shop.start(&mut world, Options::new("a", "v1"), quick(&log));
        world.run_until("a is offered the job", || shop.store.record().hold().is_some());
        world.freeze(a.task);
        a
    };
    let options = Options::new("b", "v1").offer_patience(Duration::from_secs(3));
    let b = shop.start(&mut world, options, quick(&log));
    world.run_until("b has built", || b.is_open());
    world.thaw(frozen.task);
    world.run_until("a reads it", || frozen.is_open());
    assert_eq!(log.names(), ["b"]);
}

#[test]
fn a_step_is_one_poll() {
    let (mut world, shop, log) = (World::new(0), Shop::new(), Log::default());
    let a = shop.start(&mut world, Options::new("a", "v1"), quick(&log));
    let (mut started, mut reported) = (0, 0);
    while !a.is_open() {
        assert!(world.step() || world.clock.advance_to_next());
        let record = shop.store.record();
        if started == 0 && record.hold().is_some_and(|hold| hold.is_started()) {
            started = world.polls;
        }
        if reported == 0 && record.hold().is_none() && record.revision().0 > 2 {
            reported = world.polls;
        }
    }
    // Between the start and the report the ledger is written twice, and the build starts and ends.
    assert!(reported - started >= 8, "{started} to {reported}: others can come between");
}
