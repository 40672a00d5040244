//! Do states that count as one behave as one?
//!
//! A space is gone through without a reduction, so with all the states apart that it merges. Of
//! those that it counts as one each has to lead to what the others lead to, at the same price, and
//! to break the same. A step that stays among them is one that nobody can tell from none; there may
//! be no way round and round on such steps.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::ControlFlow;

use super::bounds::Price;
use super::direct::Node;
use super::key::{Known, Scratch, fingerprint, parts};
use super::tidy::tidy;
use super::{Bounds, Property, Reductions, explore};
use crate::choose::FaultKind::{self, *};
use crate::variants::by_name;
use crate::world::World;

/// What can be seen of a step: its price, what it leads to with the reduction, what it breaks.
type Seen = (Price, u64, Vec<Property>);

/// A state without the reduction.
struct Apart {
    /// Its fingerprint with the reduction.
    merged: u64,
    is_converged: bool,
    steps: BTreeSet<Seen>,
    /// The states that it is merged with and can be next, unseen.
    unseen: Vec<u64>,
}

/// The fingerprint of a state with the reductions of these bounds.
fn merged(node: &Node, bounds: &Bounds, scratch: &mut Scratch) -> u64 {
    let mut world = node.world.clone();
    tidy(&mut world, &World::new(bounds.setup()), bounds);
    let mut parts = parts(&world, None, scratch, &Known::default());
    fingerprint(&mut parts, node.budget, scratch)
}

/// All states without a reduction, by their fingerprints; `with` has it.
fn all_apart(without: &Bounds, with: &Bounds) -> BTreeMap<u64, Apart> {
    let (mut scratch, mut merging) = (Scratch::new(without), Scratch::new(with));
    let (first, print) = Node::first(without, &mut scratch);
    let mut known = BTreeMap::from([(print, merged(&first, with, &mut merging))]);
    let mut open = VecDeque::from([(first, print)]);
    let mut all = BTreeMap::new();
    while let Some((node, print)) = open.pop_front() {
        let (here, is_converged) = (known[&print], node.world.is_converged());
        let (mut steps, mut unseen) = (BTreeSet::new(), Vec::new());
        for choice in node.choices(without) {
            let (next, to, violations) = node.follow(&choice, without, &mut scratch);
            let there = *known.entry(to).or_insert_with(|| {
                let there = merged(&next, with, &mut merging);
                open.push_back((next, to));
                there
            });
            let price = choice.cost.price();
            if price != Price::NOTHING || there != here || !violations.is_empty() {
                let broken = violations.iter().map(|violation| violation.property);
                steps.insert((price, there, broken.collect()));
            } else if to != print {
                unseen.push(to);
            }
        }
        all.insert(print, Apart { merged: here, is_converged, steps, unseen });
    }
    all
}

/// How many states there are without a reduction, and with it.
///
/// # Panics
/// Where two states that it merges differ.
fn assert_alike(without: &Bounds, with: &Bounds) -> (usize, usize) {
    let all = all_apart(without, with);
    let mut first: BTreeMap<u64, &Apart> = BTreeMap::new();
    for apart in all.values() {
        let like = *first.entry(apart.merged).or_insert(apart);
        assert_eq!(apart.is_converged, like.is_converged, "{with}: {:x}", apart.merged);
        assert_eq!(apart.steps, like.steps, "{with}: {:x}", apart.merged);
    }
    let going_round = left_unseen(&all);
    assert_eq!(going_round, 0, "{with}: from so many states what is unseen need not end");
    (all.len(), first.len())
}

/// The states from which there may be unseen steps for ever.
fn left_unseen(all: &BTreeMap<u64, Apart>) -> usize {
    let mut left: BTreeMap<u64, usize> =
        all.iter().map(|(print, apart)| (*print, apart.unseen.len())).collect();
    let mut before: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for (print, apart) in all {
        apart.unseen.iter().for_each(|to| before.entry(*to).or_default().push(*print));
    }
    let ends = left.iter().filter(|(_, steps)| **steps == 0);
    let mut ends: Vec<u64> = ends.map(|(print, _)| *print).collect();
    while let Some(end) = ends.pop() {
        left.remove(&end);
        for from in before.remove(&end).unwrap_or_default() {
            let steps = left.get_mut(&from).expect("a state with a step has not ended");
            *steps -= 1;
            if *steps == 0 {
                ends.push(from);
            }
        }
    }
    left.len()
}

/// Hosts, chunks, local builds, faults.
type Space = (&'static [u8], u8, (u8, u8), &'static [(FaultKind, u8)]);

/// No message is too late in any of them: that bound counts messages that a reduction drops.
fn bounds((hosts, chunks, local_builds, faults): Space) -> Bounds {
    let bounds = Bounds { chunks, local_builds, late: 30, ..Bounds::new(hosts) };
    faults.iter().fold(bounds, |bounds, (kind, times)| {
        bounds.with(*kind, *times).expect("such a fault has a budget")
    })
}

fn without(bounds: &Bounds, change: impl FnOnce(&mut Reductions)) -> Bounds {
    let mut reductions = Reductions { shared_steps: false, ..Reductions::ALL };
    change(&mut reductions);
    Bounds { reductions, ..bounds.clone() }
}

fn states(bounds: &Bounds) -> usize {
    explore(bounds, 1, |_| ControlFlow::Continue(())).coverage.states
}

const SPENT: &[Space] = &[
    (&[0, 0], 1, (0, 0), &[(Crash, 1)]),
    (&[0, 0], 1, (0, 0), &[(Gone, 1)]),
    (&[0, 0], 1, (0, 0), &[(Reask, 1)]),
    (&[0, 0], 1, (0, 0), &[(Revoke, 1)]),
    (&[0, 0], 1, (0, 0), &[(Cancel, 1)]),
    (&[0, 0], 1, (0, 0), &[(Lapse, 1), (Hang, 1)]),
    (&[0, 0], 1, (0, 0), &[(Fail, 1), (Retry, 1)]),
    (&[0], 2, (0, 0), &[(Fail, 1), (Retry, 1), (Unsigned, 1)]),
    (&[0], 1, (0, 0), &[(Overlap, 1), (Revoke, 1)]),
    (&[0, 1], 1, (0, 0), &[(Arbiter, 1), (Suspect, 1)]),
    (&[0], 1, (1, 1), &[(Drain, 1), (Undrain, 1)]),
    (&[0], 1, (0, 0), &[(Crash, 1), (Revoke, 1)]),
    (&[0], 1, (0, 0), &[(Crash, 1), (Fail, 1), (Retry, 1)]),
    (&[0, 0], 1, (0, 1), &[]),
    (&[0, 0], 2, (0, 0), &[]),
    (&[0, 0, 0], 1, (0, 0), &[]),
];

#[test]
fn what_is_spent_makes_no_difference() {
    for space in SPENT {
        let with = bounds(*space);
        let (more, fewer) = assert_alike(&without(&with, |all| all.spent = false), &with);
        assert_eq!(states(&with), fewer, "{with}");
        assert!(fewer < more, "{with}: {fewer} {more}");
    }
}

#[test]
fn states_that_any_reduction_merges_behave_alike() {
    for space in [
        (&[0, 0][..], 1, (0, 0), &[(Lapse, 1)][..]),
        (&[0], 1, (0, 0), &[(Gone, 1), (Retry, 1), (Fail, 1)]),
        (&[0], 1, (0, 1), &[(Drain, 1), (Undrain, 1)]),
    ] {
        let with = bounds(space);
        let changes: [fn(&mut Reductions); 4] = [
            |all| all.ranks = false,
            |all| all.projection = false,
            |all| all.equal_views = false,
            |all| all.symmetry = false,
        ];
        for change in changes {
            let (more, fewer) = assert_alike(&without(&with, change), &with);
            assert_eq!(states(&with), fewer, "{with}");
            assert!(fewer <= more, "{with}: {fewer} {more}");
        }
    }
}

#[test]
#[should_panic(expected = "assertion `left == right` failed")]
fn states_that_a_wrong_protocol_tells_apart_are_not_alike() {
    let protocol = by_name("guarded-report").expect("it is known");
    let without = without(&bounds((&[0], 1, (0, 0), &[(Crash, 1)])).under(protocol), |all| {
        (all.projection, all.equal_views) = (false, false);
    });
    let reductions = Reductions { projection: true, equal_views: true, ..without.reductions };
    assert_alike(&without, &Bounds { reductions, ..without.clone() });
}
