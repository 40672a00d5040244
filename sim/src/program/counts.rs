//! What the table, JSON and JUnit all tell: how many, by theme, and the digest of it all.

use std::collections::BTreeMap;

use handover_sim::suite::{FileReport, Judgement, SuiteReport};
use xxhash_rust::xxh3::xxh3_128;

use super::check::Checked;

/// What is counted, of a theme or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) files: usize,
    /// Files that cannot be read; they have no run.
    pub(super) unreadable: usize,
    /// Runs: one for each file and protocol.
    pub(super) runs: usize,
    /// Runs that hold, as expected.
    pub(super) holds: usize,
    /// Runs that break what the head names.
    pub(super) breaks_as_expected: usize,
    /// Runs in which something is not as the file says.
    pub(super) not_as_expected: usize,
    pub(super) steps: usize,
}

impl Counts {
    fn add(&mut self, file: &FileReport) {
        self.files += 1;
        self.unreadable += usize::from(file.runs.is_err());
        for judged in file.judged() {
            self.runs += 1;
            self.steps += judged.run.steps;
            if judged.judgement() != Judgement::AsExpected {
                self.not_as_expected += 1;
            } else if judged.holds() {
                self.holds += 1;
            } else {
                self.breaks_as_expected += 1;
            }
        }
    }

    pub(super) fn of<'a>(files: impl IntoIterator<Item = &'a FileReport>) -> Self {
        let mut counts = Self::default();
        for file in files {
            counts.add(file);
        }
        counts
    }
}

/// The files of each theme.
pub(super) fn themes(suite: &SuiteReport) -> BTreeMap<&str, Vec<&FileReport>> {
    let mut themes: BTreeMap<&str, Vec<&FileReport>> = BTreeMap::new();
    for file in &suite.files {
        themes.entry(&file.theme).or_default().push(file);
    }
    themes
}

/// The digest of the whole check: the hash of the digests of all runs, in order, of what was
/// explored, and of all walks.
pub(super) fn digest(checked: &Checked) -> String {
    let runs = checked.suite.judged().map(|judged| judged.run.digest.to_string());
    let explored = checked.explored.iter().map(|explored| {
        let coverage = &explored.found.coverage;
        format!("{} {} {}", coverage.states, coverage.transitions, coverage.depth)
    });
    let walks = checked.walks.iter().map(|walks| walks.results.digest.clone());
    let text: String =
        runs.chain(explored).chain(walks).map(|digest| format!("{digest}\n")).collect();
    format!("{:032x}", xxh3_128(text.as_bytes()))
}
