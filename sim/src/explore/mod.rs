//! Everybody picks the next event: every interleaving of a bounded configuration.
//!
//! States are visited breadth first, so the schedule that is shown for a broken property is a
//! shortest one. Safety is judged on each transition. `NoWedge` is decided by walking back from the
//! converged states over what needs no fault, `NoLivelock` by eliminating the states from which
//! convergence cannot be avoided.
//!
//! **A step** is what somebody else can come between: a host is asked, a message arrives, an
//! arbiter publishes, a chunk is signed off, a build ends. What a host's own driver does next
//! (writes a row, starts a build, comes back) follows in the same step; commit and publication are
//! two.
//!
//! **The network.** On each link any message may be next; those before it are never delivered, for
//! the other side would refuse them as older. The newest stays deliverable until it has arrived,
//! which is the repetition of Dr1. So loss, delay and overtaking need no budget, and a repeat of
//! what has arrived changes nothing. What a wrong protocol would take all the same stays on the
//! link, and is said again. At most [`Bounds::late`] messages that are superseded stay on a link:
//! that is a bound of the search, not a reduction.
//!
//! **The record** has one arbiter. A commit that is lost, or made while its answer is lost, is a
//! fault of the step that commits: its compare-and-set has been overtaken by another's, or it dies
//! there.
//!
//! **Reductions** merge states between which no actor can ever tell a difference; each can be
//! switched off ([`Reductions`]).

mod action;
#[cfg(test)]
mod alike;
mod book;
mod bounds;
mod canon;
mod direct;
mod encode;
mod found;
mod index;
mod key;
mod liveness;
mod local;
mod model;
mod operators;
mod parts;
mod print;
pub mod release;
mod renumber;
mod rows;
mod says;
mod search;
mod space;
mod step;
mod story;
mod system;
mod tidy;

pub use bounds::{Bounds, HOSTS_MAX, Reductions, RefusedFault, TIMES_MAX};
pub use found::{Coverage, Exploration, Progress};
pub use model::{Model, ModelChoice, ModelScratch, ModelState};
pub use print::Printer;
pub use rows::{ROWS, Row};
pub use search::explore;
pub use story::Counterexample;

pub use crate::scenario::Property;

/// What is known of a property after a search.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// It holds in each state and transition of the space, which is exhausted.
    Holds,
    /// It is broken, and this shows it.
    Broken(Box<Counterexample>),
    /// It is not broken in what was covered, and the space is larger.
    Unknown,
}

impl Verdict {
    /// What shows that it is broken.
    #[must_use]
    pub fn broken(&self) -> Option<&Counterexample> {
        match self {
            Self::Broken(counterexample) => Some(counterexample),
            Self::Holds | Self::Unknown => None,
        }
    }

    /// Its word in tables and reports.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Broken(_) => "broken",
            Self::Unknown => "unknown",
        }
    }
}
