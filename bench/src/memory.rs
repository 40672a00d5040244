//! Memory for each unique state: how far the resident memory of a process of its own rises. In
//! larger spaces than that in which the tools take turns, since a part of it is no matter of states:
//! in the largest that each is through with in a minute.

use std::process::{Command, ExitCode};

use handover_sim::explore::Bounds;

use crate::spaces::{self, Order};

/// What is measured, by the name under which this program runs itself.
pub const MEASURED: [&str; 4] =
    ["handover", "handover, NoWedge too", "stateright DFS", "stateright BFS"];

/// What a process of its own has found.
pub struct Memory {
    /// Bytes for each unique state.
    pub bytes: f64,
    /// Unique states.
    pub states: u64,
}

/// Measures one in a process of its own; none where the system does not tell.
pub fn of(name: &str) -> Option<Memory> {
    let program = std::env::current_exe().ok()?;
    let told = Command::new(program).args(["--memory-of", name]).output().ok()?;
    let told = String::from_utf8(told.stdout).ok()?;
    let mut numbers = told.split_whitespace().map(str::parse::<u64>);
    let (states, kibibytes) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    Some(Memory { bytes: kibibytes as f64 * 1024.0 / states as f64, states })
}

/// Goes through the space, and prints the states, and the kibibytes by which memory rose.
pub fn tell(name: &str) -> ExitCode {
    let (bounds, anew) = (&spaces::largest(), spaces::anew(spaces::large()));
    // What is the same for each number of states comes before.
    let warm = Bounds { states_max: 1_000, ..bounds.clone() };
    spaces::handover(&warm, 1);
    let Some(before) = peak() else { return ExitCode::FAILURE };
    let states = match name {
        "handover" => spaces::handover(bounds, 1).states as u64,
        "handover, NoWedge too" => {
            let all = Bounds { liveness: true, ..bounds.clone() };
            spaces::handover(&all, 1).states as u64
        }
        "stateright DFS" => spaces::stateright(&anew, Order::Depth).0,
        "stateright BFS" => spaces::stateright(&anew, Order::Breadth).0,
        _ => return ExitCode::from(2),
    };
    let Some(after) = peak() else { return ExitCode::FAILURE };
    println!("{states} {}", after - before);
    ExitCode::SUCCESS
}

/// The most memory that was resident so far, in kibibytes.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}
