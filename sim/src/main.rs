//! The program `handover-sim`: scenarios and seeded walks, for people and for their CI.

use std::process::ExitCode;

mod program;

fn main() -> ExitCode {
    program::main()
}
