//! Journals as a scenario: what production did, played again in the world.
//!
//! Each line and each commit becomes the command that does the same, one atomic step each. What the
//! language has no word for is left out where it changes nothing that others see: a gate that could
//! not be read, a write that failed and was done again. Why a chunk failed is told above the
//! commands: `sign-off` has no word for it, for nothing follows from it but the words of a verdict,
//! which are the world's own then. Whatever cannot be told is said with its place; nothing is written
//! then. The text is read back and run before it is given away, and has to come to the very record
//! that the journals came to.

mod books;
mod deeds;
mod plain;
mod stage;

use std::path::{Path, PathBuf};

use handover_core::journal::JournalLine;
use handover_core::{RecordParts, Revision};

use super::index::Index;
use super::line::{JournalError, Place, Source};
use super::merge::Merge;
use super::tape::{Moment, Tape};
use super::{Judged, Verdict};
use crate::choose::scene;
use crate::scenario::{self, CURRENT, Ended, Ending, Moment as Shown, Scenario};
use crate::variants::{Current, names};
use plain::plain;
use stage::Stage;

/// A journal as a scenario.
#[derive(Clone, Debug)]
pub struct Exported {
    /// The scenario; its text is what it prints.
    pub scenario: Scenario,
    /// What the journals are judged. Where they are broken, the scenario goes up to there.
    pub judged: Judged,
    /// The record that they come to, under the names of the scenario; without its own id, which is
    /// that of each record in the world.
    pub record: RecordParts,
}

/// Why journals cannot be told as a scenario. Nothing is written then.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// They cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A scenario is about one record.
    #[error("the journals are of {0} records, and a scenario is about one: give those of one")]
    Records(usize),
    /// A scenario begins with an empty record.
    #[error(
        "the journals begin at {0} of their record, and a scenario begins with an empty one: name \
         the older files, too"
    )]
    Begins(Revision),
    /// Something is missing.
    #[error(
        "something is missing, so nobody can tell what happened: {0}; name the journals of all \
         hosts, and the older files, too"
    )]
    Missing(String),
    /// A line that is no command.
    #[error("{place}: no command of a scenario does this: {why}")]
    NoCommand {
        /// Where.
        place: Place,
        /// What is in the way.
        why: String,
    },
    /// What came out is no scenario: too long, or with names that the language does not have.
    #[error("what the journals tell is no scenario:\n{0}")]
    NoScenario(String),
    /// The scenario goes another way.
    #[error("the scenario comes to another record than the journals: {0}")]
    Differs(String),
}

/// Tells journals as a scenario.
///
/// # Errors
/// If they cannot be read, or cannot be told.
pub fn export(paths: &[PathBuf]) -> Result<Exported, ExportError> {
    let sources: Vec<_> = paths.iter().map(|path| Source::file(path)).collect();
    export_sources(&sources)
}

/// Tells journals whose lines somebody has read already, each under the name of its file.
///
/// # Errors
/// If they cannot be told.
pub fn export_lines<'a>(
    journals: impl IntoIterator<Item = (&'a Path, Vec<JournalLine>)>,
) -> Result<Exported, ExportError> {
    let sources = journals.into_iter().map(|(name, lines)| Source::lines(name, lines));
    export_sources(&sources.collect::<Vec<_>>())
}

fn export_sources(sources: &[Source]) -> Result<Exported, ExportError> {
    let Index { groups, .. } = Index::of(sources)?;
    let mut groups = groups.into_iter().filter(|(record, _)| record.is_some());
    let group = groups.next();
    let more = groups.count();
    let Some((record, group)) = group.filter(|_| more == 0) else {
        return Err(ExportError::Records(if more == 0 { 0 } else { more + 1 }));
    };
    let (judged, tape) = Merge::new(record, group).tape()?;
    if let Some(place) = tape.foreign {
        let why = "it is about another record".to_owned();
        return Err(ExportError::NoCommand { place, why });
    }
    if let Some(missing) = judged.missing.first()
        && judged.verdict != Verdict::Broken
    {
        return Err(ExportError::Missing(missing.clone()));
    }
    let begins = tape.from.as_ref().map_or(Revision(0), |record| record.revision());
    if begins != Revision(0) {
        return Err(ExportError::Begins(begins));
    }
    let (scenario, record) = told(&judged, &tape)?;
    Ok(Exported { scenario, judged, record })
}

fn told(judged: &Judged, tape: &Tape) -> Result<(Scenario, RecordParts), ExportError> {
    let mut stage = Stage::new(&tape.moments)?;
    for (at, moment) in tape.moments.iter().enumerate() {
        match moment {
            Moment::Line(told) => stage.line(at, told)?,
            Moment::Commit(committed) => stage.commit(at, committed)?,
        }
    }
    let to = tape.to.as_ref().map(handover_core::Record::to_parts);
    let wanted = to.and_then(|parts| plain(parts, stage.ids()));
    let came = stage.world().committed().to_parts();
    differ(wanted.as_ref(), &came)?;
    let draft = compose(judged, &stage, Ending::Holds)?;
    let ended = verified(&draft, &came)?;
    match ended {
        Ended::Holds => Ok((draft, came)),
        // The file says what is: a run that its journal has cut off may not come to rest.
        Ended::Breaks { violation, .. } => {
            let scenario = compose(judged, &stage, Ending::Breaks(violation.property))?;
            Ok((scenario, came))
        }
    }
}

/// The scenario as whoever gets the file reads it.
fn compose(judged: &Judged, stage: &Stage, ending: Ending) -> Result<Scenario, ExportError> {
    let record = judged.record.map_or_else(String::new, |record| format!(" {record}"));
    let title = format!("What the journals of the record{record} tell");
    let verdict = judged.verdict;
    let first = format!(
        "Told by judge, from {} processes and {} commits: {verdict}.",
        judged.processes, judged.commits
    );
    let mut prose = vec![first];
    if let Some(finding) = judged.findings.first() {
        prose.push(format!("Up to this: {finding}").replace('\n', " "));
    }
    prose.extend(stage.renamed());
    prose.extend(stage.failed());
    let prose: Vec<&str> = prose.iter().map(String::as_str).collect();
    let head = scenario::Setup {
        endings: vec![(CURRENT.to_owned(), ending)],
        ..scene(stage.world().setup())
    };
    let scenario = Scenario::compose(title, &prose, &head, stage.commands());
    Scenario::parse("exported", &scenario.to_string(), &names())
        .map_err(|error| ExportError::NoScenario(error.to_string()))
}

/// Runs what was written, and sees that it comes to the same record.
fn verified(scenario: &Scenario, came: &RecordParts) -> Result<Ended, ExportError> {
    let (mut record, mut is_over) = (None, false);
    let run = scenario::watch(scenario, &Current, &mut |shown| match shown {
        Shown::Step(step) if !is_over => record = Some(step.after.committed().clone()),
        Shown::End => is_over = true,
        Shown::Step(_) | Shown::Command(_) | Shown::Stale(_) | Shown::Broken(_) => {}
    });
    if let Some(stale) = run.stale.first() {
        let why = format!("line {}: `{}`: {}", stale.line, stale.command, stale.why);
        return Err(ExportError::Differs(why));
    }
    differ(record.map(|record| record.to_parts()).as_ref(), came)?;
    Ok(run.ended)
}

fn differ(wanted: Option<&RecordParts>, came: &RecordParts) -> Result<(), ExportError> {
    // Each record has an id of its own.
    let same = |parts: &RecordParts| RecordParts { id: came.id, ..parts.clone() } == *came;
    match wanted {
        Some(wanted) if same(wanted) => Ok(()),
        Some(wanted) => Err(ExportError::Differs(format!("{wanted:?}, and not {came:?}"))),
        None => Err(ExportError::Differs("a host of it has no journal".to_owned())),
    }
}
