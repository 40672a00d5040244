//! One thing that is not as a scenario says.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::check::Property;
use crate::scenario::{Ended, Ending, Header, LoadError, Run, Scenario, escaped};

/// What a check came to, from the best to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Judgement {
    /// All is as the files say; a wrong protocol that breaks what its header names is.
    AsExpected,
    /// A bound was reached before the question was decided.
    Unknown,
    /// It was read and run, but an expectation, an ending or a property is not as it should be.
    NotAsExpected,
    /// A step of the right protocol's story cannot happen any more.
    Stale,
    /// It cannot be read.
    Unreadable,
}

/// One thing that is not as a scenario says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file, as it was given.
    pub path: PathBuf,
    /// The protocol of the run; none where the file cannot be read.
    pub protocol: Option<&'static str>,
    /// The line and the column in characters, from 1, where there is one; a column only where the
    /// file cannot be read.
    pub place: (Option<usize>, Option<usize>),
    /// How bad it is.
    pub judgement: Judgement,
    /// What the file demands, or what would have been valid there. Control characters that come
    /// from the file are escaped, here and below.
    pub expected: String,
    /// What was found.
    pub found: String,
}

impl Problem {
    /// The path with line and column behind it, as far as they are known.
    #[must_use]
    pub fn place(&self) -> String {
        let path = self.path.display();
        match self.place {
            (Some(line), Some(column)) => format!("{path}:{line}:{column}"),
            (Some(line), None) => format!("{path}:{line}"),
            (None, _) => path.to_string(),
        }
    }

    /// What is wrong with a file that is no scenario.
    pub(super) fn of_file(path: &Path, error: &LoadError) -> Vec<Self> {
        let problem = |place, expected, found| Self {
            path: path.to_owned(),
            protocol: None,
            place,
            judgement: Judgement::Unreadable,
            expected,
            found,
        };
        match error {
            LoadError::Read { source, .. } => {
                let expected = "a scenario file, or a folder with some".to_owned();
                vec![problem((None, None), expected, source.to_string())]
            }
            LoadError::Parse(error) => {
                let mistakes = error.diagnostics().iter().map(|mistake| {
                    let place = (Some(mistake.line), Some(mistake.column));
                    let nearest = mistake.nearest.as_ref();
                    let nearest = nearest.map(|word| format!(" (did you mean `{word}`?)"));
                    let found = format!("{}{}", mistake.found, nearest.unwrap_or_default());
                    problem(place, mistake.valid.clone(), found)
                });
                mistakes.collect()
            }
        }
    }

    /// What is not as the file says in a run. A run that is stale is not judged any further, for
    /// it has not come to its end.
    pub(super) fn of_run(path: &Path, scenario: &Scenario, run: &Run) -> Vec<Self> {
        let problem = |line, judgement, expected: String, found: String| Self {
            path: path.to_owned(),
            protocol: Some(run.protocol),
            place: (line, None),
            judgement,
            expected: escaped(&expected),
            found: escaped(&found),
        };
        let failures = run.failures.iter().map(|failure| {
            let (expected, found) = (failure.expected.clone(), failure.found.clone());
            let judgement = Judgement::NotAsExpected;
            problem(Some(failure.line), judgement, expected, found)
        });
        let mut problems: Vec<Self> = failures.collect();
        if run.is_stale() {
            problems.extend(run.stale.iter().map(|stale| {
                let expected = format!("`{}` can happen", stale.command);
                let found = format!("it cannot: {}", stale.why);
                problem(Some(stale.line), Judgement::Stale, expected, found)
            }));
            return problems;
        }
        let Some(expected) = run.expected.filter(|expected| *expected != ending(&run.ended)) else {
            return problems;
        };
        let (line, found) = match &run.ended {
            Ended::Holds => (header_line(scenario, run.protocol), "holds".to_owned()),
            Ended::Breaks { line, violation } => (Some(*line), format!("breaks {violation}")),
        };
        let judgement = judgement_of(&run.ended);
        problems.push(problem(line, judgement, expected.to_string(), found));
        problems
    }
}

/// The ending that a header would have to name.
pub(super) fn ending(ended: &Ended) -> Ending {
    match ended {
        Ended::Holds => Ending::Holds,
        Ended::Breaks { violation, .. } => Ending::Breaks(violation.property),
    }
}

/// How bad an ending is that nobody expects. That a world goes on is seen only up to a bound.
fn judgement_of(ended: &Ended) -> Judgement {
    if ending(ended) == Ending::Breaks(Property::NoLivelock) {
        return Judgement::Unknown;
    }
    Judgement::NotAsExpected
}

/// The line that names the ending under a protocol.
fn header_line(scenario: &Scenario, protocol: &str) -> Option<usize> {
    let line = scenario.lines().iter().find(|line| match line.header() {
        Some(Header::Under { variant, .. }) => variant == protocol,
        Some(_) | None => false,
    })?;
    Some(line.span().line)
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place())?;
        match self.protocol {
            Some(protocol) => write!(f, " under {protocol}")?,
            None => f.write_str(" cannot be read")?,
        }
        write!(f, "\n  expected  {}", self.expected)?;
        write!(f, "\n  found     {}", self.found)
    }
}
