//! Each state is a world of its own: how wrong protocols are explored, and what the shared steps
//! are compared with.

use std::collections::BTreeSet;
use std::sync::Arc;

use handover_core::GrantId;

use super::Bounds;
use super::action::{Choice, choices};
use super::bounds::{Budget, Price};
use super::encode::process_part;
use super::index::Index;
use super::key::{Known, Part, Parts, Printed, Scratch, common_parts, fingerprint, parts};
use super::space::Space;
use super::step::take;
use super::system::{Marks, Outcome};
use crate::check::Violation;
use crate::variants::is_current;
use crate::world::{Commons, Pairs, Shelf, World};

/// What a thread works with, from one lot of states to the next.
pub(super) struct Desk {
    pub(super) scratch: Scratch,
    processes: Pairs<Part>,
    commons: Commons<Vec<Arc<Part>>>,
    printed: Shelf<Printed>,
    known: Known,
}

impl Desk {
    pub(super) fn new(bounds: &Bounds) -> Self {
        Self {
            scratch: Scratch::new(bounds),
            processes: Pairs::default(),
            commons: Commons::default(),
            printed: Shelf::default(),
            known: Known::default(),
        }
    }
}

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
        let mut parts = parts(&world, None, scratch, &Known::default());
        let print = fingerprint(&mut parts, budget, scratch);
        (Self { world, budget, parts }, print)
    }

    /// What a choice leads to, its fingerprint, and what it breaks.
    pub(super) fn follow(
        &self,
        choice: &Choice,
        bounds: &Bounds,
        scratch: &mut Scratch,
    ) -> (Self, u64, Vec<Violation>) {
        let (world, violations) = take(&self.world, choice, bounds);
        let budget = self.budget.less(choice.cost.price());
        let mut parts = parts(&world, Some((&self.world, &self.parts)), scratch, &Known::default());
        let print = fingerprint(&mut parts, budget, scratch);
        (Self { world, budget, parts }, print, violations)
    }

    /// The same, in which what was met before is the one that was met: a process with its link, and
    /// what is of no single process.
    fn follow_known(
        &self,
        choice: &Choice,
        bounds: &Bounds,
        desk: &mut Desk,
    ) -> (Self, u64, Vec<Violation>) {
        let Desk { scratch, processes, commons, known, .. } = desk;
        let (mut world, violations) = take(&self.world, choice, bounds);
        let part = |world: &World, who| process_part(world, who, scratch);
        world.share_processes(&self.world, processes, part, &mut known.processes);
        let parts_of = |world: &World| common_parts(world, scratch);
        known.common = world.share_common(&self.world, commons, parts_of);
        let budget = self.budget.less(choice.cost.price());
        let mut parts = parts(&world, Some((&self.world, &self.parts)), scratch, known);
        let print = fingerprint(&mut parts, budget, scratch);
        (Self { world, budget, parts }, print, violations)
    }

    /// The grants that anybody still names; none where nobody asks, under the right protocol. Where
    /// numbers count, so does the next one, and with it all before it.
    fn named(&self, bounds: &Bounds) -> BTreeSet<GrantId> {
        if is_current(bounds.protocol) {
            return BTreeSet::new();
        }
        if bounds.reductions.ranks {
            return self.parts.grants().collect();
        }
        (1..self.world.committed().next_grant().0).map(GrantId).collect()
    }

    /// All choices, in a fixed order.
    pub(super) fn choices(&self, bounds: &Bounds) -> Vec<Choice> {
        choices(&self.world, self.budget, bounds, &self.named(bounds))
    }

    /// What each choice leads to. A world that is known, or was met in this lot, is dropped at once:
    /// memory that is given back while it is warm is taken again for the next. One that is new
    /// shares what it can with those that are kept.
    pub(super) fn expand(
        &self,
        bounds: &Bounds,
        known: &Space,
        (desk, met): (&mut Desk, &mut Index<u64>),
        outcomes: &mut Vec<Outcome<Box<Self>>>,
    ) {
        for choice in self.choices(bounds) {
            let (mut node, print, violations) = self.follow_known(&choice, bounds, desk);
            let broken: Marks = violations.iter().map(|violation| violation.property).collect();
            let is_free = choice.cost.price() == Price::NOTHING;
            let is_new = !known.contains(print) && met.find_or_insert(print, 0).is_none();
            let node = is_new.then(|| {
                node.parts.share(&mut desk.printed);
                Box::new(node)
            });
            outcomes.push(Outcome { broken, ..Outcome::of(print, is_free, node) });
        }
    }
}
