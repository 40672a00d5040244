//! What became of all scenarios of a suite.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::scenario::{Ended, LoadError, Run, Scenario};

use super::{Judgement, Problem};

/// What became of all files, in the order of their paths.
#[derive(Debug)]
pub struct SuiteReport {
    /// The files.
    pub files: Vec<FileReport>,
}

/// What became of a file.
#[derive(Debug)]
pub struct FileReport {
    /// The file, as it was given.
    pub path: PathBuf,
    /// The folder below the root in which it lies.
    pub theme: String,
    /// A run for each protocol of its head; an error where it cannot be read.
    pub runs: Result<Vec<Judged>, LoadError>,
}

/// A run, and what in it is not as its file says.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The run.
    pub run: Run,
    /// Empty where all is as expected.
    pub problems: Vec<Problem>,
}

/// A suite in which something is not as its files say. `Debug` says what `Display` says.
pub struct SuiteFailed(
    /// What became of it.
    pub SuiteReport,
);

impl Judged {
    /// Judges a run of the scenario that the file at `path` holds.
    #[must_use]
    pub fn new(path: &Path, scenario: &Scenario, run: Run) -> Self {
        let problems = Problem::of_run(path, scenario, &run);
        Self { run, problems }
    }

    /// The worst of its problems.
    #[must_use]
    pub fn judgement(&self) -> Judgement {
        worst(self.problems.iter().map(|problem| problem.judgement))
    }

    /// Did all properties hold, as far as the run was judged?
    #[must_use]
    pub fn holds(&self) -> bool {
        self.run.ended == Ended::Holds
    }
}

impl FileReport {
    /// All that is wrong with the file or its runs.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        match &self.runs {
            Ok(runs) => {
                let problems = runs.iter().flat_map(|judged| &judged.problems);
                problems.cloned().collect()
            }
            Err(error) => Problem::of_file(&self.path, error),
        }
    }

    /// The runs; none where the file cannot be read.
    #[must_use]
    pub fn judged(&self) -> &[Judged] {
        self.runs.as_deref().unwrap_or_default()
    }
}

impl SuiteReport {
    /// All runs, in order.
    pub fn judged(&self) -> impl Iterator<Item = &Judged> {
        self.files.iter().flat_map(FileReport::judged)
    }

    /// All that is not as the files say, in order.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        self.files.iter().flat_map(FileReport::problems).collect()
    }

    /// The worst of all problems.
    #[must_use]
    pub fn judgement(&self) -> Judgement {
        worst(self.problems().iter().map(|problem| problem.judgement))
    }
}

fn worst(judgements: impl Iterator<Item = Judgement>) -> Judgement {
    judgements.max().unwrap_or(Judgement::AsExpected)
}

impl fmt::Display for SuiteReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (files, runs) = (self.files.len(), self.judged().count());
        let problems = self.problems();
        if problems.is_empty() {
            return write!(f, "{files} files, {runs} runs, all as expected");
        }
        let all = problems.len();
        write!(f, "{files} files, {runs} runs, {all} not as expected")?;
        for file in &self.files {
            if let Err(error) = &file.runs {
                write!(f, "\n{error}")?;
                continue;
            }
            for problem in file.problems() {
                write!(f, "\n{problem}")?;
                if let Some(protocol) = problem.protocol {
                    let path = problem.path.display();
                    write!(f, "\n  replay    handover-sim replay {path} --protocol {protocol}")?;
                }
            }
        }
        Ok(())
    }
}

impl fmt::Display for SuiteFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for SuiteFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl std::error::Error for SuiteFailed {}
