//! The program as others use it: what it prints where, and the code with which it ends.

mod run;

use std::fs;
use std::path::{Path, PathBuf};

use run::{GOOD, assert_has, folder, program};
use serde_json::{Value, json};

/// The stand-down that crosses the offer, with what is found on both sides.
const CROSSED: &str = "\
# A stand-down crosses the offer
hosts b:v1 c:v1
under current holds
under silent-stand-down breaks NoWedge

ask b
deliver b -> record
ask c
deliver c -> record
stand-down b
rest
";

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Refused by both commands with the place, what would be valid and perhaps the nearest word.
#[track_caller]
fn assert_refused(text: impl AsRef<[u8]>, parts: &[&str]) {
    let folder = folder(&[]);
    fs::write(folder.path().join("bad.scenario"), text).expect("there is room");
    for arguments in [&["check", "bad.scenario", "--walks", "0"][..], &["replay", "bad.scenario"]] {
        let ran = program(folder.path(), arguments);
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert_has(&ran.stderr, parts);
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    }
}

#[test]
fn an_unknown_verb_is_refused_with_its_place_and_the_nearest_word() {
    let text = GOOD.replace("ask c", "askk c");
    let parts = ["bad.scenario:6:1", "valid here", "did you mean `ask`?"];
    assert_refused(text, &parts);
}

#[test]
fn an_unknown_host_is_refused_with_its_place_and_the_names_there_are() {
    let text = GOOD.replace("ask c", "ask d");
    assert_refused(text, &["bad.scenario:6:5", "found `d`", "valid here", "`b` or `c`"]);
}

#[test]
fn a_missing_header_is_refused_with_what_to_write() {
    let text = GOOD.replace("hosts b:v1 c:v1\n", "");
    assert_refused(text, &["bad.scenario:", "valid here", "hosts"]);
    let text = GOOD.replace("under current holds\n", "");
    assert_refused(text, &["bad.scenario:", "valid here", "under current"]);
}

#[test]
fn a_value_out_of_range_is_refused_with_the_range() {
    let text = GOOD.replace("rest\n", "slow b 5000\n");
    assert_refused(text, &["bad.scenario:7:8", "`5000`", "1 to 1000"]);
}

#[test]
fn a_file_that_is_empty_binary_or_huge_is_refused_with_a_place() {
    assert_refused("", &["bad.scenario:1:1", "valid here", "# Title"]);
    assert_refused([0x7f, b'E', b'L', b'F', 0, 0xff], &["bad.scenario:1:", "valid here"]);
    let huge = "# x\n".repeat(10 * (1 << 20) / 4);
    assert_refused(huge, &["bad.scenario:", "valid here"]);
}

#[test]
fn a_wrong_file_hides_nothing_that_the_others_show() {
    let bad = GOOD.replace("ask c", "askk c");
    let folder = folder(&[
        ("scenarios/a/bad.scenario", &bad),
        ("scenarios/a/good.scenario", GOOD),
        ("scenarios/b/crossed.scenario", CROSSED),
    ]);
    let ran = program(folder.path(), &["check", "--walks", "0"]);
    assert_eq!(ran.code, 2);
    let rows: Vec<Vec<&str>> = ran.stdout.lines().map(|line| line.split(' ').collect()).collect();
    let row = |name: &str| {
        let row = rows.iter().find(|row| row[0] == name).expect("each theme has a line");
        let cells = row[1..].iter().filter(|cell| !cell.is_empty()).copied();
        cells.take(5).collect::<Vec<&str>>()
    };
    assert_eq!(row("a"), ["2", "1", "1", "0", "1"], "{}", ran.stdout);
    assert_eq!(row("b"), ["1", "2", "1", "1", "0"], "{}", ran.stdout);
    assert_eq!(row("all"), ["3", "3", "2", "1", "1"], "{}", ran.stdout);
    assert_has(&ran.stdout, &["scenarios/a/bad.scenario:6:1 cannot be read", "`askk`"]);
    assert_has(&ran.stderr, &["scenarios/a/bad.scenario:6:1", "did you mean `ask`?"]);
}

#[test]
fn a_step_that_cannot_happen_is_stale() {
    let text = GOOD.replace("ask c\n", "deliver c -> record\n");
    let folder = folder(&[("x.scenario", &text)]);
    let ran = program(folder.path(), &["check", "x.scenario", "--walks", "0"]);
    assert_eq!(ran.code, 3, "{}", ran.stdout);
    let parts = [
        "x.scenario:6 under current\n  expected  `deliver c -> record` can happen\n",
        "replay x.scenario --protocol current\n",
    ];
    assert_has(&ran.stdout, &parts);
    let ran = program(folder.path(), &["replay", "x.scenario"]);
    assert_eq!(ran.code, 3);
    assert!(ran.stdout.ends_with("\nstale under current; a command cannot happen: line 6\n"));
}

#[test]
fn a_false_expectation_is_told_with_what_was_found() {
    let text = GOOD.replace("gate c open", "verdict v1 failed");
    let folder = folder(&[("x.scenario", &text)]);
    let ran = program(folder.path(), &["check", "x.scenario", "--walks", "0"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    let parts = [
        "x.scenario:8 under current\n  expected  verdict v1 failed\n  found     Approved(g1)\n",
        "replay x.scenario --protocol current\n",
    ];
    assert_has(&ran.stdout, &parts);
    let ran = program(folder.path(), &["replay", "x.scenario"]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.stdout.ends_with("\nholds, but an expectation is false: line 8\n"),
        "{}",
        ran.stdout
    );
    let summary = "x.scenario:8 under current: expected verdict v1 failed, found Approved(g1)\n";
    assert_eq!(ran.stderr, summary);
}

#[test]
fn an_ending_that_the_head_does_not_name_is_a_failure() {
    let text = CROSSED.replace("breaks NoWedge", "holds");
    let folder = folder(&[("x.scenario", &text)]);
    let ran = program(folder.path(), &["check", "x.scenario", "--walks", "0"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    let parts = [
        "x.scenario:11 under silent-stand-down\n  expected  holds\n  found     breaks NoWedge: ",
        "--protocol silent-stand-down\n",
    ];
    assert_has(&ran.stdout, &parts);
    let text = GOOD.replace("holds\n", "holds\nunder silent-stand-down breaks NoWedge\n");
    fs::write(folder.path().join("x.scenario"), text).expect("there is room");
    let ran = program(folder.path(), &["check", "x.scenario", "--walks", "0"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    let part =
        "x.scenario:4 under silent-stand-down\n  expected  breaks NoWedge\n  found     holds\n";
    assert_has(&ran.stdout, &[part]);
}

#[test]
fn of_several_failures_the_worst_decides_the_code() {
    let stale = GOOD.replace("ask c\n", "deliver c -> record\n");
    let wrong = GOOD.replace("gate c open", "verdict v1 failed");
    let bad = GOOD.replace("ask c", "askk c");
    let folder = folder(&[("wrong", &wrong), ("stale", &stale), ("bad", &bad), ("good", GOOD)]);
    let code = |files: &[&str]| program(folder.path(), &[&["replay"], files].concat()).code;
    assert_eq!(code(&["good"]), 0);
    assert_eq!(code(&["good", "wrong"]), 1);
    assert_eq!(code(&["wrong", "stale", "good"]), 3);
    assert_eq!(code(&["bad", "stale", "wrong"]), 2);
}

#[test]
fn a_wrong_protocol_that_breaks_what_its_header_names_is_as_expected() {
    let folder = folder(&[("x.scenario", CROSSED)]);
    let ran = program(folder.path(), &["replay", "x.scenario"]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    let (right, wrong) = ran.stdout.split_once("\n\n# A stand-down").expect("two stories");
    assert!(right.ends_with("\nholds"), "{right}");
    assert!(wrong.ends_with("\nbreaks NoWedge as expected\n"), "{wrong}");
    let arguments = ["replay", "x.scenario", "--protocol", "guarded-report"];
    let ran = program(folder.path(), &arguments);
    assert_eq!(ran.code, 0);
    assert!(ran.stdout.ends_with("; the head says nothing of guarded-report\n"));
}

#[test]
fn a_missing_file_or_folder_is_named_with_a_remedy() {
    let folder = folder(&[("empty/readme", "nothing here")]);
    let ran = program(folder.path(), &[]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert_has(&ran.stderr, &["no folder `scenarios` here", "handover-sim check PATH"]);
    let ran = program(folder.path(), &["check", "empty"]);
    assert_eq!(ran.code, 2);
    assert_has(&ran.stderr, &["empty: no file in or below this folder"]);
}

#[test]
fn a_path_that_is_not_there_ends_it_before_the_work_starts() {
    let folder = folder(&[("x.scenario", GOOD)]);
    for command in ["check", "replay"] {
        let ran = program(folder.path(), &[command, "nowhere", "x.scenario", "nowhere"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
        assert_eq!(ran.stderr.matches("nowhere").count(), 1, "{}", ran.stderr);
        assert_has(&ran.stderr, &["error: nowhere: "]);
    }
}

#[test]
fn a_mistake_in_the_arguments_is_refused_with_what_is_valid() {
    let folder = folder(&[("x.scenario", GOOD)]);
    for (arguments, part) in [
        (&["chekc"][..], "check"),
        (&["replay"], "PATH"),
        (&["replay", "x.scenario", "--protocol", "silent"], "silent-stand-down"),
        (&["replay", "x.scenario", "--as", "xml"], "text, json"),
        (&["check", "--walks", "many"], "invalid digit"),
        (&["check", "--walks", "-1"], "-1 is not in 0..="),
        (&["explore", "--late", "-1"], "-1 is not in 0..=255"),
        (&["explore", "--max-states", "0"], "0 is not in 1..="),
    ] {
        let ran = program(folder.path(), arguments);
        assert_eq!(ran.code, 2, "{arguments:?}");
        assert_has(&ran.stderr, &[part]);
    }
}

#[test]
fn a_check_of_the_workspace_is_as_expected_and_the_same_bytes_twice() {
    let out = folder(&[]);
    let path = |name: &str| out.path().join(name).display().to_string();
    let (first, second) = (path("1.xml"), path("2.xml"));
    let table = |junit: &str| program(&workspace(), &["check", "--walks", "20", "--junit", junit]);
    let ran = table(&first);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert_has(
        &ran.stdout,
        &["\nwalks     20 through ", "all properties hold\n", " 20 hold, 0 do not", "\ndigest    "],
    );
    assert_eq!(ran.stdout, table(&second).stdout);
    let report = |path| fs::read_to_string(path).expect("it was written");
    assert_eq!(report(&first), report(&second));
    let json = || program(&workspace(), &["check", "--walks", "20", "--json"]).stdout;
    assert_eq!(json(), json());
}

#[test]
fn the_digest_of_a_check_is_that_of_its_runs_and_walks_in_order() {
    let folder = folder(&[("a.scenario", GOOD), ("b.scenario", CROSSED)]);
    let digest = |arguments: &[&str]| {
        let ran = program(folder.path(), &[&["check", "--json"], arguments].concat());
        let json: Value = serde_json::from_str(&ran.stdout).expect("it is JSON");
        json["digest"].as_str().expect("it is text").to_owned()
    };
    let both = digest(&[".", "--walks", "0"]);
    assert_eq!(both.len(), 32);
    assert_eq!(digest(&["b.scenario", "a.scenario", "--walks", "0"]), both);
    assert_ne!(digest(&["a.scenario", "--walks", "0"]), both);
    assert_ne!(digest(&[".", "--walks", "1"]), both);
}

#[test]
fn check_as_json_counts_all_and_names_each_run() {
    let bad = GOOD.replace("ask c", "askk c");
    let wrong = GOOD.replace("gate c open", "verdict v1 failed");
    let folder = folder(&[
        ("scenarios/a/bad.scenario", &bad),
        ("scenarios/a/wrong.scenario", &wrong),
        ("scenarios/b/crossed.scenario", CROSSED),
    ]);
    let ran = program(folder.path(), &["check", "--json", "--walks", "2"]);
    assert_eq!(ran.code, 2);
    let json: Value = serde_json::from_str(&ran.stdout).expect("it is JSON");
    assert_eq!(json["exit"], 2);
    let totals = &json["totals"];
    let counts = ["files", "unreadable", "runs", "holds", "breaks_as_expected", "not_as_expected"];
    assert_eq!(counts.map(|key| totals[key].as_u64()), [3, 1, 3, 1, 1, 1].map(Some));
    assert_eq!(json["themes"][1]["theme"], "b");
    assert_eq!(json["unreadable"][0]["scenario"], "scenarios/a/bad.scenario");
    assert_eq!(json["unreadable"][0]["line"], 6);
    assert_eq!(json["runs"][0]["problems"][0]["line"], 8);
    assert_eq!(json["runs"][0]["as_expected"], false);
    let crossed = &json["runs"][2];
    assert_eq!(crossed["protocol"], "silent-stand-down");
    assert_eq!(crossed["property"], "NoWedge");
    assert_eq!(crossed["verdict"], "broken");
    assert_eq!(crossed["as_expected"], true);
    assert_eq!(json["walks"]["walks"], 2);
}

#[test]
fn replay_as_json_is_an_object_a_run_with_its_trace() {
    let folder = folder(&[("x.scenario", CROSSED)]);
    let ran = program(folder.path(), &["replay", "x.scenario", "--as", "json"]);
    let runs: Vec<Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("each line is JSON"))
        .collect();
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[0]["verdict"], "holds");
    assert_eq!(runs[0]["property"], Value::Null);
    assert_eq!(runs[1]["verdict"], "broken");
    assert_eq!(runs[1]["property"], "NoWedge");
    for run in &runs {
        assert_eq!(run["scenario"], "x.scenario");
        assert!(run["steps"].as_u64().expect("it is a number") > 0);
        assert_eq!(run["digest"].as_str().expect("it is text").len(), 32);
        let trace = run["trace"].as_array().expect("it is a list");
        let ask = trace.iter().find(|entry| entry["text"] == "ask b").expect("it was told");
        assert_eq!(ask["line"], 6);
        assert_eq!(ask["consequences"][0], "b  idle -> asking");
    }
    let command = runs[1]["replay"].as_str().expect("it is text");
    assert!(command.ends_with(" replay x.scenario --protocol silent-stand-down"), "{command}");
    let picture = &runs[1]["picture"];
    let names = picture["lanes"].as_array().expect("it is a list").iter();
    let names: Vec<&Value> = names.map(|lane| &lane["name"]).collect();
    assert_eq!(names, ["store", "record", "b", "c"]);
    let list = |key: &str| picture[key].as_array().expect("it is a list").iter();
    let crossing = list("arrows").find(|arrow| arrow["says"] == "offer g1");
    let crossing = crossing.expect("the offer is on its way");
    assert_eq!((&crossing["kind"], &crossing["to"]), (&json!("view"), &json!(2)));
    let offer = list("bars").find(|bar| bar["kind"] == "offer").expect("the job is offered");
    assert_eq!((&offer["lane"], &offer["what"]), (&json!(1), &json!("b g1")));
    let tones: Vec<&Value> = list("marks").map(|mark| &mark["tone"]).collect();
    assert_eq!(tones, ["lost", "broken"]);
    let as_option = program(folder.path(), &["replay", "x.scenario", "--json"]);
    assert_eq!(as_option.stdout, ran.stdout);
}

#[test]
fn the_junit_report_has_a_suite_a_theme_and_a_case_a_file_and_protocol() {
    let stale = GOOD.replace("ask c\n", "deliver c -> record\n");
    let wrong = GOOD.replace("gate c open", "verdict v1 failed");
    let folder = folder(&[
        ("s/a/stale.scenario", &stale),
        ("s/a/wrong.scenario", &wrong),
        ("s/b/crossed.scenario", CROSSED),
    ]);
    let arguments = ["check", "s", "--junit", "report.xml", "--walks", "0"];
    let ran = program(folder.path(), &arguments);
    assert_eq!(ran.code, 3);
    let report = fs::read_to_string(folder.path().join("report.xml")).expect("it was written");
    let parts = [
        "tests=\"4\" skipped=\"0\" failures=\"1\" errors=\"1\" time=\"0.000\"",
        "<testsuite name=\"a\" tests=\"2\"",
        "<testsuite name=\"b\" tests=\"2\"",
        "name=\"s/b/crossed.scenario under silent-stand-down\" classname=\"b\" time=\"0.000\"/>",
        "message=\"s/a/wrong.scenario:8 under current\"",
        "type=\"stale\"",
        "replay s/a/wrong.scenario --protocol current",
        "replay s/a/stale.scenario --protocol current",
    ];
    assert_has(&report, &parts);
}

#[test]
fn a_wrong_protocol_that_omits_a_command_does_not_plainly_hold() {
    let text = CROSSED
        .replace("breaks NoWedge", "holds")
        .replace("stand-down b\n", "stand-down b\ndeliver b -> record\ndeliver b -> record\n");
    let text = text.replace("under current holds\n", "under current breaks NoWedge\n");
    let folder = folder(&[("x.scenario", &text)]);
    let arguments = ["replay", "x.scenario", "--protocol", "silent-stand-down"];
    let ran = program(folder.path(), &arguments);
    let last = ran.stdout.lines().next_back().expect("it says something");
    assert_eq!(last, "breaks NoWedge, expected holds; commands cannot happen: lines 11, 12");
}

#[test]
fn the_options_of_check_need_no_command_and_stand_before_no_other() {
    let folder = folder(&[("scenarios/x.scenario", GOOD)]);
    let ran = program(folder.path(), &["--walks", "0"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(ran.stdout, program(folder.path(), &["check", "--walks", "0"]).stdout);
    let ran = program(folder.path(), &["--walks", "0", "replay", "scenarios"]);
    assert_eq!(ran.code, 2);
    assert_has(&ran.stderr, &["options stand behind the command"]);
}

#[test]
fn without_a_terminal_the_walks_tell_by_count_how_far_they_have_come() {
    let folder = folder(&[("x.scenario", GOOD)]);
    let ran = program(folder.path(), &["check", "x.scenario", "--walks", "200"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, "walks  100 of 200\nwalks  200 of 200\n"));
    let ran = program(folder.path(), &["check", "x.scenario"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_has(&ran.stdout, &["\nwalks     none\n"]);
}

#[test]
fn the_reference_of_the_language_is_what_the_program_prints() {
    let ran = program(&workspace(), &["vocabulary"]);
    assert_eq!(ran.code, 0);
    let readme = fs::read_to_string(workspace().join("scenarios/README.md"));
    let readme = readme.expect("the reference is part of the project").replace("\r\n", "\n");
    let marker = "<!-- Below: what `handover-sim vocabulary` prints. -->\n\n";
    let (_, reference) = readme.split_once(marker).expect("the marker is there");
    assert_eq!(reference, ran.stdout, "print the part below the marker anew");
    let ran = program(&workspace(), &["vocabulary", "--json"]);
    let json: Value = serde_json::from_str(&ran.stdout).expect("it is JSON");
    assert_eq!(json["verbs"][0]["form"].as_str().map(|form| &form[..3]), Some("ask"));
}

#[test]
fn a_view_that_was_never_published_is_not_repeated() {
    let text = "\
# A view is repeated before there is one
hosts b:v1
under current holds

ask b
stall record
deliver b -> record
repeat record -> b
";
    let folder = folder(&[("x.scenario", text)]);
    let ran = program(folder.path(), &["replay", "x.scenario"]);
    assert_eq!(ran.code, 3);
    assert_has(&ran.stdout, &["cannot happen: nothing was ever published for it"]);
}

#[test]
fn what_an_expectation_found_is_told_in_words() {
    for (fact, found) in
        [("builders 2", "nobody builds"), ("build b x1 pending", "the ledger does not know it")]
    {
        let folder = folder(&[("x.scenario", &GOOD.replace("gate c open", fact))]);
        let ran = program(folder.path(), &["replay", "x.scenario"]);
        assert_eq!(ran.code, 1);
        assert_has(&ran.stdout, &[&format!("    NO: {found}\n")]);
    }
}

#[test]
fn control_characters_of_a_file_reach_no_terminal() {
    let text = GOOD.replace("of a version", "of a \u{1b}[31mversion");
    let text = text.replace("rest\n", "# a\u{7}b\nrest # c\u{1b}d\nfail b e\u{1b}f\n");
    let text = text.replace("gate c open", "verdict v1 failed");
    let folder = folder(&[("x.scenario", &text)]);
    for arguments in [&["replay", "x.scenario"][..], &["-vvv", "check", "x.scenario"]] {
        let ran = program(folder.path(), arguments);
        let told = [ran.stdout.as_str(), &ran.stderr].concat();
        let control = told.chars().find(|c| c.is_control() && *c != '\n');
        assert_eq!(control, None, "{told}");
    }
    let ran = program(folder.path(), &["replay", "x.scenario"]);
    assert_has(&ran.stdout, &["# Two hosts of a \\u{1b}[31mversion\n", "# c\\u{1b}d\n"]);
}

#[cfg(target_os = "linux")]
#[test]
fn what_is_no_regular_file_is_refused_and_not_waited_for() {
    let folder = folder(&[("good.scenario", GOOD)]);
    std::os::unix::fs::symlink("/dev/zero", folder.path().join("x.scenario")).expect("it is new");
    for arguments in [&["check", "."][..], &["replay", "x.scenario"]] {
        let ran = program(folder.path(), arguments);
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert_has(&ran.stderr, &["x.scenario: this is no regular file"]);
    }
}
