//! `handover-sim judge` as others use it: what it prints where, and the code with which it ends.

mod journals;
mod run;

use std::fs;
use std::path::Path;

use journals::{files, folder, lines, long_journal, rollout, text};
use run::{Ran, program};
use serde_json::Value;

fn judge(folder: &Path, arguments: &[&str]) -> Ran {
    program(folder, &[&["judge"], arguments].concat())
}

fn names(folder: &Path) -> Vec<String> {
    let name = |path: &std::path::PathBuf| path.file_name()?.to_str().map(str::to_owned);
    files(folder).iter().filter_map(name).collect()
}

fn write(folder: &Path, name: &str, text: impl AsRef<[u8]>) {
    fs::write(folder.join(name), text).expect("there is room");
}

#[test]
fn whole_journals_hold_with_code_0_in_any_order_and_doubled() {
    let folder = folder();
    rollout(folder.path(), 3, 7);
    let names = names(folder.path());
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let ran = judge(folder.path(), &names);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    assert!(ran.stdout.starts_with("holds: record 00000000000000000000000000000007, 4 processes"));
    let mut backwards: Vec<&str> = names.iter().rev().copied().collect();
    backwards.extend(&names);
    assert_eq!(judge(folder.path(), &backwards).stdout, ran.stdout);
    let json = judge(folder.path(), &[&["--json"], names.as_slice()].concat());
    let json: Value = serde_json::from_str(&json.stdout).expect("it is JSON");
    assert_eq!(json["verdict"], "holds");
}

#[test]
fn a_forged_line_is_broken_with_code_1_and_its_place() {
    let folder = folder();
    rollout(folder.path(), 3, 7);
    let mut lines = lines(folder.path());
    let at = lines.iter().position(|line| line.contains("\"verdict\":null"));
    let at = at.expect("somebody has read a view without a verdict");
    let approved =
        "\"verdict\":{\"ruling\":\"Approved\",\"grant\":1,\"host\":\"c.1\",\"signed_off\":{}}";
    lines[at] = lines[at].replacen("\"verdict\":null", approved, 1);
    write(folder.path(), "forged", text(&lines));
    let ran = judge(folder.path(), &["forged"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.stdout.starts_with("broken: "), "{}", ran.stdout);
    assert!(ran.stdout.contains(&format!("\n  forged:{}: ", at + 1)), "{}", ran.stdout);
}

#[test]
fn what_is_missing_is_unknown_with_code_4() {
    let folder = folder();
    rollout(folder.path(), 3, 7);
    let lines = lines(folder.path());
    write(folder.path(), "some", text(&lines[1..]));
    let ran = judge(folder.path(), &["some"]);
    assert_eq!(ran.code, 4, "{}", ran.stdout);
    assert!(
        ran.stdout.contains("\n  missing: lines 0 to 0 of a.2 are in no file\n"),
        "{}",
        ran.stdout
    );
    write(folder.path(), "none", "");
    let ran = judge(folder.path(), &["none"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (4, "unknown: no line\n"));
}

#[test]
fn a_corrupt_line_and_a_file_that_is_not_there_are_refused_with_code_2() {
    let folder = folder();
    rollout(folder.path(), 3, 7);
    let lines = lines(folder.path());
    let corrupt = format!("{}\n{}\n{}\n", lines[0], &lines[1][..40], lines[2]);
    write(folder.path(), "corrupt", corrupt);
    let ran = judge(folder.path(), &["corrupt"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
    assert!(ran.stderr.starts_with("error: corrupt:2: no line of a journal: "), "{}", ran.stderr);
    let ran = judge(folder.path(), &["nowhere"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.starts_with("error: nowhere: "), "{}", ran.stderr);
    let folded = judge(folder.path(), &["."]);
    assert_eq!((folded.code, folded.stdout.as_str()), (2, ""));
    assert_eq!(folded.stderr, "error: . is a folder: name the journals in it\n");
    let stdin = judge(folder.path(), &["-"]);
    assert_eq!(stdin.code, 2);
    assert!(stdin.stderr.ends_with("help: stdin is not read; name a file\n"), "{}", stdin.stderr);
    // A number near its end is no line of ours either, or what it says is broken.
    let huge = lines[0].replacen("\"number\":0", &format!("\"number\":{}", u128::MAX), 1);
    write(folder.path(), "huge", format!("{huge}\n"));
    assert_eq!(judge(folder.path(), &["huge"]).code, 2);
}

#[test]
fn a_last_line_that_was_cut_short_is_said_and_no_error() {
    let folder = folder();
    rollout(folder.path(), 3, 7);
    let names = names(folder.path());
    let last = names.iter().find(|name| name.as_str() == "b.journal").expect("b has written one");
    let whole = fs::read(folder.path().join(last)).expect("it is there");
    write(folder.path(), last, &whole[..whole.len() - 9]);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let ran = judge(folder.path(), &names);
    assert!([0, 4].contains(&ran.code), "{}", ran.stdout);
    assert!(ran.stdout.ends_with("b.journal: its last line is cut short\n"), "{}", ran.stdout);
    assert_eq!(ran.stderr, "");
}

#[test]
fn two_hundred_thousand_lines_are_judged() {
    let folder = folder();
    write(folder.path(), "long", long_journal(200_000));
    let ran = judge(folder.path(), &["long", "--json"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    let json: Value = serde_json::from_str(&ran.stdout).expect("it is JSON");
    assert!(json["lines"].as_u64() >= Some(200_000), "{}", ran.stdout);
    assert!(json["records"][0]["commits"].as_u64() >= Some(49_000), "{}", ran.stdout);
}
