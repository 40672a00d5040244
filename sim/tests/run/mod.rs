//! The program, run by a test.
#![allow(dead_code, reason = "each test target uses a part")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// A scenario that holds.
pub(crate) const GOOD: &str = "\
# Two hosts of a version
hosts b:v1 c:v1
under current holds

ask b
ask c
rest
expect gate c open
";

/// What it has printed where, and its exit code.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

pub(crate) fn ran(output: Output) -> Ran {
    let text = |bytes| String::from_utf8(bytes).expect("the program prints text");
    Ran {
        code: output.status.code().expect("no signal ends it"),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

pub(crate) fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_handover-sim"));
    command.current_dir(folder).args(arguments);
    command
}

pub(crate) fn program(folder: &Path, arguments: &[&str]) -> Ran {
    ran(command(folder, arguments).output().expect("it starts"))
}

/// A folder with these files.
pub(crate) fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("it is in the folder")).expect("there is room");
        fs::write(path, text).expect("there is room");
    }
    folder
}

#[track_caller]
pub(crate) fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
}
