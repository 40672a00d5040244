//! The properties, each judged by a file of its own.
//!
//! Safety is judged after each step, from the world before it, the world after it and the facts
//! that it brought about. Liveness is judged at rest.
//!
//! | property | module |
//! |---|---|
//! | `SingleBuilder` | [`single_builder`] |

mod liveness;
pub mod single_builder;

use std::fmt;

pub use liveness::{Rest, rest};

pub use crate::scenario::Property;
use crate::world::{Event, Fact, World};

/// One step: what was, what happened, what is.
#[derive(Clone, Copy, Debug)]
pub struct Transition<'a> {
    /// The world before the step.
    pub before: &'a World,
    /// The step.
    pub event: &'a Event,
    /// What it brought about, in order.
    pub facts: &'a [Fact],
    /// The world after the step.
    pub after: &'a World,
}

/// A property that does not hold, and what shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which one.
    pub property: Property,
    /// In words of the domain, with the names that commands use.
    pub why: String,
}

/// Judges one property on one step.
type Safety = fn(&Transition<'_>) -> Result<(), Violation>;

/// All safety properties, in the order in which a step is judged.
const SAFETY: &[(Property, Safety)] = &[(Property::SingleBuilder, single_builder::check)];

/// Judges a step by all safety properties; the first one that is broken is the answer.
///
/// # Errors
/// The violation.
pub fn check(step: &Transition<'_>) -> Result<(), Violation> {
    SAFETY.iter().try_for_each(|(_, safety)| safety(step))
}

/// Judges a step by one property. The liveness properties are judged at rest, by [`rest`].
///
/// # Errors
/// The violation.
pub fn check_one(property: Property, step: &Transition<'_>) -> Result<(), Violation> {
    let mut safety = SAFETY.iter().filter(|(judged, _)| *judged == property);
    safety.try_for_each(|(_, safety)| safety(step))
}

impl Violation {
    pub(crate) fn new(property: Property, why: impl Into<String>) -> Self {
        Self {
            property,
            why: why.into(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.property, self.why)
    }
}

impl std::error::Error for Violation {}
