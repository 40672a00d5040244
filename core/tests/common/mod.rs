//! What core's tests share.

#![allow(dead_code, unused_imports, reason = "each test program uses a part of this")]

mod arbiter;
mod cluster;
mod driven;
mod hosts;
mod pair;
mod property;
mod walk;

pub(crate) use arbiter::{Arbiter, accepted, asking, building, chunks, finished, host, signed};
pub(crate) use cluster::{Cluster, Fold};
pub(crate) use driven::Driven;
pub(crate) use hosts::{Hosts, SLOTS};
pub(crate) use pair::Pair;
pub(crate) use property::{Tally, property};
pub(crate) use walk::walks;
