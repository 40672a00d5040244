//! Each state is a world of its own: how wrong protocols are explored, and what the shared steps
//! are compared with.

use super::Bounds;
use super::action::{Choice, choices};
use super::bounds::{Budget, Price};
use super::index::Index;
use super::key::{Parts, Scratch, fingerprint, parts};
use super::space::Space;
use super::step::take;
use super::system::{Marks, Outcome};
use crate::world::World;

/// A state.
pub(super) struct Node {
    pub(super) world: World,
    pub(super) budget: Budget,
    pub(super) parts: Parts,
}

impl Node {
    /// The first state, and its fingerprint.
    pub(super) fn first(bounds: &Bounds, scratch: &mut Scratch) -> (Self, u64) {
        let (world, budget) = (World::new(bounds.setup()), bounds.budget());
        let parts = parts(&world, None, scratch);
        let print = fingerprint(&parts, budget, scratch);
        (Self { world, budget, parts }, print)
    }

    /// What a choice leads to, its fingerprint, and what it breaks.
    pub(super) fn follow(
        &self,
        choice: &Choice,
        bounds: &Bounds,
        scratch: &mut Scratch,
    ) -> (Self, u64, Vec<crate::check::Violation>) {
        let (world, violations) = take(&self.world, choice, bounds);
        let budget = self.budget.less(choice.cost.price());
        let parts = parts(&world, Some((&self.world, &self.parts)), scratch);
        let print = fingerprint(&parts, budget, scratch);
        (Self { world, budget, parts }, print, violations)
    }

    /// All choices, in a fixed order.
    pub(super) fn choices(&self, bounds: &Bounds) -> Vec<Choice> {
        choices(&self.world, self.budget, bounds)
    }

    /// What each choice leads to. A world that is known, or was met in this lot, is dropped at once:
    /// memory that is given back while it is warm is taken again for the next.
    pub(super) fn expand(
        &self,
        bounds: &Bounds,
        known: &Space,
        (scratch, met): (&mut Scratch, &mut Index<u64>),
        outcomes: &mut Vec<Outcome<Self>>,
    ) {
        for choice in self.choices(bounds) {
            let (node, print, violations) = self.follow(&choice, bounds, scratch);
            let broken: Marks = violations.iter().map(|violation| violation.property).collect();
            let is_free = choice.cost.price() == Price::NOTHING;
            let is_new = !known.contains(print) && met.find_or_insert(print, 0).is_none();
            let node = is_new.then_some(node);
            outcomes.push(Outcome { print, is_free, broken, node });
        }
    }
}
