//! Everything in one process's memory: the embedded default, and what tests run on.

mod clock;
mod membership;
mod store;

pub use clock::ManualClock;
pub use membership::MemoryMembership;
pub use store::MemoryStore;
