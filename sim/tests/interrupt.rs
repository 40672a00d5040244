//! Ctrl-C: what was seen is reported, and what was not is unknown.
#![cfg(unix)]

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Ends the program also where the test fails.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended already where all is well.
        let _ = self.0.kill();
    }
}

/// What the program says on stdout and stderr where it is interrupted after its first line.
fn interrupted(arguments: &[&str], first: &str) -> (String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_handover-sim"));
    command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = Running(command.spawn().expect("the program can be started"));
    let mut stderr = BufReader::new(running.0.stderr.take().expect("it is piped"));
    let mut line = String::new();
    // From its first line on it listens.
    stderr.read_line(&mut line).expect("it says how far it has come");
    assert!(line.contains(first), "{line}");
    let id = i32::try_from(running.0.id()).expect("ids are small");
    kill(Pid::from_raw(id), Signal::SIGINT).expect("it runs");
    let (mut out, mut rest) = (String::new(), String::new());
    stderr.read_to_string(&mut rest).expect("it says text");
    let mut stdout = running.0.stdout.take().expect("it is piped");
    stdout.read_to_string(&mut out).expect("it says text");
    let status = running.0.wait().expect("it ends");
    assert_eq!(status.code(), Some(4), "{rest}");
    assert!(rest.contains("interrupted: what was found so far is reported"), "{rest}");
    (out, rest)
}

#[test]
fn an_interrupted_exploration_reports_what_it_has_seen_and_ends_with_4() {
    // More than anybody could wait for.
    let endless =
        ["explore", "--hosts", "4", "--versions", "2", "--faults", "crash=3,gone=3,reask=3"];
    let (out, _) = interrupted(&endless, " states/s ");
    assert_eq!(out.matches(" unknown\n").count(), 18, "{out}");
    assert!(out.contains("the search ended early, by Ctrl-C: "), "{out}");
}

#[test]
fn an_interrupted_check_reports_its_scenarios_and_the_walks_so_far_and_ends_with_4() {
    let endless = ["check", "scenarios/store", "--walks", "5000"];
    let (out, _) = interrupted(&endless, "walks  500 of ");
    assert!(out.contains("\nall "), "{out}");
    assert!(out.contains("interrupted: the walks that are left were not walked"), "{out}");
}
