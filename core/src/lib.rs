//! Who prepares a new version, who may serve it, and what drains.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod candidate;
pub mod executor;
mod host;
mod ids;
mod record;
mod statement;
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
pub use record::{
    Cancelling, Change, Conflict, FORMAT, Hold, HoldRow, Input, Line, Record, RecordError,
    RecordParts, Refusal, Remark, Ruling, Stage, Then, Verdict,
};
pub use statement::{Outcome, SignOff, Standing, Statement};
pub use view::{Gate, Unreadable, View};
