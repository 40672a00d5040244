//! A deterministic world for `handover-core`, and the language in which its races are told.

pub mod check;
pub mod digest;
pub mod scenario;
pub mod variants;
pub mod world;
