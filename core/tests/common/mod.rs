//! What core's tests share.

#![allow(
    dead_code,
    unused_imports,
    reason = "each test program uses a part of this"
)]

mod arbiter;
mod pair;

pub(crate) use arbiter::{Arbiter, accepted, asking, building, chunks, finished, host, signed};
pub(crate) use pair::Pair;
