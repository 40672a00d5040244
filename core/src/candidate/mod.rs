//! The candidate: a host that asks, waits, builds, reports, stands down (Ca0 to Ca8).
//!
//! It states facts under its own name, whatever its view shows: a view may delay its work, it may
//! never suppress a statement. It is evaluated on each new view and after each change of its own
//! standing, always on the newest view that it holds.

mod evaluate;
mod levels;
mod phase;

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::sync::Arc;
pub use phase::{Alarm, CandidateEffect, CandidateRefusal, Phase, Wish};

use crate::mark::mark;
use crate::record::FORMAT;
use crate::shared::{follow, follow_shared};
use crate::{
    Chunk, GrantId, HostId, Incarnation, Outcome, Priority, RecordId, Revision, Seq, SignOff,
    Standing, Unreadable, Version, View,
};

/// A host's part in who builds.
///
/// Methods by kind. *Wishes* of whoever runs the process: [`ask`](Self::ask),
/// [`watch`](Self::watch), [`stand_down`](Self::stand_down),
/// [`stand_down_after`](Self::stand_down_after), [`decline`](Self::decline). *Inputs* of the
/// driver: [`handle_view`](Self::handle_view), [`handle_unreadable`](Self::handle_unreadable),
/// [`handle_plan`](Self::handle_plan), [`handle_sign_off`](Self::handle_sign_off),
/// [`handle_build_end`](Self::handle_build_end), [`come_back`](Self::come_back). *Outputs*: after
/// each of these, [`poll_effect`](Self::poll_effect) until `None`, and
/// [`statement`](Self::statement), a level that the driver repeats until it is acknowledged (Dr1).
#[derive(Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Candidate {
    host: HostId,
    version: Version,
    priority: Priority,
    record: Option<RecordId>,
    /// Invariant: only grows while `record` stays.
    read: Option<Revision>,
    view: Option<Arc<View>>,
    unreadable: Option<Unreadable>,
    /// A view of another record was read: this life is over, whatever is read since.
    replaced: bool,
    /// An approval was shown to this process (Ca8).
    approved: bool,
    seq: Seq,
    standing: Option<Standing>,
    phase: Phase,
    wish: Wish,
    /// Sign-offs about which nothing is said yet: its build is being stopped (Ca4).
    unsaid: BTreeMap<Chunk, SignOff>,
    effects: VecDeque<CandidateEffect>,
}

/// By hand for `clone_from`: see [`Host`](crate::Host).
impl Clone for Candidate {
    fn clone(&self) -> Self {
        Self {
            host: self.host.clone(),
            version: self.version.clone(),
            priority: self.priority,
            record: self.record,
            read: self.read,
            view: self.view.clone(),
            unreadable: self.unreadable.clone(),
            replaced: self.replaced,
            approved: self.approved,
            seq: self.seq,
            standing: self.standing.clone(),
            phase: self.phase,
            wish: self.wish,
            unsaid: self.unsaid.clone(),
            effects: self.effects.clone(),
        }
    }

    fn clone_from(&mut self, source: &Self) {
        let Self {
            host,
            version,
            priority,
            record,
            read,
            view,
            unreadable,
            replaced,
            approved,
            seq,
            standing,
            phase,
            wish,
            unsaid,
            effects,
        } = source;
        if self.host != *host {
            self.host.clone_from(host);
        }
        if self.version != *version {
            self.version.clone_from(version);
        }
        self.priority = *priority;
        self.record = *record;
        self.read = *read;
        follow_shared(&mut self.view, view);
        follow(&mut self.unreadable, unreadable);
        self.replaced = *replaced;
        self.approved = *approved;
        self.seq = *seq;
        if self.standing != *standing {
            self.standing.clone_from(standing);
        }
        self.phase = *phase;
        self.wish = *wish;
        if self.unsaid != *unsaid {
            self.unsaid.clone_from(unsaid);
        }
        if !(self.effects.is_empty() && effects.is_empty()) {
            self.effects.clone_from(effects);
        }
    }
}

impl Candidate {
    /// A candidate that has said nothing yet.
    #[must_use]
    pub fn new(host: HostId, version: Version, priority: Priority) -> Self {
        Self {
            host,
            version,
            priority,
            record: None,
            read: None,
            view: None,
            unreadable: None,
            replaced: false,
            approved: false,
            seq: Seq(0),
            standing: None,
            phase: Phase::Idle,
            wish: Wish::Watch,
            unsaid: BTreeMap::new(),
            effects: VecDeque::new(),
        }
    }

    /// Ca1: from idle and stood down it asks; during a build it takes a wish to stand down back.
    pub fn ask(&mut self) {
        self.wish = Wish::Job;
        match self.phase {
            Phase::Idle | Phase::StoodDown => {
                mark!(Ca1Asks);
                self.say_asking();
                self.evaluate();
            }
            Phase::Asking
            | Phase::Planning { .. }
            | Phase::Accepted { .. }
            | Phase::Building { .. }
            | Phase::Cancelling { .. }
            | Phase::Finished { .. }
            | Phase::Expelled { .. } => {
                mark!(Ca1AsksAlready);
            }
        }
    }

    /// Ca1: holds a gate without ever asking. A host that has asked stands down by
    /// [`stand_down`](Self::stand_down); for it this does nothing.
    pub fn watch(&mut self) {
        if self.phase == Phase::Idle {
            self.wish = Wish::Watch;
        }
    }

    /// Ca6: said whatever the view shows; a running build is stopped first.
    pub fn stand_down(&mut self) {
        self.wish = Wish::StandDown;
        match self.phase {
            Phase::Idle | Phase::Asking | Phase::Planning { .. } | Phase::Accepted { .. } => {
                mark!(Ca6StandsDown);
                self.say_stood_down();
            }
            Phase::Building { grant } => {
                mark!(Ca6StopsFirst);
                self.cancel(grant);
            }
            Phase::Cancelling { .. }
            | Phase::Finished { .. }
            | Phase::StoodDown
            | Phase::Expelled { .. } => {
                mark!(Ca6Noted);
            }
        }
    }

    /// Ca6, Ho3: the same wish, but what runs may end.
    pub fn stand_down_after(&mut self) {
        match self.phase {
            Phase::Building { .. } => {
                mark!(Ca6After);
                self.wish = Wish::StandDown;
            }
            Phase::Idle
            | Phase::Asking
            | Phase::Planning { .. }
            | Phase::Accepted { .. }
            | Phase::Cancelling { .. }
            | Phase::Finished { .. }
            | Phase::StoodDown
            | Phase::Expelled { .. } => self.stand_down(),
        }
    }

    /// Ho1: stands down for now, the wish for the job stays. The record gives the job to the next
    /// in the same fold, so a busy host never sits on an offer that another could take.
    pub fn decline(&mut self) {
        match self.phase {
            Phase::Asking | Phase::Planning { .. } | Phase::Accepted { .. } => {
                self.say_stood_down();
            }
            Phase::Idle
            | Phase::Building { .. }
            | Phase::Cancelling { .. }
            | Phase::Finished { .. }
            | Phase::StoodDown
            | Phase::Expelled { .. } => {}
        }
    }

    /// A newer view of the record.
    ///
    /// # Errors
    /// If it is not newer than the one held (a view never goes back), if it is not for this host,
    /// if it has a newer format, or if the record was replaced and the host has not come back. Only
    /// a newer format changes anything: a gate that is not open is unknown. The view that is held,
    /// once more after [`handle_unreadable`](Self::handle_unreadable), says that the record can be
    /// read again.
    pub fn handle_view(&mut self, view: impl Into<Arc<View>>) -> Result<(), CandidateRefusal> {
        let view = view.into();
        if view.host != self.host {
            mark!(Ar9NotMine);
            return Err(CandidateRefusal::NotMine);
        }
        if view.format > FORMAT {
            mark!(Ar9NewerFormat);
            self.unreadable = Some(Unreadable::NewerFormat { found: view.format });
            return Err(CandidateRefusal::NewerFormat { found: view.format });
        }
        if self.replaced {
            return Err(CandidateRefusal::Replaced);
        }
        if self.record.is_some_and(|record| record != view.record) {
            mark!(Ar9OtherRecord);
            self.replaced = true;
            self.unreadable = Some(Unreadable::OtherRecord { found: view.record });
            self.approved = false;
            self.expel();
            return Ok(());
        }
        if self.unreadable.is_some() && self.view.as_ref() == Some(&view) {
            // It can be read again, and says what it said: into a quiet record nothing newer comes.
            self.unreadable = None;
            return Ok(());
        }
        let old = |read: &Revision| {
            *read > view.revision || (*read == view.revision && self.view.is_some())
        };
        if let Some(held) = self.read.filter(old) {
            mark!(Ar9OldView);
            return Err(CandidateRefusal::OldView { held });
        }
        self.record = Some(view.record);
        self.read = Some(view.revision);
        self.approved |= view.is_approved();
        self.unreadable = None;
        self.view = Some(view);
        self.evaluate();
        Ok(())
    }

    /// The driver cannot read the record: the gate is unknown until a view is read, be it the one
    /// that is held. What was
    /// approved stays so.
    pub fn handle_unreadable(&mut self, why: Unreadable) {
        self.unreadable = Some(why);
    }

    /// The driver's answer to [`CandidateEffect::MakePlan`]. It is judged again on the newest view:
    /// an offer that has gone in the meantime is not accepted.
    ///
    /// # Errors
    /// If no plan is wanted for this grant (any more).
    pub fn handle_plan(
        &mut self,
        grant: GrantId,
        plan: BTreeSet<Chunk>,
    ) -> Result<(), CandidateRefusal> {
        if self.phase != (Phase::Planning { grant }) {
            return Err(CandidateRefusal::NoSuchBuild);
        }
        self.say(Standing::Accepted { grant, plan });
        self.phase = Phase::Accepted { grant };
        self.evaluate();
        Ok(())
    }

    /// A chunk of the running build is done: O(log n) in those that are. Said at once, but never
    /// while the build is being cancelled.
    ///
    /// # Errors
    /// If no build runs under this grant.
    pub fn handle_sign_off(
        &mut self,
        grant: GrantId,
        chunk: Chunk,
        sign_off: SignOff,
    ) -> Result<(), CandidateRefusal> {
        if self.running() != Some(grant) {
            return Err(CandidateRefusal::NoSuchBuild);
        }
        if let Some(Standing::Building { signed_off, .. }) = &mut self.standing
            && self.phase == (Phase::Building { grant })
        {
            mark!(Ca4SignedOff);
            // In the word itself: a copy for each chunk would cost a build the square of them.
            signed_off.insert(chunk, sign_off);
            self.seq = self.seq.next();
        } else {
            mark!(Ca4SignedOffInSilence);
            self.unsaid.insert(chunk, sign_off);
        }
        Ok(())
    }

    /// The build has really ended: by itself, or (`Abandoned`) because it was told to. A build
    /// that panicked or was lost is `Failed`, never silence (Ca4).
    ///
    /// # Errors
    /// If no build runs under this grant.
    pub fn handle_build_end(
        &mut self,
        grant: GrantId,
        outcome: Outcome,
    ) -> Result<(), CandidateRefusal> {
        if self.running() != Some(grant) {
            return Err(CandidateRefusal::NoSuchBuild);
        }
        let unsaid = core::mem::take(&mut self.unsaid);
        if let Phase::Expelled { .. } = self.phase {
            mark!(Ca0Stopped);
            self.phase = Phase::Expelled { running: None };
            self.order_return();
            return Ok(());
        }
        mark!(Ca4Reports);
        let mut signed_off = BTreeMap::new();
        if let Some(Standing::Building { signed_off: said, .. }) = self.standing.take() {
            signed_off = said;
        }
        signed_off.extend(unsaid);
        self.say(Standing::Finished { grant, outcome, signed_off });
        self.phase = Phase::Finished { grant };
        self.evaluate();
        Ok(())
    }

    /// The process comes back under a new incarnation (Ca0), with the wish and the gate that it
    /// had; if it wanted the job it asks at once.
    ///
    /// # Errors
    /// If it was not expelled, if its build still runs, or if the number may have been used.
    pub fn come_back(&mut self, incarnation: Incarnation) -> Result<(), CandidateRefusal> {
        if self.phase != (Phase::Expelled { running: None }) {
            return Err(CandidateRefusal::NotExpelled);
        }
        let above = self.floor();
        if incarnation <= above {
            return Err(CandidateRefusal::IncarnationReused { above });
        }
        mark!(Ca7ComesBack);
        let host = HostId { name: self.host.name.clone(), incarnation };
        let mut next = Self::new(host, self.version.clone(), self.priority);
        if !self.replaced {
            next.record = self.record;
            next.read = self.read;
        }
        next.approved = self.approved;
        next.wish = self.wish;
        *self = next;
        if self.wish == Wish::Job {
            self.ask();
        }
        Ok(())
    }

    /// The next order. Hand out until `None` after each input.
    #[must_use = "an order that is not carried out blocks the rollout"]
    pub fn poll_effect(&mut self) -> Option<CandidateEffect> {
        self.effects.pop_front()
    }
}
