//! What a fold would write: the rows that differ.

use alloc::collections::BTreeMap;
use core::fmt;

use super::election::Place;
use super::{FORMAT, Hold, Line, Record, Remark, Verdict};
use crate::{GrantId, HostId, Incarnation, Name, RecordId, Revision, Ticket, Version};

/// The rows that an input changes, and the revision that it expects: what stores write by
/// compare-and-set, watches carry and journals keep. Rows are whole values, never differences, so
/// that applying one twice is told by its revision and nothing else.
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
    pub lines: BTreeMap<HostId, Option<Line>>,
    /// The hold, where it changed.
    pub hold: Option<HoldRow>,
    /// Verdicts that were set, or taken back (`None`).
    pub verdicts: BTreeMap<Version, Option<Verdict>>,
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
    Held(Hold),
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

/// A change that was folded on another revision, or on another record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Conflict {
    /// The revision that the change expects.
    pub expects: Revision,
    /// The revision that the record has.
    pub found: Revision,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the change was folded on {} and the record is at {}: catch up and fold the input again",
            self.expects, self.found
        )
    }
}

impl core::error::Error for Conflict {}

impl Change {
    /// This change and a later one that was folded on its outcome, as one commit: inputs that
    /// arrive while a commit is in flight can go in one batch.
    ///
    /// # Errors
    /// If `later` was not folded on the outcome of this change.
    pub fn then(mut self, later: Self) -> Result<Self, Conflict> {
        if later.expects != self.revision || later.record != self.record {
            return Err(Conflict { expects: later.expects, found: self.revision });
        }
        self.revision = later.revision;
        self.lines.extend(later.lines);
        self.verdicts.extend(later.verdicts);
        self.gone.extend(later.gone);
        if let Some(hold) = later.hold {
            self.hold = Some(hold);
        }
        self.next_grant = later.next_grant;
        self.next_ticket = later.next_ticket;
        self.remark = later.remark;
        Ok(self)
    }
}

impl Record {
    /// Takes a committed change: O(log n) a row.
    ///
    /// # Errors
    /// If the change was folded on another revision or belongs to another record; then nothing is
    /// changed.
    pub fn apply(&mut self, change: &Change) -> Result<(), Conflict> {
        if change.expects != self.revision
            || change.record != self.id
            || change.format > FORMAT
            || change.revision <= change.expects
        {
            return Err(Conflict { expects: change.expects, found: self.revision });
        }
        for (version, verdict) in &change.verdicts {
            match verdict {
                Some(verdict) => {
                    self.verdicts.insert(version.clone(), verdict.clone());
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
                Some(line) => self.lines.insert(host.clone(), line.clone()),
                None => self.lines.remove(host),
            };
            let from = before.as_ref().and_then(Place::of);
            let to = line.as_ref().and_then(Place::of);
            if let Some(line) = line.as_ref().or(before.as_ref()) {
                let open = !self.verdicts.contains_key(&line.version);
                self.election.move_asker(host, &line.version, from, to, open);
            }
        }
        if let Some(row) = &change.hold {
            self.hold = row.hold().cloned();
        }
        for (name, incarnation) in &change.gone {
            self.gone.insert(name.clone(), *incarnation);
        }
        self.next_grant = change.next_grant;
        self.next_ticket = change.next_ticket;
        self.revision = change.revision;
        Ok(())
    }
}
