//! The host: a candidate whose build runs in the host's own executor (Ho1 to Ho6).
//!
//! The two are joined by levels, not by messages: after each input [`Host::reconcile`] compares
//! what the candidate is in with what the executor has reserved, and moves them together in the
//! same step. So no order of inputs leaves a slot reserved for nobody, or an offer without a slot.

mod effect;
mod reconcile;

use alloc::collections::{BTreeSet, VecDeque};
use alloc::sync::Arc;

pub use effect::Effect;
use effect::Order;

use crate::candidate::{Alarm, Candidate, CandidateRefusal, Phase};
use crate::executor::{
    AtDeadline, CancelRefusal, Drain, DrainRefusal, DrainRequest, End, Executor, ExecutorEffect,
    NotDraining, NotRunning, ReserveRefusal, SubmitRefusal, Work,
};
use crate::mark::mark;
use crate::shared::follow;
use crate::{
    BuildId, Chunk, Gate, GrantId, HostId, Incarnation, Outcome, Seq, SignOff, Statement,
    Unreadable, Version, View,
};
/// One process: what a production binary drives.
///
/// Methods by kind. *Wishes*: [`ask`](Self::ask), [`watch`](Self::watch),
/// [`stand_down`](Self::stand_down), [`submit`](Self::submit), [`cancel`](Self::cancel),
/// [`drain`](Self::drain), [`undrain`](Self::undrain), [`deadline`](Self::deadline),
/// [`interrupt`](Self::interrupt). *Inputs* of the driver: [`handle_view`](Self::handle_view),
/// [`handle_unreadable`](Self::handle_unreadable), [`handle_plan`](Self::handle_plan),
/// [`handle_no_plan`](Self::handle_no_plan), [`handle_sign_off`](Self::handle_sign_off),
/// [`handle_build_end`](Self::handle_build_end), [`handle_build_stop`](Self::handle_build_stop),
/// [`come_back`](Self::come_back), [`acknowledge`](Self::acknowledge). *Outputs*: after each of
/// these, [`poll_effect`](Self::poll_effect) until `None`; the levels
/// [`statement`](Self::statement), [`gate`](Self::gate) and [`is_drained`](Self::is_drained) may
/// be read at any time.
#[derive(Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Host {
    candidate: Candidate,
    executor: Executor,
    /// The job is wanted whenever no drain is in force.
    wanted: bool,
    /// The candidate was told of the drain in force.
    told_of_drain: bool,
    /// The asking that a slot was reserved for before it was said (Ho1).
    reserved_for: Option<Seq>,
    /// The candidate stands in the executor's queue.
    queued: bool,
    /// How the build under a grant ended, until that is durable and can be said.
    ended: Option<(GrantId, Outcome)>,
    plan: Option<Order<GrantId>>,
    comeback: Option<Order<Incarnation>>,
    alarms: VecDeque<Alarm>,
    /// The executor is drained; handed out when the candidate rests too (Ho4).
    drained: Option<ExecutorEffect>,
}

/// By hand for `clone_from`: whoever keeps a host as it was before each step copies little.
impl Clone for Host {
    fn clone(&self) -> Self {
        Self {
            candidate: self.candidate.clone(),
            executor: self.executor.clone(),
            wanted: self.wanted,
            told_of_drain: self.told_of_drain,
            reserved_for: self.reserved_for,
            queued: self.queued,
            ended: self.ended.clone(),
            plan: self.plan,
            comeback: self.comeback,
            alarms: self.alarms.clone(),
            drained: self.drained.clone(),
        }
    }

    fn clone_from(&mut self, source: &Self) {
        let Self {
            candidate,
            executor,
            wanted,
            told_of_drain,
            reserved_for,
            queued,
            ended,
            plan,
            comeback,
            alarms,
            drained,
        } = source;
        self.candidate.clone_from(candidate);
        self.executor.clone_from(executor);
        self.wanted = *wanted;
        self.told_of_drain = *told_of_drain;
        self.reserved_for = *reserved_for;
        self.queued = *queued;
        follow(&mut self.ended, ended);
        self.plan = *plan;
        self.comeback = *comeback;
        if !(self.alarms.is_empty() && alarms.is_empty()) {
            self.alarms.clone_from(alarms);
        }
        follow(&mut self.drained, drained);
    }
}

impl Host {
    /// A host that has said nothing yet.
    #[must_use]
    pub fn new(candidate: Candidate, executor: Executor) -> Self {
        let mut host = Self {
            candidate,
            executor,
            wanted: false,
            told_of_drain: false,
            reserved_for: None,
            queued: false,
            ended: None,
            plan: None,
            comeback: None,
            alarms: VecDeque::new(),
            drained: None,
        };
        host.reconcile();
        host
    }

    /// The job is wanted (Ca1); under a drain, as soon as it is over (Ho3).
    pub fn ask(&mut self) {
        self.wanted = true;
        if !self.executor.is_draining() && !self.queued {
            self.candidate.ask();
        }
        self.reconcile();
    }

    /// Only the gate is wanted (Ca1).
    pub fn watch(&mut self) {
        if self.candidate.phase() == Phase::Idle {
            self.wanted = false;
        }
        self.candidate.watch();
    }

    /// The job is not wanted (Ca6); a running build under a grant is stopped.
    pub fn stand_down(&mut self) {
        self.wanted = false;
        self.candidate.stand_down();
        self.reconcile();
    }

    /// The job is not wanted, but what runs may end (Ca6).
    pub fn stand_down_after(&mut self) {
        self.wanted = false;
        self.candidate.stand_down_after();
        self.reconcile();
    }

    /// A local build for the queue (Ex6): allowed at any time.
    ///
    /// # Errors
    /// If the id is known, or the parent is not in flight.
    pub fn submit(
        &mut self,
        build: BuildId,
        parent: Option<BuildId>,
        drains: Option<DrainRequest>,
    ) -> Result<(), SubmitRefusal> {
        let answer = self.executor.submit(build, parent, drains);
        self.reconcile();
        answer
    }

    /// A local build is not wanted any more.
    ///
    /// # Errors
    /// If it is not known, has ended, or is being cancelled.
    pub fn cancel(&mut self, build: &BuildId) -> Result<(), CancelRefusal> {
        let answer = self.executor.cancel(build);
        self.reconcile();
        answer
    }

    /// Nothing new starts from here on (Ex7); the candidate is told in the same step (Ho3).
    /// Answers with the drain in force.
    ///
    /// # Errors
    /// If a drain is in force that is not weaker; the refusal carries it.
    pub fn drain(&mut self, request: DrainRequest) -> Result<Drain, DrainRefusal> {
        let answer = self.executor.drain(request).cloned();
        self.reconcile();
        answer
    }

    /// The drain is over (Ho3): what was parked is woken, the candidate asks again if its version
    /// is not approved.
    ///
    /// # Errors
    /// If no drain is in force.
    pub fn undrain(&mut self) -> Result<(), NotDraining> {
        let answer = self.executor.undrain();
        self.reconcile();
        answer
    }

    /// The drain's deadline has come (Ex7). Answers with what the request had named.
    ///
    /// # Errors
    /// If no drain is in force.
    pub fn deadline(&mut self) -> Result<AtDeadline, NotDraining> {
        let answer = self.executor.deadline();
        self.reconcile();
        answer
    }

    /// Whoever ends the process waits no longer for what runs: what a drain's deadline does with
    /// [`AtDeadline::Interrupt`], whatever the request had named (Ex7).
    ///
    /// # Errors
    /// If no drain is in force.
    pub fn interrupt(&mut self) -> Result<(), NotDraining> {
        let answer = self.executor.interrupt();
        self.reconcile();
        answer
    }

    /// A newer view of the record.
    ///
    /// # Errors
    /// As [`Candidate::handle_view`].
    pub fn handle_view(&mut self, view: impl Into<Arc<View>>) -> Result<(), CandidateRefusal> {
        let answer = self.candidate.handle_view(view);
        self.reconcile();
        answer
    }

    /// The driver cannot read the record. A slot that was reserved for an asking is given back:
    /// nobody can tell how long the answer would take.
    pub fn handle_unreadable(&mut self, why: Unreadable) {
        self.candidate.handle_unreadable(why);
        if self.candidate.phase() == Phase::Asking {
            self.reserved_for = None;
        }
        self.reconcile();
    }

    /// The answer to [`Effect::MakePlan`]. In one step (Ho1): with the gate open and a slot free
    /// the slot is reserved, counted as in flight, and the offer accepted; else the host declines
    /// and waits for its turn in the executor's queue.
    ///
    /// # Errors
    /// If no plan is wanted for this grant (any more).
    pub fn handle_plan(
        &mut self,
        grant: GrantId,
        plan: BTreeSet<Chunk>,
    ) -> Result<(), CandidateRefusal> {
        if self.candidate.phase() != (Phase::Planning { grant }) {
            return Err(CandidateRefusal::NoSuchBuild);
        }
        self.plan = None;
        match self.executor.reserve() {
            Ok(()) | Err(ReserveRefusal::Already) => {
                mark!(Ho1Reserved);
                self.candidate.handle_plan(grant, plan)?;
            }
            Err(ReserveRefusal::Full) => self.wait_for_slot(),
            Err(ReserveRefusal::Closed) => {
                mark!(Ho1Closed);
                self.candidate.stand_down();
            }
        }
        self.reconcile();
        Ok(())
    }

    /// The other answer to [`Effect::MakePlan`]: this host can make no plan. It says `StoodDown`,
    /// so that the job goes to the next in the same fold, and the wish for it stays: the driver
    /// decides when to [`ask`](Self::ask) again.
    ///
    /// # Errors
    /// If no plan is wanted for this grant (any more).
    pub fn handle_no_plan(&mut self, grant: GrantId) -> Result<(), CandidateRefusal> {
        if self.candidate.phase() != (Phase::Planning { grant }) {
            return Err(CandidateRefusal::NoSuchBuild);
        }
        self.plan = None;
        self.candidate.decline();
        self.reconcile();
        Ok(())
    }

    /// A chunk of the build under this grant is done.
    ///
    /// # Errors
    /// If no build runs under this grant.
    pub fn handle_sign_off(
        &mut self,
        grant: GrantId,
        chunk: Chunk,
        sign_off: SignOff,
    ) -> Result<(), CandidateRefusal> {
        self.candidate.handle_sign_off(grant, chunk, sign_off)
    }

    /// A build has ended by itself, also if it was told to stop in the meantime; one that panicked
    /// or was lost has failed. A build under a grant is reported when its status is durable.
    ///
    /// # Errors
    /// If it does not run here.
    pub fn handle_build_end(&mut self, work: &Work, end: End) -> Result<(), NotRunning> {
        let outcome = match &end {
            End::Succeeded => Outcome::Clean,
            End::Failed(reason) => Outcome::Failed(reason.clone()),
        };
        self.executor.ended(work, end)?;
        self.note_end(work, outcome);
        self.reconcile();
        Ok(())
    }

    /// A build that was told to stop has really stopped, without an end of its own.
    ///
    /// # Errors
    /// If it was not told to stop, or does not run here.
    pub fn handle_build_stop(&mut self, work: &Work) -> Result<(), NotRunning> {
        self.executor.stopped(work)?;
        self.note_end(work, Outcome::Abandoned);
        self.reconcile();
        Ok(())
    }

    /// The process comes back under a new incarnation (Ca0): the answer to [`Effect::Return`].
    /// Local builds go on; the candidate begins anew.
    ///
    /// # Errors
    /// As [`Candidate::come_back`].
    pub fn come_back(&mut self, incarnation: Incarnation) -> Result<(), CandidateRefusal> {
        self.candidate.come_back(incarnation)?;
        self.comeback = None;
        self.reconcile();
        Ok(())
    }

    /// The host's present word, a level; acknowledged or not.
    #[must_use]
    pub fn statement(&self) -> Option<Statement> {
        self.candidate.statement()
    }

    /// The present word, as long as the host's view does not acknowledge it: what the driver folds
    /// into the record, again and again until there is nothing to say (Dr1).
    #[must_use]
    pub fn unacknowledged(&self) -> Option<Statement> {
        if self.candidate.is_acknowledged() { None } else { self.statement() }
    }

    /// May the process take traffic?
    #[must_use]
    pub fn gate(&self) -> Gate {
        self.candidate.gate()
    }

    /// May the process end (Ho4)? Nothing is in flight, and the record knows all that it must:
    /// a process that ends with an unfolded report takes the approval with it.
    #[must_use]
    pub fn is_drained(&self) -> bool {
        self.executor.is_drained() && self.executor.is_written() && self.rests()
    }

    /// Has the record heard all that it must, and is nothing of the candidate under way? The
    /// executor's builds and its ledger are another matter.
    #[must_use]
    pub fn rests(&self) -> bool {
        match self.candidate.phase() {
            Phase::Idle | Phase::Expelled { running: None } => true,
            Phase::StoodDown => self.candidate.is_acknowledged(),
            Phase::Asking
            | Phase::Planning { .. }
            | Phase::Accepted { .. }
            | Phase::Building { .. }
            | Phase::Cancelling { .. }
            | Phase::Finished { .. }
            | Phase::Expelled { running: Some(_) } => false,
        }
    }

    /// Its identity.
    #[must_use]
    pub fn id(&self) -> &HostId {
        self.candidate.host()
    }

    /// What it runs.
    #[must_use]
    pub fn version(&self) -> &Version {
        self.candidate.version()
    }

    /// Its part in who builds.
    #[must_use]
    pub fn candidate(&self) -> &Candidate {
        &self.candidate
    }

    /// Its part in what runs and what drains.
    #[must_use]
    pub fn executor(&self) -> &Executor {
        &self.executor
    }

    /// Does the candidate wait for a slot in the executor's queue?
    #[must_use]
    pub fn is_queued(&self) -> bool {
        self.queued
    }

    /// Is the job wanted, drain or not?
    #[must_use]
    pub fn wants_job(&self) -> bool {
        self.wanted
    }

    /// The same host around another executor: for debuggers, and for states made by hand.
    #[must_use]
    pub fn with_executor(self, executor: Executor) -> Self {
        let mut host = Self { executor, ..self };
        host.reconcile();
        host
    }

    /// Asserts what must hold of our own state, whatever the record says.
    ///
    /// # Panics
    /// If an invariant is broken: a defect of this crate.
    pub fn check(&self) {
        self.candidate.check();
        self.executor.check();
        let reserved = self.executor.has_reservation();
        let needs = match self.candidate.phase() {
            Phase::Accepted { .. } => true,
            Phase::Asking | Phase::Planning { .. } => self.reserved_for.is_some(),
            Phase::Idle
            | Phase::Building { .. }
            | Phase::Cancelling { .. }
            | Phase::Finished { .. }
            | Phase::StoodDown
            | Phase::Expelled { .. } => false,
        };
        assert!(reserved == needs, "a slot is reserved exactly in the states that need it (Ho5)");
        assert!(
            !self.queued || self.candidate.phase() == Phase::StoodDown,
            "who waits for a slot holds no offer that another could take (Ho1)"
        );
        assert!(
            !(self.queued && self.executor.is_draining()),
            "a drained host waits for nothing (Ho3)"
        );
    }
}
