//! Who prepares a new version, who may serve it, and what drains: the decisions of a rollout as
//! state machines without I/O.
//!
//! When a new version rolls out, one process prepares it (compile, migrate, bake, warm up), once;
//! the rest wait; nobody serves a version before its approval is on record; outgoing processes
//! drain. The failures that hurt here are orderings, and orderings hide in I/O. So there is none in
//! this crate: no clock, no thread, no socket, no randomness, no `std`. A production binary drives
//! these machines from its own loop, and a simulator drives the very same ones through every
//! interleaving.
//!
//! # The words
//!
//! | word | meaning |
//! |---|---|
//! | **host** | one process of one version: a name (a place, stable over boots) and an incarnation (grows at each boot, never reused): [`HostId`] |
//! | **version** | the exact identity of what a host runs; equality is the only comparison: [`Version`] |
//! | **record** | the coordination state of one build line; one hold at a time over all versions: [`Record`] |
//! | **arbiter** | whoever folds an input into the record: [`Record::fold`]; nothing else writes it |
//! | **statement** | the whole of what a host says of itself now, numbered by it: [`Statement`] |
//! | **view** | what a host knows of the record; may be late, never goes back: [`View`] |
//! | **candidate** | a host's part in who builds: [`Candidate`] |
//! | **offer, hold** | the job handed to a host, and accepted by it: [`Hold`], [`Stage`] |
//! | **grant** | the number of a hand-over, never reused, the fencing token: [`GrantId`] |
//! | **sign-off** | the outcome of one chunk of a build: [`SignOff`] |
//! | **verdict** | what the record says of a version: [`Verdict`] |
//! | **gate** | may this process take traffic: [`Gate`] |
//! | **executor** | runs builds in a bounded number of slots, and can be drained: [`Executor`] |
//! | **ledger** | the executor's durable book on one host: [`Ledger`] |
//! | **driver** | the I/O around the machines: your loop |
//!
//! # The contract
//!
//! **A host states facts, unconditionally; the arbiter decides what they mean.** A view may delay a
//! host's work, it may never suppress a statement. A builder that asked its own late copy whether
//! it still held the job once kept a finished build to itself, and servers waited for ever.
//!
//! **Statements are levels.** Each says everything, so that a lost one is cured by sending the
//! present one again, and a late one is told by its number. [`Host::statement`] is such a level:
//! there is no "send" effect that could be missed.
//!
//! **One step.** Folding, taking back, publishing a verdict and offering the job to the next are one
//! [`Change`], one commit. No timer decides, nothing is retried in the background.
//!
//! **Silence is not death.** A started hold is taken back only if its host is gone, has itself said
//! otherwise, or the operator revokes it by its grant.
//!
//! **Work begins only after the record shows it**: offered, accepted, shown as started, built.
//!
//! **Nothing is silent.** Each input changes something or is refused with a reason. What no correct
//! host says ends in a refusal that [is an alarm](Refusal::is_alarm), never in a panic: one bad peer
//! must not crash every arbiter. Panics are for our own broken invariants, in `check()`.
//!
//! The rules behind this are numbered (`St` statements, `Ar` arbiter, `Ca` candidate, `Ex` executor,
//! `Ho` host, `Dr` driver) in `docs/protocol.md` of the repository, with the public reports that each
//! defends. The docs of each method name theirs.
//!
//! # Driving it
//!
//! One [`Host`] per process; one record in a store that has compare-and-set. Then:
//!
//! 1. **Inputs**: a wish ([`Host::ask`], [`Host::stand_down`], [`Host::drain`]), a newer view
//!    ([`Host::handle_view`]), the word of a build ([`Host::handle_sign_off`],
//!    [`Host::handle_build_end`]).
//! 2. **Effects**: after each input, [`Host::poll_effect`] until `None`. One effect is one atomic
//!    step, their order is contract, and each is acknowledged as done, failed or unknown
//!    ([`Host::acknowledge`], Dr3).
//! 3. **Levels**: [`Host::unacknowledged`] is folded into the record, and again until the view
//!    acknowledges it (Dr1); [`Host::gate`] is what the readiness probe answers.
//! 4. **The record**: [`Record::fold`], commit the change, only then [`Record::apply`], and only
//!    then [`Record::view_for`] for each host. A lost compare-and-set, or an answer that did not
//!    arrive: drop the change, catch up, fold again.
//! 5. Whoever knows that a process has ended folds [`Input::Gone`] (Dr2); nobody reuses an
//!    incarnation (Dr4); an offer that nobody takes is let to [lapse](Input::Lapse) (Dr5).
//!
//! ```
//! use std::collections::BTreeSet;
//! use handover_core::{
//!     Acknowledgement, Candidate, Effect, End, Executor, ExecutorEffect, Host, HostId, Input,
//!     Priority, Record, RecordId, Settings, Version,
//! };
//!
//! let version = Version::from("v1");
//! let candidate = Candidate::new(HostId::new("b", 1), version.clone(), Priority(0));
//! let executor = Executor::new(Settings::new(1, false), version.clone());
//! let mut host = Host::new(candidate, executor);
//! let mut record = Record::new(RecordId(7));
//! let nobody_is_suspected = BTreeSet::new();
//!
//! host.ask();
//! while !host.gate().is_open() {
//!     if let Some(statement) = host.unacknowledged() {
//!         // A word that was folded before is refused as outdated: repeating it is harmless.
//!         if let Ok(change) = record.fold(&Input::Statement(statement), &nobody_is_suspected) {
//!             record.apply(&change).expect("nobody else writes this record");
//!         }
//!     }
//!     // A view that is not newer is refused: so is reading one twice.
//!     let _ = host.handle_view(record.view_for(host.id(), host.version()));
//!     while let Some(effect) = host.poll_effect() {
//!         match &effect {
//!             Effect::MakePlan { grant } => {
//!                 host.handle_plan(*grant, BTreeSet::new()).expect("the offer is there");
//!             }
//!             Effect::Executor(order) => {
//!                 host.acknowledge(&effect, Acknowledgement::Done);
//!                 if let ExecutorEffect::Start { work } = order {
//!                     // Here the build runs.
//!                     host.handle_build_end(work, End::Succeeded).expect("it was started");
//!                 }
//!             }
//!             Effect::Return { .. } | Effect::Alarm(_) => unreachable!("nobody is declared gone"),
//!         }
//!     }
//! }
//! assert!(record.verdict(&version).is_some_and(|verdict| verdict.is_approved()));
//! ```
//!
//! `examples/drive_host.rs` is the same with several hosts, lost messages and a crash.
//!
//! A build that waits for an approval must not hold the only slot that this approval's build needs
//! (Ho6): nothing could proceed. Give coordination builds a slot of their own, or do not let work
//! that waits for an approval hold one.
//!
//! # Features
//!
//! `serde`: everything that stores, watches and journals carry, and the [`journal`]'s own types.
//! Unknown fields and higher formats are refused, not guessed.
//!
//! `marks`: for tests. Each branch that decides something notes that it was taken.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod candidate;
pub mod executor;
mod host;
mod ids;
#[cfg(feature = "serde")]
pub mod journal;
mod mark;
mod record;
mod rows;
mod shared;
mod statement;
mod text;
mod view;

pub use candidate::{Alarm, Candidate, CandidateEffect, CandidateRefusal, Phase, Wish};
pub use executor::{
    Acknowledgement, AtDeadline, BuildState, Drain, DrainRequest, End, EndAction, Entry, Executor,
    ExecutorEffect, Ledger, Settings, Term, Waiter, Work,
};
pub use host::{Effect, Host};
pub use ids::{
    BuildId, Chunk, DrainId, GrantId, HostId, Incarnation, Name, Priority, Reason, RecordId,
    Revision, Seq, Ticket, Version,
};
#[cfg(feature = "marks")]
pub use mark::{Mark, Reach};
pub use record::{
    ApplyError, Batch, Cancelling, Change, FORMAT, Hold, HoldRow, Input, Line, Record, RecordError,
    RecordParts, Refusal, Remark, Ruling, Stage, Then, Verdict,
};
pub use statement::{Outcome, SignOff, Standing, Statement};
pub use view::{Gate, Unreadable, View};
