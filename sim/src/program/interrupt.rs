//! Ctrl-C: the first asks the work to stop soon and to report what it has, the second ends the
//! program.

use std::sync::atomic::{AtomicBool, Ordering};

use super::complain;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The exit code of a program that SIGINT has ended, as shells give it.
const KILLED: i32 = 130;

/// Listens from here on.
pub(super) fn listen() {
    let heard = || {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(KILLED);
        }
        complain("interrupted: what was found so far is reported; once more ends it at once");
    };
    if let Err(error) = ctrlc::set_handler(heard) {
        complain(&format!("warning: Ctrl-C will end this at once, without a report: {error}"));
    }
}

/// Was there a Ctrl-C?
pub(super) fn is_interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}
