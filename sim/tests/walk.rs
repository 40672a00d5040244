//! The random walk: what it must hold, what it must find, and that what it writes replays.

use std::collections::BTreeMap;

use handover_sim::choose::{FaultKind, Outcome, WalkReport, WalkSettings, walk};
use handover_sim::scenario::{self, Scenario};
use handover_sim::variants::{self, Current, Protocol};

/// Walks over these seeds that broke a property, with their reports.
fn broken(seeds: std::ops::Range<u64>, protocol: &'static dyn Protocol) -> Vec<WalkReport> {
    let settings = WalkSettings::rolling_update();
    seeds
        .map(|seed| walk(seed, &settings, protocol))
        .filter(|report| report.outcome != Outcome::Holds)
        .collect()
}

fn replayed(report: &WalkReport) -> scenario::Run {
    let text = report.scenario().to_string();
    let parsed = Scenario::parse("walk.scenario", &text, &variants::names());
    let parsed = parsed.unwrap_or_else(|error| panic!("{error:?} in\n{text}"));
    scenario::run(&parsed, report.setup.protocol)
}

#[test]
fn the_right_protocol_holds_and_converges() {
    if let Some(report) = broken(0..300, &Current).first() {
        panic!("{:?}\n{}", report.outcome, report.scenario());
    }
}

#[test]
fn a_rolling_update_without_faults_brings_each_place_that_stays_up_to_the_last_version() {
    let settings = WalkSettings::rolling_update().without_faults();
    let (mut up, mut open) = (0, 0);
    for seed in 0..100 {
        let report = walk(seed, &settings, &Current);
        assert_eq!(report.outcome, Outcome::Holds, "seed {seed}");
        let world = report.world();
        for (who, process) in world.processes().filter(|(_, process)| process.lives()) {
            let (label, version) = (world.label(who), process.host.version());
            assert_eq!(version.as_str(), "v2", "seed {seed}, {label}");
            up += 1;
            open += usize::from(process.host.gate().is_open());
        }
    }
    assert!(up >= 400, "of 500 places only {up} stayed up");
    assert!(open * 100 >= up * 98, "of {up} places only {open} may serve");
}

#[test]
fn a_walk_that_holds_replays_step_by_step_to_the_same_digest() {
    let settings = WalkSettings::rolling_update();
    for seed in 0..100 {
        let report = walk(seed, &settings, &Current);
        let run = replayed(&report);
        assert!(run.is_as_expected(), "seed {seed}: {:?} {:?}", run.ended, run.stale);
        assert_eq!(run.steps, report.steps, "seed {seed}");
        assert_eq!(run.digest, report.digest, "seed {seed}");
    }
}

#[test]
fn each_kind_of_fault_strikes() {
    let settings = WalkSettings::rolling_update();
    let mut struck = BTreeMap::<String, u32>::new();
    for seed in 0..300 {
        let report = walk(seed, &settings, &Current);
        for name in &report.names()[..report.faults_end] {
            let verb = name.split(' ').next().unwrap_or_default();
            *struck.entry(verb.to_owned()).or_default() += 1;
            if name.contains(" failed") {
                *struck.entry("fail".to_owned()).or_default() += 1;
            }
        }
    }
    for kind in settings.faults.keys() {
        let times = struck.get(kind.word()).copied().unwrap_or_default();
        assert!(times >= 20, "{kind} strikes only {times} times in 300 walks");
    }
}

#[test]
fn a_kind_without_a_budget_never_strikes() {
    let mut settings = WalkSettings::rolling_update();
    settings.faults.remove(&FaultKind::Crash);
    settings.faults.remove(&FaultKind::Overlap);
    for seed in 0..50 {
        let report = walk(seed, &settings, &Current);
        let crash = report.names().into_iter().find(|name| name.starts_with("crash "));
        assert_eq!(crash, None, "seed {seed}");
    }
}
