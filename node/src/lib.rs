//! The async shell around [`handover_core`].
#![forbid(unsafe_code)]

mod backoff;
mod build;
mod clock;
mod driver;
mod erased;
mod executor_handle;
mod gate_handle;
mod journal;
mod ledger;
mod machine;
mod membership;
mod memory;
mod node;
mod options;
mod shared;
mod store;
mod sync;
mod writer;

pub use handover_core as core;

pub use build::{Build, BuildError, Builder};
pub use clock::Clock;
pub use driver::{Driver, DriverError, Ended};
pub use executor_handle::{DrainWish, ExecutorError, ExecutorHandle, Slots, Status, WaitsFor};
pub use gate_handle::GateHandle;
pub use journal::{FileJournal, Journal};
pub use ledger::{LedgerStore, LedgerStoreError, MemoryLedger};
pub use membership::{Liveness, Membership, MembershipError, Predecessors, Sightings};
pub use memory::{ManualClock, MemoryMembership, MemoryStore};
pub use node::{BootError, Node, NodeEnded, OrderError, Parts};
pub use options::Options;
pub use store::{Changes, RecordStore, StoreError};
