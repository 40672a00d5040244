//! The explored system, for other tools: the same steps, the same key, the same checks.
//!
//! Each state is a world of its own here, as where [`Reductions`](super::Reductions) says that
//! steps are not shared. What a search by another tool finds in it is what [`explore`](super::explore())
//! finds: as many states, if both look at all.

use super::action::Choice;
use super::bounds::Bounds;
use super::direct::Node;
use super::key::Scratch;

/// A configuration as a system of states and choices.
#[derive(Clone, Debug)]
pub struct Model {
    bounds: Bounds,
}

/// A state of it.
pub struct ModelState {
    node: Node,
    print: u64,
    holds: bool,
}

/// What can be next in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelChoice(Choice);

/// What is used again and again for the keys of a model's states.
#[derive(Debug)]
pub struct ModelScratch(Scratch);

impl Model {
    /// The system within these bounds.
    #[must_use]
    pub fn new(bounds: Bounds) -> Self {
        Self { bounds }
    }

    /// What keys are made with; each thread has its own.
    #[must_use]
    pub fn scratch(&self) -> ModelScratch {
        ModelScratch(Scratch::new(&self.bounds))
    }

    /// The first state.
    #[must_use]
    pub fn start(&self) -> ModelState {
        let (node, print) = Node::first(&self.bounds, &mut Scratch::new(&self.bounds));
        ModelState { node, print, holds: true }
    }

    /// What can be next, in a fixed order.
    #[must_use]
    pub fn choices(&self, state: &ModelState) -> Vec<ModelChoice> {
        state.node.choices(&self.bounds).into_iter().map(ModelChoice).collect()
    }

    /// What a choice leads to.
    #[must_use]
    pub fn follow(
        &self,
        state: &ModelState,
        choice: &ModelChoice,
        scratch: &mut ModelScratch,
    ) -> ModelState {
        let (node, print, violations) = state.node.follow(&choice.0, &self.bounds, &mut scratch.0);
        ModelState { node, print, holds: violations.is_empty() }
    }
}

impl ModelState {
    /// Its fingerprint: equal for states between which no actor can ever tell a difference.
    #[must_use]
    pub fn print(&self) -> u64 {
        self.print
    }

    /// Did all safety properties hold in the step that led to it?
    #[must_use]
    pub fn holds(&self) -> bool {
        self.holds
    }
}
