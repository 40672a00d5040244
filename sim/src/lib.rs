//! A deterministic world for `handover-core`, and the language in which its races are told.
//!
//! The [`world`] runs the state machines that production binaries run: hosts with their executors,
//! an arbiter, the record, the links between them. It has no clock, no thread and no chance; it
//! offers what can happen next, and somebody picks. After each step the [`check`]s judge what has
//! become of it. Who picks is the difference between the doors to it:
//!
//! | to | picked by | door |
//! |---|---|---|
//! | replay an incident | a file | [`check_dir`], [`scenario`] |
//! | see every order of a small rollout | everybody | [`explore`](mod@explore) |
//! | look for races in large ones | a seed, by a strategy | [`swarm`], [`choose`] |
//! | judge what production did | its journals | [`judge`](mod@judge) |
//!
//! What is found is reduced to its fewest departures from calm ([`explain`](mod@explain)), drawn
//! ([`picture`]) and written as a scenario. [`variants`] has the wrong protocols on which all of this
//! is tried, and says how to write one of your own.
//!
//! The program `handover-sim` is made of these parts. In a test of your own, incidents stay fixed,
//! and your rollout of three hosts keeps every promise, in one more order than you would have thought
//! of:
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! use handover_sim::choose::FaultKind;
//! use handover_sim::explore::{Bounds, explore};
//!
//! // Two hosts of one version and one of the next; one may crash, at any time, and boot again.
//! let bounds = Bounds::new(&[0, 0, 1]).with(FaultKind::Crash, 1)?;
//! # let bounds = Bounds::new(&[0]).with(FaultKind::Crash, 1)?;
//! let found = explore(&bounds, 1, |_| ControlFlow::Continue(()));
//! let broken = found.broken();
//! assert!(found.holds(), "{}", broken.first().map_or_else(String::new, |it| it.scenario.to_string()));
//! # Ok::<(), handover_sim::explore::RefusedFault>(())
//! ```
//!
//! and a swarm of seeds, each of which is one rollout:
//!
//! ```
//! use handover_sim::choose::Outcome;
//! use handover_sim::swarm::{Settings, Strategy, run_seed};
//! use handover_sim::variants::Current;
//!
//! for seed in 0..20 {
//!     let report = run_seed(seed, &Settings::default(), Strategy::Mix, &Current);
//!     assert!(report.outcome == Outcome::Holds, "seed {seed}:\n{}", report.scenario());
//! }
//! ```
//!
//! The same input gives the same bytes on each machine: [`digest`] says how that is held to.

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
