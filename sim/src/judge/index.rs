//! What stands where: which lines are of one process, and which of them tell of the record.
//!
//! Each line names the boot of its process and the record that this follows. Kept of a line is only
//! where it is, and of a run of lines only its ends: what grows with the journals is a note a
//! commit.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use handover_core::journal::{CommitAnswer, HostInput, JournalEntry};
use handover_core::{HostId, RecordId, Revision};

use super::line::{Found, JournalError, Source, Spot, scan};

/// Lines of one process that follow one another in one file.
#[derive(Clone, Debug)]
pub(super) struct Extent {
    pub(super) spot: Spot,
    pub(super) first: u64,
    pub(super) last: u64,
}

/// All that there is of one process, or of one run of its lines.
#[derive(Clone, Debug, Default)]
struct Process {
    extents: Vec<Extent>,
    records: BTreeSet<RecordId>,
    proposed: BTreeMap<u64, (RecordId, Revision, Proposal)>,
    answered: Vec<(u64, Answer)>,
    shown: BTreeSet<(RecordId, Revision)>,
    loads: BTreeMap<(RecordId, Revision), Spot>,
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
    /// The lines of each process in the order of their boots, those that came twice included. A
    /// process that has followed another record too is in the groups of both, with all its lines.
    pub(super) processes: Vec<(HostId, Vec<Extent>)>,
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
    pub(super) fn of(sources: &[Source]) -> Result<Self, JournalError> {
        let mut index = Self::default();
        let mut runs: BTreeMap<HostId, Vec<Process>> = BTreeMap::new();
        for source in sources {
            // The process of the line before: only its newest run of lines may go on.
            let mut before: Option<HostId> = None;
            let cut = scan(source, |found| {
                index.lines += 1;
                let goes_on = before.as_ref() == Some(&found.line.boot);
                take(runs.entry(found.line.boot.clone()).or_default(), &found, goes_on);
                before = Some(found.line.boot);
            })?;
            if cut {
                index.cut.push(source.path().to_owned());
            }
        }
        for (boot, runs) in runs {
            for process in processes_of(runs) {
                index.group(&boot, process);
            }
        }
        index.place_those_of_no_record();
        Ok(index)
    }

    /// A process that has never read a record begins and ends beside the only one that there is:
    /// the next of its name finds its book. Of several nobody knows beside which. Where lines are
    /// missing it may be the beginning of one that has read it.
    fn place_those_of_no_record(&mut self) {
        if self.groups.keys().flatten().count() != 1 {
            return;
        }
        let of_none = self.groups.remove(&None).unwrap_or_default();
        let Some(group) = self.groups.values_mut().next() else { return };
        let mut others = Group::default();
        for (boot, extents) in of_none.processes {
            let known = group.processes.iter_mut().find(|(known, _)| *known == boot);
            let last = extents.iter().map(|extent| extent.last).max();
            match known {
                None => group.processes.push((boot, extents)),
                Some((_, rest)) if last < rest.iter().map(|extent| extent.first).min() => {
                    rest.extend(extents);
                }
                Some(_) => others.processes.push((boot, extents)),
            }
        }
        group.processes.sort_by(|(one, _), (other, _)| one.cmp(other));
        if !others.processes.is_empty() {
            self.groups.insert(None, others);
        }
    }

    fn group(&mut self, boot: &HostId, mut process: Process) {
        if process.records.is_empty() {
            let group = self.groups.entry(None).or_default();
            group.processes.push((boot.clone(), process.extents));
            return;
        }
        for record in &process.records {
            let group = self.groups.entry(Some(*record)).or_default();
            group.processes.push((boot.clone(), process.extents.clone()));
        }
        for (proposal, answer) in process.answered {
            // Committed is said after an unknown answer too, and stays.
            let Some((.., known)) = process.proposed.get_mut(&proposal) else { continue };
            if known.answer != Answer::Committed {
                known.answer = answer;
            }
        }
        for (record, expects, proposal) in process.proposed.into_values() {
            let group = self.groups.entry(Some(record)).or_default();
            group.known.insert(expects);
            if proposal.answer == Answer::Committed {
                group.known.insert(proposal.revision);
            }
            group.proposals.entry(expects).or_default().push(proposal);
        }
        for (record, revision) in process.shown {
            self.groups.entry(Some(record)).or_default().known.insert(revision);
        }
        for ((record, revision), spot) in process.loads {
            self.groups.entry(Some(record)).or_default().loads.entry(revision).or_insert(spot);
        }
    }
}

/// Puts a line behind the one that it follows, or begins anew with it.
fn take(runs: &mut Vec<Process>, found: &Found, goes_on: bool) {
    let number = found.line.number;
    let newest = runs.last_mut().and_then(|run| run.extents.last_mut()).filter(|_| goes_on);
    match newest.filter(|newest| newest.last.checked_add(1) == Some(number)) {
        Some(newest) => newest.last = number,
        None => {
            let extent = Extent { spot: found.spot.clone(), first: number, last: number };
            runs.push(Process { extents: vec![extent], ..Process::default() });
        }
    }
    if let Some(run) = runs.last_mut() {
        run.add(found);
    }
}

/// The processes of which these runs of lines are. Where hosts of two records have one name and
/// one incarnation, they are told apart by their records.
fn processes_of(mut runs: Vec<Process>) -> Vec<Process> {
    runs.sort_by(|one, other| one.begin().cmp(&other.begin()));
    let mut processes: Vec<Process> = Vec::new();
    for mut run in runs {
        let (same, mut others): (Vec<_>, Vec<_>) =
            processes.into_iter().partition(|process| process.shares_a_record(&run));
        if same.is_empty()
            && let Some(at) = others.iter().position(|process| process.goes_on_with(&run))
        {
            run = others.remove(at).with(run);
        }
        let joined = same.into_iter().reduce(Process::with);
        others.push(match joined {
            Some(joined) => joined.with(run),
            None => run,
        });
        processes = others;
    }
    processes
}

impl Process {
    /// Where its first line is.
    fn begin(&self) -> Option<(u64, &Spot)> {
        self.extents.first().map(|extent| (extent.first, &extent.spot))
    }

    fn shares_a_record(&self, run: &Self) -> bool {
        !self.records.is_disjoint(&run.records)
    }

    /// Of lines that name no record: are they these once more, or do others follow them?
    fn goes_on_with(&self, run: &Self) -> bool {
        let last = self.extents.iter().map(|extent| extent.last).max();
        let first = run.extents.first().map(|extent| extent.first);
        let follows = last.and_then(|last| last.checked_add(1)) == first;
        let again = run.records.is_empty() && first <= last;
        follows || again
    }

    fn with(mut self, other: Self) -> Self {
        self.extents.extend(other.extents);
        self.records.extend(other.records);
        for (proposal, known) in other.proposed {
            self.proposed.entry(proposal).or_insert(known);
        }
        self.answered.extend(other.answered);
        self.shown.extend(other.shown);
        for (at, spot) in other.loads {
            self.loads.entry(at).or_insert(spot);
        }
        self
    }

    fn add(&mut self, found: &Found) {
        let line = &found.line;
        if let Some(record) = line.record {
            self.records.insert(record);
            self.note(record, &line.entry, &found.spot);
        }
    }

    fn note(&mut self, record: RecordId, entry: &JournalEntry, spot: &Spot) {
        match entry {
            JournalEntry::Input(HostInput::View(view)) => {
                self.shown.insert((record, view.revision));
            }
            JournalEntry::Loaded(parts) => {
                self.shown.insert((record, parts.revision));
                self.loads.entry((record, parts.revision)).or_insert_with(|| spot.clone());
            }
            JournalEntry::Proposed { proposal, change, .. } => {
                let (revision, answer) = (change.revision, Answer::Open);
                let open = Proposal { revision, answer, spot: spot.clone() };
                self.proposed.entry(*proposal).or_insert((record, change.expects, open));
            }
            JournalEntry::Answered { proposal, answer, .. } => {
                let answer = match answer {
                    CommitAnswer::Committed => Answer::Committed,
                    CommitAnswer::Conflict { .. } => Answer::Conflict,
                    CommitAnswer::Unknown { .. } => Answer::Open,
                };
                self.answered.push((*proposal, answer));
            }
            JournalEntry::Boot { .. }
            | JournalEntry::Input(_)
            | JournalEntry::Acknowledged { .. }
            | JournalEntry::Refused { .. }
            | JournalEntry::Lost { .. }
            | JournalEntry::Ended => {}
        }
    }
}
