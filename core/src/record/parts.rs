//! The record taken apart and put together: what stores load and save.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use core::fmt;

use super::{Election, FORMAT, Hold, Line, NUMBER_MAX, Record, Stage, Verdict};
use crate::{GrantId, HostId, Incarnation, Name, RecordId, Revision, Ticket, Version};

/// All rows of a record, without what can be derived from them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct RecordParts {
    /// The record's identity.
    pub id: RecordId,
    /// The format of the rows.
    pub format: u32,
    /// The number of this state.
    pub revision: Revision,
    /// The number that the next hand-over will have.
    pub next_grant: GrantId,
    /// The number that the next place among the askers will have.
    pub next_ticket: Ticket,
    /// The last word of each host.
    pub lines: BTreeMap<HostId, Line>,
    /// The job, if somebody has it.
    pub hold: Option<Hold>,
    /// What is known of each version.
    pub verdicts: BTreeMap<Version, Verdict>,
    /// The highest incarnation of each name that was declared gone.
    pub gone: BTreeMap<Name, Incarnation>,
}

/// Why rows do not make a record.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RecordError {
    /// Written by newer code. Neither fold nor commit; say that the gate is unknown, and why.
    NewerFormat {
        /// The format of the rows.
        found: u32,
    },
    /// A number is so near its end that the next ones would be reused.
    Exhausted,
    /// The next grant is not above one that was given.
    GrantReused(GrantId),
    /// The next ticket is not above one that was given.
    TicketReused(Ticket),
    /// Two lines have one ticket.
    TicketShared(Ticket),
    /// The hold's host has no line, or one of another version.
    HoldWithoutLine(HostId),
    /// The hold's version has a verdict: nobody should be building it.
    HoldOfJudgedVersion(Version),
    /// The hold carries what only a started one may, or sign-offs that were not planned.
    HoldOutOfStage(GrantId),
}

impl Record {
    /// Puts a record together from a store's rows.
    ///
    /// # Errors
    /// If the format is a higher one, or if the rows contradict each other: a store that lost or
    /// mixed some. Nothing is guessed.
    pub fn from_parts(parts: RecordParts) -> Result<Self, RecordError> {
        parts.validate()?;
        let is_judged = |version: &Version| parts.verdicts.contains_key(version);
        let election = Election::of(parts.lines.iter(), is_judged);
        let RecordParts {
            id,
            format: _,
            revision,
            next_grant,
            next_ticket,
            lines,
            hold,
            verdicts,
            gone,
        } = parts;
        let lines = lines.into_iter().map(|(host, line)| (host, Arc::new(line))).collect();
        let verdicts = verdicts.into_iter();
        let verdicts = verdicts.map(|(version, verdict)| (version, Arc::new(verdict))).collect();
        let gone = gone.into_iter().collect();
        let hold = hold.map(Arc::new);
        Ok(Self { id, revision, next_grant, next_ticket, lines, hold, verdicts, gone, election })
    }

    /// Takes a copy apart.
    #[must_use]
    pub fn to_parts(&self) -> RecordParts {
        RecordParts {
            id: self.id,
            format: FORMAT,
            revision: self.revision,
            next_grant: self.next_grant,
            next_ticket: self.next_ticket,
            lines: self.lines().map(|(host, line)| (host.clone(), line.clone())).collect(),
            hold: self.hold().cloned(),
            verdicts: self.verdicts().map(|(of, verdict)| (of.clone(), verdict.clone())).collect(),
            gone: self.gone.iter().map(|(name, gone)| (name.clone(), *gone)).collect(),
        }
    }
}

impl RecordParts {
    pub(super) fn validate(&self) -> Result<(), RecordError> {
        if self.format > FORMAT {
            return Err(RecordError::NewerFormat { found: self.format });
        }
        let numbers = [self.revision.0, self.next_grant.0, self.next_ticket.0];
        if numbers.iter().any(|number| *number > NUMBER_MAX) {
            return Err(RecordError::Exhausted);
        }
        let grants = self.hold.iter().map(|hold| hold.grant);
        let mut grants = grants.chain(self.verdicts.values().map(|verdict| verdict.grant));
        if let Some(grant) = grants.find(|grant| *grant >= self.next_grant) {
            return Err(RecordError::GrantReused(grant));
        }
        let mut tickets = BTreeSet::new();
        for line in self.lines.values() {
            if line.ticket >= self.next_ticket {
                return Err(RecordError::TicketReused(line.ticket));
            }
            if !tickets.insert(line.ticket) {
                return Err(RecordError::TicketShared(line.ticket));
            }
        }
        self.hold.as_ref().map_or(Ok(()), |hold| self.validate_hold(hold))
    }

    fn validate_hold(&self, hold: &Hold) -> Result<(), RecordError> {
        if self.lines.get(&hold.host).is_none_or(|line| line.version != hold.version) {
            return Err(RecordError::HoldWithoutLine(hold.host.clone()));
        }
        if self.verdicts.contains_key(&hold.version) {
            return Err(RecordError::HoldOfJudgedVersion(hold.version.clone()));
        }
        if hold.is_in_stage() { Ok(()) } else { Err(RecordError::HoldOutOfStage(hold.grant)) }
    }
}

impl Hold {
    /// Does it carry only what its stage can: sign-offs of what was planned, once it is started?
    pub(super) fn is_in_stage(&self) -> bool {
        match &self.stage {
            Stage::Offered => self.signed_off.is_empty() && self.cancelling.is_none(),
            Stage::Started { plan } => self.signed_off.keys().all(|chunk| plan.contains(chunk)),
        }
    }
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NewerFormat { found } => {
                write!(f, "format {found} is newer than {FORMAT}, the newest that is known here")
            }
            Self::Exhausted => write!(f, "a number has come to its end"),
            Self::GrantReused(grant) => write!(f, "{grant} is not below the next grant"),
            Self::TicketReused(ticket) => write!(f, "{ticket} is not below the next ticket"),
            Self::TicketShared(ticket) => write!(f, "two lines have the ticket {ticket}"),
            Self::HoldWithoutLine(host) => {
                write!(f, "{host} holds and has no line of the hold's version")
            }
            Self::HoldOfJudgedVersion(version) => {
                write!(f, "the version {version} is held and has a verdict")
            }
            Self::HoldOutOfStage(grant) => {
                write!(f, "the hold {grant} carries what its stage cannot")
            }
        }
    }
}

impl core::error::Error for RecordError {}

#[cfg(feature = "serde")]
impl serde::Serialize for Record {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut rows = serializer.serialize_struct("RecordParts", 9)?;
        rows.serialize_field("id", &self.id)?;
        rows.serialize_field("format", &FORMAT)?;
        rows.serialize_field("revision", &self.revision)?;
        rows.serialize_field("next_grant", &self.next_grant)?;
        rows.serialize_field("next_ticket", &self.next_ticket)?;
        rows.serialize_field("lines", &self.lines)?;
        rows.serialize_field("hold", &self.hold)?;
        rows.serialize_field("verdicts", &self.verdicts)?;
        rows.serialize_field("gone", &self.gone)?;
        rows.end()
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Record {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let parts = RecordParts::deserialize(from)?;
        Self::from_parts(parts).map_err(serde::de::Error::custom)
    }
}
