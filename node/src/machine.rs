//! The host of the core with what its driver has still to do: all that is kept under the lock.
//!
//! As the contract of core says, effects are polled until `None` after each input, in the step of
//! the input; they are carried out one by one later. So a journal of the inputs and of the
//! acknowledgements replays to the same state.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use handover_core::executor::{CancelRefusal, DrainRefusal, NotDraining, SubmitRefusal};
use handover_core::journal::{HostInput, JournalEntry};
use handover_core::{
    Acknowledgement, BuildId, Chunk, Drain, DrainRequest, Effect, End, Gate, GrantId, Host, HostId,
    Incarnation, Input, Phase, Reason, RecordId, Refusal, Remark, Revision, Seq, SignOff,
    Unreadable, View, Work,
};

use crate::BuildError;
use crate::shared::Guarded;

/// Everything under the lock.
pub(crate) struct Machine {
    host: Host,
    /// Effects that have not been carried out, oldest first.
    orders: VecDeque<Effect>,
    /// What operators ask of the record.
    pub(crate) requests: BTreeMap<u64, Request>,
    next_request: u64,
    /// Builds that were started and are not over.
    running: BTreeSet<Work>,
    /// Of these, the ones that were told to stop.
    cancelled: BTreeSet<Work>,
    /// Why the gate is unknown although the host may have seen an approval.
    barred: Option<Unreadable>,
    pub(crate) wants_job: bool,
    /// The process is to end once it is drained.
    pub(crate) shuts_down: bool,
    /// It was told so twice: what runs is interrupted.
    interrupted: bool,
    /// Why the ledger is written no more.
    ledger_lost: Option<Reason>,
    /// The drain's deadline, as a time from its declaration that the driver has not noted yet.
    pub(crate) deadline: DeadlineWish,
    /// The driver has ended: nothing that is asked will be done.
    ended: bool,
    /// The record that the driver follows.
    record: Option<RecordId>,
    journal: Option<Vec<Noted>>,
}

/// An entry for the journal, and what its line says of the host.
pub(crate) struct Noted {
    pub(crate) record: Option<RecordId>,
    pub(crate) host: HostId,
    pub(crate) seq: Seq,
    pub(crate) revision: Revision,
    pub(crate) entry: JournalEntry,
}

/// An operator's input on its way into the record.
pub(crate) struct Request {
    pub(crate) input: Input,
    pub(crate) answer: Option<Result<Option<Remark>, Refusal>>,
    /// How many times the whole record had been read when it was refused first: a refusal counts
    /// only on a record that was read since (Ar9).
    pub(crate) refused_at: Option<u64>,
}

/// What is to become of the drain's deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeadlineWish {
    Unchanged,
    Clear,
    In(Duration),
}

/// How a build was over.
pub(crate) enum Over {
    Returned(Result<(), BuildError>),
    Panicked(String),
    Dropped,
}

impl Guarded for Machine {
    type Gate = Gate;

    fn gate(&self) -> Gate {
        match &self.barred {
            Some(why) => Gate::Unknown { why: why.clone() },
            None => self.host.gate(),
        }
    }

    fn has_work(&self) -> bool {
        !self.orders.is_empty()
    }
}

impl Machine {
    pub(crate) fn new(host: Host, wants_job: bool, journals: bool) -> Self {
        let mut machine = Self {
            host,
            orders: VecDeque::new(),
            requests: BTreeMap::new(),
            next_request: 0,
            running: BTreeSet::new(),
            cancelled: BTreeSet::new(),
            barred: None,
            wants_job,
            shuts_down: false,
            interrupted: false,
            ledger_lost: None,
            deadline: DeadlineWish::Unchanged,
            ended: false,
            record: None,
            journal: journals.then(Vec::new),
        };
        machine.take_up_orders();
        machine
    }

    pub(crate) fn host(&self) -> &Host {
        &self.host
    }

    /// Gives the host an input and takes up all that follows.
    fn give<T>(&mut self, input: HostInput, give: impl FnOnce(&mut Host) -> T) -> T {
        self.change(JournalEntry::Input(input), give)
    }

    fn change<T>(&mut self, entry: JournalEntry, change: impl FnOnce(&mut Host) -> T) -> T {
        let (phase, gate) = (self.host.candidate().phase(), self.gate());
        let answer = change(&mut self.host);
        self.take_up_orders();
        self.note(entry);
        self.tell(phase, &gate);
        answer
    }

    fn take_up_orders(&mut self) {
        while let Some(effect) = self.host.poll_effect() {
            self.orders.push_back(effect);
        }
        // An order for a plan is void once the candidate plans for another offer, or for none.
        let phase = self.host.candidate().phase();
        self.orders.retain(|order| match order {
            Effect::MakePlan { grant } => phase == Phase::Planning { grant: *grant },
            Effect::Return { .. } | Effect::Alarm(_) | Effect::Executor(_) => true,
        });
    }

    /// One event a transition, with the ids of both sides.
    fn tell(&self, from: Phase, gate: &Gate) {
        let (to, now) = (self.host.candidate().phase(), self.gate());
        let (host, seq) = (self.host.id(), self.host.candidate().seq());
        if to != from {
            tracing::info!(%host, %seq, %from, %to, revision = %self.revision(), "moved");
        }
        if now != *gate {
            tracing::info!(%host, from = %gate, to = %now, revision = %self.revision(), "gate");
        }
    }

    fn revision(&self) -> Revision {
        self.host.candidate().view().map_or(Revision(0), |view| view.revision)
    }

    /// From here on the driver follows this record.
    pub(crate) fn follow(&mut self, record: RecordId) {
        self.record = Some(record);
    }

    /// Keeps an entry for the journal.
    pub(crate) fn note(&mut self, entry: JournalEntry) {
        let (host, revision) = (self.host.id().clone(), self.revision());
        let seq = self.host.candidate().seq();
        if let Some(journal) = &mut self.journal {
            journal.push(Noted { record: self.record, host, seq, revision, entry });
        }
    }

    /// What is to be written into the journal.
    pub(crate) fn take_noted(&mut self) -> Vec<Noted> {
        self.journal.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The next order, which is the caller's to carry out.
    pub(crate) fn take_order(&mut self) -> Option<Effect> {
        self.orders.pop_front()
    }

    /// Dr3.
    pub(crate) fn acknowledge(&mut self, effect: &Effect, outcome: Acknowledgement) {
        let entry = JournalEntry::Acknowledged { effect: effect.clone(), outcome };
        self.change(entry, |host| host.acknowledge(effect, outcome));
    }

    pub(crate) fn ask(&mut self) {
        self.give(HostInput::Ask, Host::ask);
    }

    pub(crate) fn stand_down(&mut self, after: bool) {
        if self.ended {
            // Nobody would hear it.
            return;
        }
        if after {
            self.give(HostInput::StandDownAfter, Host::stand_down_after);
        } else {
            self.give(HostInput::StandDown, Host::stand_down);
        }
    }

    /// A newer view; the gate can be read again.
    pub(crate) fn read_view(&mut self, view: View) {
        self.barred = None;
        let refused =
            self.give(HostInput::View(Box::new(view.clone())), |host| host.handle_view(view));
        if let Err(refusal) = refused {
            tracing::debug!(host = %self.host.id(), %refusal, "view not taken");
        }
    }

    pub(crate) fn cannot_read(&mut self, why: Unreadable) {
        self.give(HostInput::Unreadable(why.clone()), |host| host.handle_unreadable(why));
    }

    /// The gate is unknown from here on, whatever was approved: the record has lost its past.
    pub(crate) fn bar(&mut self, why: Unreadable) {
        self.cannot_read(why.clone());
        self.barred = Some(why);
        self.cancelled.extend(self.running.iter().filter(|work| work.is_granted()).cloned());
    }

    pub(crate) fn plan_made(
        &mut self,
        grant: GrantId,
        plan: Result<BTreeSet<Chunk>, BuildError>,
    ) -> bool {
        let refused = match plan {
            Ok(plan) => self.give(HostInput::Plan { grant, plan: plan.clone() }, |host| {
                host.handle_plan(grant, plan)
            }),
            Err(why) => {
                tracing::warn!(host = %self.host.id(), %grant, %why, "no plan: declined");
                let declined =
                    self.give(HostInput::NoPlan { grant }, |host| host.handle_no_plan(grant));
                return declined.is_ok();
            }
        };
        if let Err(refusal) = refused {
            tracing::debug!(host = %self.host.id(), %grant, %refusal, "plan not taken");
        }
        false
    }

    pub(crate) fn sign_off(&mut self, grant: GrantId, chunk: Chunk, sign_off: SignOff) {
        if self.ended || !self.running.contains(&Work::Granted(grant)) {
            return;
        }
        let input = HostInput::SignOff { grant, chunk: chunk.clone(), sign_off: sign_off.clone() };
        let refused = self.give(input, |host| host.handle_sign_off(grant, chunk, sign_off));
        if let Err(refusal) = refused {
            tracing::debug!(host = %self.host.id(), %grant, %refusal, "sign-off not taken");
        }
    }

    /// The build's future is about to run.
    pub(crate) fn build_starts(&mut self, work: &Work) {
        self.running.insert(work.clone());
        self.cancelled.remove(work);
    }

    /// Tells a build to stop; false where nothing of it runs.
    pub(crate) fn stop_build(&mut self, work: &Work) -> bool {
        let runs = self.running.contains(work);
        if runs {
            self.cancelled.insert(work.clone());
        }
        runs
    }

    pub(crate) fn is_cancelled(&self, work: &Work) -> bool {
        self.ended || self.cancelled.contains(work)
    }

    /// Nothing of the build runs any more (Ca4): never silence.
    pub(crate) fn build_is_over(&mut self, work: &Work, over: Over) {
        if self.ended || !self.running.remove(work) {
            return;
        }
        let told = self.cancelled.remove(work);
        let end = match (over, told) {
            (Over::Returned(Ok(())), _) => End::Succeeded,
            (Over::Returned(Err(BuildError::Failed(reason))), _) => End::Failed(reason),
            (Over::Panicked(message), _) => {
                End::Failed(Reason::new(format!("the build panicked: {message}")))
            }
            (Over::Returned(Err(BuildError::Stopped)) | Over::Dropped, true) => {
                return self.build_stopped(work);
            }
            (Over::Returned(Err(BuildError::Stopped)), false) => {
                End::Failed("the build stopped, and nobody had told it to".into())
            }
            (Over::Dropped, false) => End::Failed("the build was dropped before its end".into()),
        };
        tracing::info!(host = %self.host.id(), %work, ?end, "build over");
        let input = HostInput::BuildEnd { work: work.clone(), end: end.clone() };
        let refused = self.give(input, |host| host.handle_build_end(work, end));
        if let Err(refusal) = refused {
            tracing::debug!(host = %self.host.id(), %work, %refusal, "end not taken");
        }
    }

    /// The build was told to stop, and nothing of it runs.
    pub(crate) fn build_stopped(&mut self, work: &Work) {
        tracing::info!(host = %self.host.id(), %work, "build stopped");
        let input = HostInput::BuildStop { work: work.clone() };
        let refused = self.give(input, |host| host.handle_build_stop(work));
        if let Err(refusal) = refused {
            tracing::debug!(host = %self.host.id(), %work, %refusal, "stop not taken");
        }
    }

    pub(crate) fn come_back(&mut self, incarnation: Incarnation) -> bool {
        let before = self.host.id().clone();
        let input = HostInput::ComeBack { incarnation };
        let refused = self.give(input, |host| host.come_back(incarnation)).err();
        match &refused {
            Some(refusal) => tracing::error!(host = %before, %refusal, "did not come back"),
            None => tracing::warn!(%before, host = %self.host.id(), "came back as a new host"),
        }
        refused.is_none()
    }

    pub(crate) fn submit(
        &mut self,
        build: BuildId,
        parent: Option<BuildId>,
        drains: Option<DrainRequest>,
    ) -> Result<(), SubmitRefusal> {
        let (of, from, then) = (build.clone(), parent.clone(), drains.clone());
        let input = HostInput::Submit { build, parent, drains };
        self.give(input, |host| host.submit(of, from, then))
    }

    pub(crate) fn cancel(&mut self, build: &BuildId) -> Result<(), CancelRefusal> {
        self.give(HostInput::Cancel { build: build.clone() }, |host| host.cancel(build))
    }

    pub(crate) fn drain(
        &mut self,
        request: DrainRequest,
        deadline: Option<Duration>,
    ) -> Result<Drain, DrainRefusal> {
        let drain = self.give(HostInput::Drain(request.clone()), |host| host.drain(request))?;
        self.deadline = deadline.map_or(DeadlineWish::Clear, DeadlineWish::In);
        Ok(drain)
    }

    pub(crate) fn undrain(&mut self) -> Result<(), NotDraining> {
        self.give(HostInput::Undrain, Host::undrain)?;
        self.deadline = DeadlineWish::Clear;
        self.shuts_down = false;
        self.interrupted = false;
        Ok(())
    }

    pub(crate) fn deadline_passed(&mut self) {
        let host = self.host.id().clone();
        match self.give(HostInput::Deadline, Host::deadline) {
            Ok(outcome) => tracing::warn!(%host, ?outcome, "the drain's deadline has passed"),
            Err(refusal) => tracing::debug!(%host, %refusal, "a deadline without a drain"),
        }
    }

    pub(crate) fn interrupt(&mut self) {
        self.interrupted = true;
        if let Err(refusal) = self.give(HostInput::Interrupt, Host::interrupt) {
            tracing::debug!(host = %self.host.id(), %refusal, "nothing to interrupt");
        }
    }

    /// The ledger is written no more. Nothing new starts here; the job goes to another host, but
    /// for a build that runs already: its end can be said, and is.
    pub(crate) fn lose_ledger(&mut self, why: Reason) {
        if self.ledger_lost.is_some() {
            return;
        }
        tracing::error!(host = %self.host.id(), %why, "the ledger is lost; nothing new starts");
        self.ledger_lost = Some(why);
        if self.host.candidate().phase() != Phase::Idle {
            let runs = self.running.iter().any(Work::is_granted);
            self.stand_down(runs);
        }
    }

    pub(crate) fn ledger_lost(&self) -> Option<&Reason> {
        self.ledger_lost.as_ref()
    }

    /// Why the process ends though it is not drained: it was told to twice, and what it still waits
    /// for is the ledger alone.
    pub(crate) fn gives_up(&self) -> Option<&Reason> {
        let waits = !self.interrupted || !self.running.is_empty() || !self.host.rests();
        self.ledger_lost.as_ref().filter(|_| !waits)
    }

    pub(crate) fn request(&mut self, input: Input) -> u64 {
        let number = self.next_request;
        self.next_request += 1;
        self.requests.insert(number, Request { input, answer: None, refused_at: None });
        number
    }

    pub(crate) fn end(&mut self) {
        self.ended = true;
    }

    /// Nobody reads the record any more: what is not approved is not known.
    pub(crate) fn lose_driver(&mut self) {
        if self.barred.is_none() && !self.host.gate().is_open() {
            let reason = "the driver of this node has ended".into();
            self.barred = Some(Unreadable::Unavailable { reason });
        }
    }

    pub(crate) fn is_ended(&self) -> bool {
        self.ended
    }
}
