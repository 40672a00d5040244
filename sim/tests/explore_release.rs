//! The orders in which a deployment may release what it holds, and what has to be one step: each
//! order but one breaks what its rule says, and nothing else.

use std::collections::BTreeSet;

use handover_sim::explore::release::{
    Case, Demand, Order, RIGHT, Release, Released, Setting, Steps, orders, search,
};

fn case(order: Order, slots: u32) -> Case {
    let steps = Steps::OfTheCore;
    Case { order, steps, others: 1, setting: Setting::full(slots) }
}

fn broken(order: Order) -> BTreeSet<Demand> {
    search(&case(order, 1)).broken.into_keys().collect()
}

/// Does the one step come before the other?
fn before(order: Order, one: Release, other: Release) -> bool {
    let at = |step| order.iter().position(|each| *each == step);
    at(one) < at(other)
}

/// What each demand needs of an order, where crashes are possible.
fn keeps(order: Order, demand: Demand) -> bool {
    use Release::{Artifacts, Declare, Remove, Slot, Status};
    let before = |one, other| before(order, one, other);
    match demand {
        Demand::NothingPasses => before(Declare, Slot),
        Demand::WaitIsTrue => before(Artifacts, Status) && before(Status, Remove),
        Demand::SuccessHasArtifacts => before(Artifacts, Status),
        Demand::WithinSlots => before(Remove, Slot),
        Demand::DeclaredOnSuccess => before(Status, Declare),
        Demand::NeverLooksIdle => before(Declare, Status) || before(Declare, Remove),
        Demand::WaitEnds | Demand::ParkedRuns | Demand::RecoveryExact | Demand::DrainSurvives => {
            true
        }
    }
}

#[test]
fn of_120_orders_only_that_of_the_core_keeps_all_and_each_breaks_what_its_rule_says() {
    let all = orders();
    assert_eq!(all.len(), 120);
    let mut right = Vec::new();
    for order in all {
        let broken = broken(order);
        let expected =
            Demand::ALL.iter().copied().filter(|demand| !keeps(order, *demand)).collect();
        assert_eq!(broken, expected, "{order:?}");
        if broken.is_empty() {
            right.push(order);
        }
    }
    assert_eq!(right, [RIGHT]);
}

#[test]
fn the_order_of_the_core_keeps_all_in_each_setting() {
    let settings = Setting::all();
    assert_eq!(settings.len(), 32);
    for setting in settings {
        let found = search(&Case { others: 2, setting, ..case(RIGHT, 1) });
        assert!(found.broken.is_empty(), "{setting:?} {:?}", found.broken);
    }
}

/// So crashes are what tells the order of artifacts and status from its reverse.
#[test]
fn without_crashes_the_wait_is_true_in_twice_as_many_orders() {
    let setting = Setting { crashes: false, ..Setting::full(1) };
    let keeps = |order: &Order| {
        let found = search(&Case { setting, ..case(*order, 1) });
        !found.broken.contains_key(&Demand::WaitIsTrue)
    };
    assert_eq!(orders().iter().filter(|order| keeps(order)).count(), 40);
}

#[test]
fn a_wait_that_counts_slots_ends_only_after_the_slot_is_back() {
    use Release::{Artifacts, Declare, Remove, Slot, Status, Wait};
    let early = [Artifacts, Status, Declare, Remove, Wait, Slot];
    let self_wait = [Artifacts, Status, Declare, Wait, Remove, Slot];
    let breaks = |order, counts_slots| {
        let setting = Setting { counts_slots, ..Setting::full(1) };
        let found = search(&Case { setting, ..case(order, 1) });
        found.broken.contains_key(&Demand::WaitEnds)
    };
    assert!(breaks(early, true) && !breaks(early, false));
    assert!(breaks(self_wait, true) && breaks(self_wait, false));
    assert!(!breaks(RIGHT, true) && !breaks(RIGHT, false));
}

#[test]
fn each_step_that_is_taken_apart_breaks_its_demand() {
    let first = |steps| {
        let found: Released = search(&Case { steps, ..case(RIGHT, 1) });
        found.broken.into_keys().collect::<Vec<_>>()
    };
    let found: Vec<_> = Steps::ALL.iter().map(|steps| (*steps, first(*steps))).collect();
    let expected = [
        (Steps::OfTheCore, vec![]),
        (Steps::CountedThenGateRead, vec![]),
        (Steps::GateReadThenCounted, vec![Demand::NothingPasses, Demand::WaitIsTrue]),
        (Steps::ClosedThenBackThenParked, vec![Demand::ParkedRuns]),
        (Steps::WokenThenCleared, vec![Demand::ParkedRuns]),
        (Steps::ClearedOnly, vec![Demand::ParkedRuns]),
        (Steps::ParkedWithSlot, vec![Demand::ParkedRuns]),
        // A deployment that a crash has cut is recorded as admitted, reads the gate closed, and is
        // parked: its row has no end.
        (Steps::AdmittedThenGateRead, vec![Demand::WaitIsTrue, Demand::RecoveryExact]),
        (Steps::WorkspaceThenAdmitted, vec![Demand::RecoveryExact]),
        (Steps::DrainNotDerived, vec![Demand::DrainSurvives]),
    ];
    assert_eq!(found, expected);
}
