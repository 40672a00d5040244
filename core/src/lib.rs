//! Who prepares a new version, who may serve it, and what drains.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod executor;
mod ids;

pub use executor::{
    Announced, AtDeadline, BuildState, CancelRefusal, CandidateWait, Cut, Drain, DrainRefusal,
    DrainRequest, DrainWrite, Effect, End, EndAction, Entry, Executor, ExecutorParts, Ledger,
    LedgerError, NotDraining, NotRunning, Outcome, Progress, Queued, ReserveRefusal, Settings,
    Stage, StartRefusal, SubmitRefusal, Task, Term, Waiter, Work,
};
pub use ids::{
    BuildId, Chunk, DrainId, GrantId, HostId, Incarnation, Name, Priority, Reason, RecordId,
    Revision, Seq, Ticket, Version,
};
