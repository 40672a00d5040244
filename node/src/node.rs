//! The handle of a node, and how one comes to be.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use handover_core::journal::JournalEntry;
use handover_core::{
    AtDeadline, Candidate, DrainRequest, EndAction, Executor, GrantId, Host, HostId, Incarnation,
    Input, Name, Reason, RecordParts, Refusal, Remark, Term, Then, Version, View,
};

use crate::driver::Driver;
use crate::erased::{AnyClock, AnyMembership};
use crate::executor_handle::{ExecutorHandle, since};
use crate::gate_handle::GateHandle;
use crate::machine::Machine;
use crate::options::Options;
use crate::shared::Shared;
use crate::{
    Builder, Clock, LedgerStore, LedgerStoreError, Membership, MembershipError, RecordStore,
};

/// What a node is made of: each may be shared with other nodes of the process.
#[derive(Clone, Debug)]
pub struct Parts<S, M, C, L, B> {
    /// Where the record lives.
    pub store: Arc<S>,
    /// Who lives.
    pub membership: Arc<M>,
    /// What time it is.
    pub clock: Arc<C>,
    /// Where this host keeps its executor's book.
    pub ledger: Arc<L>,
    /// How versions are built.
    pub builder: Arc<B>,
}

/// The handle of a node. A clone is the same node; it may go to any thread.
#[derive(Clone)]
pub struct Node {
    shared: Arc<Shared<Machine>>,
    clock: Arc<dyn AnyClock>,
}

/// Why a node cannot begin. Nothing was said in its name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BootError {
    /// It has no name, or no version: all that have none would be taken for one. It is a variable
    /// that was not set, as a rule.
    #[error("a node has a name and a version, and `{name}:{version}` lacks one")]
    Unnamed {
        /// Its name.
        name: Name,
        /// Its version.
        version: Version,
    },
    /// Its book cannot be read: what was in flight when the process ended is not known.
    #[error(transparent)]
    Ledger(#[from] LedgerStoreError),
    /// Its book is not one that this release can go on from.
    #[error("the ledger cannot be recovered: {0}")]
    Recovery(String),
    /// It has no identity to speak under.
    #[error(transparent)]
    Membership(#[from] MembershipError),
}

/// Why an operator's order to the record came to nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OrderError {
    /// The record refuses it: on the newest state that the store has.
    #[error("refused: {0}")]
    Refused(Refusal),
    /// The node has ended. The order may have been committed.
    #[error("the node has ended; the order may have been carried out")]
    Ended,
}

/// The node has ended, so that nothing will be done any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the node has ended")]
pub struct NodeEnded;

impl Node {
    /// Makes a node: reads its book, takes a new incarnation and joins. Only its [`Driver`] makes it
    /// do anything.
    ///
    /// The record need not be readable: until it is, the gate is unknown. The store is waited for
    /// no longer than [`Options::patience`]; ledger and membership as long as they take.
    ///
    /// Cancel safe: dropped before its end, it has wasted an incarnation at most.
    ///
    /// # Errors
    /// If the name or the version is empty, the book cannot be read, or membership gives no identity:
    /// the caller decides whether to try again.
    pub async fn boot<S, M, C, L, B>(
        options: Options,
        parts: Parts<S, M, C, L, B>,
    ) -> Result<(Self, Driver), BootError>
    where
        S: RecordStore,
        M: Membership,
        C: Clock,
        L: LedgerStore,
        B: Builder,
    {
        if options.name.as_str().is_empty() || options.version.as_str().is_empty() {
            let Options { name, version, .. } = options;
            return Err(BootError::Unnamed { name, version });
        }
        let Parts { store, membership, clock, ledger, builder } = parts;
        let book = ledger.load().await?;
        let whole = within(&*clock, options.patience, RecordStore::load(&*store)).await;
        let whole = whole.and_then(Result::ok);
        let floor = whole.as_ref().map_or(Incarnation(0), |parts| floor(parts, &options));
        let name = options.name.clone();
        let joined = Arc::clone(&membership).join_anew(name, floor).await?;
        let (version, settings) = (options.version.clone(), options.settings);
        let executor = match book.clone() {
            None => Executor::new(settings, version.clone()),
            Some(book) => Executor::recover(settings, version.clone(), book)
                .map_err(|error| BootError::Recovery(error.to_string()))?,
        };
        let candidate = Candidate::new(joined.host.clone(), version.clone(), options.priority);
        let host = Host::new(candidate, executor);
        let mut machine = Machine::new(host, options.wants_job, options.journal.is_some());
        let priority = options.priority;
        machine.note(JournalEntry::Boot { version, priority, settings, ledger: book });
        tracing::info!(host = %joined.host, version = %options.version, "boots");
        let shared = Arc::new(Shared::new(machine));
        let clock: Arc<dyn AnyClock> = clock;
        let node = Self { shared: Arc::clone(&shared), clock: Arc::clone(&clock) };
        let surroundings =
            crate::driver::Surroundings { store, membership, clock, ledger, builder };
        let driver = Driver::new(shared, surroundings, options, &joined, whole);
        Ok((node, driver))
    }

    /// Its present identity; another one after the record took it for gone.
    #[must_use]
    pub fn id(&self) -> HostId {
        self.shared.read(|machine| machine.host().id().clone())
    }

    /// What it has read of the record last: who has the job under which grant, and the verdict on
    /// its own version. There an operator finds the number for [`cancel`](Self::cancel) and
    /// [`revoke`](Self::revoke) (of the hold) and for [`retry`](Self::retry) (of the verdict). `None`
    /// before the record was read.
    #[must_use]
    pub fn view(&self) -> Option<View> {
        self.shared.read(|machine| machine.host().candidate().view().cloned())
    }

    /// May this process take traffic? For a readiness probe.
    #[must_use]
    pub fn gate(&self) -> GateHandle {
        GateHandle { shared: Arc::clone(&self.shared) }
    }

    /// What runs on this host, and what drains.
    #[must_use]
    pub fn executor(&self) -> ExecutorHandle {
        ExecutorHandle { shared: Arc::clone(&self.shared), clock: Arc::clone(&self.clock) }
    }

    /// The job is wanted (Ca1), from the next view on; as if it had been from the beginning, unless
    /// [`Options::watch_only`] is set. After a stand-down it takes that back.
    pub fn ask(&self) {
        self.shared.update(|machine| machine.wants_job = true);
    }

    /// The job is not wanted any more (Ca6): a build under a grant is stopped, and the job goes to
    /// another host. The gate opens all the same once the version is approved.
    pub fn stand_down(&self) {
        self.shared.update(|machine| {
            machine.wants_job = false;
            machine.stand_down(false);
        });
    }

    /// The job is not wanted any more, but what runs may end (Ca6).
    pub fn stand_down_after(&self) {
        self.shared.update(|machine| {
            machine.wants_job = false;
            machine.stand_down(true);
        });
    }

    /// The process is to end. The first call drains: nothing new starts, what runs may finish, and
    /// [`Driver::run`] ends once all is on record. The second call interrupts what runs; where the
    /// ledger is lost, `run` then ends with [`DriverError::LedgerLost`](crate::DriverError). An
    /// [undrain](ExecutorHandle::undrain) takes both back. The drain is over with the process: the
    /// next boot starts work again.
    pub fn shutdown(&self) {
        let since = since(&*self.clock);
        self.shared.update(|machine| {
            if machine.is_ended() {
                return;
            }
            if machine.shuts_down {
                machine.interrupt();
                return;
            }
            let request = DrainRequest {
                reason: "shutdown".into(),
                term: Term::ThisProcess,
                end: EndAction::Nothing,
                at_deadline: AtDeadline::Interrupt,
                since,
            };
            // Where a drain is in force already, that is the one to wait for.
            if !machine.host().executor().is_draining() {
                // It cannot be refused: there is no other.
                drop(machine.drain(request, None));
            }
            machine.shuts_down = true;
        });
    }

    /// Asks the build of this grant to stop (Ar5), on whichever host it runs. What then: with
    /// [`Then::Block`] the version has failed until a [`retry`](Self::retry), with [`Then::Again`] the
    /// job is handed out anew. The hold stays until its host says that it has
    /// stopped, so two builds never run. An operator's first tool, also for a build that hangs.
    ///
    /// Answered when it is committed. Cancel safe: dropped before that, it may be carried out or
    /// not, as if its answer had been lost.
    ///
    /// # Errors
    /// If the record refuses it, or the node ends.
    pub async fn cancel(
        &self,
        grant: GrantId,
        reason: impl Into<Reason>,
        then: Then,
    ) -> Result<Option<Remark>, OrderError> {
        self.order(Input::Cancel { grant, reason: reason.into(), then }).await
    }

    /// Takes the hold of this grant away, whatever its host does (Ar6): for a host that does not
    /// answer. Until it has read the news two builds may run.
    ///
    /// Cancel safe as [`cancel`](Self::cancel).
    ///
    /// # Errors
    /// If the record refuses it, or the node ends.
    pub async fn revoke(
        &self,
        grant: GrantId,
        reason: impl Into<Reason>,
    ) -> Result<Option<Remark>, OrderError> {
        self.order(Input::Revoke { grant, reason: reason.into() }).await
    }

    /// Takes the failure of this version under this grant back (Ar3).
    ///
    /// Cancel safe as [`cancel`](Self::cancel).
    ///
    /// # Errors
    /// If the record refuses it, or the node ends.
    pub async fn retry(
        &self,
        version: impl Into<Version>,
        grant: GrantId,
    ) -> Result<Option<Remark>, OrderError> {
        self.order(Input::Retry { version: version.into(), grant }).await
    }

    async fn order(&self, input: Input) -> Result<Option<Remark>, OrderError> {
        let number = self.shared.update(|machine| machine.request(input));
        let _withdraws = Withdraws { shared: &self.shared, number };
        let look = |machine: &mut Machine| {
            let answer = machine.requests.get_mut(&number).and_then(|it| it.answer.take());
            match answer {
                Some(answer) => Some(answer.map_err(OrderError::Refused)),
                None => machine.is_ended().then_some(Err(OrderError::Ended)),
            }
        };
        self.shared.until(look).await
    }
}

/// Nobody waits for this order any more: what was not folded yet is not folded.
struct Withdraws<'a> {
    shared: &'a Shared<Machine>,
    number: u64,
}

impl Drop for Withdraws<'_> {
    fn drop(&mut self) {
        self.shared.quietly(|machine| machine.requests.remove(&self.number));
    }
}

/// What is answered in time.
async fn within<T>(
    clock: &impl Clock,
    patience: Duration,
    answer: impl Future<Output = T>,
) -> Option<T> {
    let (mut answer, mut sleep) = (pin!(answer), pin!(clock.sleep(patience)));
    poll_fn(|context| match answer.as_mut().poll(context) {
        Poll::Ready(answer) => Poll::Ready(Some(answer)),
        Poll::Pending => sleep.as_mut().poll(context).map(|()| None),
    })
    .await
}

/// The highest incarnation of this name that the record knows.
fn floor(parts: &RecordParts, options: &Options) -> Incarnation {
    let spoke = parts.lines.keys().filter(|host| host.name == options.name);
    let spoke = spoke.map(|host| host.incarnation).max();
    spoke.max(parts.gone.get(&options.name).copied()).unwrap_or_default()
}

impl std::fmt::Debug for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Node").field("host", &self.id()).finish()
    }
}
