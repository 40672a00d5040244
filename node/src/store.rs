//! The record's store, as the shell needs it: load, commit by compare-and-set, watch.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use futures_core::Stream;
use handover_core::journal::CommitAnswer;
use handover_core::{Change, RecordParts, Revision};

/// Where the record lives. Shared by all processes of a rollout.
///
/// Any process may write, and several do: there is no leader. What keeps them apart is the
/// compare-and-set of [`commit`](Self::commit), so that one call has to be exact; the other two may
/// be late.
///
/// All calls may be dropped at any await. A commit that is dropped may be committed or not, as if
/// its answer had been lost.
///
/// # On SQLite
/// One table for the head (`id`, `format`, `revision`, `next_grant`, `next_ticket`, `hold`), one for
/// lines, verdicts and gone each, and one for changes (`revision` as its key, the change as JSON).
/// [`load`](Self::load) is one read transaction. [`commit`](Self::commit) is one immediate
/// transaction: `UPDATE head SET revision = :to, .. WHERE id = :id AND revision = :expects`; where
/// that changed no row, read the revision and answer `Conflict`; else write the rows of the change,
/// insert it into the changes, `COMMIT`. `SQLITE_BUSY` before the commit is `Conflict` with the
/// revision that was read last; an error of the `COMMIT` itself is `Unknown`.
/// [`watch`](Self::watch) selects the changes above a revision, and again after a notice (a file
/// watcher, or `PRAGMA data_version` polled); old changes may be deleted, which is `Compacted`.
///
/// # On etcd
/// One key for the head, one a line, one a verdict, one a name that is gone, one key a change under
/// a prefix by revision. [`load`](Self::load) is one linearizable range read, at one etcd revision.
/// [`commit`](Self::commit) is one transaction: compare the head's value (or a key that holds
/// only `id` and `revision`), then put the rows and the change, else get the head: `succeeded =
/// false` is `Conflict`; a time-out, a lost connection or a changed leader is `Unknown`.
/// [`watch`](Self::watch) is a watch of the changes' prefix from the key of the next revision;
/// `compacted` is `Compacted`. A lease of the store says nothing about this record.
pub trait RecordStore: Send + Sync + 'static {
    /// The whole record, as it is committed now: not a replica that may be behind. A store without
    /// a record is an error, not an empty record: whoever sets the store up creates it, under an id
    /// drawn at random, with an insert that does nothing where there is one already.
    ///
    /// The format is read first: rows of a newer one are not to be guessed at.
    fn load(&self) -> impl Future<Output = Result<RecordParts, StoreError>> + Send;

    /// Makes the change durable if, and only if, the store has the record `change.record` at the
    /// revision `change.expects`. All of it or nothing.
    ///
    /// What is not known to be committed, and not known not to be, is [`CommitAnswer::Unknown`]: a
    /// time-out is not a refusal.
    fn commit(&self, change: &Change) -> impl Future<Output = CommitAnswer> + Send;

    /// The changes above `after`, in order, those to come included.
    ///
    /// It may skip, repeat and end: the shell sees each by the revisions, and watches again. Three
    /// duties: it ends, or yields an error, when it can no longer deliver; it says
    /// [`StoreError::Compacted`] where changes above `after` are gone; and
    /// [`StoreError::Behind`] where the store has not come as far as `after`.
    fn watch(&self, after: Revision) -> impl Future<Output = Result<Changes, StoreError>> + Send;
}

/// The stream of a watch.
pub struct Changes(Pin<Box<dyn Stream<Item = Result<Arc<Change>, StoreError>> + Send>>);

impl Changes {
    /// Of any stream; it lives as long as the watch does.
    pub fn new(
        stream: impl Stream<Item = Result<Arc<Change>, StoreError>> + Send + 'static,
    ) -> Self {
        Self(Box::pin(stream))
    }

    /// The stream, to be polled or wrapped.
    pub fn as_stream(
        &mut self,
    ) -> Pin<&mut (dyn Stream<Item = Result<Arc<Change>, StoreError>> + Send)> {
        self.0.as_mut()
    }
}

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Changes")
    }
}

/// Why a store could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The record is written by newer code.
    #[error("the record has the newer format {found}: bring this process to the newer release")]
    NewerFormat {
        /// Its format.
        found: u32,
    },
    /// The changes that were asked for are gone: the whole has to be read.
    #[error("the changes that were asked for are compacted")]
    Compacted,
    /// The store has not come as far as the revision that was asked for.
    #[error("the store is at {found}, behind what was asked for")]
    Behind {
        /// Where it is.
        found: Revision,
    },
    /// What is there is not a record.
    #[error("the record cannot be read: {what}")]
    Corrupt {
        /// What was found.
        what: String,
    },
    /// It cannot be reached, or cannot say; trying again may help.
    #[error("the store is unavailable: {why}")]
    Unavailable {
        /// What went wrong.
        why: String,
    },
}
