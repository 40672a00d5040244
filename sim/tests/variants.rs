//! Each wrong protocol is found by the default swarm, breaks what it names, and nothing else first;
//! those that the rest of the protocol makes up for break nothing.

use handover_sim::check::Property;
use handover_sim::choose::{FaultKind, Outcome, WalkReport};
use handover_sim::scenario::{self, Ended, Scenario};
use handover_sim::swarm::{Settings, Strategy, run_seed};
use handover_sim::variants::{self, Current, PROTOCOLS, Protocol};

/// Schedules within which the default swarm finds each.
const SCHEDULES_MAX: u64 = 2_000;

/// What the default swarm finds of a wrong protocol.
struct Case {
    name: &'static str,
    /// The first seed that breaks the property that it names.
    found_by: u64,
    /// What a schedule may meet first instead: it does not take the shortest way.
    or: &'static [Property],
}

const fn case(name: &'static str, found_by: u64) -> Case {
    Case { name, found_by, or: &[] }
}

const fn also(name: &'static str, found_by: u64, or: &'static [Property]) -> Case {
    Case { name, found_by, or }
}

const CASES: &[Case] = &[
@@CASES@@
];

/// Those that the default swarm needs more schedules for, each with the reason.
const RARE: &[(&str, &str)] = &[
@@RARE@@
];

/// The first seeds, in which nothing but what is named breaks first. `handover-sim variants --json`
/// tells the same of many more.
const SEEDS: u64 = 6;

fn settings(protocol: &dyn Protocol) -> Settings {
    let mut settings = Settings::default();
    if protocol.needs_reuse() {
        settings.faults.insert(FaultKind::Reuse, 3);
    }
    settings
}

fn protocol(name: &str) -> &'static dyn Protocol {
    variants::by_name(name).unwrap_or_else(|| panic!("{name} is no protocol"))
}

fn walked(name: &str, seed: u64) -> WalkReport {
    let protocol = protocol(name);
    run_seed(seed, &settings(protocol), Strategy::Mix, protocol)
}

fn broken_by(report: &WalkReport) -> Option<Property> {
    match &report.outcome {
        Outcome::Holds => None,
        Outcome::Broken(violation) => Some(violation.property),
    }
}

#[test]
fn each_wrong_protocol_is_found_or_rare_or_masked() {
    let cases = CASES.iter().map(|case| case.name).chain(RARE.iter().map(|(name, _)| *name));
    let masked = PROTOCOLS.iter().filter(|protocol| protocol.masked_by().is_some());
    let mut known: Vec<&str> = cases.chain(masked.map(|protocol| protocol.name())).collect();
    let mut names = variants::names();
    known.sort_unstable();
    names.sort_unstable();
    assert_eq!(known, names);
    for protocol in PROTOCOLS {
        let masked = protocol.masked_by().is_some() || protocol.name() == Current.name();
        assert_eq!(protocol.breaks().is_none(), masked, "{}", protocol.name());
    }
}

#[test]
fn the_default_swarm_finds_each_within_its_schedules_and_what_is_written_replays_to_the_same_end() {
    for case in CASES {
        assert!(case.found_by < SCHEDULES_MAX, "{}", case.name);
        let report = walked(case.name, case.found_by);
        let (name, named) = (case.name, protocol(case.name).breaks());
        if broken_by(&report) != named {
            let mut seeds = 0..SCHEDULES_MAX;
            let first = seeds.find(|seed| broken_by(&walked(name, *seed)) == named);
            panic!("{name} is found by {first:?}, and not by {}", case.found_by);
        }
        if protocol(name).needs_reuse() {
            // Two processes of one identity have one name: a script cannot tell them apart.
            continue;
        }
        let text = report.scenario().to_string();
        let parsed = Scenario::parse("walk.scenario", &text, &variants::names());
        let parsed = parsed.unwrap_or_else(|error| panic!("{error:?} in\n{text}"));
        let run = scenario::run(&parsed, report.setup.protocol);
        let Ended::Breaks { violation, .. } = &run.ended else {
            panic!("{name} holds when its walk is replayed");
        };
        // Only the property: a script goes on for fewer steps before it calls it a livelock.
        assert_eq!(Some(violation.property), named, "{name}");
        assert!(run.stale.is_empty(), "{:?}", run.stale);
    }
}

#[test]
fn nothing_breaks_first_but_what_is_named() {
    for case in CASES {
        let named = protocol(case.name).breaks();
        for seed in 0..SEEDS {
            let broken = broken_by(&walked(case.name, seed));
            let known = |broken| Some(broken) == named || case.or.contains(&broken);
            assert!(broken.is_none_or(known), "seed {seed} under {}: {broken:?}", case.name);
            assert!(broken != named || seed >= case.found_by, "{}: {seed}", case.name);
        }
    }
}

#[test]
fn the_right_one_breaks_nothing_and_what_other_rules_make_up_for_neither() {
    for protocol in PROTOCOLS.iter().filter(|protocol| protocol.breaks().is_none()) {
        for seed in 0..5 * SEEDS {
            let broken = broken_by(&walked(protocol.name(), seed));
            let masked_by = protocol.masked_by().unwrap_or("nothing is left out");
            assert_eq!(broken, None, "seed {seed} under {}: {masked_by}", protocol.name());
        }
    }
}
