//! Who picks the next event.
//!
//! A world offers what can happen; a chooser decides what does. A script is a scenario file; calm
//! is the first of [`World::calm_events`](crate::world::World::calm_events), which
//! [`rest`](crate::check::rest) follows; a [`walk()`] draws from a seed
//! and lets virtual time decide, or another [`Strategy`].

mod agenda;
mod bounded;
mod delays;
mod faults;
mod happening;
mod kind;
mod next;
mod pct;
mod plan;
mod report;
mod settings;
mod strategy;
mod walk;
mod workload;

pub use faults::FaultKind;
pub(crate) use kind::Kind;
pub use pct::PctBound;
pub use plan::Plan;
pub(crate) use report::scene;
pub use report::{Outcome, WalkReport};
pub use settings::WalkSettings;
pub use strategy::{Strategy, UnknownStrategy};
pub(crate) use walk::walk_seen;
pub use walk::{walk, walk_by};
