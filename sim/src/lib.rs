//! A deterministic world for `handover-core`, and the language in which its races are told.

pub mod check;
pub mod choose;
pub mod digest;
pub mod draw;
pub mod explain;
pub mod explore;
mod first;
pub mod judge;
#[cfg(feature = "marks")]
pub mod mark;
#[cfg(not(feature = "marks"))]
mod mark;
pub mod picture;
pub mod scenario;
pub mod suite;
pub mod swarm;
pub mod variants;
pub mod world;

pub use suite::{SuiteFailed, SuiteReport, check_dir};
