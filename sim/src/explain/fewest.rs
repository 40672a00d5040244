//! Each schedule with at most so many departures, on a reduced case.
//!
//! The wishes and faults are those of the case, each at most once and in any order; everything else
//! is calm's events. A state that was searched with as many departures left is not searched again.

use std::collections::BTreeMap;
use std::hash::Hash as _;
use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3;

use super::deed::{Deed, Kind};
use super::departures::{Held, Taken};
use super::replay::Case;
use super::round::rest;
use crate::check::{Property, Rest, Transition, check};
use crate::world::{ArbiterIndex, Event, World};

/// Wishes and faults that a state counts by bits.
const DEEDS_MAX: usize = 64;

/// Steps of a schedule that is tried; a world that goes on for ever has longer ones.
const STEPS_MAX: usize = 500;

/// Messages on a link beyond which more are sent than anybody reads: such a space has no end.
const MESSAGES_MAX: usize = 32;

/// What a search has come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Searched {
    /// A schedule that breaks the property.
    Found(Vec<Event>),
    /// There is none.
    None,
    /// There were more states than the limit.
    Unknown,
}

/// Looks for a schedule with at most this many departures that breaks the property.
pub(super) fn search(
    case: &Case,
    property: Property,
    departures: usize,
    states_max: usize,
) -> Searched {
    let is_calm = |deed: &Deed| deed.kind == Kind::Move && deed.is_calm;
    let deeds: Vec<_> = case.deeds.iter().filter(|deed| !is_calm(deed)).cloned().collect();
    if deeds.len() > DEEDS_MAX {
        return Searched::Unknown;
    }
    let mut search = Search {
        deeds,
        property,
        seen: BTreeMap::new(),
        states_max,
        is_cut: false,
        path: Vec::new(),
    };
    let start = Node { world: World::new(case.setup.clone()), held: Held::default(), done: 0 };
    if search.visit(start, departures) {
        return Searched::Found(search.path);
    }
    if search.is_cut { Searched::Unknown } else { Searched::None }
}

struct Node {
    world: World,
    held: Held,
    /// The deeds that have happened, by bits.
    done: u64,
}

struct Search {
    /// Wishes, faults and their ends.
    deeds: Vec<Arc<Deed>>,
    property: Property,
    /// By state, one more than the departures that were left when it was searched.
    seen: BTreeMap<u128, usize>,
    states_max: usize,
    is_cut: bool,
    path: Vec<Event>,
}

impl Search {
    /// Searches behind a state; true where the path has come to a violation.
    fn visit(&mut self, mut node: Node, left: usize) -> bool {
        let calm = node.world.calm_events();
        node.held.refresh(&node.world, &calm);
        let key = node.fingerprint();
        if self.seen.get(&key).is_some_and(|searched| *searched > left) {
            return false;
        }
        let is_long = self.path.len() >= STEPS_MAX || is_flooded(&node.world);
        if is_long || self.seen.len() >= self.states_max {
            self.is_cut = true;
            return false;
        }
        self.seen.insert(key, left + 1);
        if node.held.next(&node.world, &calm).is_none() && self.ends_broken(&node.world) {
            return true;
        }
        for (event, done) in self.choices(&node, &calm) {
            let mut held = node.held.clone();
            let cost = match held.take(&node.world, &calm, &event) {
                Taken::Calm => 0,
                Taken::Departure { .. } => 1,
            };
            if cost <= left && self.take(&node, held, done, event, left - cost) {
                return true;
            }
        }
        false
    }

    fn take(&mut self, node: &Node, held: Held, done: u64, event: Event, left: usize) -> bool {
        let mut world = node.world.clone();
        let mut facts = Vec::new();
        if world.apply(&event, &mut facts).is_err() {
            return false;
        }
        let step = Transition { before: &node.world, event: &event, facts: &facts, after: &world };
        let judged = check(&step);
        self.path.push(event);
        let found = match judged {
            Err(violation) => violation.property == self.property,
            Ok(()) => self.visit(Node { world, held, done }, left),
        };
        if !found {
            self.path.pop();
        }
        found
    }

    /// What can be taken here: calm's events in their order, then what the case has.
    fn choices(&self, node: &Node, calm: &[Event]) -> Vec<(Event, u64)> {
        let mut choices: Vec<(Event, u64)> =
            calm.iter().map(|event| (event.clone(), node.done)).collect();
        if node.world.arbiters().count() > 1 {
            let other = calm.iter().filter_map(|event| {
                let Event::Deliver { from, .. } = event else { return None };
                Some((Event::Deliver { from: *from, to: ArbiterIndex(1) }, node.done))
            });
            choices.extend(other);
        }
        for (index, deed) in self.deeds.iter().enumerate() {
            let bit = 1 << index;
            if node.done & bit == 0
                && let Some(event) = deed.event(&node.world)
            {
                choices.push((event, node.done | bit));
            }
        }
        choices
    }

    /// Is the property broken if the schedule ends here?
    fn ends_broken(&self, world: &World) -> bool {
        let mut world = world.clone();
        world.apply(&Event::Heal, &mut Vec::new()).expect("faults can end at any time");
        let Rest::Broken(violation) = rest(&mut world, |_| ()) else {
            return false;
        };
        violation.property == self.property
    }
}

impl Node {
    fn fingerprint(&self) -> u128 {
        let mut hasher = Xxh3::new();
        self.world.hash(&mut hasher);
        self.world.history().hash(&mut hasher);
        self.held.hash(&mut hasher);
        self.done.hash(&mut hasher);
        hasher.digest128()
    }
}

/// Is more sent than anybody reads?
pub(super) fn is_flooded(world: &World) -> bool {
    world.processes().any(|(who, _)| {
        let link = world.link(who);
        link.views.len().max(link.statements.len()) > MESSAGES_MAX
    })
}
