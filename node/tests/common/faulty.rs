//! A store that does to its users what stores do: answers are lost, commits lose, watches skip,
//! repeat, lag and end. What it does is drawn from a seed.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use futures_core::Stream;
use handover_node::core::journal::CommitAnswer;
use handover_node::core::{Change, RecordParts, Revision};
use handover_node::{Changes, MemoryStore, RecordStore, StoreError};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A store in memory, with faults while they are on.
pub(crate) struct FaultyStore {
    pub(crate) inner: MemoryStore,
    draws: Arc<Mutex<ChaCha8Rng>>,
    on: Arc<AtomicBool>,
    away: AtomicBool,
    lost: AtomicU64,
    hung: AtomicU64,
}

fn one_in(draws: &Mutex<ChaCha8Rng>, n: u64) -> bool {
    draws.lock().expect("no test panics under it").next_u64().is_multiple_of(n)
}

impl FaultyStore {
    pub(crate) fn new(inner: MemoryStore, seed: u64) -> Self {
        let mut key = [1; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let draws = Arc::new(Mutex::new(ChaCha8Rng::from_seed(key)));
        let on = Arc::new(AtomicBool::new(true));
        Self {
            inner,
            draws,
            on,
            away: AtomicBool::new(false),
            lost: AtomicU64::new(0),
            hung: AtomicU64::new(0),
        }
    }

    /// Neither reads nor watches, and its watches have ended.
    pub(crate) fn set_away(&self, away: bool) {
        self.away.store(away, Ordering::SeqCst);
        if away {
            self.inner.end_watches();
        }
    }

    pub(crate) fn lost_answers(&self) -> u64 {
        self.lost.load(Ordering::SeqCst)
    }

    fn is_away(&self) -> bool {
        self.away.load(Ordering::SeqCst)
    }

    pub(crate) fn set_faults(&self, on: bool) {
        self.on.store(on, Ordering::SeqCst);
    }

    /// Sometimes never answers.
    async fn hang(&self) {
        if self.one_in(12) {
            self.hung.fetch_add(1, Ordering::SeqCst);
            std::future::pending().await
        }
    }

    pub(crate) fn hung(&self) -> u64 {
        self.hung.load(Ordering::SeqCst)
    }

    fn one_in(&self, n: u64) -> bool {
        self.on.load(Ordering::SeqCst) && one_in(&self.draws, n)
    }
}

impl RecordStore for FaultyStore {
    async fn load(&self) -> Result<RecordParts, StoreError> {
        self.hang().await;
        if self.is_away() || self.one_in(4) {
            return Err(StoreError::Unavailable { why: "cut".to_owned() });
        }
        self.inner.load().await
    }

    async fn commit(&self, change: &Change) -> CommitAnswer {
        let lost = || {
            self.lost.fetch_add(1, Ordering::SeqCst);
            CommitAnswer::Unknown { why: "cut".into() }
        };
        if self.is_away() || self.one_in(5) {
            return lost();
        }
        let answer = self.inner.commit(change).await;
        self.hang().await;
        if self.one_in(4) { lost() } else { answer }
    }

    async fn watch(&self, after: Revision) -> Result<Changes, StoreError> {
        if self.is_away() || self.one_in(5) {
            return Err(StoreError::Unavailable { why: "cut".to_owned() });
        }
        self.hang().await;
        let after = if self.one_in(3) { Revision(after.0.saturating_sub(2)) } else { after };
        let changes = self.inner.watch(after).await?;
        let (draws, on) = (Arc::clone(&self.draws), Arc::clone(&self.on));
        Ok(Changes::new(FaultyWatch { changes: Mutex::new(changes), draws, on }))
    }
}

struct FaultyWatch {
    changes: Mutex<Changes>,
    draws: Arc<Mutex<ChaCha8Rng>>,
    on: Arc<AtomicBool>,
}

impl Stream for FaultyWatch {
    type Item = Result<Arc<Change>, StoreError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let faulty = self.on.load(Ordering::SeqCst);
        let mut changes = self.changes.lock().expect("no test panics under it");
        loop {
            let polled = changes.as_stream().poll_next(context);
            if !faulty || polled.is_pending() {
                return polled;
            }
            if one_in(&self.draws, 6) {
                return Poll::Ready(None);
            }
            if !one_in(&self.draws, 5) {
                return polled;
            }
            // This one is skipped.
        }
    }
}
