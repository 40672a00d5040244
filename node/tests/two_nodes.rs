//! Nodes on one store, from the first word to the open gate.

mod common;

use std::sync::{Arc, Mutex};

use common::World;
use handover_node::core::{GrantId, RecordId, SignOff};
use handover_node::{
    Build, BuildError, Builder, Driver, Ended, GateHandle, MemoryLedger, MemoryMembership,
    MemoryStore, Node, Options, Parts,
};

struct Shop {
    store: Arc<MemoryStore>,
    membership: Arc<MemoryMembership>,
}

impl Shop {
    fn new() -> Self {
        Self {
            store: Arc::new(MemoryStore::new(RecordId(7))),
            membership: Arc::new(MemoryMembership::new()),
        }
    }

    fn boot(&self, world: &mut World, options: Options, builder: impl Builder) -> (Node, Driver) {
        let parts = Parts {
            store: Arc::clone(&self.store),
            membership: Arc::clone(&self.membership),
            clock: Arc::new(world.clock.clone()),
            ledger: Arc::new(MemoryLedger::new()),
            builder: Arc::new(builder),
        };
        world.block_on("boot", Node::boot(options, parts)).expect("nothing is away")
    }
}

fn run(world: &mut World, mut driver: Driver) -> Arc<Mutex<Option<Ended>>> {
    let ended = Arc::new(Mutex::new(None));
    let told = Arc::clone(&ended);
    world.spawn(async move {
        let end = driver.run().await.expect("the record keeps its past");
        *told.lock().expect("no test panics under it") = Some(end);
    });
    ended
}

#[test]
fn one_of_two_nodes_builds_and_both_gates_open() {
    for seed in 0..50 {
        let mut world = World::new(seed);
        let shop = Shop::new();
        let built = Arc::new(Mutex::new(Vec::<(String, GrantId)>::new()));
        let mut gates: Vec<GateHandle> = Vec::new();
        for name in ["a", "b"] {
            let built = Arc::clone(&built);
            let builder = move |build: Build| {
                let built = Arc::clone(&built);
                async move {
                    let grant = build.grant().ok_or("only the record hands out work here")?;
                    built.lock().expect("no panic").push((build.host().name.to_string(), grant));
                    build.sign_off("never planned", SignOff::Clean);
                    Ok::<_, BuildError>(())
                }
            };
            let (node, driver) = shop.boot(&mut world, Options::new(name, "v1"), builder);
            gates.push(node.gate());
            run(&mut world, driver);
        }
        world.run_until("both gates open", || gates.iter().all(GateHandle::is_open));
        assert_eq!(built.lock().expect("no panic").len(), 1, "seed {seed}: one build");
        assert!(shop.store.record().hold().is_none());
    }
}
