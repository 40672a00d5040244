//! What stands where: which lines are of one process, and which of them tell of the record.
//!
//! Kept of a line is only where it is, and of a run of lines only its ends: what grows with the
//! journals is a note a commit.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use handover_core::journal::{CommitAnswer, HostInput, JournalEntry};
use handover_core::{Incarnation, Name, RecordId, Revision};

use super::line::{Found, JournalError, scan};

/// Lines of one process that follow one another in one file.
#[derive(Clone, Debug)]
pub(super) struct Extent {
    pub(super) path: Arc<Path>,
    pub(super) offset: u64,
    pub(super) line: u64,
    pub(super) name: Name,
    pub(super) first_life: Incarnation,
    pub(super) last_life: Incarnation,
    pub(super) first: u64,
    pub(super) last: u64,
    /// Its first line is a return, so that it may go on with an earlier life's lines.
    returns: bool,
    record: Option<RecordId>,
    notes: Vec<Note>,
    shown: BTreeSet<Revision>,
    loads: Vec<(Revision, Spot)>,
}

/// Where a line is.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    pub(super) path: Arc<Path>,
    pub(super) offset: u64,
    pub(super) line: u64,
}

#[derive(Clone, Debug)]
enum Note {
    Proposed { proposal: u64, expects: Revision, revision: Revision, spot: Spot },
    Answered { proposal: u64, answer: Answer },
}

/// What is known of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Answer {
    Conflict,
    Open,
    Committed,
}

/// A change that may be one of the record.
#[derive(Clone, Debug)]
pub(super) struct Proposal {
    pub(super) revision: Revision,
    pub(super) answer: Answer,
    pub(super) spot: Spot,
}

/// All that the journals have of one record.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    /// The lines of each process, those of one file that came twice included.
    pub(super) processes: Vec<Vec<Extent>>,
    /// By the revision that they expect.
    pub(super) proposals: BTreeMap<Revision, Vec<Proposal>>,
    /// The revisions that somebody has seen.
    pub(super) known: BTreeSet<Revision>,
    /// Where the whole record was read.
    pub(super) loads: BTreeMap<Revision, Spot>,
}

/// What the files have.
#[derive(Debug, Default)]
pub(super) struct Index {
    pub(super) groups: BTreeMap<Option<RecordId>, Group>,
    pub(super) lines: u64,
    pub(super) cut: Vec<PathBuf>,
}

impl Index {
    pub(super) fn of(paths: &[PathBuf]) -> Result<Self, JournalError> {
        let mut index = Self::default();
        let mut extents = Vec::new();
        for path in paths {
            let shared: Arc<Path> = Arc::from(path.as_path());
            let from = extents.len();
            let cut = scan(path, |found| {
                index.lines += 1;
                take(&mut extents, from, &shared, &found);
            })?;
            if cut {
                index.cut.push(path.clone());
            }
        }
        index.group(extents);
        Ok(index)
    }

    fn group(&mut self, mut extents: Vec<Extent>) {
        let mut records: BTreeMap<Name, BTreeSet<RecordId>> = BTreeMap::new();
        for extent in &extents {
            let of_name = records.entry(extent.name.clone()).or_default();
            of_name.extend(extent.record);
        }
        extents.sort_by(|one, other| {
            (&one.name, one.first_life, one.first).cmp(&(
                &other.name,
                other.first_life,
                other.first,
            ))
        });
        for extent in extents {
            let mut of_name = records[&extent.name].iter().copied();
            let only = of_name.next().filter(|_| of_name.next().is_none());
            let group = self.groups.entry(extent.record.or(only)).or_default();
            group.add(extent);
        }
        for group in self.groups.values_mut() {
            group.note();
        }
    }
}

/// Puts a line behind the one that it follows, or begins anew with it.
fn take(extents: &mut Vec<Extent>, from: usize, path: &Arc<Path>, found: &Found) {
    let Found { offset, number, line } = found;
    let spot = Spot { path: Arc::clone(path), offset: *offset, line: *number };
    let life = line.host.incarnation;
    let record = record_of(&line.entry);
    let returns = matches!(line.entry, JournalEntry::Input(HostInput::ComeBack { .. }));
    let follows = extents[from..].last().is_some_and(|extent| {
        extent.name == line.host.name
            && extent.last.checked_add(1) == Some(line.number)
            && (extent.last_life == life || (extent.last_life < life && returns))
            && (record.is_none() || extent.record.is_none() || record == extent.record)
    });
    if !follows {
        extents.push(Extent {
            path: Arc::clone(path),
            offset: *offset,
            line: *number,
            name: line.host.name.clone(),
            first_life: life,
            last_life: life,
            first: line.number,
            last: line.number,
            returns,
            record,
            notes: Vec::new(),
            shown: BTreeSet::new(),
            loads: Vec::new(),
        });
    }
    let extent = extents.last_mut().expect("it was there, or was just put there");
    (extent.last, extent.last_life) = (line.number, life);
    extent.record = extent.record.or(record);
    note(extent, &line.entry, spot);
}

fn note(extent: &mut Extent, entry: &JournalEntry, spot: Spot) {
    match entry {
        JournalEntry::Input(HostInput::View(view)) => drop(extent.shown.insert(view.revision)),
        JournalEntry::Loaded(parts) => {
            extent.shown.insert(parts.revision);
            extent.loads.push((parts.revision, spot));
        }
        JournalEntry::Proposed { proposal, change, .. } => extent.notes.push(Note::Proposed {
            proposal: *proposal,
            expects: change.expects,
            revision: change.revision,
            spot,
        }),
        JournalEntry::Answered { proposal, answer, .. } => {
            let answer = match answer {
                CommitAnswer::Committed => Answer::Committed,
                CommitAnswer::Conflict { .. } => Answer::Conflict,
                CommitAnswer::Unknown { .. } => Answer::Open,
            };
            extent.notes.push(Note::Answered { proposal: *proposal, answer });
        }
        JournalEntry::Boot { .. }
        | JournalEntry::Input(_)
        | JournalEntry::Acknowledged { .. }
        | JournalEntry::Refused { .. }
        | JournalEntry::Lost { .. }
        | JournalEntry::Ended => {}
    }
}

/// Of which record a line tells, if it says so.
fn record_of(entry: &JournalEntry) -> Option<RecordId> {
    match entry {
        JournalEntry::Input(HostInput::View(view)) => Some(view.record),
        JournalEntry::Loaded(parts) => Some(parts.id),
        JournalEntry::Proposed { change, .. } => Some(change.record),
        JournalEntry::Boot { .. }
        | JournalEntry::Input(_)
        | JournalEntry::Acknowledged { .. }
        | JournalEntry::Answered { .. }
        | JournalEntry::Refused { .. }
        | JournalEntry::Lost { .. }
        | JournalEntry::Ended => None,
    }
}

impl Group {
    /// The extents come by name, life and number.
    fn add(&mut self, extent: Extent) {
        if let Some(process) = self.processes.last_mut() {
            let newest = process.iter().map(|known| known.last_life).max();
            let last = process.iter().map(|known| known.last).max().unwrap_or_default();
            let same_life = newest >= Some(extent.first_life);
            let follows = extent.returns && last.checked_add(1) == Some(extent.first);
            if process[0].name == extent.name && (same_life || follows) {
                process.push(extent);
                return;
            }
        }
        self.processes.push(vec![extent]);
    }

    fn note(&mut self) {
        for process in &mut self.processes {
            let mut proposals: BTreeMap<u64, (Revision, Proposal)> = BTreeMap::new();
            let notes = process.iter_mut().flat_map(|extent| std::mem::take(&mut extent.notes));
            let (proposed, answered): (Vec<_>, Vec<_>) =
                notes.partition(|note| matches!(note, Note::Proposed { .. }));
            for note in proposed.into_iter().chain(answered) {
                match note {
                    Note::Proposed { proposal, expects, revision, spot } => {
                        let open = Proposal { revision, answer: Answer::Open, spot };
                        proposals.entry(proposal).or_insert((expects, open));
                    }
                    Note::Answered { proposal, answer } => {
                        // Committed is said after an unknown answer too, and stays.
                        let Some((_, known)) = proposals.get_mut(&proposal) else { continue };
                        if known.answer != Answer::Committed {
                            known.answer = answer;
                        }
                    }
                }
            }
            for (expects, proposal) in proposals.into_values() {
                self.known.insert(expects);
                if proposal.answer == Answer::Committed {
                    self.known.insert(proposal.revision);
                }
                self.proposals.entry(expects).or_default().push(proposal);
            }
            for extent in process {
                self.known.append(&mut extent.shown);
                for (revision, spot) in extent.loads.drain(..) {
                    self.loads.entry(revision).or_insert(spot);
                }
            }
        }
    }
}
