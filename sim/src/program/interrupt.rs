//! Ctrl-C ends a search with what it has found.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::complain;

/// Was the program asked to come to an end?
#[derive(Clone, Debug, Default)]
pub(super) struct Interrupt(Arc<AtomicBool>);

/// What a shell tells of a program that a signal ended.
const EXIT: i32 = 130;

impl Interrupt {
    /// From here on the first Ctrl-C is noted, and the second ends the program at once.
    pub(super) fn listen() -> Self {
        let interrupt = Self::default();
        let asked = interrupt.clone();
        let listens = ctrlc::set_handler(move || {
            if asked.0.swap(true, Ordering::Relaxed) {
                std::process::exit(EXIT);
            }
            complain("ends after this batch, with what was found; once more ends at once");
        });
        if let Err(error) = listens {
            complain(&format!("Ctrl-C will lose what was found: {error}"));
        }
        interrupt
    }

    pub(super) fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
