//! The record: the coordination state of one build line, and the arbiter that folds into it.
//!
//! [`Record::fold`] is pure: it reads the record and answers with a [`Change`]. The change goes to
//! the store as a compare-and-set on the revision that it expects, and only when it is known to be
//! committed does [`Record::apply`] take it. Views come from the applied record alone, so that
//! publishing before committing cannot be written. Any process may fold, and there may be several.

mod change;
mod draft;
mod election;
mod fold;
mod parts;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

pub use change::{ApplyError, Change, HoldRow};
pub use fold::{Batch, Input, Refusal, Remark, Then};
pub use parts::{RecordError, RecordParts};

use crate::rows::Rows;
use crate::view::View;
use crate::{
    Chunk, GrantId, HostId, Incarnation, Name, Reason, RecordId, Revision, Seq, SignOff, Standing,
    Ticket, Version,
};
use election::Election;

/// The format of records, changes and views that this code reads and writes. A higher one is
/// refused, not guessed.
pub const FORMAT: u32 = 1;

/// The highest number that a record may have come to: far enough from the end that no fold, of
/// however many inputs, comes there. Numbers grow by one a step, so only what is no record of ours
/// has a higher one.
pub(crate) const NUMBER_MAX: u64 = u64::MAX / 2;

/// The coordination state of one build line: one hold at a time over all versions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    id: RecordId,
    revision: Revision,
    next_grant: GrantId,
    next_ticket: Ticket,
    lines: Rows<HostId, Arc<Line>>,
    hold: Option<Arc<Hold>>,
    verdicts: Rows<Version, Arc<Verdict>>,
    gone: Rows<Name, Incarnation>,
    /// Invariant: exactly what [`Election::of`] makes of `lines` and `verdicts`.
    election: Election,
}

/// What the record knows of one host: its last word.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Line {
    /// What the host runs.
    pub version: Version,
    /// The number of its last word.
    pub seq: Seq,
    /// Its last word.
    pub standing: Standing,
    /// Its place among those who ask; kept until it asks anew.
    pub ticket: Ticket,
    /// An offer to it lapsed or was revoked, and it has said nothing since: others come first.
    pub passed_over: bool,
}

/// The job in somebody's hands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Hold {
    /// In whose.
    pub host: HostId,
    /// What is to be built.
    pub version: Version,
    /// The number of this hand-over.
    pub grant: GrantId,
    /// How far it has come.
    pub stage: Stage,
    /// The sign-offs that have been folded; only of planned chunks.
    pub signed_off: BTreeMap<Chunk, SignOff>,
    /// An operator has asked for its end.
    pub cancelling: Option<Cancelling>,
}

/// How far a hand-over has come.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub enum Stage {
    /// Handed to the host, which has not answered; it can be withdrawn at any time.
    Offered,
    /// The host has accepted: it is disturbed by nobody but the operator.
    Started {
        /// The chunks that an approval needs.
        plan: BTreeSet<Chunk>,
    },
}

/// An operator's wish to end a started hold (Ar5).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Cancelling {
    /// In the operator's words.
    pub reason: Reason,
    /// What follows when the build has stopped.
    pub then: Then,
}

/// What the record says of a version.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Verdict {
    /// May it serve?
    pub ruling: Ruling,
    /// Under which hand-over it was built; only that one's artifacts are served.
    pub grant: GrantId,
    /// By whom.
    pub host: HostId,
    /// The sign-offs that it rests on.
    pub signed_off: BTreeMap<Chunk, SignOff>,
}

/// May a version serve?
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Ruling {
    /// Yes, for ever.
    Approved,
    /// No, until an operator takes it back by `Retry` (Ar3).
    Failed(Reason),
}

impl Record {
    /// An empty record under a freshly drawn id.
    #[must_use]
    pub fn new(id: RecordId) -> Self {
        Self {
            id,
            revision: Revision(0),
            next_grant: GrantId(1),
            next_ticket: Ticket(1),
            lines: Rows::default(),
            hold: None,
            verdicts: Rows::default(),
            gone: Rows::default(),
            election: Election::default(),
        }
    }

    /// Its identity; a record that was made anew has another.
    #[must_use]
    pub fn id(&self) -> RecordId {
        self.id
    }

    /// The number of this state.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The job, if somebody has it.
    #[must_use]
    pub fn hold(&self) -> Option<&Hold> {
        self.hold.as_deref()
    }

    /// The last word of a host.
    #[must_use]
    pub fn line(&self, host: &HostId) -> Option<&Line> {
        self.lines.get(host).map(|line| &**line)
    }

    /// The last word of each host.
    pub fn lines(&self) -> impl Iterator<Item = (&HostId, &Line)> {
        self.lines.iter().map(|(host, line)| (host, &**line))
    }

    /// The lines in which this record differs from another, in the order of the hosts: of each the
    /// line here, if it has one. Of records that share most of their rows, as one before and one
    /// after a fold, it takes less time than a look at each row.
    #[must_use]
    pub fn lines_unlike<'a>(&'a self, other: &'a Self) -> Vec<(&'a HostId, Option<&'a Line>)> {
        let lines = self.lines.differences(&other.lines).into_iter();
        lines.map(|(host, line)| (host, line.map(|line| &**line))).collect()
    }

    /// The incarnations declared gone in which this record differs from another, likewise.
    #[must_use]
    pub fn gone_unlike<'a>(&'a self, other: &'a Self) -> Vec<(&'a Name, Option<Incarnation>)> {
        let gone = self.gone.differences(&other.gone).into_iter();
        gone.map(|(name, gone)| (name, gone.copied())).collect()
    }

    /// The last word of each life of a name, the earliest first: O(log n) for the first.
    pub fn lives(&self, name: &Name) -> impl DoubleEndedIterator<Item = (&HostId, &Line)> {
        let mut lives = Vec::new();
        let first = HostId { name: name.clone(), incarnation: Incarnation(0) };
        let mut next = self.lines.first_from(&first);
        while let Some((host, line)) = next.filter(|(host, _)| host.name == *name) {
            lives.push((host, &**line));
            next = self.lines.first_behind(host);
        }
        lives.into_iter()
    }

    /// What is known of a version.
    #[must_use]
    pub fn verdict(&self, version: &Version) -> Option<&Verdict> {
        self.verdicts.get(version).map(|verdict| &**verdict)
    }

    /// What is known of each version.
    pub fn verdicts(&self) -> impl Iterator<Item = (&Version, &Verdict)> {
        self.verdicts.iter().map(|(version, verdict)| (version, &**verdict))
    }

    /// The highest incarnation of a name that was declared gone.
    #[must_use]
    pub fn gone(&self, name: &Name) -> Option<Incarnation> {
        self.gone.get(name).copied()
    }

    /// The number that the next hand-over will have.
    #[must_use]
    pub fn next_grant(&self) -> GrantId {
        self.next_grant
    }

    /// The number that the next place among the askers will have.
    #[must_use]
    pub fn next_ticket(&self) -> Ticket {
        self.next_ticket
    }

    /// Is this host known to have ended? At most the highest incarnation of its name that was
    /// declared gone, and without a line: the second half spares a process whose successor was
    /// started, and ended, before it.
    #[must_use]
    pub fn is_gone(&self, host: &HostId) -> bool {
        self.gone(&host.name).is_some_and(|gone| host.incarnation <= gone)
            && !self.lines.contains_key(host)
    }

    /// What this host has to know (Ar9): O(log n) in the lines.
    #[must_use]
    pub fn view_for(&self, host: &HostId, version: &Version) -> View {
        let last = HostId { name: host.name.clone(), incarnation: Incarnation(u64::MAX) };
        let spoke = self.lines.last_up_to(&last).filter(|(spoke, _)| spoke.name == host.name);
        // As a rule the last of the name is this host.
        let line = match spoke {
            Some((spoke, line)) if spoke == host => Some(line),
            Some(_) => self.lines.get(host),
            None => None,
        };
        let gone = self.gone(&host.name);
        View {
            host: host.clone(),
            record: self.id,
            format: FORMAT,
            revision: self.revision,
            hold: self.hold.clone(),
            acknowledged: line.map(|line| line.seq),
            verdict: self.verdicts.get(version).cloned(),
            gone: line.is_none() && gone.is_some_and(|gone| host.incarnation <= gone),
            name_floor: spoke.map(|(spoke, _)| spoke.incarnation).max(gone),
        }
    }

    /// Asserts what must hold of our own state, whatever hosts say.
    ///
    /// # Panics
    /// If an invariant is broken: a defect of this crate, or a record put together by hand.
    pub fn check(&self) {
        if let Err(error) = self.to_parts().validate() {
            panic!("the record is corrupt: {error}");
        }
        assert!(
            self.election == Election::of(self.lines(), |version| self.verdict(version).is_some()),
            "the election's index must say what the lines say, else the wrong host is elected"
        );
    }
}

impl Hold {
    /// Has its host accepted?
    #[must_use]
    pub fn is_started(&self) -> bool {
        match self.stage {
            Stage::Offered => false,
            Stage::Started { .. } => true,
        }
    }

    /// Has an operator asked for its end?
    #[must_use]
    pub fn is_cancelling(&self) -> bool {
        self.cancelling.is_some()
    }
}

impl Verdict {
    /// May the version serve?
    #[must_use]
    pub fn is_approved(&self) -> bool {
        match self.ruling {
            Ruling::Approved => true,
            Ruling::Failed(_) => false,
        }
    }
}

/// `Offered(b, g1)`, `Started(b, g1)`, `Started(b, g1) cancelling`.
impl fmt::Display for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = if self.is_started() { "Started" } else { "Offered" };
        write!(f, "{stage}({}, {})", self.host, self.grant)?;
        if self.is_cancelling() {
            write!(f, " cancelling")?;
        }
        Ok(())
    }
}

/// `Approved(g1)`, `Failed(g1): no disk`.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.ruling {
            Ruling::Approved => write!(f, "Approved({})", self.grant),
            Ruling::Failed(reason) => write!(f, "Failed({}): {reason}", self.grant),
        }
    }
}
