//! What a search has found, and how far it has come.

use super::story::Counterexample;
use super::{Property, Verdict};

/// How far a search has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// States that were reached.
    pub states: usize,
    /// Transitions out of those that were expanded.
    pub transitions: usize,
    /// States that are yet to be expanded.
    pub frontier: usize,
    /// Steps from the start to the states that are being expanded.
    pub depth: usize,
    /// Bytes of the tables that the search holds, about.
    pub memory: usize,
    /// A safety property that is known to be broken: the one that broke first.
    pub broken: Option<Property>,
}

/// What a search covered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coverage {
    /// Different states that were reached.
    pub states: usize,
    /// Transitions, those that lead to a known state included.
    pub transitions: usize,
    /// Steps from the start to the farthest state.
    pub depth: usize,
    /// States that were reached and not expanded; none in a space that is exhausted.
    pub frontier: usize,
    /// Expanded states in which nobody has anything left to do for the rollout.
    pub converged: usize,
    /// How likely it is that two different states were taken for one: below this.
    pub collision_chance: f64,
}

/// What a search has found.
#[derive(Clone, Debug)]
pub struct Exploration {
    /// What was covered.
    pub coverage: Coverage,
    /// Each property with its verdict, in the order of [`Property`].
    pub verdicts: Vec<(Property, Verdict)>,
}

impl Exploration {
    /// The verdict on a property.
    ///
    /// # Panics
    /// Never: each property has one.
    #[must_use]
    pub fn verdict(&self, property: Property) -> &Verdict {
        let mut verdicts = self.verdicts.iter();
        let found = verdicts.find(|(judged, _)| *judged == property);
        &found.expect("each property is judged").1
    }

    /// Does each property hold in the whole space?
    #[must_use]
    pub fn holds(&self) -> bool {
        self.verdicts.iter().all(|(_, verdict)| matches!(verdict, Verdict::Holds))
    }

    /// What is broken, the shortest schedule first.
    #[must_use]
    pub fn broken(&self) -> Vec<&Counterexample> {
        let verdicts = self.verdicts.iter();
        let mut broken: Vec<&Counterexample> =
            verdicts.filter_map(|(_, verdict)| verdict.broken()).collect();
        broken.sort_by_key(|counterexample| counterexample.steps);
        broken
    }
}
