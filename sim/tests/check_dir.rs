//! The one call with which other projects check their scenarios.

use std::fs;
use std::path::Path;

use handover_sim::suite::Judgement;
use handover_sim::{SuiteFailed, check_dir};
use tempfile::TempDir;

const GOOD: &str = "\
# Two hosts of a version
hosts b:v1 c:v1
under current holds

ask b
ask c
rest
expect gate c open
";

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("there is room");
    }
    folder
}

fn failed(path: &Path) -> SuiteFailed {
    check_dir(path).expect_err("something is not as the files say")
}

#[test]
fn the_scenarios_of_this_project_end_as_they_say() -> Result<(), SuiteFailed> {
    let report = check_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../scenarios"))?;
    assert!(report.judged().count() > report.files.len(), "some have two protocols");
    Ok(())
}

#[test]
fn what_is_as_expected_is_told_in_a_line() {
    let folder = folder(&[("a.scenario", GOOD), ("b.scenario", GOOD), ("notes.txt", "no")]);
    let report = check_dir(folder.path()).expect("both files are good");
    assert_eq!(report.to_string(), "2 files, 2 runs, all as expected");
}

#[test]
fn a_failure_names_file_line_what_was_found_and_how_to_replay_it() {
    let wrong = GOOD.replace("gate c open", "verdict v1 failed");
    let folder = folder(&[("a.scenario", GOOD), ("wrong.scenario", &wrong)]);
    let failed = failed(folder.path());
    let path = folder.path().join("wrong.scenario").display().to_string();
    let text = failed.to_string();
    let parts = [
        "2 files, 2 runs, 1 not as expected\n".to_owned(),
        format!("{path}:8 under current\n  expected  verdict v1 failed\n  found     "),
        format!("handover-sim replay {path} --protocol current"),
    ];
    for part in parts {
        assert!(text.contains(&part), "`{part}` is not in:\n{text}");
    }
    assert_eq!(format!("{failed:?}"), text, "what `?` in a test prints");
    assert_eq!(failed.0.judgement(), Judgement::NotAsExpected);
}

#[test]
fn a_mistake_in_a_file_is_shown_with_its_line() {
    let bad = GOOD.replace("ask c", "askk c");
    let folder = folder(&[("bad.scenario", &bad), ("good.scenario", GOOD)]);
    let failed = failed(folder.path());
    let text = failed.to_string();
    for part in ["bad.scenario:6:1", "askk c", "did you mean `ask`?"] {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
    assert_eq!(failed.0.judgement(), Judgement::Unreadable);
    assert_eq!(failed.0.judged().count(), 1, "the other file is run all the same");
}

#[test]
fn a_folder_that_is_missing_or_holds_no_scenario_is_a_failure() {
    let folder = folder(&[("notes.txt", "no")]);
    for path in [folder.path().join("nowhere"), folder.path().to_owned()] {
        let failed = failed(&path);
        assert_eq!(failed.0.judgement(), Judgement::Unreadable);
        assert!(failed.to_string().contains(&path.display().to_string()));
    }
}
