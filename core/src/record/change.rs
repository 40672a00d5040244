//! What a fold would write: the rows that differ.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::election::Place;
use super::{FORMAT, Hold, Line, NUMBER_MAX, Record, Remark, Verdict};
use crate::{GrantId, HostId, Incarnation, Name, RecordId, Revision, Ticket, Version};

/// The rows that an input changes, and the revision that it expects: what stores write by
/// compare-and-set, watches carry and journals keep. Rows are whole values, never differences, so
/// that applying one twice is told by its revision and nothing else; the records that take a row
/// share it with the change.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[must_use = "a change that is not committed has not happened"]
pub struct Change {
    /// The record that it belongs to.
    pub record: RecordId,
    /// The format of its rows.
    pub format: u32,
    /// The revision that it was folded on; committing it elsewhere is a conflict.
    pub expects: Revision,
    /// The revision that it makes.
    pub revision: Revision,
    /// Lines that were replaced, or went (`None`).
    pub lines: BTreeMap<HostId, Option<Arc<Line>>>,
    /// The hold, where it changed.
    pub hold: Option<HoldRow>,
    /// Verdicts that were set, or taken back (`None`).
    pub verdicts: BTreeMap<Version, Option<Arc<Verdict>>>,
    /// Incarnations declared gone.
    pub gone: BTreeMap<Name, Incarnation>,
    /// The number that the next hand-over will have.
    pub next_grant: GrantId,
    /// The number that the next place among the askers will have.
    pub next_ticket: Ticket,
    /// What the sender should know although its statement was accepted.
    pub remark: Option<Remark>,
}

/// The hold's row: a type of its own, since "nobody holds" is a value too.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum HoldRow {
    /// The job is in nobody's hands.
    Nobody,
    /// It is in somebody's.
    Held(Arc<Hold>),
}

impl HoldRow {
    /// The hold, if somebody has the job.
    #[must_use]
    pub fn hold(&self) -> Option<&Hold> {
        match self {
            Self::Nobody => None,
            Self::Held(hold) => Some(hold),
        }
    }
}

/// Why a change was not taken. Nothing of it was.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ApplyError {
    /// It was folded on another revision: catch up by the store's changes, and fold the input
    /// again.
    Conflict {
        /// The revision that the change expects.
        expects: Revision,
        /// The revision that the record has.
        found: Revision,
    },
    /// It belongs to another record; folding again does not help.
    OtherRecord {
        /// The record that it belongs to.
        found: RecordId,
    },
    /// It was written by newer code: neither fold nor commit, and say why.
    NewerFormat {
        /// The format of its rows.
        found: u32,
    },
    /// Its rows contradict the record's: a store or a watch that lost or mixed some.
    Contradiction {
        /// What no fold does.
        what: &'static str,
    },
}

impl fmt::Display for ApplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict { expects, found } => write!(
                f,
                "the change was folded on {expects} and the record is at {found}: catch up and \
                 fold the input again"
            ),
            Self::OtherRecord { found } => write!(f, "the change belongs to the record {found}"),
            Self::NewerFormat { found } => {
                write!(
                    f,
                    "the change has the format {found}, and {FORMAT} is the newest known here"
                )
            }
            Self::Contradiction { what } => write!(f, "the change contradicts the record: {what}"),
        }
    }
}

impl core::error::Error for ApplyError {}

impl Change {
    /// This change and a later one that was folded on its outcome, as one commit: inputs that
    /// arrive while a commit is in flight can go in one batch.
    ///
    /// # Errors
    /// If `later` was not folded on the outcome of this change.
    pub fn then(mut self, later: Self) -> Result<Self, ApplyError> {
        later.fits(self.record, self.revision)?;
        self.revision = later.revision;
        self.lines.extend(later.lines);
        self.verdicts.extend(later.verdicts);
        self.gone.extend(later.gone);
        if let Some(hold) = later.hold {
            self.hold = Some(hold);
        }
        self.next_grant = later.next_grant;
        self.next_ticket = later.next_ticket;
        self.remark = later.remark.or(self.remark);
        Ok(self)
    }

    fn fits(&self, record: RecordId, revision: Revision) -> Result<(), ApplyError> {
        if self.record != record {
            return Err(ApplyError::OtherRecord { found: self.record });
        }
        if self.format > FORMAT {
            return Err(ApplyError::NewerFormat { found: self.format });
        }
        if self.expects != revision || self.revision <= self.expects {
            return Err(ApplyError::Conflict { expects: self.expects, found: revision });
        }
        Ok(())
    }
}

impl Record {
    /// Takes a committed change: O(log n) a row.
    ///
    /// # Errors
    /// If the change was folded on another revision, belongs to another record, has a newer format
    /// or contradicts the record; then nothing is changed.
    pub fn apply(&mut self, change: &Change) -> Result<(), ApplyError> {
        change.fits(self.id, self.revision)?;
        self.admits(change).map_err(|what| ApplyError::Contradiction { what })?;
        for (version, verdict) in &change.verdicts {
            match verdict {
                Some(verdict) => {
                    self.verdicts.insert(version.clone(), Arc::clone(verdict));
                    self.election.close(version);
                }
                None => {
                    self.verdicts.remove(version);
                    self.election.open(version);
                }
            }
        }
        for (host, line) in &change.lines {
            let before = match line {
                Some(line) => self.lines.insert(host.clone(), Arc::clone(line)),
                None => self.lines.remove(host),
            };
            let before = before.as_deref();
            let from = before.and_then(Place::of);
            let to = line.as_deref().and_then(Place::of);
            if let Some(line) = line.as_deref().or(before) {
                let open = !self.verdicts.contains_key(&line.version);
                self.election.move_asker(host, &line.version, from, to, open);
            }
        }
        if let Some(row) = &change.hold {
            self.hold = match row {
                HoldRow::Nobody => None,
                HoldRow::Held(hold) => Some(Arc::clone(hold)),
            };
        }
        for (name, incarnation) in &change.gone {
            self.gone.insert(name.clone(), *incarnation);
        }
        self.next_grant = change.next_grant;
        self.next_ticket = change.next_ticket;
        self.revision = change.revision;
        Ok(())
    }

    /// Could a fold on this record have made the change? It comes from a store, so nothing of it
    /// is taken on trust that a later fold would rely on: O(log n) a row, as applying it.
    ///
    /// What is taken makes a record that [`Record::from_parts`] takes, with one exception: a hold
    /// of a version that has a verdict. No fold makes one, none relies on there being none, and it
    /// goes by itself: at an approval its host stands down or reports, and the approval stands; at a
    /// failure it builds and reports.
    fn admits(&self, change: &Change) -> Result<(), &'static str> {
        let shrinks = change.next_grant < self.next_grant || change.next_ticket < self.next_ticket;
        if shrinks || change.gone.iter().any(|(name, gone)| self.gone(name) > Some(*gone)) {
            return Err("a number shrinks");
        }
        let numbers = [change.revision.0, change.next_grant.0, change.next_ticket.0];
        if numbers.iter().any(|number| *number > NUMBER_MAX) {
            return Err("a number has come to its end");
        }
        self.admits_lines(change)?;
        for (version, verdict) in &change.verdicts {
            let before = self.verdict(version);
            if before.is_some_and(Verdict::is_approved) && before != verdict.as_deref() {
                return Err("an approval goes");
            }
            if verdict.as_ref().is_some_and(|verdict| verdict.grant >= change.next_grant) {
                return Err("a verdict's grant is not below the next");
            }
        }
        self.admits_hold(change)
    }

    fn admits_lines(&self, change: &Change) -> Result<(), &'static str> {
        let mut new = Vec::new();
        for (host, line) in &change.lines {
            let Some(line) = line else { continue };
            let before = self.line(host);
            if before.is_some_and(|before| before.version != line.version) {
                return Err("a line changes its version");
            }
            if line.ticket >= change.next_ticket {
                return Err("a ticket is not below the next");
            }
            // A line keeps its ticket or takes a new one, so it never has that of another line.
            if before.is_some_and(|before| before.ticket == line.ticket) {
                continue;
            }
            if line.ticket < self.next_ticket {
                return Err("a line takes a ticket that was given out before");
            }
            new.push(line.ticket);
        }
        new.sort_unstable();
        if new.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err("two lines take one ticket");
        }
        Ok(())
    }

    fn admits_hold(&self, change: &Change) -> Result<(), &'static str> {
        let no_line = "the hold's host has no line of its version";
        let hold = match &change.hold {
            Some(HoldRow::Held(hold)) => hold,
            Some(HoldRow::Nobody) => return Ok(()),
            None => {
                let goes = |hold: &Hold| change.lines.get(&hold.host).is_some_and(Option::is_none);
                return if self.hold().is_some_and(goes) { Err(no_line) } else { Ok(()) };
            }
        };
        if hold.grant >= change.next_grant {
            return Err("the hold's grant is not below the next");
        }
        let line = match change.lines.get(&hold.host) {
            Some(line) => line.as_deref(),
            None => self.line(&hold.host),
        };
        if line.is_none_or(|line| line.version != hold.version) {
            return Err(no_line);
        }
        if !hold.is_in_stage() {
            return Err("the hold carries what its stage cannot");
        }
        Ok(())
    }
}
