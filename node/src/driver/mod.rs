//! The driver: one host of the core with all of the I/O around it (Dr1 to Dr5).
//!
//! Everything that is under way (a commit, a write, a build) is kept in the driver and not in the
//! future that `run` returns, so that dropping that loses nothing. One poll is one step: an effect
//! carried out, an answer taken, a change read. After each it yields.

mod commit;
mod effects;
mod feed;
mod members;

use std::collections::BTreeSet;
use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::future::BoxFuture;
use handover_core::journal::JournalEntry;
use handover_core::{
    Change, DrainId, GrantId, Phase, Reason, Record, RecordParts, Revision, Seq, Unreadable, Work,
};

use tracing::Span;

use crate::backoff::{Backoff, Jitter};
use crate::erased::{AnyBuilder, AnyClock, AnyLedger, AnyMembership, AnyStore, Joined};
use crate::machine::{DeadlineWish, Machine};
use crate::options::Options;
use crate::shared::Shared;
use crate::writer::Writer;

use commit::{Doubtful, InFlight};
use effects::Arrival;
use feed::Feed;
use members::Members;

/// Carries a node: to be run as one task, for as long as the process lives.
#[must_use = "a node does nothing unless its driver runs"]
pub struct Driver {
    shared: Arc<Shared<Machine>>,
    store: Arc<dyn AnyStore>,
    membership: Arc<dyn AnyMembership>,
    clock: Arc<dyn AnyClock>,
    ledger: Arc<dyn AnyLedger>,
    builder: Arc<dyn AnyBuilder>,
    options: Options,
    jitter: Jitter,
    writer: Option<Writer>,

    /// The record as it is known to be committed.
    record: Option<Record>,
    /// The change that made it, where it was read as a change.
    last: Option<Arc<Change>>,
    /// How often the whole record was read.
    loads: u64,
    feed: Feed,
    feed_backoff: Backoff,
    /// The whole record is to be read: its changes do not tell.
    wants_whole: bool,
    /// Why the record cannot be read at present; nothing is folded meanwhile.
    unreadable: Option<Unreadable>,

    commit: Option<InFlight>,
    /// How many changes were sent off.
    proposals: u64,
    doubtful: Vec<Doubtful>,
    /// Revisions that are known to be this node's own, since there are doubts: the same change may
    /// have been sent off twice, and one of the two was committed.
    told: BTreeSet<Revision>,
    commit_backoff: Backoff,
    /// Not before this is anything folded again.
    fold_at: Duration,
    /// The store is known to have come this far: what is older is not worth folding on.
    known: Revision,
    /// What was refused last, on which record, so that it is not folded on it again.
    refused: Option<(Seq, Revision, u64)>,

    members: Members,
    /// What was told by a watch, and nothing else was done meanwhile.
    told_in_a_row: u32,
    /// When the present offer was seen first, and when it lapses.
    offer: Option<(GrantId, Duration)>,
    /// The drain that was in force when it was looked at last.
    drain: Option<DrainId>,
    /// When the drain's deadline passes.
    deadline: Option<Duration>,
    /// When a host that could make no plan asks again.
    ask_again: Option<Duration>,
    plan_backoff: Backoff,

    arrivals: Vec<BoxFuture<'static, Arrival>>,
    /// The plan for the newest offer; one that is made for an older offer is of no use.
    planning: Option<BoxFuture<'static, Arrival>>,
    write_backoff: Backoff,
    /// Writes of the ledger that failed in a row.
    write_failures: u32,
    builds: Vec<(Work, BoxFuture<'static, ()>)>,
    alarm: Option<(Duration, BoxFuture<'static, ()>)>,
    /// Of the grant that this host has to do with.
    grant: Option<(GrantId, Span)>,
    ending: Option<Result<Ended, DriverError>>,
    /// Identities that are being left.
    leaving: u32,
    done: Option<Result<Ended, DriverError>>,
}

/// Why the driver has ended, in order: the host is drained and all that it had to say is on record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The drain's end action: the process is to be started again.
    Restart,
    /// The drain's end action: the process is to end.
    Stop,
    /// [`Node::shutdown`](crate::Node::shutdown).
    Shutdown,
}

/// Why the driver cannot go on. Its builds have been told to stop.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DriverError {
    /// The store has lost a part of the record's past: it was restored from a backup. Its grants
    /// would be given a second time. Start the process again: it then begins with what is there.
    #[error(
        "the record was restored to {found}, and {read} had been read: numbers would be given \
         twice; start the process again, and draw a new id for a record that is restored"
    )]
    Restored {
        /// What had been read.
        read: Revision,
        /// What is there.
        found: Revision,
    },
    /// The process was told to end twice ([`Node::shutdown`](crate::Node::shutdown)), and its ledger
    /// is lost: nothing of it runs any more and the record has heard all, but what the ledger was
    /// still to say of local builds and drains is not written. The next boot finds the book as it
    /// was.
    #[error("ended although the ledger is lost, and lacks what happened since: {why}")]
    LedgerLost {
        /// Why.
        why: Reason,
    },
}

/// After so many pieces of news this node says and does what is due, however much more it is told:
/// a watch that tells without end stops nobody.
const TOLD_IN_A_ROW_MAX: u32 = 256;

/// What a poll came to.
enum Step {
    /// Something was done; there may be more.
    Done,
    /// Nothing is to be done.
    Idle,
}

/// The user's parts.
pub(crate) struct Surroundings {
    pub(crate) store: Arc<dyn AnyStore>,
    pub(crate) membership: Arc<dyn AnyMembership>,
    pub(crate) clock: Arc<dyn AnyClock>,
    pub(crate) ledger: Arc<dyn AnyLedger>,
    pub(crate) builder: Arc<dyn AnyBuilder>,
}

impl Driver {
    pub(crate) fn new(
        shared: Arc<Shared<Machine>>,
        surroundings: Surroundings,
        mut options: Options,
        joined: &Joined,
        whole: Option<RecordParts>,
    ) -> Self {
        let Surroundings { store, membership, clock, ledger, builder } = surroundings;
        let backoff = || Backoff::new(options.retry_first, options.retry_cap);
        let now = clock.now();
        let mut driver = Self {
            shared,
            store,
            membership,
            ledger,
            builder,
            jitter: Jitter::new(options.seed ^ joined.host.incarnation.0.rotate_left(32)),
            writer: options.journal.take().map(|sink| Writer::new(sink, joined.host.clone())),
            record: None,
            last: None,
            loads: 0,
            feed: Feed::Waiting { at: now },
            feed_backoff: backoff(),
            wants_whole: true,
            unreadable: None,
            commit: None,
            proposals: 0,
            doubtful: Vec::new(),
            told: BTreeSet::new(),
            commit_backoff: backoff(),
            fold_at: now,
            known: Revision(0),
            refused: None,
            members: Members::new(backoff(), now, joined),
            told_in_a_row: 0,
            offer: None,
            drain: None,
            deadline: None,
            ask_again: None,
            plan_backoff: backoff(),
            arrivals: Vec::new(),
            planning: None,
            write_backoff: backoff(),
            write_failures: 0,
            builds: Vec::new(),
            alarm: None,
            grant: None,
            ending: None,
            leaving: 0,
            done: None,
            clock,
            options,
        };
        if let Some(whole) = whole {
            driver.take_whole(whole, None, now);
        }
        driver
    }

    fn write_journal(&mut self) {
        let Some(writer) = &mut self.writer else { return };
        for noted in self.shared.quietly(Machine::take_noted) {
            writer.write(noted);
        }
    }

    /// Runs the node until it has ended in order. There is no other way out but an error: a store
    /// that is away, a lost watch, a failed write are waited for. Where the ledger is lost for good,
    /// the second [`shutdown`](crate::Node::shutdown) ends it.
    ///
    /// Cancel safe: what is under way is kept, and goes on when it is called again. Dropping the
    /// driver itself ends the node as a crash does.
    ///
    /// # Errors
    /// If the record has lost its past, or the ledger is lost at the end; see [`DriverError`].
    pub async fn run(&mut self) -> Result<Ended, DriverError> {
        poll_fn(|context| {
            if let Some(done) = &self.done {
                return Poll::Ready(done.clone());
            }
            let step = self.step(context);
            self.write_journal();
            match (&self.done, step) {
                (Some(done), _) => Poll::Ready(done.clone()),
                (None, Step::Done) => {
                    // It yields, so that others come between two adjacent steps.
                    context.waker().wake_by_ref();
                    Poll::Pending
                }
                (None, Step::Idle) => Poll::Pending,
            }
        })
        .await
    }

    /// One step, whatever is first.
    fn step(&mut self, context: &mut Context<'_>) -> Step {
        if self.ending.is_some() {
            return if self.poll_arrivals(context) { Step::Done } else { Step::Idle };
        }
        if let Some(effect) = self.shared.quietly(Machine::take_order) {
            self.carry_out(effect);
            return Step::Done;
        }
        let now = self.clock.now();
        let stepped =
            self.poll_arrivals(context) || self.poll_builds(context) || self.poll_commit(context);
        if stepped {
            return Step::Done;
        }
        let listens = self.told_in_a_row < TOLD_IN_A_ROW_MAX;
        if listens && (self.poll_feed(context, now) || self.poll_members(context, now)) {
            self.told_in_a_row += 1;
            return Step::Done;
        }
        self.told_in_a_row = 0;
        let stepped = self.look_at_clock(now) || self.look_at_wish(now) || self.fold(now);
        if stepped || !listens {
            return Step::Done;
        }
        if self.arm(context, now) || !self.shared.park_driver(context.waker()) {
            return Step::Done;
        }
        Step::Idle
    }

    fn poll_arrivals(&mut self, context: &mut Context<'_>) -> bool {
        let ready = self.arrivals.iter_mut().enumerate().find_map(|(at, arrival)| {
            match arrival.as_mut().poll(context) {
                Poll::Ready(arrival) => Some((at, arrival)),
                Poll::Pending => None,
            }
        });
        if let Some((at, arrival)) = ready {
            drop(self.arrivals.remove(at));
            self.arrived(arrival);
            return true;
        }
        let Some(planning) = &mut self.planning else { return false };
        let Poll::Ready(planned) = planning.as_mut().poll(context) else { return false };
        self.planning = None;
        self.arrived(planned);
        true
    }

    fn poll_builds(&mut self, context: &mut Context<'_>) -> bool {
        let ended =
            self.builds.iter_mut().position(|(_, build)| build.as_mut().poll(context).is_ready());
        let Some(ended) = ended else { return false };
        drop(self.builds.remove(ended));
        true
    }

    /// The answer, or none within the patience of this node: nothing that hangs holds it up.
    fn within<T: 'static>(
        &self,
        answer: BoxFuture<'static, T>,
    ) -> impl Future<Output = Option<T>> + Send + use<T> {
        let mut answer = answer;
        let mut patience = Arc::clone(&self.clock).sleep(self.options.patience);
        poll_fn(move |context| {
            if let Poll::Ready(answer) = answer.as_mut().poll(context) {
                return Poll::Ready(Some(answer));
            }
            patience.as_mut().poll(context).map(|()| None)
        })
    }

    /// What is due by the clock alone.
    fn look_at_clock(&mut self, now: Duration) -> bool {
        let wish = self.shared.read(|machine| machine.deadline);
        if wish != DeadlineWish::Unchanged {
            self.shared.quietly(|machine| machine.deadline = DeadlineWish::Unchanged);
            self.deadline = match wish {
                DeadlineWish::In(term) => Some(now.saturating_add(term)),
                DeadlineWish::Clear | DeadlineWish::Unchanged => None,
            };
            return true;
        }
        let drain = self
            .shared
            .read(|machine| machine.host().executor().active_drain().map(|drain| drain.id.clone()));
        if drain != self.drain {
            // Declared by a build, or by the life before: with the deadline that is set for those.
            let term = self.options.drain_deadline.filter(|_| drain.is_some());
            self.deadline = self.deadline.or_else(|| term.map(|term| now.saturating_add(term)));
            self.drain = drain;
        }
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            self.deadline = None;
            self.shared.update(Machine::deadline_passed);
            return true;
        }
        false
    }

    /// What the node wants, as a level: it asks once it has read the record and is not approved,
    /// and ends once it is shut down and drained.
    fn look_at_wish(&mut self, now: Duration) -> bool {
        let ask_again = self.ask_again.is_some_and(|at| at <= now);
        if ask_again {
            self.ask_again = None;
        }
        let readable = self.unreadable.is_none() && self.record.is_some();
        let asks = self.shared.read(|machine| {
            let host = machine.host();
            let rests = match host.candidate().phase() {
                Phase::Idle => true,
                Phase::StoodDown => ask_again || !host.wants_job(),
                Phase::Asking
                | Phase::Planning { .. }
                | Phase::Accepted { .. }
                | Phase::Building { .. }
                | Phase::Cancelling { .. }
                | Phase::Finished { .. }
                | Phase::Expelled { .. } => false,
            };
            let free = !host.executor().is_draining() && !host.is_queued();
            let wants = machine.wants_job && machine.ledger_lost().is_none();
            wants && readable && rests && free && !host.gate().is_open()
        });
        if asks {
            self.shared.update(Machine::ask);
            return true;
        }
        let drained = self.ending.is_none()
            && self.shared.read(|machine| machine.shuts_down && machine.host().is_drained());
        let lost = self.shared.read(|machine| machine.gives_up().cloned());
        let end = match (drained, lost.filter(|_| self.ending.is_none())) {
            (true, _) => Some(Ok(Ended::Shutdown)),
            (false, lost) => lost.map(|why| Err(DriverError::LedgerLost { why })),
        };
        let ends = end.is_some();
        if let Some(end) = end {
            self.end(end);
        }
        ends || ask_again
    }

    /// Sets the one alarm to what is due next; true where that is now.
    fn arm(&mut self, context: &mut Context<'_>, now: Duration) -> bool {
        let due = [
            self.fold_due(),
            self.feed.due(self.options.rewatch),
            self.members.due(),
            self.deadline,
            self.ask_again,
            self.offer.map(|(_, at)| at),
        ];
        // What is due already waits for something else, else this step had done it.
        let due = due.into_iter().flatten().filter(|due| *due > now).min();
        let Some(due) = due else {
            self.alarm = None;
            return false;
        };
        if self.alarm.as_ref().is_none_or(|(at, _)| *at != due) {
            self.alarm = Some((due, Arc::clone(&self.clock).sleep(due - now)));
        }
        let rang =
            self.alarm.as_mut().is_some_and(|(_, sleep)| sleep.as_mut().poll(context).is_ready());
        if rang {
            self.alarm = None;
        }
        rang
    }

    fn end(&mut self, ended: Result<Ended, DriverError>) {
        if self.ending.is_some() {
            return;
        }
        self.ending = Some(ended.clone());
        let host = self.shared.update(|machine| {
            machine.note(JournalEntry::Ended);
            machine.end();
            machine.host().id().clone()
        });
        match ended {
            Ok(ended) => tracing::info!(%host, ?ended, "ends in order"),
            Err(error) => tracing::error!(%host, %error, "ends"),
        }
        self.leave(host);
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.shared.update(|machine| {
            machine.end();
            machine.lose_driver();
        });
    }
}

impl std::fmt::Debug for Driver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let host = self.shared.read(|machine| machine.host().id().clone());
        f.debug_struct("Driver").field("host", &host).finish()
    }
}
