//! Nodes of one record, and what a test wants to know of them.

use std::sync::{Arc, Mutex};

use handover_node::core::RecordId;
use handover_node::{
    Builder, DriverError, Ended, LedgerStore, MemoryLedger, MemoryMembership, MemoryStore, Node,
    Options, Parts, RecordStore,
};

use super::World;

/// A record, its members, and whoever runs on them.
pub(crate) struct Shop<S = MemoryStore> {
    pub(crate) store: Arc<S>,
    pub(crate) membership: Arc<MemoryMembership>,
}

/// A node that runs as a task.
pub(crate) struct Running {
    pub(crate) node: Node,
    pub(crate) task: usize,
    end: Arc<Mutex<Option<Result<Ended, DriverError>>>>,
}

impl Running {
    /// How its driver ended, if it has.
    pub(crate) fn end(&self) -> Option<Result<Ended, DriverError>> {
        self.end.lock().expect("no test panics under it").clone()
    }

    pub(crate) fn is_open(&self) -> bool {
        self.node.gate().is_open()
    }
}

impl Shop {
    pub(crate) fn new() -> Self {
        Self::on(MemoryStore::new(RecordId(7)))
    }
}

impl<S: RecordStore> Shop<S> {
    pub(crate) fn on(store: S) -> Self {
        Self { store: Arc::new(store), membership: Arc::new(MemoryMembership::new()) }
    }

    pub(crate) fn start(
        &self,
        world: &mut World,
        options: Options,
        builder: impl Builder,
    ) -> Running {
        self.start_with(world, options, builder, Arc::new(MemoryLedger::new()))
    }

    /// Starts a node on a ledger that may have been another node's before.
    pub(crate) fn start_with<L: LedgerStore>(
        &self,
        world: &mut World,
        options: Options,
        builder: impl Builder,
        ledger: Arc<L>,
    ) -> Running {
        let parts = Parts {
            store: Arc::clone(&self.store),
            membership: Arc::clone(&self.membership),
            clock: Arc::new(world.clock.clone()),
            ledger,
            builder: Arc::new(builder),
        };
        let booted = world.block_on("boot", Node::boot(options, parts));
        let (node, mut driver) = booted.expect("ledger and membership are there");
        let end = Arc::new(Mutex::new(None));
        let told = Arc::clone(&end);
        let task = world.spawn(async move {
            let ended = driver.run().await;
            *told.lock().expect("no test panics under it") = Some(ended);
        });
        Running { node, task, end }
    }
}
