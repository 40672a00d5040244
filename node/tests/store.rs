//! What a store can do to a node.

mod common;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::World;
use common::faulty::FaultyStore;
use common::shop::{Running, Shop};
use handover_node::core::journal::CommitAnswer;
use handover_node::core::{Change, Gate, Record, RecordId, RecordParts, Revision, Unreadable};
use handover_node::{
    Build, BuildError, Builder, Changes, DriverError, MemoryStore, Options, RecordStore, StoreError,
};

fn quick(built: &Arc<Mutex<Vec<u64>>>) -> impl Builder + use<> {
    let built = Arc::clone(built);
    move |build: Build| {
        let grant = build.grant().expect("only the record hands out work here");
        built.lock().expect("no panic").push(grant.0);
        async { Ok::<_, BuildError>(()) }
    }
}

fn endless(built: &Arc<Mutex<Vec<u64>>>) -> impl Builder + use<> {
    let built = Arc::clone(built);
    move |build: Build| {
        let grant = build.grant().expect("only the record hands out work here");
        built.lock().expect("no panic").push(grant.0);
        async move {
            build.cancelled().await;
            Err(BuildError::Stopped)
        }
    }
}

#[test]
fn lost_answers_and_bad_watches_delay_and_do_no_more() {
    let (mut unknown, mut hung) = (0, 0);
    for seed in 0..200 {
        let mut world = World::new(seed);
        let store = FaultyStore::new(MemoryStore::new(RecordId(7)), seed);
        let (shop, built) = (Shop::on(store), Arc::default());
        let options = |name| {
            Options::new(name, "v1")
                .rewatch(Duration::from_secs(2))
                .patience(Duration::from_secs(1))
        };
        let nodes: Vec<Running> = ["a", "b", "c"]
            .map(|name| shop.start(&mut world, options(name), quick(&built)))
            .into_iter()
            .collect();
        world.run_until("all gates open", || nodes.iter().all(Running::is_open));
        assert_eq!(built.lock().expect("no panic").len(), 1, "seed {seed}: one build");
        shop.store.set_faults(false);
        world.run_for(Duration::from_secs(60));
        let record = shop.store.inner.record();
        record.check();
        assert!(record.hold().is_none());
        unknown += shop.store.lost_answers();
        hung += shop.store.hung();
    }
    assert!(hung > 200, "the faults happened: {hung} calls never ended");
    assert!(unknown > 200, "the faults happened: {unknown} answers were lost");
}

/// The gate, in words.
fn gate(node: &Running) -> String {
    node.node.gate().read().to_string()
}

#[test]
fn an_order_whose_answer_was_lost_is_answered_by_the_change_itself() {
    for seed in 0..50 {
        let mut world = World::new(seed);
        let store = FaultyStore::new(MemoryStore::new(RecordId(7)), seed);
        store.set_faults(false);
        let (shop, built) = (Shop::on(store), Arc::default());
        let a = shop.start(&mut world, Options::new("a", "v1"), endless(&built));
        world.run_until("a builds", || !built.lock().expect("no panic").is_empty());
        shop.store.set_faults(true);
        let (node, grant) = (a.node.clone(), handover_node::core::GrantId(1));
        let answer = world.block_on("cancel", async move {
            node.cancel(grant, "enough", handover_node::core::Then::Block).await
        });
        assert_eq!(answer, Ok(None), "seed {seed}: never refused for its own success");
        world.run_until("blocked", || gate(&a) == "blocked: cancelled: enough");
    }
}

#[test]
fn another_record_ends_the_life_and_a_new_one_begins_on_it() {
    for seed in 0..20 {
        let (mut world, shop, built) = (World::new(seed), Shop::new(), Arc::default());
        let a = shop.start(&mut world, Options::new("a", "v1"), quick(&built));
        world.run_until("a is open", || a.is_open());
        let b = shop.start(&mut world, Options::new("b", "v2"), endless(&built));
        world.run_until("b builds", || built.lock().expect("no panic").len() == 2);
        let before = (a.node.id(), b.node.id());
        shop.store.replace(Record::new(RecordId(8)));
        world.run_until("a has closed", || !a.is_open());
        world.run_until("both came back", || a.node.id() > before.0 && b.node.id() > before.1);
        world.run_until("somebody builds on the new record", || {
            built.lock().expect("no panic").len() > 2
        });
        shop.store.record().check();
    }
}

#[test]
fn a_restored_record_is_refused_and_the_gate_unknown() {
    for seed in 0..20 {
        let (mut world, shop, built) = (World::new(seed), Shop::new(), Arc::default());
        let a = shop.start(&mut world, Options::new("a", "v1"), quick(&built));
        world.run_until("a is open", || a.is_open());
        let backup = shop.store.record();
        let b = shop.start(&mut world, Options::new("b", "v2"), endless(&built));
        world.run_until("b builds", || built.lock().expect("no panic").len() == 2);
        let lost = shop.store.record().revision();
        shop.store.replace(backup.clone());
        world.run_until("both have ended", || a.end().is_some() && b.end().is_some());
        for node in [&a, &b] {
            let Some(Err(DriverError::Restored { read, found })) = node.end() else {
                panic!("seed {seed}: {:?}", node.end());
            };
            assert!(read <= lost && found < read);
            assert!(matches!(
                node.node.gate().read(),
                Gate::Unknown { why: Unreadable::Unavailable { .. } }
            ));
            assert!(gate(node).contains("restored"), "{}", gate(node));
        }
        assert_eq!(shop.store.record(), backup, "nothing was folded into it");

        let again = shop.start(&mut world, Options::new("a", "v1"), quick(&built));
        world.run_until("the next process begins with what is there", || again.is_open());
    }
}

#[test]
fn a_restored_record_that_has_grown_again_is_refused_too() {
    let (mut world, shop, built) = (World::new(2), Shop::new(), Arc::default());
    let a = shop.start(&mut world, Options::new("a", "v1"), quick(&built));
    let empty = shop.store.record();
    world.run_until("a is open", || a.is_open());
    world.run_for(Duration::from_secs(1));
    let read = shop.store.record().revision();
    world.freeze(a.task);
    shop.store.replace(empty);
    let b = shop.start(&mut world, Options::new("b", "v2"), quick(&built));
    world.run_until("b has brought it as far", || {
        b.is_open() && shop.store.record().revision() >= read
    });
    world.thaw(a.task);
    world.run_until("a sees another past", || a.end().is_some());
    assert!(matches!(a.end(), Some(Err(DriverError::Restored { .. }))));
}

/// A store whose record a newer release has taken over.
struct Newer {
    inner: MemoryStore,
    newer: Mutex<bool>,
    commits: Mutex<u32>,
}

impl Newer {
    fn is_newer(&self) -> bool {
        *self.newer.lock().expect("no panic")
    }
}

impl RecordStore for Newer {
    async fn load(&self) -> Result<RecordParts, StoreError> {
        let parts = self.inner.load().await?;
        Ok(if self.is_newer() { RecordParts { format: 2, ..parts } } else { parts })
    }

    async fn commit(&self, change: &Change) -> CommitAnswer {
        *self.commits.lock().expect("no panic") += 1;
        if self.is_newer() {
            return CommitAnswer::Conflict { found: Revision(change.expects.0 + 9) };
        }
        self.inner.commit(change).await
    }

    async fn watch(&self, after: Revision) -> Result<Changes, StoreError> {
        if self.is_newer() {
            return Err(StoreError::NewerFormat { found: 2 });
        }
        self.inner.watch(after).await
    }
}

#[test]
fn a_record_of_a_newer_format_is_neither_read_nor_written() {
    let mut world = World::new(1);
    let inner = MemoryStore::new(RecordId(7));
    let shop = Shop::on(Newer { inner, newer: Mutex::new(true), commits: Mutex::new(0) });
    let built = Arc::default();
    let a = shop.start(&mut world, Options::new("a", "v1"), quick(&built));
    world.run_until("the gate is unknown", || gate(&a).contains("newer format 2"));
    world.run_for(Duration::from_secs(600));
    assert!(matches!(
        a.node.gate().read(),
        Gate::Unknown { why: Unreadable::NewerFormat { found: 2 } }
    ));
    assert_eq!(*shop.store.commits.lock().expect("no panic"), 0);
    assert_eq!(a.end(), None, "it goes on looking");
    *shop.store.newer.lock().expect("no panic") = false;
    world.run_until("the old format is back", || a.is_open());
}

#[test]
fn a_store_that_is_away_makes_the_gate_unknown_until_it_is_back() {
    let mut world = World::new(1);
    let store = FaultyStore::new(MemoryStore::new(RecordId(7)), 1);
    let (shop, built) = (Shop::on(store), Arc::default());
    shop.store.set_away(true);
    let a = shop.start(&mut world, Options::new("a", "v1").watch_only(), quick(&built));
    world.run_until("unknown", || gate(&a).contains("unavailable"));
    shop.store.set_away(false);
    shop.store.set_faults(false);
    world.run_until("waiting", || gate(&a) == "waiting");
    shop.store.set_away(true);
    world.run_until("unknown again", || gate(&a).contains("unavailable"));
    shop.store.set_away(false);
    world.run_until("waiting again, on a record that never moved", || gate(&a) == "waiting");
}
