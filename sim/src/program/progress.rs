//! The progress bar, for a person who waits at a terminal.

use std::io::{self, IsTerminal as _};

use indicatif::{ProgressBar, ProgressStyle};

/// A bar over so many runs and walks; it draws nothing where stderr is no terminal.
pub(super) fn bar(length: u64) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{msg:10} {wide_bar} {pos}/{len}")
        .expect("the template is well formed");
    ProgressBar::new(length).with_style(style)
}

/// A line about something whose end is not known; it draws nothing where stderr is no terminal.
pub(super) fn line() -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{spinner} {msg}  {elapsed}")
        .expect("the template is well formed");
    ProgressBar::new_spinner().with_style(style)
}
