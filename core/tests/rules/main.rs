//! Core's rules, one by one.

#[path = "../common/mod.rs"]
mod common;

mod arbiter;
mod candidate;
mod candidate_builds;
mod executor;
mod host;
mod host_over_time;
mod settle;
mod small_answers;
