//! Small configurations, each interleaving: what holds, in how many states, and what a wrong
//! protocol breaks, in how many steps. The counts are exact: a change of the space shows.

mod found;

use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;

use handover_sim::choose::FaultKind::{
    self as Fault, Arbiter, Cancel, Conflict, Crash, Drain, Fail, Gone, Hang, Lapse, Overlap,
    Reask, Retry, Reuse, Revoke, Slow, Suspect, Undrain, Unsigned,
};
use handover_sim::explore::Property::{self, NoWedge};
use handover_sim::explore::{Bounds, Exploration, Reductions, Verdict, explore};
use handover_sim::scenario::{Ended, Keyword as _};
use handover_sim::variants::{Current, by_name, first_broken, smallest};

use found::replay;

fn bounds(hosts: &[u8], faults: &[(Fault, u8)]) -> Bounds {
    faults.iter().fold(Bounds::new(hosts), |bounds, (kind, times)| {
        bounds.with(*kind, *times).expect("it has a budget")
    })
}

fn run(bounds: &Bounds) -> Exploration {
    explore(bounds, 1, |_| ControlFlow::Continue(()))
}

/// A configuration of the right protocol: hosts by their versions, chunks, faults; then the states,
/// transitions and depth of its space.
type Row = (&'static [u8], u8, &'static [(Fault, u8)], (usize, usize, usize));

fn all_hold(rows: &[Row]) {
    for (hosts, chunks, faults, size) in rows {
        let bounds = Bounds { chunks: *chunks, ..bounds(hosts, faults) };
        let found = run(&bounds);
        let broken: Vec<String> =
            found.broken().iter().map(|each| each.scenario.to_string()).collect();
        assert!(found.holds(), "{bounds}\n{}", broken.join("\n"));
        let coverage = found.coverage;
        assert_eq!((coverage.states, coverage.transitions, coverage.depth), *size, "{bounds}");
        assert!(coverage.frontier == 0 && coverage.converged > 0, "{bounds}");
    }
}

#[test]
fn one_host_holds_everything() {
    all_hold(&[
        (&[0], 1, &[], (25, 36, 15)),
        (&[0], 1, &[(Fail, 1), (Retry, 1), (Unsigned, 1)], (212, 366, 27)),
        (&[0], 1, &[(Crash, 1), (Overlap, 1)], (5_698, 19_248, 27)),
        (&[0], 2, &[(Cancel, 1), (Revoke, 1), (Hang, 1)], (2_074, 6_755, 24)),
        (&[0], 1, &[(Crash, 1), (Reuse, 1)], (10_209, 36_722, 33)),
    ]);
}

#[test]
fn two_hosts_hold_everything() {
    all_hold(&[
        (&[0, 0], 1, &[], (117, 262, 19)),
        (&[0, 0], 2, &[], (135, 319, 20)),
        (&[0, 1], 1, &[], (338, 767, 28)),
        (&[0, 0], 1, &[(Gone, 1)], (912, 2_713, 25)),
        (&[0, 0], 1, &[(Reask, 1)], (1_033, 3_347, 27)),
        (&[0, 0], 1, &[(Lapse, 1)], (413, 1_072, 23)),
        (&[0, 0], 1, &[(Conflict, 1)], (753, 2_638, 19)),
    ]);
}

#[test]
fn two_hosts_that_are_drained_fail_or_are_suspected_hold_everything() {
    all_hold(&[
        (&[0, 0], 1, &[(Drain, 1), (Undrain, 1)], (1_229, 4_044, 21)),
        (&[0, 0], 1, &[(Fail, 1), (Retry, 1)], (789, 2_382, 28)),
        (&[0, 0], 1, &[(Arbiter, 1), (Suspect, 1)], (916, 3_173, 22)),
        (&[0, 0], 1, &[(Cancel, 1)], (859, 2_420, 29)),
        (&[0, 0], 1, &[(Revoke, 1)], (1_471, 4_744, 28)),
    ]);
}

#[test]
fn two_hosts_that_crash_decline_or_are_passed_over_hold_everything() {
    all_hold(&[
        (&[0, 0], 1, &[(Crash, 1)], (2_496, 9_013, 24)),
        (&[0, 0], 1, &[(Lapse, 1), (Reask, 1)], (3_343, 11_644, 28)),
        (&[0, 0], 1, &[(Conflict, 1), (Crash, 1)], (23_594, 125_527, 31)),
    ]);
}

#[test]
fn three_and_four_hosts_hold_everything() {
    all_hold(&[
        (&[0, 0, 0, 0], 1, &[], (1_567, 7_025, 27)),
        (&[0, 0, 0], 1, &[], (448, 1_472, 23)),
        (&[0, 0, 1], 1, &[], (1_874, 6_108, 32)),
    ]);
}

#[test]
fn three_hosts_of_which_one_fails_hold_everything() {
    all_hold(&[
        (&[0, 0, 0], 1, &[(Crash, 1)], (15_042, 72_307, 28)),
        (&[0, 0, 1], 1, &[(Gone, 1)], (21_123, 83_691, 38)),
        (&[0, 0, 1], 1, &[(Reask, 1), (Lapse, 1)], (102_479, 490_682, 41)),
        (&[0, 0, 0], 1, &[(Fail, 1), (Retry, 1), (Arbiter, 1)], (9_294, 44_872, 33)),
    ]);
}

/// A word of the new process has the number of one that the old one said, and counts as heard (St2):
/// no host can notice that. So the driver has to prevent it (Dr4).
#[test]
fn a_number_that_is_used_twice_can_break_what_the_right_one_holds() {
    let bounds = bounds(&[0], &[(Crash, 1), (Reuse, 1), (Reask, 1)]);
    let found = run(&Bounds { states_max: 6_000, ..bounds });
    let steps = |property| found.verdict(property).broken().map(|broken| broken.steps);
    assert_eq!((steps(NoWedge), steps(Property::NoEviction)), (Some(9), Some(11)));
}

/// Wrong protocols, each with the steps of its shortest schedule in its smallest configuration.
const WRONG: &[(&str, usize)] = &[
    ("silent-stand-down", 3),
    ("silent-on-approval", 14),
    ("guarded-report", 20),
    ("drain-after-release", 3),
    ("always-broken", 2),
    ("no-seq", 6),
    ("decide-when-queued", 5),
    ("offer-in-a-later-fold", 7),
    ("report-not-held", 12),
    ("approve-unsigned", 10),
    ("accept-without-acknowledgement", 12),
    ("stay-gone", 2),
    ("finished-stays-down", 10),
    ("stale-word-takes-offer-back", 6),
    ("no-grants", 6),
    ("slot-released-at-cancel", 10),
    ("ignore-revocation", 10),
    ("accepted-waits", 5),
    ("reservation-kept", 7),
    ("ends-when-idle", 2),
    ("age-is-death", 8),
    ("latest-verdict", 19),
    ("free-at-start", 6),
    ("drain-forgotten", 3),
    ("cut-builds-pay", 3),
    ("parked-for-ever", 10),
    ("release-before-remove", 9),
    ("remove-before-status", 3),
];

fn wrong(name: &str) -> Bounds {
    let protocol = by_name(name).expect("it is known");
    smallest(protocol).expect("it has a configuration")
}

#[test]
fn each_wrong_protocol_breaks_first_what_it_names_and_the_file_replays_to_it() {
    for (name, steps) in WRONG {
        let bounds = wrong(name);
        let found = run(&bounds);
        let first = first_broken(&found).unwrap_or_else(|| panic!("{bounds}: it breaks something"));
        let shown = (Some(first.violation.property), first.steps);
        assert_eq!(shown, (bounds.protocol.breaks(), *steps), "{bounds}");
        let Ended::Breaks { violation, .. } = replay(&first.scenario.to_string(), bounds.protocol)
        else {
            panic!("{bounds}: the file replays to a violation\n{}", first.scenario);
        };
        assert_eq!(Some(violation.property), bounds.protocol.breaks(), "{bounds}");
    }
}

#[test]
fn what_breaks_a_wrong_protocol_the_right_one_stands_up_to() {
    let spaces = WRONG.iter().map(|(name, _)| wrong(name));
    for wrong in spaces.filter(|wrong| wrong.hosts.len() == 1) {
        let (reductions, states_max) = (Reductions::ALL, usize::MAX);
        let right = Bounds { states_max, reductions, ..wrong }.under(&Current);
        assert!(run(&right).holds(), "{right}");
    }
}

#[test]
fn each_reduction_leaves_all_verdicts_as_they_are_and_makes_the_space_no_larger() {
    let none = Reductions { superseded: true, ..Reductions::NONE };
    let partly = [
        none,
        Reductions { ranks: true, ..none },
        Reductions { projection: true, ..none },
        Reductions { equal_views: true, ..none },
        Reductions { symmetry: true, ..none },
        Reductions { spent: true, ..none },
    ];
    for space in [wrong(WRONG[1].0), wrong(WRONG[2].0), bounds(&[0], &[(Gone, 1), (Lapse, 1)])] {
        let all = run(&space);
        for reductions in partly {
            let space = Bounds { reductions, ..space.clone() };
            let some = run(&space);
            assert_eq!(words(&some), words(&all), "{space} {reductions:?}");
            let (fewer, more) = (all.coverage.states, some.coverage.states);
            assert!(fewer <= more, "{space} {reductions:?}: {fewer} {more}");
        }
    }
}

/// Hosts, chunks, local builds, faults.
type Alike = (&'static [u8], u8, (u8, u8), &'static [(Fault, u8)]);

const ALIKE: &[Alike] = &[
    (&[0], 1, (0, 0), &[]),
    (&[0, 0], 1, (0, 0), &[]),
    (&[0], 2, (0, 0), &[(Fail, 1), (Retry, 1), (Unsigned, 1)]),
    (&[0, 0], 1, (0, 0), &[(Fail, 1), (Unsigned, 1), (Reask, 1)]),
    (&[0], 1, (0, 0), &[(Crash, 1), (Gone, 1)]),
    (&[0, 0], 1, (0, 0), &[(Crash, 1)]),
    (&[0, 1], 1, (0, 0), &[(Gone, 1)]),
    (&[0, 0], 1, (0, 0), &[(Revoke, 1), (Lapse, 1)]),
    (&[0, 1], 1, (0, 0), &[(Reask, 1), (Arbiter, 1)]),
    (&[0], 1, (1, 1), &[(Drain, 1), (Undrain, 1)]),
    (&[0], 1, (0, 1), &[(Crash, 1), (Hang, 1)]),
    (&[0, 0], 1, (0, 0), &[(Suspect, 1), (Hang, 1), (Cancel, 1)]),
    (&[0, 0, 0], 1, (0, 0), &[]),
    (&[0, 0], 1, (0, 0), &[(Drain, 1), (Undrain, 1)]),
    (&[0], 2, (0, 0), &[(Overlap, 1)]),
    (&[0, 0], 1, (0, 0), &[(Conflict, 1)]),
    (&[0], 1, (0, 0), &[(Conflict, 1), (Cancel, 1)]),
];

#[test]
fn steps_that_are_worked_out_once_make_the_same_space() {
    for (hosts, chunks, local_builds, faults) in ALIKE {
        let (chunks, local_builds) = (*chunks, *local_builds);
        let shared = Bounds { chunks, local_builds, ..bounds(hosts, faults) };
        let reductions = Reductions { shared_steps: false, ..shared.reductions };
        let single = Bounds { reductions, ..shared.clone() };
        assert!(shared.shares_steps() && !single.shares_steps(), "{shared}");
        let (shared, single) = (run(&shared), run(&single));
        assert_eq!(words(&shared), words(&single), "{hosts:?} {faults:?}");
        assert_eq!(shared.coverage, single.coverage, "{hosts:?} {faults:?}");
    }
}

/// Some break what no host can see alone: two that build, a hold that is taken from another.
#[test]
fn steps_that_are_worked_out_once_show_what_wrong_protocols_break() {
    let looks_at_no_numbers = [
        "age-is-death",
        "accept-without-acknowledgement",
        "stay-gone",
        "silent-stand-down",
        "ends-when-idle",
        "parked-for-ever",
        "slot-released-at-cancel",
        "approve-unsigned",
        "cut-builds-pay",
    ];
    for name in looks_at_no_numbers {
        let shared = Bounds { reductions: Reductions::ALL, ..wrong(name) };
        let reductions = Reductions { shared_steps: false, ..Reductions::ALL };
        let single = Bounds { reductions, ..shared.clone() };
        assert!(shared.shares_steps() && !single.shares_steps(), "{shared}");
        assert_eq!(words(&run(&shared)), words(&run(&single)), "{shared}");
    }
}

/// The drop of superseded messages relies on how their numbers are compared; here they are not
/// dropped, and arrive in any order and again.
#[test]
fn messages_that_arrive_in_any_order_and_again_leave_all_verdicts_as_they_are() {
    let reductions = Reductions { superseded: false, ..Reductions::ALL };
    let spaces =
        [bounds(&[0], &[(Fail, 1), (Retry, 1)]), bounds(&[0], &[(Gone, 1)]), wrong(WRONG[2].0)];
    for space in spaces {
        let dropped = words(&run(&space));
        let space = Bounds { reductions, ..space };
        let found = run(&space);
        let kept = words(&found);
        let decided = |words: &[Word]| -> Vec<Word> {
            let mut words = words.to_vec();
            words.retain(|(property, ..)| *property != Property::NoLivelock);
            words
        };
        assert_eq!(decided(&kept), decided(&dropped), "{space}");
        assert_eq!(found.verdict(Property::NoLivelock).word(), "unknown", "{space}");
    }
}

type Word = (Property, &'static str, Option<usize>);

/// Each property with its verdict, and the length of the schedule that breaks it.
fn words(found: &Exploration) -> Vec<Word> {
    let verdicts = found.verdicts.iter().map(|(property, verdict)| {
        let steps = match verdict {
            Verdict::Broken(found) => Some(found.steps),
            Verdict::Holds | Verdict::Unknown => None,
        };
        (*property, verdict.word(), steps)
    });
    verdicts.collect()
}

#[test]
fn a_bound_that_is_reached_leaves_what_is_not_broken_unknown() {
    let bounds = Bounds { states_max: 100, ..bounds(&[0, 0], &[]) };
    let found = run(&bounds);
    assert!(found.verdicts.iter().all(|(_, verdict)| verdict.word() == "unknown"));
    let coverage = found.coverage;
    assert!(coverage.frontier > 0 && coverage.states > 100 && coverage.states < 110);
}

#[test]
fn what_is_found_below_a_bound_is_broken_and_the_rest_unknown() {
    let bounds = Bounds { states_max: 1_000, ..wrong(WRONG[0].0) };
    let found = run(&bounds);
    assert_eq!(found.verdict(NoWedge).word(), "broken");
    assert_eq!(found.verdict(Property::SingleBuilder).word(), "unknown");
}

#[test]
fn the_number_of_threads_changes_nothing_that_is_found() {
    // Its layers are larger than a lot, also where it ends early.
    for bounds in [bounds(&[0, 0, 1], &[(Gone, 1)]), wrong(WRONG[0].0)] {
        let cut = run(&bounds).coverage.states / 4 * 3;
        let cut = Bounds { states_max: cut, ..bounds.clone() };
        for bounds in [bounds, cut] {
            let one = run(&bounds);
            for jobs in [2, 3] {
                let more = explore(&bounds, jobs, |_| ControlFlow::Continue(()));
                assert_eq!(more.coverage, one.coverage, "{bounds}");
                assert_eq!(schedules(&more), schedules(&one), "{bounds}");
            }
        }
    }
}

fn schedules(found: &Exploration) -> Vec<String> {
    found.broken().iter().map(|broken| broken.scenario.to_string()).collect()
}

#[test]
fn a_search_that_is_stopped_is_unknown_and_says_what_it_has_seen() {
    let bounds = bounds(&[0, 0, 0, 0], &[]);
    let stop_after = |states: usize| {
        explore(&bounds, 1, |progress| {
            if progress.states > states {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })
    };
    let (some, all) = (stop_after(500), run(&bounds));
    assert!(some.verdicts.iter().all(|(_, verdict)| verdict.word() == "unknown"));
    let (some, all) = (some.coverage, all.coverage);
    assert!(some.states > 500 && some.states < all.states, "{some:?}");
    assert!(some.frontier > 0 && some.transitions < all.transitions, "{some:?}");
}

#[test]
fn a_fault_that_the_network_makes_anyway_has_no_budget() {
    let refused = Bounds::new(&[0]).with(Slow, 1).expect_err("it is refused");
    let why = "`slow` has no budget: every host is as slow as can be in every exploration";
    assert_eq!(refused.to_string(), why);
}

/// Runs the program in a folder of its own: its exit code, stdout, and stderr.
fn program(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_handover-sim"));
    let output = command.arg("explore").args(arguments).current_dir(folder).output();
    let output = output.expect("the program can be started");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it says text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn the_program_says_that_all_properties_hold_and_how_much_it_has_seen() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let (exit, out, err) = program(folder.path(), &[]);
    assert_eq!((exit, err.as_str()), (Some(0), ""));
    assert_eq!(out.matches(" holds\n").count(), Property::ALL.len(), "{out}");
    assert!(out.contains("117 states, 262 transitions, 19 steps deep"), "{out}");
}

#[test]
fn the_program_writes_the_shortest_schedule_of_what_is_broken() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let wrong = ["--protocol", "silent-stand-down", "--faults", "reask=1"];
    let (exit, out, _) = program(folder.path(), &wrong);
    assert_eq!(exit, Some(0), "a wrong protocol that breaks what it names is as expected");
    assert!(out.contains("NoWedge          broken in 3 steps\n"), "{out}");
    assert!(out.contains("replay explore-NoWedge.scenario --protocol silent-stand-down"), "{out}");
    let text = std::fs::read_to_string(folder.path().join("explore-NoWedge.scenario"));
    let text = text.expect("it was written");
    replay(&text, by_name("silent-stand-down").expect("it is known"));
    let named = [&wrong[..], &["-o", "found.scenario"]].concat();
    program(folder.path(), &named);
    let found = std::fs::read_to_string(folder.path().join("found.scenario"));
    assert_eq!(found.ok(), Some(text));
}

#[test]
fn the_program_ends_with_4_where_the_bound_is_reached_and_with_1_where_nothing_breaks() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let (exit, out, _) = program(folder.path(), &["--max-states", "100", "--json"]);
    assert_eq!(exit, Some(4));
    assert_eq!(out.matches("\"verdict\": \"unknown\"").count(), Property::ALL.len(), "{out}");
    let (exit, ..) = program(folder.path(), &["--hosts", "1", "--protocol", "silent-stand-down"]);
    assert_eq!(exit, Some(1), "a wrong protocol that breaks nothing here is not as it should be");
}

/// A space without an end would look like a hang.
#[test]
fn the_program_names_a_command_that_ends_where_a_wrong_protocol_breaks_nothing() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let wrong = ["--hosts", "1", "--protocol", "word-buries-the-last-life"];
    let (_, out, _) = program(folder.path(), &wrong);
    let tip = out.split_once("`explore ").and_then(|(_, rest)| rest.split_once('`'));
    let (tip, _) = tip.unwrap_or_else(|| panic!("no command in\n{out}"));
    let named: Vec<&str> = tip.split(' ').collect();
    assert!(named.contains(&"--max-states"), "{tip}");
    assert_eq!(program(folder.path(), &named).0, Some(0), "{tip}");
}

#[test]
fn the_program_ends_early_within_a_memory() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let (exit, out, _) = program(folder.path(), &["--hosts", "3", "--max-memory", "1K"]);
    assert_eq!(exit, Some(4));
    assert!(out.contains("NoWedge          unknown\n") && out.contains("by --max-memory"), "{out}");
}

#[test]
fn the_program_explores_named_configurations_a_row_each() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let (exit, out, _) = program(folder.path(), &["--table", "A08", "P01"]);
    assert_eq!((exit, out.lines().count()), (Some(0), 5));
    assert!(out.ends_with("\n2 rows seen to their end\n"), "{out}");
    assert!(out.contains("\nP01  v1 v1               2    2      0        145 "), "{out}");
    assert!(out.contains(" all hold             hang=2\n"), "{out}");
    let (exit, out, _) = program(folder.path(), &["--table", "P01", "A08", "--max-states", "120"]);
    assert!(exit == Some(4) && out.contains("unknown, "), "{out}");
    assert!(out.ends_with("\n1 rows seen to their end; in part: P01\n"), "{out}");
    let (exit, _, err) = program(folder.path(), &["--table", "P99"]);
    assert!(exit == Some(2) && err.contains("P99"), "{err}");
}

#[test]
fn the_program_refuses_what_it_cannot_explore_and_says_what_it_can() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    for (faults, why) in [
        ("slow=1", "`slow` has no budget: every host is as slow as can be in every exploration"),
        ("crush=1", "there is no fault `crush` (did you mean `crash`?); there are crash, gone, "),
        ("crash", "write KIND=N, as in crash=1"),
        ("crash=-1", "`-1` is no number from 0 to 255"),
        ("crash=8", "8 times `crash` are too many: at most 7 can be explored"),
    ] {
        let (exit, out, err) = program(folder.path(), &["--faults", faults]);
        assert_eq!((exit, out.as_str()), (Some(2), ""));
        assert!(err.contains(why), "{err}");
    }
    let (exit, ..) = program(folder.path(), &["--hosts", "0"]);
    assert_eq!(exit, Some(2));
}
