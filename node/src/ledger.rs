//! Where the executor's book is kept.

use std::future::Future;
use std::sync::{Mutex, PoisonError};

use handover_core::{Acknowledgement, ExecutorEffect, Ledger};

/// The disk of one host: its executor's book (Ex1). It belongs to a name, so that the next life of
/// the name recovers it.
///
/// A file works: keep a [`Ledger`], call [`Ledger::write`] on a copy, write that beside the old file
/// as JSON, `fsync`, rename. On SQLite, write the one row.
///
/// Several writes may be under way at once, of different rows, and one that has taken longer than
/// [`Options::patience`](crate::Options::patience) is dropped and made again. So put them in one
/// order: what was dropped, and still runs on a thread, must not reach the disk behind a later one.
pub trait LedgerStore: Send + Sync + 'static {
    /// The book, if one was ever written; `None` on a new disk. Where the disk was lost, what it said
    /// is forgotten: local builds, and a drain that was to last. The record loses nothing.
    ///
    /// # Errors
    /// If it cannot be read.
    fn load(&self) -> impl Future<Output = Result<Option<Ledger>, LedgerStoreError>> + Send;

    /// Makes [`Ledger::write`] of this effect durable; writing it twice changes nothing more.
    ///
    /// # Errors
    /// If it was not written, or may not have been: it is written again after a while, up to
    /// [`Options::ledger_tries`](crate::Options::ledger_tries) times in a row. After
    /// [`LedgerStoreError::Lost`] nothing is written any more.
    fn write(
        &self,
        effect: &ExecutorEffect,
    ) -> impl Future<Output = Result<(), LedgerStoreError>> + Send;
}

/// Why the book could not be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LedgerStoreError {
    /// It cannot be read.
    #[error("the ledger cannot be read: {why}")]
    Unreadable {
        /// What went wrong.
        why: String,
    },
    /// It was not written; trying again may help.
    #[error("the ledger was not written: {why}")]
    NotWritten {
        /// What went wrong.
        why: String,
    },
    /// It was written or not; writing it again tells.
    #[error("nobody knows whether the ledger was written: {why}")]
    Unknown {
        /// What went wrong.
        why: String,
    },
    /// It will never be written again in this process: a dead disk, a lock that another has.
    #[error("the ledger is lost: {why}")]
    Lost {
        /// What went wrong.
        why: String,
    },
}

impl LedgerStoreError {
    pub(crate) fn late() -> Self {
        Self::Unknown { why: "no answer in time".to_owned() }
    }

    /// What went wrong.
    pub(crate) fn why(&self) -> &str {
        match self {
            Self::Unreadable { why }
            | Self::NotWritten { why }
            | Self::Unknown { why }
            | Self::Lost { why } => why,
        }
    }

    /// As the core hears of it (Dr3).
    pub(crate) fn outcome(&self) -> Acknowledgement {
        match self {
            Self::Unreadable { .. } | Self::NotWritten { .. } | Self::Lost { .. } => {
                Acknowledgement::Failed
            }
            Self::Unknown { .. } => Acknowledgement::Unknown,
        }
    }
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

    async fn write(&self, effect: &ExecutorEffect) -> Result<(), LedgerStoreError> {
        let mut book = self.book.lock().unwrap_or_else(PoisonError::into_inner);
        book.get_or_insert_default().write(effect);
        Ok(())
    }
}
