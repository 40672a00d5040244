//! Each wrong protocol breaks first, in the fewest steps, what it names; and some break nothing, or
//! nothing more, while a fault is missing that would show it.

mod found;

use std::ops::ControlFlow;

use handover_sim::choose::FaultKind::{self, Fail, Gone, Retry, Revoke};
use handover_sim::explore::{Bounds, Exploration, Property, explore};
use handover_sim::scenario::Ended;
use handover_sim::variants::{by_name, first_broken, smallest};

use found::replay;

fn run(bounds: &Bounds) -> Exploration {
    explore(bounds, 1, |_| ControlFlow::Continue(()))
}

/// A wrong protocol, and how many steps its shortest schedule has. Those of the first slice are in
/// `explore`.
const STEPS: &[(&str, usize)] = &[
    ("build-at-the-offer", 9),
    ("no-grants-at-the-offer", 9),
    ("no-grants-nor-acknowledgement", 12),
    ("ends-wait-for-a-pass", 10),
    ("elect-at-publication", 2),
    ("abandoned-before-stopped", 15),
    ("asks-before-stopped", 12),
    ("lapse-to-the-same-host", 18),
    ("offer-to-a-draining-host", 9),
    ("gate-read-before-counted", 2),
    ("parked-keeps-its-slot", 2),
    ("admitted-before-the-gate", 2),
    ("workspace-before-admission", 1),
    ("status-before-artifacts", 9),
    ("deployment-awaits-itself", 1),
    ("drain-before-status", 2),
    ("word-buries-the-last-life", 5),
    ("approval-before-commit", 11),
    ("view-goes-back", 19),
    ("reused-number-unnoticed", 6),
];

#[test]
fn each_breaks_first_what_it_names_in_the_fewest_steps_and_the_file_shows_it() {
    for (name, steps) in STEPS {
        let protocol = by_name(name).expect("it is a protocol");
        let bounds = smallest(protocol).expect("it has a configuration");
        let found = run(&bounds);
        let first = first_broken(&found).unwrap_or_else(|| panic!("{bounds}: it breaks something"));
        let shown = (Some(first.violation.property), first.steps);
        assert_eq!(shown, (protocol.breaks(), *steps), "{bounds}");
        let ended = replay(&first.scenario.to_string(), protocol);
        let Ended::Breaks { violation, .. } = ended else {
            panic!("{bounds}: the file replays to a violation\n{}", first.scenario);
        };
        // Whoever repeats itself for ever gets nowhere, and goes round in a replay.
        let by_another_name = (first.violation.property, violation.property)
            == (Property::NoWedge, Property::NoLivelock);
        assert!(violation.property == first.violation.property || by_another_name, "{bounds}");
    }
}

fn under(name: &str, hosts: &[u8], faults: &[FaultKind]) -> Bounds {
    let bounds = faults
        .iter()
        .fold(Bounds::new(hosts), |bounds, kind| bounds.with(*kind, 1).expect("it has a budget"));
    bounds.under(by_name(name).expect("it is a protocol"))
}

/// What breaks, in a space that is exhausted.
fn broken(bounds: &Bounds) -> Vec<Property> {
    let found = run(bounds);
    assert_eq!(found.coverage.frontier, 0, "{bounds}");
    found.broken().iter().map(|found| found.violation.property).collect()
}

/// Masked while nothing but its host's own word or end takes an offer back (Ar4 and Ar6 do).
#[test]
fn work_that_begins_at_the_offer_breaks_nothing_where_no_offer_lapses_or_is_withdrawn() {
    for faults in [&[Gone][..], &[Fail, Retry]] {
        let bounds = under("build-at-the-offer", &[0, 0], faults);
        assert_eq!(broken(&bounds), [], "{bounds}");
    }
}

/// What is committed and not published is published after a restart too (Ar9), and the election
/// with it: the pass is never forgotten.
#[test]
fn an_election_of_its_own_before_each_publication_is_late_and_never_missed() {
    let bounds = under("elect-at-publication", &[0, 0], &[FaultKind::Arbiter]);
    assert_eq!(broken(&bounds), [Property::Settled], "{bounds}");
}

/// Number, life and acknowledgement make up for the grant in all that follows (St1, St2).
#[test]
fn an_acceptance_that_counts_for_any_offer_breaks_its_own_claim_alone() {
    let bounds = under("no-grants", &[0], &[Revoke]);
    assert_eq!(broken(&bounds), [Property::StaleIsNoEffect], "{bounds}");
}
