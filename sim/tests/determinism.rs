//! One seed, one run: twice in one process, in two processes, and with walks in parallel.
//!
//! A digest is compared after each event, so that a difference is told as the first event at which
//! two runs part, with both sides.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::process::Command;
use std::sync::LazyLock;

use handover_sim::choose::{WalkReport, WalkSettings, walk};
use handover_sim::variants::Current;

const SEEDS: Range<u64> = 0..200;

/// Each seed walked once, before all else, by one thread.
static ALONE: LazyLock<BTreeMap<u64, String>> = LazyLock::new(|| digests(SEEDS));

/// What the test below prints before the digest of each seed.
const MARK: &str = "digest of seed ";

fn walked(seed: u64) -> WalkReport {
    walk(seed, &WalkSettings::rolling_update(), &Current)
}

/// The first event at which two runs of a seed part, with both sides; none if they are the same.
fn parting(one: &WalkReport, other: &WalkReport) -> Option<String> {
    let (left, right) = (one.names(), other.names());
    let side = |report: &WalkReport, names: &[String], at: usize| match names.get(at) {
        Some(name) => format!("`{name}`, then {}", report.digests[at]),
        None => "nothing more".to_owned(),
    };
    let steps = left.len().max(right.len());
    let differs = |at: &usize| {
        left.get(*at) != right.get(*at) || one.digests.get(*at) != other.digests.get(*at)
    };
    let at = (0..steps).find(differs)?;
    Some(format!(
        "seed {} parts at event {}: {} | {}",
        one.seed,
        at + 1,
        side(one, &left, at),
        side(other, &right, at)
    ))
}

fn digests(seeds: Range<u64>) -> BTreeMap<u64, String> {
    seeds.map(|seed| (seed, walked(seed).digest.to_string())).collect()
}

#[test]
fn a_seed_walks_the_same_way_twice_in_one_process() {
    for seed in SEEDS {
        let (one, other) = (walked(seed), walked(seed));
        assert_eq!(parting(&one, &other), None);
        assert_eq!(one.digest, other.digest);
    }
}

#[test]
fn a_seed_walks_the_same_way_while_others_walk_in_parallel() {
    let alone = LazyLock::force(&ALONE);
    let quarter = SEEDS.end / 4;
    let shares = [0, 3, 1, 2].map(|share| share * quarter..(share + 1) * quarter);
    let together = std::thread::scope(|scope| {
        let walks = shares.map(|seeds| scope.spawn(move || digests(seeds)));
        walks.map(|walk| walk.join().expect("no walk panics"))
    });
    let together: BTreeMap<u64, String> = together.into_iter().flatten().collect();
    assert_eq!(*alone, together);
}

#[test]
fn a_seed_walks_the_same_way_in_another_process() {
    let program = std::env::current_exe().expect("a test knows its program");
    let output = Command::new(program)
        .args(["--exact", "prints_the_digest_of_each_seed"])
        .args(["--nocapture", "--test-threads", "1"])
        .output()
        .expect("the program of this test starts again");
    assert!(output.status.success(), "{output:?}");
    let printed = String::from_utf8(output.stdout).expect("digests are hex digits");
    let other: BTreeMap<u64, String> = printed.lines().filter_map(read_back).collect();
    let parted = ALONE.iter().find(|(seed, digest)| other.get(*seed) != Some(*digest));
    assert_eq!(parted, None, "the first seed that ends with another digest elsewhere");
    assert_eq!(other.len(), ALONE.len());
}

/// What the other process of the test above runs. By itself it says that a second pass over the
/// seeds, after the first, ends as the first did.
#[test]
fn prints_the_digest_of_each_seed() {
    let again = digests(SEEDS);
    for (seed, digest) in &again {
        println!("{MARK}{seed}: {digest}");
    }
    assert_eq!(again, *ALONE);
}

/// The harness prints the name of a test on the line on which the test begins to print.
fn read_back(line: &str) -> Option<(u64, String)> {
    let (_, rest) = line.split_once(MARK)?;
    let (seed, digest) = rest.split_once(": ")?;
    Some((seed.parse().ok()?, digest.to_owned()))
}

#[test]
fn no_two_of_the_seeds_walk_the_same_way() {
    let digests: BTreeSet<&String> = ALONE.values().collect();
    assert_eq!(digests.len() as u64, SEEDS.end);
}

#[test]
fn two_runs_that_part_are_told_apart_at_the_first_event_that_differs() {
    let (one, mut other) = (walked(1), walked(1));
    let elsewhere = walked(2);
    other.digests[7] = elsewhere.digest;
    let told = parting(&one, &other).expect("they differ");
    assert!(told.starts_with("seed 1 parts at event 8: `"), "{told}");
    other.digests.truncate(7);
    other.schedule.truncate(7);
    let told = parting(&one, &other).expect("they differ");
    assert!(told.ends_with("| nothing more"), "{told}");
}
