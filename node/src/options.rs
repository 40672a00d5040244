//! Who a node is, and how patient.

use std::time::Duration;

use futures_core::future::BoxFuture;
use handover_core::{Name, Priority, Settings, Version};

use crate::journal::Journal;

/// Who a node is, and how patient. Only the first two have to be chosen.
#[must_use]
pub struct Options {
    pub(crate) name: Name,
    pub(crate) version: Version,
    pub(crate) priority: Priority,
    pub(crate) settings: Settings,
    pub(crate) wants_job: bool,
    pub(crate) seed: u64,
    pub(crate) retry_first: Duration,
    pub(crate) retry_cap: Duration,
    pub(crate) spread: Duration,
    pub(crate) offer_patience: Duration,
    pub(crate) rewatch: Duration,
    pub(crate) patience: Duration,
    pub(crate) ledger_tries: u32,
    pub(crate) drain_deadline: Option<Duration>,
    pub(crate) spawner: Option<Spawner>,
    pub(crate) journal: Option<Box<dyn Journal>>,
}

/// Starts a future on a task of its own.
pub(crate) struct Spawner(pub(crate) Box<dyn Fn(BoxFuture<'static, ()>) + Send + Sync>);

impl Options {
    /// A node at this place (a node, a slot, an ordinal: stable over boots), running this version
    /// (the exact identity of what it runs: a commit, an image digest). One build at a time.
    pub fn new(name: impl Into<Name>, version: impl Into<Version>) -> Self {
        let (name, version) = (name.into(), version.into());
        let seed = fnv(name.as_str());
        Self {
            name,
            version,
            priority: Priority(0),
            settings: Settings::new(1, false),
            wants_job: true,
            seed,
            retry_first: Duration::from_millis(20),
            retry_cap: Duration::from_secs(5),
            spread: Duration::from_millis(200),
            offer_patience: Duration::from_secs(30),
            rewatch: Duration::from_secs(10),
            patience: Duration::from_secs(10),
            ledger_tries: 60,
            drain_deadline: None,
            spawner: None,
            journal: None,
        }
    }

    /// Higher is handed the job earlier. 0 unless set.
    pub fn priority(mut self, priority: u32) -> Self {
        self.priority = Priority(priority);
        self
    }

    /// How many builds may be in flight here, the record's among them: 1 unless set; 0 is 1. A build that
    /// waits for an approval must not hold the only slot that this approval's build needs (Ho6).
    pub fn slots(mut self, slots: u32) -> Self {
        self.settings = Settings::new(slots, self.settings.pinned());
        self
    }

    /// No build's success may drain this node (Ex7).
    pub fn pinned(mut self) -> Self {
        self.settings = Settings::new(self.settings.slots(), true);
        self
    }

    /// Holds a gate and never asks for the job, until [`Node::ask`](crate::Node::ask).
    pub fn watch_only(mut self) -> Self {
        self.wants_job = false;
        self
    }

    /// The seed of all jitter: derived from the name unless set. The incarnation is mixed in.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The waits between tries: `first` doubled up to `cap`, of that half to all. 20 ms and 5 s
    /// unless set. At least 1 ms: who never waits leaves no time to what fails.
    pub fn retry(mut self, first: Duration, cap: Duration) -> Self {
        let least = Duration::from_millis(1);
        (self.retry_first, self.retry_cap) = (first.max(least), cap.max(least));
        self
    }

    /// How long at most a node waits before it reports what all others know too (that a host is
    /// gone, that an offer has lapsed), so that not all report at once. 200 ms unless set.
    pub fn spread(mut self, spread: Duration) -> Self {
        self.spread = spread;
        self
    }

    /// How long an offer to another host may stand before this one lets it lapse (Dr5), if it asks
    /// itself. 30 s unless set; safety does not depend on it.
    pub fn offer_patience(mut self, patience: Duration) -> Self {
        self.offer_patience = patience;
        self
    }

    /// After how much silence the watch of the store is opened again, for what it may have
    /// skipped. 10 s unless set.
    pub fn rewatch(mut self, silence: Duration) -> Self {
        self.rewatch = silence;
        self
    }

    /// How long a call of the store, of membership or of the ledger may take before it counts as
    /// unanswered: unknown, neither done nor failed. 10 s unless set.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// After how many failures in a row the ledger counts as lost for this process, as if it had
    /// said so itself ([`LedgerStoreError::Lost`](crate::LedgerStoreError::Lost)). 60 unless set,
    /// about four minutes with the waits of [`retry`](Self::retry) as they are; 0 is 1.
    pub fn ledger_tries(mut self, tries: u32) -> Self {
        self.ledger_tries = tries.max(1);
        self
    }

    /// The deadline of a drain that nobody gave one: of a deployment's, and of one that was in force
    /// when the process ended. What then happens is named in the drain. None unless set.
    pub fn drain_deadline(mut self, deadline: Duration) -> Self {
        self.drain_deadline = Some(deadline);
        self
    }

    /// Builds run as tasks of their own, started by this: `|build| { tokio::spawn(build); }`. Else
    /// they run inside [`Driver::run`](crate::Driver::run), and one that blocks its thread blocks
    /// the node. A task that its runtime drops is reported as failed.
    pub fn spawner(
        mut self,
        spawn: impl Fn(BoxFuture<'static, ()>) + Send + Sync + 'static,
    ) -> Self {
        self.spawner = Some(Spawner(Box::new(spawn)));
        self
    }

    /// Writes a journal, from which the run can be judged later.
    pub fn journal(mut self, journal: impl Journal) -> Self {
        self.journal = Some(Box::new(journal));
        self
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (name, version) = (&self.name, &self.version);
        f.debug_struct("Options").field("name", name).field("version", version).finish()
    }
}

/// FNV-1a, so that two names wait different times; nothing depends on more than that.
fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
