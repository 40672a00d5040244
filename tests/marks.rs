//! No rule that nothing reaches: the scenarios and a quick search together come through each marked
//! branch of core and of the checks, and through none that is there for incorrect hosts alone.
//!
//! One test, for the marks are the program's.

use std::ops::ControlFlow;
use std::path::Path;

use handover_core::{Mark, Reach};
use handover_sim::choose::{FaultKind, Outcome};
use handover_sim::explore::{Bounds, explore};
use handover_sim::mark::Mark as CheckMark;
use handover_sim::scenario;
use handover_sim::suite::Suite;
use handover_sim::swarm::{Settings, Strategy, run_seed};
use handover_sim::variants::Current;

/// Walks of a rolling update.
const WALKS: u64 = 300;

#[test]
fn each_branch_is_taken_by_the_scenarios_and_a_quick_search_or_by_no_correct_host() {
    play_scenarios();
    search();
    let hit = |reach| Mark::ALL.iter().filter(move |mark| mark.reach() == reach);
    let missed: Vec<&Mark> = hit(Reach::World).filter(|mark| !mark.was_hit()).collect();
    assert!(missed.is_empty(), "nothing comes through {missed:?}");
    for reach in [Reach::Never, Reach::Elsewhere] {
        let wrong: Vec<&Mark> = hit(reach).filter(|mark| mark.was_hit()).collect();
        assert!(wrong.is_empty(), "marked as {reach:?}, and the world comes through {wrong:?}");
    }
    let never = |mark: &&CheckMark| CheckMark::NEVER.contains(mark);
    let wrong = |mark: &&CheckMark| mark.was_hit() == never(mark);
    let wrong: Vec<&CheckMark> = CheckMark::ALL.iter().filter(wrong).collect();
    assert!(wrong.is_empty(), "judged, or happened, against what is said of it: {wrong:?}");
}

/// All files, under the right protocol alone.
fn play_scenarios() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    let suite = Suite::load(&[root]);
    assert!(suite.files().count() > 100, "the scenarios were found");
    for (path, scenario) in suite.files() {
        let scenario = scenario.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let run = scenario::run(scenario, &Current);
        assert!(run.is_as_expected(), "{}", path.display());
    }
}

/// Walks, and each interleaving of two hosts that are drained or lose an offer.
fn search() {
    let settings = Settings::rolling_update();
    for seed in 0..WALKS {
        let report = run_seed(seed, &settings, Strategy::Mix, &Current);
        assert_eq!(report.outcome, Outcome::Holds, "seed {seed}");
    }
    for faults in [&[FaultKind::Drain, FaultKind::Undrain][..], &[FaultKind::Lapse]] {
        let bounds = faults.iter().fold(Bounds::new(&[0, 0]), |bounds, kind| {
            bounds.with(*kind, 1).expect("it has a budget")
        });
        let found = explore(&bounds, 1, |_| ControlFlow::Continue(()));
        assert!(found.holds(), "{bounds}");
    }
}
