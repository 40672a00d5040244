//! A record in memory.

use std::collections::{BTreeMap, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use handover_core::journal::CommitAnswer;
use handover_core::{Change, Record, RecordId, RecordParts, Revision};

use crate::{Changes, RecordStore, StoreError};

/// A record in memory, for the nodes of one process. It keeps its newest changes for watches, 1024
/// unless set otherwise.
#[derive(Debug)]
pub struct MemoryStore {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug)]
struct Inner {
    record: Record,
    changes: VecDeque<Arc<Change>>,
    kept: usize,
    watchers: BTreeMap<u64, Waker>,
    next_watcher: u64,
    /// Watches of an earlier connection have ended.
    connection: u64,
}

impl MemoryStore {
    /// A store with an empty record under this id, which the caller draws at random.
    #[must_use]
    pub fn new(id: RecordId) -> Self {
        Self::with_record(Record::new(id), 1024)
    }

    /// A store with this record, keeping this many changes.
    #[must_use]
    pub fn with_record(record: Record, kept: usize) -> Self {
        let (changes, watchers) = (VecDeque::new(), BTreeMap::new());
        let inner = Inner { record, changes, kept, watchers, next_watcher: 0, connection: 0 };
        Self { inner: Arc::new(Mutex::new(inner)) }
    }

    /// The record as it is committed.
    #[must_use]
    pub fn record(&self) -> Record {
        self.lock().record.clone()
    }

    /// Puts another record there, as the restore of a backup does, or the loss of the store: its
    /// watches end.
    pub fn replace(&self, record: Record) {
        let mut inner = self.lock();
        inner.record = record;
        inner.changes.clear();
        drop(inner);
        self.end_watches();
    }

    /// Ends all watches, as the loss of a connection does.
    pub fn end_watches(&self) {
        let mut inner = self.lock();
        inner.connection += 1;
        wake(std::mem::take(&mut inner.watchers), inner);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        lock(&self.inner)
    }
}

fn lock(inner: &Mutex<Inner>) -> MutexGuard<'_, Inner> {
    inner.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Wakes without the lock: a waker may poll at once.
fn wake(watchers: BTreeMap<u64, Waker>, inner: MutexGuard<'_, Inner>) {
    drop(inner);
    for waker in watchers.into_values() {
        waker.wake();
    }
}

impl RecordStore for MemoryStore {
    async fn load(&self) -> Result<RecordParts, StoreError> {
        Ok(self.lock().record.to_parts())
    }

    async fn commit(&self, change: &Change) -> CommitAnswer {
        let mut inner = self.lock();
        if inner.record.apply(change).is_err() {
            return CommitAnswer::Conflict { found: inner.record.revision() };
        }
        inner.changes.push_back(Arc::new(change.clone()));
        if inner.changes.len() > inner.kept {
            inner.changes.pop_front();
        }
        wake(std::mem::take(&mut inner.watchers), inner);
        CommitAnswer::Committed
    }

    async fn watch(&self, after: Revision) -> Result<Changes, StoreError> {
        let inner = self.lock();
        let found = inner.record.revision();
        if found < after {
            return Err(StoreError::Behind { found });
        }
        inner.has_all(after)?;
        let connection = inner.connection;
        Ok(Changes::new(Watch { inner: Arc::clone(&self.inner), connection, after, number: None }))
    }
}

impl Inner {
    /// Are the changes above this revision all there?
    fn has_all(&self, after: Revision) -> Result<(), StoreError> {
        let first =
            self.changes.front().map_or_else(|| self.record.revision(), |change| change.expects);
        if first > after { Err(StoreError::Compacted) } else { Ok(()) }
    }
}

struct Watch {
    inner: Arc<Mutex<Inner>>,
    connection: u64,
    after: Revision,
    number: Option<u64>,
}

impl Stream for Watch {
    type Item = Result<Arc<Change>, StoreError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let shared = Arc::clone(&self.inner);
        let mut inner = lock(&shared);
        if inner.connection != self.connection {
            return Poll::Ready(None);
        }
        if let Err(error) = inner.has_all(self.after) {
            return Poll::Ready(Some(Err(error)));
        }
        let at = inner.changes.partition_point(|change| change.revision <= self.after);
        if let Some(change) = inner.changes.get(at) {
            self.after = change.revision;
            return Poll::Ready(Some(Ok(Arc::clone(change))));
        }
        let number = *self.number.get_or_insert_with(|| {
            inner.next_watcher += 1;
            inner.next_watcher
        });
        inner.watchers.insert(number, context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            lock(&self.inner).watchers.remove(&number);
        }
    }
}
