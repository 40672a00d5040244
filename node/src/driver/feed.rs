//! What the store tells: the whole record once, then its changes, and the whole again only where
//! the changes are not to be had.

use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::future::BoxFuture;
use handover_core::journal::JournalEntry;
use handover_core::{
    ApplyError, Change, FORMAT, Reason, Record, RecordError, RecordParts, Revision, Unreadable,
};

use super::{Driver, DriverError};
use crate::machine::Machine;
use crate::{Changes, StoreError};

/// Where the reading stands.
pub(super) enum Feed {
    /// To be begun at this time: by reading the whole, where that is wanted, or by watching.
    Waiting {
        at: Duration,
    },
    /// The whole is read; what had been read when that began.
    Loading {
        whole: BoxFuture<'static, Result<RecordParts, StoreError>>,
        read: Option<Revision>,
    },
    Opening(BoxFuture<'static, Result<Changes, StoreError>>),
    /// Changes come; since when, and when the last one came.
    Following {
        changes: Changes,
        opened: Duration,
        heard: Duration,
    },
}

impl Feed {
    /// When it does something by itself.
    pub(super) fn due(&self, rewatch: Duration) -> Option<Duration> {
        match self {
            Self::Waiting { at } => Some(*at),
            Self::Loading { .. } | Self::Opening(_) => None,
            Self::Following { heard, .. } => Some(heard.saturating_add(rewatch)),
        }
    }
}

/// No answer is an answer too.
fn in_time<T: 'static>(
    answer: impl Future<Output = Option<Result<T, StoreError>>> + Send + 'static,
) -> BoxFuture<'static, Result<T, StoreError>> {
    Box::pin(async move {
        let late = || Err(StoreError::Unavailable { why: "no answer in time".to_owned() });
        answer.await.unwrap_or_else(late)
    })
}

/// What was heard.
enum Heard {
    Whole(Box<Result<RecordParts, StoreError>>, Option<Revision>),
    Opened(Result<Changes, StoreError>),
    Change(Option<Result<Arc<Change>, StoreError>>),
}

impl Driver {
    /// Has the whole record read, at this time or later; the wish stays until that succeeds. A
    /// reading that is under way began too early to count.
    pub(super) fn reload_at(&mut self, at: Duration) {
        self.wants_whole = true;
        let at = match &self.feed {
            Feed::Waiting { at: before } => at.max(*before),
            Feed::Loading { .. } | Feed::Opening(_) | Feed::Following { .. } => at,
        };
        self.feed = Feed::Waiting { at };
    }

    pub(super) fn poll_feed(&mut self, context: &mut Context<'_>, now: Duration) -> bool {
        let heard = match &mut self.feed {
            Feed::Waiting { at } => {
                if now < *at {
                    return false;
                }
                self.feed = if self.wants_whole || self.record.is_none() {
                    let read = self.record.as_ref().map(Record::revision);
                    let whole = self.within(Arc::clone(&self.store).load());
                    Feed::Loading { whole: in_time(whole), read }
                } else {
                    let watch = Arc::clone(&self.store).watch(self.watched_from());
                    Feed::Opening(in_time(self.within(watch)))
                };
                return true;
            }
            Feed::Loading { whole, read } => {
                let read = *read;
                whole.as_mut().poll(context).map(|whole| Heard::Whole(Box::new(whole), read))
            }
            Feed::Opening(open) => open.as_mut().poll(context).map(Heard::Opened),
            Feed::Following { changes, opened, heard } => {
                let silent = heard.saturating_add(self.options.rewatch) <= now;
                let lasts = now.saturating_sub(*opened) >= self.options.retry_cap;
                match changes.as_stream().poll_next(context) {
                    Poll::Pending if silent => {
                        // What a watch has skipped is told by nothing but another watch.
                        self.feed = Feed::Waiting { at: now };
                        return true;
                    }
                    Poll::Pending => Poll::Pending,
                    Poll::Ready(change) => {
                        *heard = now;
                        if lasts {
                            self.feed_backoff.reset();
                        }
                        Poll::Ready(Heard::Change(change))
                    }
                }
            }
        };
        let Poll::Ready(heard) = heard else { return false };
        match heard {
            Heard::Whole(whole, since) => match *whole {
                Ok(parts) => self.take_whole(parts, since, now),
                Err(error) => self.lost_feed(now, Some(error)),
            },
            Heard::Opened(Ok(changes)) => {
                self.feed = Feed::Following { changes, opened: now, heard: now };
                self.can_read();
            }
            Heard::Change(Some(Ok(change))) => self.hear_change(&change, now),
            Heard::Change(None) => self.lost_feed(now, None),
            Heard::Opened(Err(error)) | Heard::Change(Some(Err(error))) => {
                self.lost_feed(now, Some(error));
            }
        }
        true
    }

    /// From before the newest change that was read, which is told again and must be the same; and
    /// from before each change of which nobody knows whether it was committed.
    fn watched_from(&self) -> Revision {
        let read = self.record.as_ref().map_or(Revision(0), Record::revision);
        let read = self.last.as_ref().map_or(read, |last| last.expects);
        let doubtful = self.doubtful.iter().map(|doubtful| doubtful.change.expects);
        doubtful.min().map_or(read, |doubtful| doubtful.min(read))
    }

    fn lost_feed(&mut self, now: Duration, error: Option<StoreError>) {
        let at = now.saturating_add(self.feed_backoff.next(&mut self.jitter));
        self.wants_whole |= match &error {
            None | Some(StoreError::Unavailable { .. }) => false,
            Some(
                StoreError::NewerFormat { .. }
                | StoreError::Compacted
                | StoreError::Behind { .. }
                | StoreError::Corrupt { .. },
            ) => true,
        };
        self.feed = Feed::Waiting { at };
        if error == Some(StoreError::Compacted) {
            // What became of them nobody will tell any more.
            self.doubtful.clear();
        }
        match error {
            None | Some(StoreError::Compacted | StoreError::Behind { .. }) => {
                tracing::debug!(?error, "watches again");
            }
            Some(StoreError::NewerFormat { found }) => {
                self.cannot_read(Unreadable::NewerFormat { found });
            }
            Some(error @ (StoreError::Corrupt { .. } | StoreError::Unavailable { .. })) => {
                let reason = Reason::new(error.to_string());
                self.cannot_read(Unreadable::Unavailable { reason });
            }
        }
    }

    /// The gate is unknown, and it is said why; nothing is folded until the record is read again.
    fn cannot_read(&mut self, why: Unreadable) {
        if self.unreadable.as_ref() == Some(&why) {
            return;
        }
        tracing::error!(%why, "cannot read the record");
        self.unreadable = Some(why.clone());
        self.shared.update(|machine| machine.cannot_read(why));
    }

    fn can_read(&mut self) {
        if self.unreadable.take().is_some() {
            tracing::info!("reads the record again");
            self.publish();
        }
    }

    /// The host reads the record as it is now.
    pub(super) fn publish(&mut self) {
        let Some(record) = &self.record else { return };
        self.shared.update(|machine| {
            let view = record.view_for(machine.host().id(), machine.host().version());
            machine.read_view(view);
        });
        self.end_grant();
    }

    /// The whole was read: at the beginning, or because only it can tell what has happened.
    ///
    /// It is as new as its reading, which began at `since`; a commit of this node may be newer.
    pub(super) fn take_whole(
        &mut self,
        parts: RecordParts,
        since: Option<Revision>,
        now: Duration,
    ) {
        if parts.format > FORMAT {
            self.lost_feed(now, Some(StoreError::NewerFormat { found: parts.format }));
            return;
        }
        let same = self.record.as_ref().filter(|record| record.id() == parts.id);
        let (found, read) = (parts.revision, same.map(Record::revision));
        let another = |record: &Record| found == record.revision() && record.to_parts() != parts;
        if let Some(read) = read
            && (since.is_some_and(|since| found < since) || same.is_some_and(another))
        {
            self.is_restored(read, found);
            return;
        }
        let noted = JournalEntry::Loaded(Box::new(parts.clone()));
        match Record::from_parts(parts) {
            Ok(record) => {
                self.loads += 1;
                self.wants_whole = false;
                self.shared.quietly(|machine| {
                    machine.follow(record.id());
                    machine.note(noted);
                });
                if read.is_none() {
                    tracing::info!(record = %record.id(), revision = %found, "reads the record");
                    self.known = found;
                    self.doubtful.clear();
                    self.told.clear();
                }
                if read.is_none_or(|read| read < found) {
                    self.record = Some(record);
                    self.last = None;
                }
                self.unreadable = None;
                self.publish();
                self.feed = Feed::Waiting { at: now };
            }
            Err(RecordError::NewerFormat { found }) => {
                self.lost_feed(now, Some(StoreError::NewerFormat { found }));
            }
            Err(error) => {
                self.lost_feed(now, Some(StoreError::Corrupt { what: error.to_string() }));
            }
        }
    }

    fn hear_change(&mut self, change: &Arc<Change>, now: Duration) {
        if change.format > FORMAT {
            self.lost_feed(now, Some(StoreError::NewerFormat { found: change.format }));
            return;
        }
        let Some(record) = &self.record else { return };
        let read = record.revision();
        if change.record != record.id() {
            self.reload_at(now);
        } else if change.revision <= read {
            self.settle_doubts(change);
            // A repeat. The newest is known, and another one under its number is another past.
            let newest = self.last.as_ref().filter(|last| last.revision == change.revision);
            if newest.is_some_and(|last| last != change) {
                self.is_restored(read, change.expects);
            }
        } else if change.expects > read {
            tracing::debug!(%read, expects = %change.expects, "skipped: watches again");
            let at = now.saturating_add(self.feed_backoff.next(&mut self.jitter));
            self.feed = Feed::Waiting { at };
        } else {
            self.take_change(change, now);
        }
    }

    /// Applies a committed change, and shows it to the host.
    pub(super) fn take_change(&mut self, change: &Arc<Change>, now: Duration) {
        let Some(record) = &mut self.record else { return };
        if change.record == record.id() && change.revision <= record.revision() {
            return;
        }
        match record.apply(change) {
            Ok(()) => {
                self.feed_backoff.reset();
                self.known = self.known.max(change.revision);
                self.last = Some(Arc::clone(change));
                self.members.forget_gone(change, record);
                self.settle_doubts(change);
                self.publish();
            }
            Err(ApplyError::NewerFormat { found }) => {
                self.lost_feed(now, Some(StoreError::NewerFormat { found }));
            }
            Err(
                error @ (ApplyError::Conflict { .. }
                | ApplyError::OtherRecord { .. }
                | ApplyError::Contradiction { .. }),
            ) => {
                tracing::warn!(%error, "a change does not follow: reads the whole");
                self.reload_at(now);
            }
        }
    }

    fn is_restored(&mut self, read: Revision, found: Revision) {
        let error = DriverError::Restored { read, found };
        tracing::error!(%error, "refused");
        let reason = Reason::new(error.to_string());
        self.shared.update(|machine| {
            machine.bar(Unreadable::Unavailable { reason });
            Machine::end(machine);
        });
        self.done = Some(Err(error));
    }
}
