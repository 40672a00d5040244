//! The command `swarm`: exit codes, bytes, shards that are put together, outputs that fail.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn swarm(arguments: &[&str], out: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_handover-sim"));
    command.arg("swarm").args(arguments).arg("--out").arg(out);
    command.output().expect("the program starts")
}

fn merge(files: &[&Path], json: bool) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_handover-sim"));
    command.arg("swarm").args(json.then_some("--json")).arg("--merge").args(files);
    command.output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("it prints text")
}

const BROKEN: [&str; 4] = ["--seeds", "0..24", "--protocol", "silent-stand-down"];

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("there is room for a folder")
}

#[test]
fn a_clean_run_says_what_it_is_worth() {
    let out = folder();
    let run = swarm(&["--seeds", "0..24", "--hosts", "5"], out.path());
    let printed = text(&run.stdout);
    assert_eq!(run.status.code(), Some(0), "{printed}");
    for line in ["24: 24 hold, 0 do not", "departures from calm", "with 99 %", "chance of"] {
        assert!(printed.contains(line), "no `{line}` in\n{printed}");
    }
    assert_eq!(fs::read_dir(out.path()).map(Iterator::count).ok(), Some(0));
}

#[test]
fn the_bytes_do_not_depend_on_the_number_of_threads() {
    let out = folder();
    let run = |jobs: &str, form: &[&str]| {
        let run = swarm(&[&BROKEN[..], &["--jobs", jobs], form].concat(), out.path());
        assert_eq!(run.status.code(), Some(0), "a wrong protocol breaks what it names");
        run.stdout
    };
    assert_eq!(run("1", &["--json"]), run("3", &["--json"]));
    assert_eq!(text(&run("1", &[])), text(&run("3", &[])));
}

#[test]
fn each_group_is_replayed_by_the_command_that_is_printed() {
    let out = folder();
    let run = swarm(&BROKEN, out.path());
    let printed = text(&run.stdout);
    let commands: Vec<&str> =
        printed.lines().filter_map(|line| line.strip_prefix("replay      ")).collect();
    assert!(!commands.is_empty(), "{printed}");
    for command in commands {
        let words: Vec<&str> = command.split(' ').collect();
        let [program, arguments @ ..] = words.as_slice() else {
            panic!("{command}");
        };
        let replay = Command::new(program).args(arguments).output().expect("it starts");
        assert_eq!(replay.status.code(), Some(0), "{command}");
        let told = text(&replay.stdout);
        assert!(told.contains("breaks NoWedge as expected"), "{command}\n{told}");
    }
}

#[test]
fn an_explanation_in_json_has_its_departures_its_scenario_and_its_command() {
    let out = folder();
    let run = swarm(&[&BROKEN[..], &["--json"]].concat(), out.path());
    let json: Value = serde_json::from_slice(&run.stdout).expect("it is JSON");
    let failures = json["failures"].as_array().expect("it is a list");
    assert!(!failures.is_empty());
    for failure in failures {
        let text = |key: &str| failure[key].as_str().unwrap_or_else(|| panic!("{key}: {failure}"));
        assert!(Path::new(text("scenario")).exists());
        assert!(text("replay").contains(text("scenario")), "{failure}");
        assert_eq!(failure["explanation"]["class"], "liveness");
        assert!(failure["explanation"]["departures"][0]["words"].is_string(), "{failure}");
        assert!(failure["explanation"]["no_return"]["evidence"].is_object(), "{failure}");
    }
}

#[test]
fn what_is_told_at_length_is_asked_for_and_what_is_left_out_is_said() {
    let out = folder();
    let printed = |explain: &str| {
        text(&swarm(&[&BROKEN[..], &["--explain", explain]].concat(), out.path()).stdout)
    };
    let all = printed("100");
    let groups = all.matches("schedules break").count();
    assert!(groups > 1 && !all.contains("more group"), "{all}");
    let one = printed("1");
    assert_eq!(one.matches("schedules break").count(), 1, "{one}");
    let rest = format!("{} more group", groups - 1);
    assert!(one.contains(&rest) && one.contains(&format!("`--explain {groups}`")), "{one}");
}

#[test]
fn shards_merge_to_the_bytes_of_the_whole() {
    let out = folder();
    let whole = swarm(&[&BROKEN[..], &["--json"]].concat(), out.path());
    let shards = ["1/3", "2/3", "3/3"].map(|shard| {
        let run = swarm(&[&BROKEN[..], &["--json", "--shard", shard]].concat(), out.path());
        let path = out.path().join(shard.replace('/', "-"));
        fs::write(&path, run.stdout).expect("there is room");
        path
    });
    let [one, two, three] = shards.each_ref().map(std::path::PathBuf::as_path);
    let merged = merge(&[three, one, two], true);
    assert_eq!(text(&merged.stdout), text(&whole.stdout));
    assert_eq!(merged.status.code(), whole.status.code());
    let table = merge(&[one, two, three], false);
    assert!(text(&table.stdout).starts_with("swarm        seeds 0..24 by mix"));
    let printed = swarm(&BROKEN, out.path());
    assert_eq!(text(&table.stdout), text(&printed.stdout));
}

#[test]
fn what_is_not_of_one_swarm_is_refused_with_the_difference() {
    let out = folder();
    let shard = |name: &str, arguments: &[&str]| {
        let all = [&["--json", "--hosts", "2", "--seeds", "0..4"], arguments].concat();
        let path = out.path().join(name);
        fs::write(&path, swarm(&all, out.path()).stdout).expect("there is room");
        path
    };
    let one = shard("one", &["--shard", "1/2"]);
    let two = shard("two", &["--shard", "2/2"]);
    let pct = shard("pct", &["--shard", "2/2", "--strategy", "pct"]);
    let third = shard("third", &["--shard", "2/3"]);
    let chunks = shard("chunks", &["--shard", "2/2", "--chunks", "1"]);
    let scrap = out.path().join("scrap");
    fs::write(&scrap, "{\"exit\": 0,\n \"colour\": 1}").expect("there is room");
    let refused = |files: &[&Path], why: &str| {
        let merged = merge(files, false);
        let said = text(&merged.stderr);
        assert_eq!(merged.status.code(), Some(2), "{said}");
        assert!(said.contains(why), "no `{why}` in\n{said}");
    };
    refused(&[&one, &pct], "the strategy is mix in one and pct=3 in the other");
    refused(&[&one, &third], "the number of shards is 2 in one and 3 in the other");
    refused(&[&one, &chunks], "the settings");
    refused(&[&one], "shard 2/2 is missing");
    refused(&[out.path()], "this is no regular file");
    let damaged = |from: &str, to: &str| {
        let whole = fs::read_to_string(&two).expect("it was written");
        assert!(whole.contains(from), "no `{from}` in\n{whole}");
        let path = out.path().join("damaged");
        fs::write(&path, whole.replacen(from, to, 1)).expect("there is room");
        path
    };
    refused(&[&one, &damaged("\"broken\": 0", "\"broken\": 5")], "damaged: ");
    refused(&[&one, &damaged("\"verdict\": \"holds\"", "\"verdict\": \"broken\"")], "damaged: ");
    refused(
        &[&one, &damaged("\"schedules\": 2", "\"schedules\": 18446744073709551615")],
        "do not agree",
    );
    refused(&[&one, &damaged("\"transitions\": ", "\"transitions\": 99999999999")], "do not agree");
    refused(&[&one, &two, &two], "are both of shard 2/2");
    refused(&[&one, &scrap], "scrap:2:");
    refused(&[&one, &out.path().join("nowhere")], "nowhere");
    assert_eq!(merge(&[&one, &two], false).status.code(), Some(0));
}

#[test]
fn what_stays_unknown_is_said_with_the_reason() {
    let out = folder();
    let unknown = |arguments: &[&str], why: &str| {
        let ran = swarm(arguments, out.path());
        assert_eq!(ran.status.code(), Some(4));
        assert!(text(&ran.stdout).contains(why), "no `{why}` in\n{}", text(&ran.stdout));
    };
    unknown(&["--seeds", "0..2", "--shard", "3/3"], "no schedule was run");
    let wrong = ["--seeds", "0..1", "--hosts", "1", "--protocol", "view-goes-back"];
    unknown(&wrong, "none of these schedules breaks NoWedge");
}

#[test]
fn odd_arguments_are_refused_with_what_would_be_right() {
    let out = folder();
    for (arguments, why) in [
        (&["--seeds", "9..3"][..], "B is excluded, and has to be above A"),
        (&["--seeds", "7"], "write A..B, with B excluded, as in 0..1000"),
        (&["--budget", "60"], "60s, 5m, 2h"),
        (&["--shard", "3/2"], "I from 1 to N"),
        (&["--strategy", "dfs"], "there are mix, random"),
        (&["--faults", "crush=1"], "(did you mean `crash`?); there are all, delay"),
        (&["--hosts", "0"], "1..=1000"),
        (&["--hosts", "-1"], "-1 is not in 1..=1000"),
        (&["--explain", "-1"], "-1 is not in 0..="),
        (&["--jobs", "0"], "1..=512"),
        (&["--merge", "x", "--seeds", "0..3"], "cannot be used with"),
    ] {
        let run = swarm(arguments, out.path());
        let said = text(&run.stderr);
        assert_eq!(run.status.code(), Some(2), "{said}");
        assert!(said.contains(why), "no `{why}` in\n{said}");
    }
}

#[test]
fn a_budget_bounds_the_seeds_and_says_which_were_run() {
    let out = folder();
    let run = swarm(&["--budget", "1s", "--hosts", "3"], out.path());
    assert_eq!(run.status.code(), Some(0));
    let printed = text(&run.stdout);
    let seeds = printed
        .strip_prefix("swarm        seeds 0..")
        .and_then(|rest| rest.split_once(' ').and_then(|(seeds, _)| seeds.parse::<u64>().ok()));
    let seeds = seeds.expect("it says which");
    assert!(printed.contains(&format!("schedules    {seeds}: ")), "{printed}");
}

#[cfg(unix)]
#[test]
fn what_cannot_be_written_is_said_and_what_was_found_is_still_told() {
    let out = folder();
    let run = swarm(&BROKEN, out.path());
    let files: Vec<_> = fs::read_dir(out.path()).expect("it is there").flatten().collect();
    assert!(!files.is_empty());
    // A folder in the place of each file: nothing can be written there, whoever runs this.
    for file in &files {
        fs::remove_file(file.path())
            .and_then(|()| fs::create_dir(file.path()))
            .expect("it is ours");
    }
    let again = swarm(&BROKEN, out.path());
    assert_eq!(again.status.code(), Some(2));
    let said = text(&again.stderr);
    assert!(said.contains("cannot be written") && said.contains("this is the scenario:"), "{said}");
    let told = |run: &Output| {
        text(&run.stdout)
            .lines()
            .filter(|line| !line.starts_with("replay") && !line.starts_with("no file"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(told(&again), told(&run));
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_is_full_costs_the_files_and_nothing_that_was_found() {
    let out = folder();
    let run = swarm(&BROKEN, out.path());
    let files: Vec<_> = fs::read_dir(out.path()).expect("it is there").flatten().collect();
    assert!(!files.is_empty());
    // Each name leads to a device on which there is no room.
    for file in &files {
        fs::remove_file(file.path())
            .and_then(|()| std::os::unix::fs::symlink("/dev/full", file.path()))
            .expect("it is ours");
    }
    let again = swarm(&BROKEN, out.path());
    assert_eq!(again.status.code(), Some(2));
    let said = text(&again.stderr);
    assert!(said.contains("No space left") && said.contains("this is the scenario:"), "{said}");
    let printed = text(&again.stdout);
    assert!(printed.contains("schedules break NoWedge by `"), "{printed}");
    assert!(printed.contains("no return   step "), "{printed}");
    let groups = |run: &Output| text(&run.stdout).matches("schedules break").count();
    assert_eq!(groups(&again), groups(&run));
}

#[test]
fn a_folder_below_a_file_is_refused_before_the_work() {
    let out = folder();
    let file = out.path().join("file");
    fs::write(&file, "kept").expect("there is room");
    for below in [file.clone(), file.join("below")] {
        let run = swarm(&BROKEN, &below);
        assert_eq!(run.status.code(), Some(2));
        assert!(run.stdout.is_empty() && text(&run.stderr).contains("cannot be written"));
    }
    assert_eq!(fs::read_to_string(&file).ok().as_deref(), Some("kept"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_stdout_is_said() {
    let out = folder();
    let full = fs::File::options().write(true).open("/dev/full").expect("Linux has it");
    let run = Command::new(env!("CARGO_BIN_EXE_handover-sim"))
        .args(["swarm", "--seeds", "0..2", "--hosts", "2", "--out"])
        .arg(out.path())
        .stdout(full)
        .output()
        .expect("the program starts");
    assert_eq!(run.status.code(), Some(2));
    assert!(text(&run.stderr).contains("stdout cannot be written"));
}
