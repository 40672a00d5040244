//! One process of a rollout, embedded in your binary: it asks whether its version is prepared, is
//! handed the job of preparing it or waits, tells your readiness probe when it may serve, and drains
//! when it is to end.
//!
//! The decisions are those of [`handover_core`], which this crate re-exports as [`core`]; here is
//! all that carries them: reading and committing, repeating what was not heard, running builds,
//! writing a journal. There is no leader, no mailbox and no runtime of its own: any store with
//! compare-and-set, any executor of futures.
//!
//! # In a binary
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use handover_node::core::{RecordId, SignOff};
//! use handover_node::{
//!     Build, BuildError, Clock, MemoryLedger, MemoryMembership, MemoryStore, Node, Options, Parts,
//! };
//!
//! /// The clock of the runtime that the binary uses anyway.
//! struct TokioClock(tokio::time::Instant);
//!
//! impl Clock for TokioClock {
//!     fn now(&self) -> Duration {
//!         self.0.elapsed()
//!     }
//!
//!     async fn sleep(&self, duration: Duration) {
//!         tokio::time::sleep(duration).await;
//!     }
//! }
//!
//! /// Prepares the version that this binary is: once in the whole rollout, on one host.
//! async fn prepare(build: Build) -> Result<(), BuildError> {
//!     let Some(grant) = build.grant() else { return Err("nothing else is built here".into()) };
//!     // What is made is stored under the grant: only that of the approval's grant is served.
//!     let folder = format!("assets/{}/{grant}", build.version());
//!     // Told to stop, it ends at once; nothing of it runs on.
//!     build.until_cancelled(tokio::time::sleep(Duration::from_millis(5))).await?;
//!     println!("made {folder}");
//!     Ok(())
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let parts = Parts {
//!     store: Arc::new(MemoryStore::new(RecordId(0x5eed))), // yours: a RecordStore
//!     membership: Arc::new(MemoryMembership::new()),       // yours: a Membership
//!     clock: Arc::new(TokioClock(tokio::time::Instant::now())),
//!     ledger: Arc::new(MemoryLedger::new()),               // yours: a LedgerStore
//!     builder: Arc::new(prepare),
//! };
//! let (node, mut driver) = Node::boot(Options::new("web-3", "v42"), parts).await?;
//! let driven = tokio::spawn(async move { driver.run().await });
//!
//! // The readiness probe: never blocks, and says why not.
//! let gate = node.gate();
//! println!("{}", gate.read()); // "unknown: no view yet", "waiting for web-1", "blocked: no disk"
//! gate.opened().await?;        // or wait for it
//!
//! // SIGTERM: nothing new starts, what runs may finish. A second one interrupts what runs.
//! node.shutdown();
//! driven.await??;
//! # Ok(())
//! # }
//! ```
//!
//! `examples/rollout.rs` is the same with two versions on three hosts, a crash and an operator.
//!
//! # What you bring
//!
//! | part | is | comes with |
//! |---|---|---|
//! | [`RecordStore`] | where the record of the rollout lives, shared by all processes | [`MemoryStore`], and how each call maps onto SQLite and etcd |
//! | [`Membership`] | who lives; the counter of incarnations | [`MemoryMembership`], likewise |
//! | [`Clock`] | time for back-off and deadlines; no decision reads it | [`ManualClock`] for tests |
//! | [`LedgerStore`] | this host's book of local builds and drains | [`MemoryLedger`], for who has neither |
//! | [`Builder`] | how a version is prepared: an `async fn` | |
//! | [`Journal`] | optional: what happened, to be replayed | [`FileJournal`], with rotation |
//!
//! # What you can rely on
//!
//! - **One build.** Work begins only after the record shows that this host has accepted, and is
//!   handed to another only when its host has said so, is known to be gone, or an operator
//!   [revokes](Node::revoke) it. Slow is not gone.
//! - **An open gate is an approval on record,** of exactly this version; it never closes again,
//!   unless the record itself is replaced or restored. Unknown is neither yes nor no.
//! - **No silence.** A build that panics, whose task is dropped, or that stops without being told
//!   to has failed, with a reason; a report is repeated until the record has it.
//! - **A lost answer is not an error.** A commit that was not answered is neither taken for done nor
//!   for failed: the record is read, and what is then still to be said is said again. Calls that
//!   hang count as not answered, after [`Options::patience`].
//! - **A ledger that is lost stops no rollout.** Once it says [so](LedgerStoreError::Lost), or has
//!   failed [too often](Options::ledger_tries) in a row, nothing new starts in this process: it
//!   declines the job, which goes to another host, unless its build runs already, which is reported
//!   as ever. The gate stays what it is. [`ExecutorHandle::status`] says why; local builds and
//!   drains that are not written wait, until the second [`Node::shutdown`] ends the driver with
//!   [`DriverError::LedgerLost`]. Only another process tries the ledger again.
//! - **A drained host has said all that it must** before [`Driver::run`] ends.
//! - **Dropping a future loses nothing** that its documentation does not say. All that is under way
//!   is kept in the [`Driver`], not in what `run` returns.
//!
//! # What you have to do
//!
//! - Run the [`Driver`] as long as the process lives. Dropping it is a crash, and so is a panic in
//!   one of your parts but the builder: others go on once membership says `Gone`.
//! - Say `Gone` of what has ended, in the end always, and of nothing else (Dr2). It takes a job away.
//! - Heed [`Build::cancelled`], and return [`BuildError::Stopped`] only when nothing of the build
//!   runs any more. Until then the job is nobody else's.
//! - Draw a new [`RecordId`](core::RecordId) for a record that is created, and for one that is
//!   restored from a backup: a restored one gives its numbers a second time, and a node that has
//!   seen them refuses it ([`DriverError::Restored`]).
//! - Do not let work that waits for an approval hold the only slot that its build needs (Ho6): give
//!   the node one more [slot](Options::slots).
//! - Roll out a release that writes a newer format of the record last: an older process then neither
//!   reads nor writes it, its gate is unknown unless it was open, and it says why.
//!
//! # Looking inside
//!
//! [`Node::view`] is what it has read of the record: who has the job under which grant, for an
//! operator who is to [cancel](Node::cancel) it, or to [retry](Node::retry) what failed.
//! [`ExecutorHandle::status`] says what is in flight, what waits and what a drain waits for. Spans
//! (`grant`, `build`) and events (`moved`, `gate`, and whatever went wrong) go to
//! [`tracing`](https://docs.rs/tracing); they come while the node is locked, so a subscriber may
//! read its gate and nothing else of it. The [journal](core::journal) has each input of the host,
//! each effect acknowledged and each change proposed, in order, and replays through the core.
//!
//! Each poll of [`Driver::run`] is one step, so that a simulator, or a wrapper that polls late, can
//! put others between any two.
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
