//! The arbiter's inputs, each with all its refusals (Ar1 to Ar6).

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::fmt;

use super::draft::Draft;
use super::{Cancelling, Change, Hold, Line, Record, Stage, Verdict};
use crate::mark::mark;
use crate::{Chunk, GrantId, HostId, Reason, Seq, Standing, Statement, Version};

/// What an arbiter can be told.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub enum Input {
    /// Ar1: a host's word about itself.
    Statement(Statement),
    /// Ar2: this process has ended. Whoever knows it says so, in the end always.
    Gone(HostId),
    /// Ar3 (operator): the failure of this version under this grant is taken back.
    Retry {
        /// Whose failure.
        version: Version,
        /// The grant of the verdict that the operator has judged.
        grant: GrantId,
    },
    /// Ar4 (driver): the offer of this grant was not answered in time. What is in time is the
    /// driver's to decide; no clock decides here.
    Lapse {
        /// The offer.
        grant: GrantId,
    },
    /// Ar5 (operator): the build of this grant shall end. The hold stays until its host says that
    /// the build has stopped, so two builds never run.
    Cancel {
        /// The hold that the operator has judged.
        grant: GrantId,
        /// In the operator's words.
        reason: Reason,
        /// What follows.
        then: Then,
    },
    /// Ar6 (operator): the hold goes, whatever its host does. Until the host has read it, two
    /// builds may run.
    Revoke {
        /// The hold that the operator has judged.
        grant: GrantId,
        /// In the operator's words.
        reason: Reason,
    },
}

/// What follows a cancelled build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Then {
    /// The version is failed until an operator says `Retry`.
    #[default]
    Block,
    /// The job is offered again.
    Again,
}

/// Why an input changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub enum Refusal {
    /// The host was declared gone: it may come back under a new incarnation.
    Gone,
    /// A word at least as new has been folded.
    Outdated {
        /// The newest.
        seen: Seq,
    },
    /// A host's version never changes within an incarnation.
    VersionChanged {
        /// The version of its line.
        known: Version,
    },
    /// No correct host says this. Worth an alarm: see [`Refusal::is_alarm`].
    Impossible,
    /// The hold or the verdict has another grant, or there is none.
    StaleGrant {
        /// The grant that is there.
        found: Option<GrantId>,
    },
    /// The host was declared gone before.
    AlreadyGone,
    /// The verdict of this grant is an approval, which never goes.
    NotFailed,
    /// The hold was accepted: it does not lapse.
    AlreadyStarted,
    /// Nobody else could be offered the job.
    NobodyElse,
    /// An operator has asked for its end before.
    AlreadyCancelling,
}

/// What the sender should know although its statement was accepted and is acknowledged.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub enum Remark {
    /// It is about a grant that is not the hold's: it changed neither hold nor verdicts.
    StaleGrant {
        /// The hold's grant, if there is a hold.
        found: Option<GrantId>,
    },
    /// It is about the hold's grant, by a host that does not hold.
    NotHolder {
        /// Who holds.
        holder: HostId,
    },
    /// It signs off a chunk that was not planned; the rest of it counts.
    UnknownChunk {
        /// The first such chunk.
        chunk: Chunk,
    },
}

impl Refusal {
    /// Should somebody look? No correct host can be refused like this.
    #[must_use]
    pub fn is_alarm(&self) -> bool {
        match self {
            Self::Impossible => true,
            Self::Gone
            | Self::Outdated { .. }
            | Self::VersionChanged { .. }
            | Self::StaleGrant { .. }
            | Self::AlreadyGone
            | Self::NotFailed
            | Self::AlreadyStarted
            | Self::NobodyElse
            | Self::AlreadyCancelling => false,
        }
    }

    /// The refusal in one word.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Gone => "Gone",
            Self::Outdated { .. } => "Outdated",
            Self::VersionChanged { .. } => "VersionChanged",
            Self::Impossible => "Impossible",
            Self::StaleGrant { .. } => "StaleGrant",
            Self::AlreadyGone => "AlreadyGone",
            Self::NotFailed => "NotFailed",
            Self::AlreadyStarted => "AlreadyStarted",
            Self::NobodyElse => "NobodyElse",
            Self::AlreadyCancelling => "AlreadyCancelling",
        }
    }
}

impl Remark {
    /// The remark in one word.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::StaleGrant { .. } => "StaleGrant",
            Self::NotHolder { .. } => "NotHolder",
            Self::UnknownChunk { .. } => "UnknownChunk",
        }
    }
}

impl Record {
    /// What this input would change, everything that follows from it included: taking back,
    /// verdicts and the next offer happen in the one fold. Pure; O((1 + s) log n) for n lines, s
    /// being the suspects ahead of the first alive asker.
    ///
    /// `suspects` only orders the election (Ar8); it is not recorded. An accepted statement makes
    /// a new revision even where it says what its host said before, so that it is acknowledged.
    ///
    /// # Errors
    /// Each input changes the record or is refused with a reason; nothing is dropped in silence.
    pub fn fold(&self, input: &Input, suspects: &BTreeSet<HostId>) -> Result<Change, Refusal> {
        let mut draft = Draft::new(self);
        let remark = draft.fold(input, suspects)?;
        Ok(draft.into_change(remark))
    }

    /// Folds several inputs one after another into one change, each on what the former have made of
    /// the record, which is not copied: for inputs that came while a commit was in flight (Ar9).
    /// The same as folding and [applying](Self::apply) each, and joining the changes by
    /// [`Change::then`].
    ///
    /// A refused input changes nothing, and does not keep the others back.
    #[must_use]
    pub fn fold_all<'a>(
        &self,
        inputs: impl IntoIterator<Item = &'a Input>,
        suspects: &BTreeSet<HostId>,
    ) -> Batch {
        let mut draft = Draft::new(self);
        let inputs = inputs.into_iter();
        let answers: Vec<_> = inputs.map(|input| draft.fold(input, suspects)).collect();
        let accepted = answers.iter().filter(|answer| answer.is_ok()).count();
        if accepted == 0 {
            return Batch { change: None, answers };
        }
        draft.make_revisions(accepted);
        let remark = answers.iter().rev().find_map(|answer| answer.clone().ok().flatten());
        Batch { change: Some(draft.into_change(remark)), answers }
    }

    /// What is still to be settled in this record: nothing after any fold; a restarted arbiter
    /// asks before it publishes.
    #[must_use]
    pub fn settle(&self, suspects: &BTreeSet<HostId>) -> Option<Change> {
        let mut draft = Draft::new(self);
        draft.settle(suspects).then(|| draft.into_change(None))
    }
}

/// What several inputs would change together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Batch {
    /// The one change of all that were accepted; none if none was.
    pub change: Option<Change>,
    /// The answer to each input, in their order.
    pub answers: Vec<Result<Option<Remark>, Refusal>>,
}

impl Draft<'_> {
    /// One input and what settles after it; nothing is changed where it is refused.
    fn fold(
        &mut self,
        input: &Input,
        suspects: &BTreeSet<HostId>,
    ) -> Result<Option<Remark>, Refusal> {
        let remark = match input {
            Input::Statement(statement) => self.fold_statement(statement)?,
            Input::Gone(host) => self.fold_gone(host)?,
            Input::Retry { version, grant } => self.fold_retry(version, *grant)?,
            Input::Lapse { grant } => self.fold_lapse(*grant)?,
            Input::Cancel { grant, reason, then } => self.fold_cancel(*grant, reason, *then)?,
            Input::Revoke { grant, reason: _ } => self.fold_revoke(*grant)?,
        };
        self.settle(suspects);
        Ok(remark)
    }

    /// Ar1.
    fn fold_statement(&mut self, statement: &Statement) -> Result<Option<Remark>, Refusal> {
        let Statement { host, version, seq, standing } = statement;
        if self.is_gone(host) {
            mark!(Ar1Gone);
            return Err(Refusal::Gone);
        }
        let line = self.line(host);
        if let Some(line) = line {
            if *seq <= line.seq {
                mark!(Ar1Outdated);
                return Err(Refusal::Outdated { seen: line.seq });
            }
            if *version != line.version {
                mark!(Ar1VersionChanged);
                return Err(Refusal::VersionChanged { known: line.version.clone() });
            }
        }
        if self.hold().is_some_and(|hold| hold.host == *host && hold.contradicts(standing)) {
            mark!(Ar1Impossible);
            return Err(Refusal::Impossible);
        }
        let before = line.map(|line| (line.ticket, line.asks()));
        let asks = match standing {
            Standing::Asking { .. } => true,
            Standing::Accepted { .. }
            | Standing::Building { .. }
            | Standing::Finished { .. }
            | Standing::StoodDown => false,
        };
        let ticket = match before {
            // Who goes on asking keeps its place, and who does not ask needs no new one.
            Some((ticket, asked)) if asked || !asks => {
                if asks {
                    mark!(Ar1KeptTicket);
                }
                ticket
            }
            Some(_) | None => {
                mark!(Ar1NewTicket);
                self.take_ticket()
            }
        };
        let line = Line {
            version: version.clone(),
            seq: *seq,
            standing: standing.clone(),
            ticket,
            passed_over: false,
        };
        self.set_line(host, Some(line));
        Ok(self.remark_on(statement))
    }

    fn remark_on(&self, statement: &Statement) -> Option<Remark> {
        let grant = statement.standing.grant()?;
        let Some(hold) = self.hold().filter(|hold| hold.grant == grant) else {
            mark!(Ar1StaleGrant);
            return Some(Remark::StaleGrant { found: self.hold().map(|hold| hold.grant) });
        };
        if hold.host != statement.host {
            mark!(Ar1NotHolder);
            return Some(Remark::NotHolder { holder: hold.host.clone() });
        }
        let Stage::Started { plan } = &hold.stage else {
            return None;
        };
        let mut chunks = statement.standing.signed_off()?.keys();
        let chunk = chunks.find(|chunk| !plan.contains(*chunk))?.clone();
        mark!(Ar1UnknownChunk);
        Some(Remark::UnknownChunk { chunk })
    }

    /// Ar2.
    fn fold_gone(&mut self, host: &HostId) -> Result<Option<Remark>, Refusal> {
        if self.is_gone(host) {
            mark!(Ar2AlreadyGone);
            return Err(Refusal::AlreadyGone);
        }
        self.declare_gone(host);
        if self.line(host).is_some() {
            mark!(Ar2LineGoes);
            self.set_line(host, None);
        } else {
            mark!(Ar2Unheard);
        }
        Ok(None)
    }

    /// Ar3.
    fn fold_retry(&mut self, version: &Version, grant: GrantId) -> Result<Option<Remark>, Refusal> {
        match self.verdict(version) {
            Some(verdict) if verdict.grant == grant && verdict.is_approved() => {
                mark!(Ar3NotFailed);
                Err(Refusal::NotFailed)
            }
            Some(verdict) if verdict.grant == grant => {
                mark!(Ar3Retried);
                self.set_verdict(version, None);
                Ok(None)
            }
            other => {
                mark!(Ar3StaleGrant);
                Err(Refusal::StaleGrant { found: other.map(|verdict: &Verdict| verdict.grant) })
            }
        }
    }

    /// Ar4.
    fn fold_lapse(&mut self, grant: GrantId) -> Result<Option<Remark>, Refusal> {
        let hold = self.held(grant)?;
        if hold.is_started() {
            mark!(Ar4AlreadyStarted);
            return Err(Refusal::AlreadyStarted);
        }
        if !self.has_other_asker(&hold.host) {
            mark!(Ar4NobodyElse);
            return Err(Refusal::NobodyElse);
        }
        mark!(Ar4Lapsed);
        self.set_hold(None);
        self.pass_over(&hold.host);
        Ok(None)
    }

    /// Ar5.
    fn fold_cancel(
        &mut self,
        grant: GrantId,
        reason: &Reason,
        then: Then,
    ) -> Result<Option<Remark>, Refusal> {
        let hold = self.held(grant)?;
        if hold.is_cancelling() {
            mark!(Ar5AlreadyCancelling);
            return Err(Refusal::AlreadyCancelling);
        }
        if !hold.is_started() {
            mark!(Ar5Offer);
            return self.fold_revoke(grant);
        }
        mark!(Ar5Started);
        let cancelling = Some(Cancelling { reason: reason.clone(), then });
        self.set_hold(Some(Hold { cancelling, ..hold }));
        Ok(None)
    }

    /// Ar6.
    fn fold_revoke(&mut self, grant: GrantId) -> Result<Option<Remark>, Refusal> {
        let hold = self.held(grant)?;
        self.take_back(&hold);
        if hold.is_started() {
            mark!(Ar6Started);
        } else {
            mark!(Ar6Offer);
            self.pass_over(&hold.host);
        }
        Ok(None)
    }

    /// The hold, if it has this grant: an operator means the hand-over that he has judged, not
    /// the healthy one that followed.
    fn held(&self, grant: GrantId) -> Result<Hold, Refusal> {
        match self.hold() {
            Some(hold) if hold.grant == grant => Ok(hold.clone()),
            other => {
                mark!(ArStaleGrant);
                Err(Refusal::StaleGrant { found: other.map(|hold| hold.grant) })
            }
        }
    }
}

impl Line {
    fn asks(&self) -> bool {
        match self.standing {
            Standing::Asking { .. } => true,
            Standing::Accepted { .. }
            | Standing::Building { .. }
            | Standing::Finished { .. }
            | Standing::StoodDown => false,
        }
    }
}

impl Hold {
    /// Can no correct holder say this now? Work begins only after the record shows the hold
    /// started, and a holder takes no other hand-over before it has given this one back.
    fn contradicts(&self, standing: &Standing) -> bool {
        match standing {
            Standing::Asking { .. } | Standing::StoodDown => false,
            Standing::Accepted { grant, .. } => self.is_started() && *grant != self.grant,
            Standing::Building { grant, .. } | Standing::Finished { grant, .. } => {
                !self.is_started() || *grant != self.grant
            }
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.name())?;
        match self {
            Self::Gone => write!(f, "the host was declared gone; it may come back anew"),
            Self::Outdated { seen } => write!(f, "a word at least as new was folded (seq={seen})"),
            Self::VersionChanged { known } => {
                write!(f, "a host's version never changes within an incarnation; it ran {known}")
            }
            Self::Impossible => write!(f, "no correct host says this now"),
            Self::StaleGrant { found: Some(grant) } => write!(f, "the grant there is {grant}"),
            Self::StaleGrant { found: None } => write!(f, "there is no grant"),
            Self::AlreadyGone => write!(f, "the host was declared gone before"),
            Self::NotFailed => write!(f, "an approval never goes"),
            Self::AlreadyStarted => write!(f, "only an offer lapses; use cancel or revoke"),
            Self::NobodyElse => write!(f, "nobody else could be offered the job"),
            Self::AlreadyCancelling => write!(f, "its end was asked for before"),
        }
    }
}

impl core::error::Error for Refusal {}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StaleGrant { found: Some(grant) } => write!(f, "StaleGrant: held under {grant}"),
            Self::StaleGrant { found: None } => write!(f, "StaleGrant: nobody holds"),
            Self::NotHolder { holder } => write!(f, "NotHolder: {holder} holds"),
            Self::UnknownChunk { chunk } => write!(f, "UnknownChunk: {chunk} was not planned"),
        }
    }
}
