//! The drain of one executor (Ex7): what runs may finish, nothing new may start.

use alloc::format;
use core::cmp::Ordering;

use crate::ids::{BuildId, DrainId, Reason, Version};

/// How long a drain lasts. Of two terms the longer is the greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Term {
    /// A deployment's: in force again at a boot of the same version, over at a boot of another.
    ThisVersion,
    /// An operator's: survives restarts.
    UntilUndrained,
    /// A shutdown's: over with the process, so it is in no book, and an operator's waits for no
    /// disk.
    ThisProcess,
}

impl Term {
    /// Its place among the others, the shortest first. The order of the variants is the one in
    /// which they came, since formats number them.
    fn length(self) -> u8 {
        match self {
            Self::ThisProcess => 0,
            Self::ThisVersion => 1,
            Self::UntilUndrained => 2,
        }
    }
}

impl PartialOrd for Term {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Term {
    fn cmp(&self, other: &Self) -> Ordering {
        self.length().cmp(&other.length())
    }
}

/// What happens once the executor is drained; a later variant is stronger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum EndAction {
    /// The process stays, drained.
    Nothing,
    /// The process is started again.
    Restart,
    /// The process ends.
    Stop,
}

/// The outcome of a deadline that passes while the executor is draining.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum AtDeadline {
    /// What runs is stopped, and queued again at no cost in attempts.
    Interrupt,
    /// The drain is given up.
    Undrain,
    /// Somebody is told; nothing changes.
    Report,
}

/// The wish to drain, by an operator or by a deployment that succeeds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct DrainRequest {
    /// Why, for people.
    pub reason: Reason,
    /// How long it lasts.
    pub term: Term,
    /// What happens once drained.
    pub end: EndAction,
    /// What happens when the driver's deadline passes first.
    pub at_deadline: AtDeadline,
    /// The driver's clock at the request, in milliseconds; for people, never read by the core.
    pub since: u64,
}

/// A drain, in force or about to be stored.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Drain {
    /// Kept where a stronger request strengthens it. `d` and a number.
    pub id: DrainId,
    /// The version of the host that declared it, for [`Term::ThisVersion`].
    pub version: Version,
    /// The deployment that declared it or joined it last, whose row then has nothing left to
    /// declare.
    pub by: Option<BuildId>,
    /// Why, for people; of the strongest request.
    pub reason: Reason,
    /// How long it lasts: the longest that was asked for.
    pub term: Term,
    /// What happens once drained; of the strongest request.
    pub end: EndAction,
    /// What happens when the deadline passes; of the strongest request.
    pub at_deadline: AtDeadline,
    /// Since when, in milliseconds of the driver's clock; of the first request.
    pub since: u64,
}

impl Drain {
    /// The drain that a request declares where none is in force.
    pub(super) fn declare(
        number: u64,
        version: Version,
        by: Option<BuildId>,
        request: &DrainRequest,
    ) -> Self {
        Self {
            id: DrainId::new(format!("d{number}")),
            version,
            by,
            reason: request.reason.clone(),
            term: request.term,
            end: request.end,
            at_deadline: request.at_deadline,
            since: request.since,
        }
    }

    /// Takes over a stronger request under the same id; says whether it was stronger.
    pub(super) fn strengthen(&mut self, request: &DrainRequest) -> bool {
        if request.end <= self.end {
            return false;
        }
        self.end = request.end;
        self.reason = request.reason.clone();
        self.at_deadline = request.at_deadline;
        self.term = self.term.max(request.term);
        true
    }

    /// Joins what a build's success declares, under the same id. The build has then nothing left to
    /// declare, so the drain lasts as long as its request, though it may be no stronger.
    pub(super) fn join(&mut self, by: &BuildId, request: &DrainRequest) {
        self.strengthen(request);
        if !self.is_written() {
            self.term = request.term;
        }
        self.by = Some(by.clone());
    }

    /// Whether it is to be found in the book: not if it is over with the process.
    pub(super) fn is_written(&self) -> bool {
        self.term != Term::ThisProcess
    }

    /// The number in the id; 0 for an id that no executor has given out.
    pub(super) fn number(&self) -> u64 {
        self.id.as_str().strip_prefix('d').and_then(|number| number.parse().ok()).unwrap_or(0)
    }
}
