//! How far it has come, on stderr: a bar for a person at a terminal, else a line now and then for
//! the log of a CI. By count and not by clock, so that two runs say the same.

use std::io::{self, IsTerminal as _};
use std::sync::Mutex;

use indicatif::{ProgressBar, ProgressStyle};

use super::complain;

/// Fewer walks than this between two lines would be noise.
const LINE_WALKS_MIN: u64 = 100;

/// More walks than this between two lines would look like a hang.
const LINE_WALKS_MAX: u64 = 10_000;

/// How far a check has come.
pub(super) struct Progress {
    /// Draws nothing where stderr is no terminal.
    bar: ProgressBar,
    runs: u64,
    walks: u64,
    /// Walks of which was told.
    told: Mutex<u64>,
}

impl Progress {
    /// Of so many runs, and walks after them.
    pub(super) fn new(runs: u64, walks: u64) -> Self {
        let bar = if io::stderr().is_terminal() {
            let style = ProgressStyle::with_template("{msg:10} {wide_bar} {pos}/{len}")
                .expect("the template is well formed");
            ProgressBar::new(runs.saturating_add(walks)).with_style(style)
        } else {
            ProgressBar::hidden()
        };
        bar.set_message("scenarios");
        Self { bar, runs, walks, told: Mutex::new(0) }
    }

    /// A run is done.
    pub(super) fn run(&self) {
        self.bar.inc(1);
    }

    /// So many walks were begun, of those that were told before too.
    pub(super) fn walked(&self, walked: u64) {
        let mut told = self.told.lock().expect("nobody panics while it tells");
        if walked <= *told {
            return;
        }
        let news = *told + 1..=walked;
        *told = walked;
        self.bar.set_message("walks");
        self.bar.set_position(self.runs.saturating_add(walked));
        if self.bar.is_hidden() {
            for walked in news.filter(|walked| is_told(*walked, self.walks)) {
                complain(&format!("walks  {walked} of {}", self.walks));
            }
        }
    }

    /// All is done.
    pub(super) fn end(self) {
        self.bar.finish_and_clear();
    }
}

/// Each tenth of all walks, within bounds.
fn is_told(walked: u64, walks: u64) -> bool {
    walked.is_multiple_of((walks / 10).clamp(LINE_WALKS_MIN, LINE_WALKS_MAX))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn told(walks: u64, first: u64) -> Vec<u64> {
        (1..=first).filter(|walked| is_told(*walked, walks)).collect()
    }

    #[test]
    fn a_line_comes_at_each_tenth_but_neither_often_nor_hardly_ever() {
        assert_eq!(told(2_000, 2_000), (1..=10).map(|tenth| tenth * 200).collect::<Vec<_>>());
        assert!(told(99, 99).is_empty());
        assert_eq!(told(300, 300), [100, 200, 300]);
        assert_eq!(told(u64::MAX, 20_000), [10_000, 20_000]);
    }
}
