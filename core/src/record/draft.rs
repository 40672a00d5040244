//! A fold in the making: the record seen through the rows that the fold has changed so far, and
//! what settles in it (Ar7, Ar8).

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::sync::Arc;

use super::change::{Change, HoldRow};
use super::election::Place;
use super::{FORMAT, Hold, Line, Record, Remark, Ruling, Stage, Then, Verdict};
use crate::mark::mark;
use crate::{
    Chunk, GrantId, HostId, Incarnation, Name, Outcome, Reason, SignOff, Standing, Ticket, Version,
};

pub(super) struct Draft<'a> {
    record: &'a Record,
    change: Change,
}

impl<'a> Draft<'a> {
    pub(super) fn new(record: &'a Record) -> Self {
        let change = Change {
            record: record.id,
            format: FORMAT,
            expects: record.revision,
            revision: record.revision.next(),
            lines: BTreeMap::new(),
            hold: None,
            verdicts: BTreeMap::new(),
            gone: BTreeMap::new(),
            next_grant: record.next_grant,
            next_ticket: record.next_ticket,
            remark: None,
        };
        Self { record, change }
    }

    pub(super) fn into_change(mut self, remark: Option<Remark>) -> Change {
        self.change.remark = remark;
        self.change
    }

    pub(super) fn hold(&self) -> Option<&Hold> {
        match &self.change.hold {
            Some(row) => row.hold(),
            None => self.record.hold(),
        }
    }

    pub(super) fn line(&self, host: &HostId) -> Option<&Line> {
        match self.change.lines.get(host) {
            Some(line) => line.as_deref(),
            None => self.record.line(host),
        }
    }

    pub(super) fn verdict(&self, version: &Version) -> Option<&Verdict> {
        match self.change.verdicts.get(version) {
            Some(verdict) => verdict.as_deref(),
            None => self.record.verdict(version),
        }
    }

    /// As [`Record::is_gone`].
    pub(super) fn is_gone(&self, host: &HostId) -> bool {
        let gone = self.gone(&host.name).is_some_and(|gone| host.incarnation <= gone);
        gone && self.line(host).is_none()
    }

    fn gone(&self, name: &Name) -> Option<Incarnation> {
        self.change.gone.get(name).copied().or_else(|| self.record.gone(name))
    }

    /// Each accepted input makes a revision; there was at least one.
    pub(super) fn make_revisions(&mut self, accepted: usize) {
        for _ in 1..accepted {
            self.change.revision = self.change.revision.next();
        }
    }

    pub(super) fn take_ticket(&mut self) -> Ticket {
        let ticket = self.change.next_ticket;
        self.change.next_ticket = ticket.next();
        ticket
    }

    pub(super) fn set_line(&mut self, host: &HostId, line: Option<Line>) {
        self.change.lines.insert(host.clone(), line.map(Arc::new));
    }

    pub(super) fn set_hold(&mut self, hold: Option<Hold>) {
        self.change.hold = Some(hold.map_or(HoldRow::Nobody, |hold| HoldRow::Held(Arc::new(hold))));
    }

    pub(super) fn set_verdict(&mut self, version: &Version, verdict: Option<Verdict>) {
        self.change.verdicts.insert(version.clone(), verdict.map(Arc::new));
    }

    pub(super) fn declare_gone(&mut self, host: &HostId) {
        let floor = self.gone(&host.name).max(Some(host.incarnation));
        self.change.gone.extend(floor.map(|floor| (host.name.clone(), floor)));
    }

    /// The line of this host goes behind all others until it says something (Ar4, Ar6).
    pub(super) fn pass_over(&mut self, host: &HostId) {
        if let Some(line) = self.line(host).cloned() {
            let ticket = self.take_ticket();
            self.set_line(host, Some(Line { ticket, passed_over: true, ..line }));
        }
    }

    /// The hold ends without its holder's report. A cancel that was to block the version blocks
    /// it in each of these ways too, else the operator's word would be lost with the host.
    pub(super) fn take_back(&mut self, hold: &Hold) {
        if let Some(reason) = hold.blocking_reason() {
            self.rule(hold, Ruling::Failed(reason));
        }
        self.set_hold(None);
    }

    /// Would anybody but this host be offered the job?
    pub(super) fn has_other_asker(&self, host: &HostId) -> bool {
        self.askers().any(|(_, asker)| asker != host)
    }

    /// Settle (Ar7, Ar8): says whether anything changed. One pass over the hold and one election
    /// reach the fixpoint, since the elected host's line is `Asking`, under which an offer is kept.
    pub(super) fn settle(&mut self, suspects: &BTreeSet<HostId>) -> bool {
        let reviewed = self.review_hold();
        let elected = self.hold().is_none() && self.elect(suspects);
        reviewed || elected
    }

    /// Ar7: what the line of its host means for the hold.
    fn review_hold(&mut self) -> bool {
        let Some(hold) = self.hold() else {
            return false;
        };
        let Some(line) = self.line(&hold.host) else {
            mark!(Ar7HostGone);
            self.take_back(&hold.clone());
            return true;
        };
        match (&line.standing, hold.is_started()) {
            (Standing::Accepted { grant, plan }, false) if *grant == hold.grant => {
                mark!(Ar7Accepted);
                let stage = Stage::Started { plan: plan.clone() };
                self.set_hold(Some(Hold { stage, ..hold.clone() }));
                true
            }
            (Standing::Building { grant, signed_off }, true) if *grant == hold.grant => {
                let newer = hold.with(signed_off);
                let changed = newer.is_some();
                if changed {
                    mark!(Ar7Merged);
                    self.set_hold(newer);
                }
                changed
            }
            (Standing::Finished { grant, outcome, signed_off }, true) if *grant == hold.grant => {
                let hold = hold.with(signed_off).unwrap_or_else(|| hold.clone());
                let outcome = outcome.clone();
                self.conclude(&hold, &outcome);
                true
            }
            (Standing::StoodDown, false) => {
                mark!(Ar7OfferGivenBack);
                self.take_back(&hold.clone());
                true
            }
            (Standing::StoodDown, true) => {
                mark!(Ar7StoodDown);
                self.take_back(&hold.clone());
                true
            }
            (Standing::Asking { .. }, true) => {
                mark!(Ar7AsksAgain);
                self.take_back(&hold.clone());
                true
            }
            (Standing::Asking { .. }, false) => {
                mark!(Ar7NotSeen);
                false
            }
            (Standing::Accepted { .. }, false) => {
                mark!(Ar7OldAcceptance);
                false
            }
            // An acceptance that has been folded; the rest is refused on its way in.
            (
                Standing::Accepted { .. } | Standing::Building { .. } | Standing::Finished { .. },
                _,
            ) => false,
        }
    }

    /// The holder's own report, under the hold's grant: the only way to an approval.
    fn conclude(&mut self, hold: &Hold, outcome: &Outcome) {
        let missing = hold.missing();
        let ruling = match (outcome, &hold.cancelling, missing) {
            (Outcome::Clean, _, None) => {
                mark!(Ar7Approved);
                Some(Ruling::Approved)
            }
            (_, Some(_), _) => hold.blocking_reason().map(Ruling::Failed),
            (Outcome::Clean, None, Some(missing)) => {
                mark!(Ar7Missing);
                Some(Ruling::Failed(missing))
            }
            (Outcome::Failed(reason), None, _) => {
                mark!(Ar7Failed);
                Some(Ruling::Failed(reason.clone()))
            }
            (Outcome::Abandoned, None, _) => {
                mark!(Ar7Abandoned);
                None
            }
        };
        if let Some(ruling) = ruling {
            self.rule(hold, ruling);
        }
        self.set_hold(None);
    }

    /// Sets a verdict; an approval is never overwritten.
    fn rule(&mut self, hold: &Hold, ruling: Ruling) {
        if self.verdict(&hold.version).is_some_and(Verdict::is_approved) {
            mark!(Ar7ApprovalStands);
            return;
        }
        let verdict = Verdict {
            ruling,
            grant: hold.grant,
            host: hold.host.clone(),
            signed_off: hold.signed_off.clone(),
        };
        self.set_verdict(&hold.version, Some(verdict));
    }

    /// Ar8: offers the job to the next asker.
    fn elect(&mut self, suspects: &BTreeSet<HostId>) -> bool {
        let Some(host) = self.next_asker(suspects) else {
            mark!(Ar8Nobody);
            return false;
        };
        let version = self.line(&host).expect("an asker has a line").version.clone();
        let grant = self.change.next_grant;
        self.change.next_grant = grant.next();
        self.set_hold(Some(Hold::offered(host, version, grant)));
        true
    }

    fn next_asker(&self, suspects: &BTreeSet<HostId>) -> Option<HostId> {
        let mut suspect = None;
        for (place, host) in self.askers() {
            match place {
                Place::Fresh { .. } if suspects.contains(host) => {
                    suspect = suspect.or(Some(host));
                }
                Place::Fresh { .. } => {
                    mark!(Ar8Elected);
                    return Some(host.clone());
                }
                Place::PassedOver { .. } => {
                    mark!(Ar8PassedOver);
                    return Some(suspect.unwrap_or(host).clone());
                }
            }
        }
        if suspect.is_some() {
            mark!(Ar8Suspect);
        }
        suspect.cloned()
    }

    /// All who may be offered the job, in the order of election.
    fn askers(&self) -> impl Iterator<Item = (Place, &HostId)> {
        let is_open = |version: &Version| self.verdict(version).is_none();
        self.record.election.askers(&self.change.lines, &self.change.verdicts, is_open)
    }
}

impl Hold {
    fn offered(host: HostId, version: Version, grant: GrantId) -> Self {
        Self {
            host,
            version,
            grant,
            stage: Stage::Offered,
            signed_off: BTreeMap::new(),
            cancelling: None,
        }
    }

    /// The same with newer sign-offs, if that changes anything: chunk by chunk the newer word
    /// counts, a chunk that is not named keeps its last, and what was not planned does not count.
    fn with(&self, newer: &BTreeMap<Chunk, SignOff>) -> Option<Self> {
        let Stage::Started { plan } = &self.stage else {
            return None;
        };
        let is_new = |(chunk, sign_off): &(&Chunk, &SignOff)| {
            plan.contains(*chunk) && self.signed_off.get(*chunk) != Some(*sign_off)
        };
        let mut new = newer.iter().filter(is_new).peekable();
        new.peek()?;
        let mut hold = self.clone();
        hold.signed_off.extend(new.map(|(chunk, sign_off)| (chunk.clone(), sign_off.clone())));
        Some(hold)
    }

    /// Why the sign-offs do not carry an approval, if they do not.
    fn missing(&self) -> Option<Reason> {
        let Stage::Started { plan } = &self.stage else {
            return Some("not started".into());
        };
        plan.iter().find_map(|chunk| match self.signed_off.get(chunk) {
            Some(SignOff::Clean) => None,
            Some(SignOff::Failed(why)) => Some(Reason::new(format!("chunk {chunk}: {why}"))),
            None => Some(Reason::new(format!("chunk {chunk} is not signed off"))),
        })
    }

    /// The reason of the verdict that a cancel with `Block` leaves behind.
    fn blocking_reason(&self) -> Option<Reason> {
        let cancelling = self.cancelling.as_ref()?;
        match cancelling.then {
            Then::Again => {
                mark!(Ar5Again);
                None
            }
            Then::Block => {
                mark!(Ar5Blocks);
                Some(Reason::new(format!("cancelled: {}", cancelling.reason)))
            }
        }
    }
}
