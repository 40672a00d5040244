//! How long the smallest explanation of a failure of the default swarm takes.

use handover_sim::choose::{Plan, Strategy, WalkSettings, walk_by};
use handover_sim::explain::{Failure, Limits, explain};
use handover_sim::variants;

use crate::measure::time;

/// Wrong protocols of each kind: of statements, of the record, of the executor.
const WRONG: [&str; 6] = [
    "silent-stand-down",
    "guarded-report",
    "drain-after-release",
    "no-grants",
    "age-is-death",
    "release-before-remove",
];

/// Failures of each that are explained.
const FAILURES: usize = 3;

/// Seeds that are tried for them.
const SEEDS: u64 = 300;

/// One explanation.
pub struct Shrunk {
    /// Of processor time.
    pub seconds: f64,
    /// How often a schedule was played.
    pub replays: usize,
    /// The steps before, and those that are left.
    pub steps: (usize, usize),
}

/// Explains the first failures of each wrong protocol, in the default settings of the swarm.
pub fn all() -> Vec<Shrunk> {
    WRONG.iter().flat_map(|name| of(name)).collect()
}

fn of(name: &str) -> Vec<Shrunk> {
    let protocol = variants::by_name(name).expect("there is such a protocol");
    let plan = Plan::new(&WalkSettings::default(), Strategy::Mix, protocol);
    let reports = (0..SEEDS).map(|seed| walk_by(seed, &plan));
    let failures: Vec<Failure> =
        reports.filter_map(|report| Failure::of(&report)).take(FAILURES).collect();
    let mut all = Vec::new();
    for (number, failure) in failures.iter().enumerate() {
        eprintln!("explaining failure {} of {name}", number + 1);
        let (explanation, took) = time(|| explain(failure, &Limits::default()));
        all.push(Shrunk {
            seconds: took.as_secs_f64(),
            replays: explanation.replays,
            steps: (failure.schedule.len(), explanation.steps()),
        });
    }
    all
}
