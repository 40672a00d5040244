//! Who prepares a new version, who may serve it, and what drains.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod ids;

pub use ids::{
    BuildId, Chunk, DrainId, GrantId, HostId, Incarnation, Name, Priority, RecordId, Revision,
    Seq, Ticket, Version,
};
