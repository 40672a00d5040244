//! What runs on this host, and what drains: for the process itself and for its operator.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use handover_core::executor::{CancelRefusal, DrainRefusal, Queued, Stage, SubmitRefusal};
use handover_core::{
    AtDeadline, BuildId, BuildState, Drain, DrainRequest, EndAction, HostId, Reason, Seq, Term,
    Work,
};

use crate::erased::AnyClock;
use crate::machine::Machine;
use crate::node::NodeEnded;
use crate::shared::Shared;

/// The executor of a node. A clone is the same executor; it may go to any thread.
#[derive(Clone)]
pub struct ExecutorHandle {
    pub(crate) shared: Arc<Shared<Machine>>,
    pub(crate) clock: Arc<dyn AnyClock>,
}

/// The wish to drain (Ex7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrainWish {
    /// Why, for people.
    pub reason: Reason,
    /// How long it lasts.
    pub term: Term,
    /// What follows once drained.
    pub end: EndAction,
    /// When patience ends, and what follows then. Counted from the request, on this node's clock;
    /// it does not outlive the process.
    pub deadline: Option<(Duration, AtDeadline)>,
}

impl DrainWish {
    /// A drain until somebody undrains, without an end action and without a deadline.
    #[must_use]
    pub fn new(reason: impl Into<Reason>) -> Self {
        let (reason, term) = (reason.into(), Term::UntilUndrained);
        Self { reason, term, end: EndAction::Nothing, deadline: None }
    }
}

/// The slots of an executor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots {
    /// All.
    pub total: u32,
    /// Those that nobody holds.
    pub free: u32,
}

/// What an executor is at, from the data that it decides by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// Whose.
    pub host: HostId,
    /// Its slots.
    pub slots: Slots,
    /// What is in flight, and how far.
    pub in_flight: Vec<(Work, Stage)>,
    /// What waits, in order.
    pub queue: Vec<Queued>,
    /// The drain in force.
    pub drain: Option<Drain>,
    /// Drained: the process may end (Ho4).
    pub drained: bool,
    /// Why it is not drained yet; empty without a drain, and once drained.
    pub waits_for: Vec<WaitsFor>,
    /// Why the ledger is written no more, so that nothing new starts in this process.
    pub ledger_lost: Option<Reason>,
}

/// What a drain waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitsFor {
    /// A build that is in flight.
    Build {
        /// Which.
        work: Work,
        /// How far it is.
        stage: Stage,
    },
    /// A slot that is reserved for a build of the record.
    Reservation,
    /// A write of the ledger.
    Ledger,
    /// A word that the record has not acknowledged: it must not be lost with the process.
    Record {
        /// Its number.
        seq: Seq,
    },
}

/// Why a submission, a cancel, a drain or an undrain came to nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExecutorError<R: std::error::Error> {
    /// The executor refuses it.
    #[error("{0}")]
    Refused(R),
    /// The node ended before it was written down; the next boot may or may not know of it.
    #[error("the node has ended before this was written down")]
    Ended,
    /// The ledger is lost: it is in force in this process, and the next boot does not know of it.
    #[error("the ledger is lost, and this is not written down: {why}")]
    LedgerLost {
        /// Why.
        why: Reason,
    },
}

impl ExecutorHandle {
    /// Takes a build of this host's own into the queue (Ex6), also during a drain; the node's
    /// [`Builder`](crate::Builder) builds it, and [`outcome`](Self::outcome) waits for its end. An id
    /// is used once in the life of a ledger. In force at the first poll, and answered once it is
    /// durable.
    ///
    /// A `parent` is a build in flight that waits for this one, which then runs in its slot, also
    /// behind a drain. A build whose success `drains` is a deployment: once it has succeeded this host
    /// drains as the request says, before the slot is given to anybody else (Ex3).
    ///
    /// Cancel safe: dropped before its answer, the build is in the queue all the same.
    ///
    /// # Errors
    /// If the id is known, the parent is not in flight, the ledger is lost, or the node ends.
    pub async fn submit(
        &self,
        build: impl Into<BuildId>,
        parent: Option<BuildId>,
        drains: Option<DrainRequest>,
    ) -> Result<(), ExecutorError<SubmitRefusal>> {
        let build = build.into();
        self.change(|machine| machine.submit(build.clone(), parent, drains))?;
        let work = Work::Local(build);
        self.until(|machine| machine.host().executor().recorded(&work).is_some().then_some(()))
            .await
    }

    /// A build is not wanted any more. In force at the first poll, and answered once it is durably
    /// over: cancelled, or ended by itself before.
    ///
    /// Cancel safe: dropped before its answer, it is cancelled all the same.
    ///
    /// # Errors
    /// If there is nothing to cancel, or the node ends.
    pub async fn cancel(
        &self,
        build: impl Into<BuildId>,
    ) -> Result<BuildState, ExecutorError<CancelRefusal>> {
        let build = build.into();
        self.change(|machine| machine.cancel(&build))?;
        self.outcome(build).await.map_err(|NodeEnded| ExecutorError::Ended)
    }

    /// Ends once a build is durably over, and says how. Cancel safe: it only looks.
    ///
    /// # Errors
    /// If the node ends before.
    pub async fn outcome(&self, build: impl Into<BuildId>) -> Result<BuildState, NodeEnded> {
        let work = Work::Local(build.into());
        let over = |machine: &Machine| {
            machine.host().executor().recorded(&work).filter(|state| state.is_terminal()).cloned()
        };
        self.until_ended(over).await
    }

    /// The slots.
    #[must_use]
    pub fn slots(&self) -> Slots {
        self.shared.read(slots)
    }

    /// Drains (Ex7): from the first poll on nothing new starts, and the host tells the record that
    /// it does not want the job (Ho3). Answered, with the drain in force, once it is durable.
    ///
    /// Cancel safe: dropped before its answer, it is in force all the same.
    ///
    /// # Errors
    /// If a drain is in force that is not weaker, the ledger is lost, or the node ends.
    pub async fn drain(&self, wish: DrainWish) -> Result<Drain, ExecutorError<DrainRefusal>> {
        let DrainWish { reason, term, end, deadline } = wish;
        let at_deadline = deadline.map_or(AtDeadline::Report, |(_, outcome)| outcome);
        let deadline = deadline.map(|(after, _)| after);
        let since = since(&*self.clock);
        let request = DrainRequest { reason, term, end, at_deadline, since };
        let drain = self.change(|machine| machine.drain(request, deadline))?;
        self.until(|machine| written(machine).then_some(())).await?;
        Ok(drain)
    }

    /// The drain is over (Ho3): from the first poll on, what was parked is woken, and the host asks
    /// again if its version is not approved. Answered once it is durable.
    ///
    /// Cancel safe: dropped before its answer, it is in force all the same.
    ///
    /// # Errors
    /// If no drain is in force, the ledger is lost, or the node ends.
    pub async fn undrain(&self) -> Result<(), ExecutorError<handover_core::executor::NotDraining>> {
        self.change(Machine::undrain)?;
        self.until(|machine| written(machine).then_some(())).await
    }

    /// Ends once the host is drained (Ho4). Cancel safe: it only looks.
    ///
    /// # Errors
    /// If the node ends before.
    pub async fn drained(&self) -> Result<(), NodeEnded> {
        self.until_ended(|machine| machine.host().is_drained().then_some(())).await
    }

    /// What it is at, and what a drain waits for.
    #[must_use]
    pub fn status(&self) -> Status {
        self.shared.read(status)
    }

    fn change<T, R: std::error::Error>(
        &self,
        change: impl FnOnce(&mut Machine) -> Result<T, R>,
    ) -> Result<T, ExecutorError<R>> {
        self.shared.update(|machine| {
            if machine.is_ended() {
                return Err(ExecutorError::Ended);
            }
            change(machine).map_err(ExecutorError::Refused)
        })
    }

    async fn until<T, R: std::error::Error>(
        &self,
        found: impl Fn(&Machine) -> Option<T>,
    ) -> Result<T, ExecutorError<R>> {
        let found = |machine: &Machine| match (found(machine), machine.ledger_lost()) {
            (Some(found), _) => Some(Ok(found)),
            (None, lost) => lost.map(|why| Err(ExecutorError::LedgerLost { why: why.clone() })),
        };
        self.until_ended(found).await.map_err(|NodeEnded| ExecutorError::Ended)?
    }

    async fn until_ended<T>(&self, found: impl Fn(&Machine) -> Option<T>) -> Result<T, NodeEnded> {
        let look = |machine: &mut Machine| match found(machine) {
            Some(found) => Some(Ok(found)),
            None => machine.is_ended().then_some(Err(NodeEnded)),
        };
        self.shared.until(look).await
    }
}

/// The clock in milliseconds, for people.
pub(crate) fn since(clock: &dyn AnyClock) -> u64 {
    u64::try_from(clock.now().as_millis()).unwrap_or(u64::MAX)
}

fn written(machine: &Machine) -> bool {
    machine.host().executor().is_written()
}

fn slots(machine: &Machine) -> Slots {
    let executor = machine.host().executor();
    Slots { total: executor.slots(), free: executor.slots_free() }
}

fn status(machine: &Machine) -> Status {
    let host = machine.host();
    let executor = host.executor();
    let in_flight: Vec<_> = executor.current().map(|(work, stage)| (work.clone(), stage)).collect();
    let (drain, drained) = (executor.active_drain().cloned(), host.is_drained());
    let mut waits_for = Vec::new();
    if drain.is_some() && !drained {
        let builds = in_flight.iter().cloned();
        waits_for.extend(builds.map(|(work, stage)| WaitsFor::Build { work, stage }));
        if executor.has_reservation() {
            waits_for.push(WaitsFor::Reservation);
        }
        if !executor.is_written() {
            waits_for.push(WaitsFor::Ledger);
        }
        if let Some(statement) = host.unacknowledged() {
            waits_for.push(WaitsFor::Record { seq: statement.seq });
        }
    }
    Status {
        host: host.id().clone(),
        slots: slots(machine),
        in_flight,
        queue: executor.queue(),
        drain,
        drained,
        waits_for,
        ledger_lost: machine.ledger_lost().cloned(),
    }
}

impl fmt::Debug for ExecutorHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecutorHandle").field("status", &self.status()).finish()
    }
}
