//! Where the executor's book is kept.

use std::future::Future;
use std::sync::{Mutex, PoisonError};

use handover_core::{Acknowledgement, ExecutorEffect, Ledger};

/// The disk of one host: its executor's book (Ex1). It belongs to a name, so that the next life of
/// the name recovers it.
///
/// A file works: keep a [`Ledger`], call [`Ledger::write`] on a copy, write that beside the old file
/// as JSON, `fsync`, rename. On SQLite, write the one row.
pub trait LedgerStore: Send + Sync + 'static {
    /// The book, if one was ever written.
    fn load(&self) -> impl Future<Output = Result<Option<Ledger>, LedgerStoreError>> + Send;

    /// Makes [`Ledger::write`] of this effect durable; writing it twice changes nothing more.
    /// Answers how it went: what failed, or may have, is written again after a while.
    fn write(&self, effect: &ExecutorEffect) -> impl Future<Output = Acknowledgement> + Send;
}

/// Why the book could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the ledger cannot be read: {why}")]
pub struct LedgerStoreError {
    /// What went wrong.
    pub why: String,
}

/// A book that is lost with the process: for a host without local builds and without drains that
/// should outlive it, and for tests.
#[derive(Debug, Default)]
pub struct MemoryLedger {
    book: Mutex<Option<Ledger>>,
}

impl MemoryLedger {
    /// An empty book.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl LedgerStore for MemoryLedger {
    async fn load(&self) -> Result<Option<Ledger>, LedgerStoreError> {
        Ok(self.book.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    async fn write(&self, effect: &ExecutorEffect) -> Acknowledgement {
        let mut book = self.book.lock().unwrap_or_else(PoisonError::into_inner);
        book.get_or_insert_default().write(effect);
        Acknowledgement::Done
    }
}
