//! `explore --release-orders`: the orders in which a deployment may release what it holds, and the
//! steps that may be taken apart.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use handover_sim::explore::release::{
    Case, Demand, Order, RIGHT, Release, Released, Steps, orders, search,
};
use handover_sim::suite::Judgement;

use super::print;

/// As expected where the core's order, and it alone, breaks nothing.
pub(super) fn explore() -> Judgement {
    let mut text = String::new();
    let mut states = 0;
    let mut kept: BTreeMap<Demand, usize> = BTreeMap::new();
    let mut right = Vec::new();
    for order in orders() {
        let found = both(order, Steps::OfTheCore, &mut states);
        for demand in Demand::ALL {
            *kept.entry(*demand).or_default() += usize::from(!found.contains_key(demand));
        }
        if found.is_empty() {
            right.push(order);
        }
    }
    let _ = writeln!(text, "A artifacts, T status, F drain, R removed, S slot, W wait\n");
    let _ = writeln!(text, "{:22} orders of 120 that keep it", "demand");
    for (demand, count) in &kept {
        let _ = writeln!(text, "{demand:22} {count}");
    }
    let names: Vec<String> = right.iter().map(|order| letters(*order)).collect();
    let _ = writeln!(text, "{:22} {}\n", "all", names.join(", "));
    let _ = writeln!(text, "{:50} breaks (steps)", "order");
    for at in 0..5 {
        let mut order = RIGHT;
        order.swap(at, at + 1);
        let _ = writeln!(
            text,
            "{:50} {}",
            letters(order),
            words(&both(order, Steps::OfTheCore, &mut states))
        );
    }
    let _ = writeln!(text, "\n{:50} breaks (steps)", "steps");
    let mut wrong = 0;
    for steps in Steps::ALL {
        let found = both(RIGHT, *steps, &mut states);
        wrong += usize::from(!found.is_empty());
        let _ = writeln!(text, "{:50} {}", steps.words(), words(&found));
    }
    let _ = writeln!(text, "\n{states} states");
    let printed = print(&text);
    let as_expected = right == [RIGHT] && wrong == Steps::ALL.len() - Steps::RIGHT;
    let judgement = if as_expected { Judgement::AsExpected } else { Judgement::NotAsExpected };
    judgement.max(printed)
}

/// What is broken with one slot or two, by a wait that counts slots or does not, with a crash; each
/// in the fewest steps.
fn both(order: Order, steps: Steps, states: &mut usize) -> BTreeMap<Demand, usize> {
    let mut all = BTreeMap::new();
    for (slots, counts_slots) in [(1, false), (1, true), (2, false), (2, true)] {
        let Released { states: more, broken } =
            search(&Case { order, steps, slots, counts_slots, crashes: true, others: 2 });
        *states += more;
        for (demand, depth) in broken {
            let least = all.entry(demand).or_insert(depth);
            *least = depth.min(*least);
        }
    }
    all
}

fn letters(order: Order) -> String {
    let letters: Vec<String> = order.map(Release::letter).map(String::from).to_vec();
    letters.join(" ")
}

fn words(broken: &BTreeMap<Demand, usize>) -> String {
    if broken.is_empty() {
        return "nothing".to_owned();
    }
    let all: Vec<String> =
        broken.iter().map(|(demand, depth)| format!("{demand} {depth}")).collect();
    all.join(", ")
}
