//! Outputs that cannot be written, or must not be: what was found is told, and nothing is lost.

mod run;

use std::process::Stdio;
use std::{fs, io};

use run::{GOOD, assert_has, command, folder, program, ran};

#[test]
fn an_output_is_written_only_where_it_can_be_and_asked_before_the_work_starts() {
    let folder = folder(&[("x.scenario", GOOD)]);
    for arguments in [
        &["check", "x.scenario", "--junit", "no/where.txt"][..],
        &["check", "x.scenario", "--out", "x.scenario"],
        &["check", "x.scenario", "--out", "x.scenario/below"],
        &["check", "x.scenario", "--junit", "."],
        &["swarm", "--seeds=0..1", "--out", "x.scenario/below"],
        &["explore", "--chunks=0", "-o", "no/where.txt"],
        &["explore", "--chunks=0", "-o", "."],
        &["replay", "x.scenario", "-o", "no/where.txt"],
    ] {
        let ran = program(folder.path(), arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{arguments:?}");
        let part = format!("error: {} cannot be written: ", arguments[3]);
        assert_has(&ran.stderr, &[&part]);
    }
    let ran = program(folder.path(), &["replay", "x.scenario", "-o", "no/where.txt"]);
    assert_has(&ran.stderr, &["help: make its folder first, or name one that is there"]);
    let ran = program(folder.path(), &["replay", "x.scenario", "-o", "trace.txt"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    let trace = fs::read_to_string(folder.path().join("trace.txt")).expect("it was written");
    assert_eq!(trace, program(folder.path(), &["replay", "x.scenario"]).stdout);
}

#[test]
fn a_folder_for_what_is_found_is_made_before_the_work_starts() {
    let folder = folder(&[("x.scenario", GOOD)]);
    for arguments in [
        &["check", "x.scenario", "--out", "made/by/check"][..],
        &["swarm", "--seeds=0..1", "--out", "made/by/swarm"],
        &["swarm", "--seeds=0..1", "--out", "made/by/swarm"],
    ] {
        let ran = program(folder.path(), arguments);
        assert_eq!(ran.code, 0, "{arguments:?}: {}", ran.stderr);
        let made = folder.path().join(arguments[3]).read_dir().expect("it was made");
        assert_eq!(made.count(), 0, "a question leaves no file");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_output_that_fills_up_is_reported_and_the_results_still_told() {
    let folder = folder(&[("x.scenario", GOOD)]);
    let ran = program(folder.path(), &["check", "x.scenario", "--junit", "/dev/full"]);
    assert_eq!(ran.code, 2);
    assert_has(&ran.stderr, &["error: /dev/full cannot be written"]);
    assert_has(&ran.stdout, &["\nall "]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_counterexample_that_cannot_be_written_is_still_told() {
    let folder = folder(&[]);
    let wrong = ["--protocol", "silent-stand-down", "--faults", "reask=1", "-o", "/dev/full"];
    let ran = program(folder.path(), &[&["explore", "--chunks", "0"], &wrong[..]].concat());
    assert_eq!(ran.code, 2);
    assert_has(&ran.stderr, &["error: /dev/full cannot be written", "this is the scenario:"]);
    assert_has(&ran.stdout, &["NoWedge          broken in 3 steps", "\nbroken  NoWedge: "]);
}

#[test]
fn an_output_destroys_neither_an_input_nor_what_it_cannot_replace() {
    let folder = folder(&[("a/x.scenario", GOOD), ("keep", "kept")]);
    let text = |name: &str| fs::read_to_string(folder.path().join(name)).expect("it is there");
    for arguments in [
        &["replay", "a/x.scenario", "-o", "./a/x.scenario"][..],
        &["replay", "a", "-o", "a/x.scenario"],
        &["check", "a", "--junit", "a/../a/x.scenario"],
    ] {
        let ran = program(folder.path(), arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{arguments:?}");
        assert_has(&ran.stderr, &["error: ", "cannot be its output"]);
        assert_eq!(text("a/x.scenario"), GOOD);
    }
    fs::write(folder.path().join("bad"), "no scenario").expect("there is room");
    for arguments in [
        &["replay", "nosuch", "-o", "keep"][..],
        &["replay", "bad", "-o", "keep"],
        &["check", "nosuch", "--junit", "keep"],
        &["check", "a", "--out", "keep", "--junit", "keep"],
    ] {
        assert_eq!(program(folder.path(), arguments).code, 2, "{arguments:?}");
        assert_eq!(text("keep"), "kept", "{arguments:?}");
    }
    let arguments = ["check", "a", "--out", "keep", "--junit", "new"];
    assert_eq!(program(folder.path(), &arguments).code, 2);
    assert!(!folder.path().join("new").exists(), "a question leaves no file");
}

#[test]
fn a_reader_that_closes_stdout_is_no_failure() {
    let folder = folder(&[("x.scenario", GOOD)]);
    for arguments in
        [&["vocabulary"][..], &["check", "x.scenario", "--walks", "0"], &["replay", "x.scenario"]]
    {
        let (reader, writer) = io::pipe().expect("there is room for a pipe");
        drop(reader);
        let mut command = command(folder.path(), arguments);
        let command = command.stdout(writer).stderr(Stdio::piped());
        let ran = ran(command.output().expect("it starts"));
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{arguments:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_stderr_that_takes_nothing_changes_no_exit_code() {
    let folder = folder(&[("x.scenario", GOOD)]);
    for arguments in [&["-vvv", "check", "x.scenario"][..], &["-v", "replay", "x.scenario"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
        let (reader, gone) = io::pipe().expect("there is room for a pipe");
        drop(reader);
        for stderr in [Stdio::from(full), Stdio::from(gone)] {
            let mut command = command(folder.path(), arguments);
            let ran = ran(command.stderr(stderr).output().expect("it starts"));
            assert_eq!(ran.code, 0, "{arguments:?}");
        }
    }
}
