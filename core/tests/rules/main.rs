//! Core's rules, one by one.

#[path = "../common/mod.rs"]
mod common;

mod arbiter;
mod candidate;
mod candidate_builds;
mod changes;
mod clones;
mod defects;
mod executor;
mod host;
mod host_orders;
mod host_over_time;
mod journal;
mod settle;
mod small_answers;
mod words;
