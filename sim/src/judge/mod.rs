//! Journals of production hosts, judged by the core.
//!
//! The files are read twice. First for what stands where: the lines of a process may lie in several
//! files, come twice, or not at all. Then all processes are replayed side by side with the record:
//! each goes on until it reads a revision that the record has not come to, and when all wait, the
//! next committed change is folded again from its inputs. So whatever a host did on what it knew is
//! held against the very record that it knew; and only one line a process is in memory.
//!
//! Judged are the properties of [`crate::check`] that show in a record and its hosts; and that core
//! makes of the inputs what the journals say came of them.

mod choose;
mod export;
mod fold;
mod index;
mod line;
mod merge;
mod player;
mod reading;
mod stream;
mod tape;

use std::fmt;
use std::path::{Path, PathBuf};

use handover_core::RecordId;
use handover_core::journal::JournalLine;

pub use export::{ExportError, Exported, export, export_lines};
pub use line::{JournalError, Place};

use crate::check::Property;
use index::Index;
use line::Source;
use merge::Merge;

/// What journals tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// All that happened is there, and is as it should be.
    Holds,
    /// What is there is as it should be; something is missing.
    Unknown,
    /// Something is not as it should be.
    Broken,
}

/// What is not as it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breach {
    /// A property.
    Property(Property),
    /// The core makes something else of the inputs: the driver has not done its part, or not what
    /// its journal says.
    Replay,
}

/// What is not as it should be, and where it shows first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What.
    pub breach: Breach,
    /// Where.
    pub place: Place,
    /// In words of the domain.
    pub why: String,
}

/// What the journals of one record tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// Which record; none where no line says so.
    pub record: Option<RecordId>,
    /// What they tell.
    pub verdict: Verdict,
    /// What is broken, in the order in which it shows: up to the first property.
    pub findings: Vec<Finding>,
    /// What is missing, in sentences.
    pub missing: Vec<String>,
    /// Processes.
    pub processes: usize,
    /// Changes of the record that were folded again.
    pub commits: u64,
}

/// What all given journals tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// By record.
    pub records: Vec<Judged>,
    /// Lines that were read, those that came twice included.
    pub lines: u64,
    /// Files of which the last line was cut short, as a crash leaves it.
    pub cut: Vec<PathBuf>,
}

/// Judges journals, given in any order.
///
/// # Errors
/// If a file cannot be read, or a line of it is none of a journal or of another format.
pub fn judge(paths: &[PathBuf]) -> Result<Report, JournalError> {
    let sources: Vec<_> = paths.iter().map(|path| Source::file(path)).collect();
    judge_sources(&sources)
}

/// Judges journals whose lines somebody has read already, each under the name of its file.
///
/// # Errors
/// If a line is of another format, or contradicts itself.
pub fn judge_lines<'a>(
    journals: impl IntoIterator<Item = (&'a Path, Vec<JournalLine>)>,
) -> Result<Report, JournalError> {
    let sources = journals.into_iter().map(|(name, lines)| Source::lines(name, lines));
    judge_sources(&sources.collect::<Vec<_>>())
}

fn judge_sources(sources: &[Source]) -> Result<Report, JournalError> {
    let Index { groups, lines, cut } = Index::of(sources)?;
    let judged = groups.into_iter().map(|(record, group)| Merge::new(record, group).judge());
    let records = judged.collect::<Result<Vec<_>, _>>()?;
    Ok(Report { records, lines, cut })
}

impl Report {
    /// The worst of all records; nothing is known from no lines.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let verdicts = self.records.iter().map(|judged| judged.verdict);
        verdicts.max().unwrap_or(Verdict::Unknown)
    }
}

impl Finding {
    fn new(breach: Breach, place: &Place, why: impl Into<String>) -> Self {
        Self { breach, place: place.clone(), why: why.into() }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Holds => "holds",
            Self::Unknown => "unknown",
            Self::Broken => "broken",
        })
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Property(property) => property.fmt(f),
            Self::Replay => f.write_str("Replay"),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.place, self.breach, self.why)
    }
}
