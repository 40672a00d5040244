//! The disk of one host: its executor's book, which outlives its processes.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use handover_core::{BuildId, BuildState, ExecutorEffect, Ledger, Work};
use handover_node::{LedgerStore, LedgerStoreError};
use handover_sim::draw::Draw;
use handover_sim::world::News;
use madsim::time::sleep;

use crate::bell::lock;
use crate::faults::Faults;
use crate::judge::{Judge, Speaker};

/// The book, as one process of the host writes it.
pub(crate) struct Book {
    pub(crate) kept: Arc<Mutex<Option<Ledger>>>,
    /// The disk is lost, and says so.
    pub(crate) is_dead: Arc<Mutex<bool>>,
    pub(crate) judge: Judge,
    pub(crate) speaker: Speaker,
    pub(crate) faults: Faults,
    pub(crate) draw: Arc<Mutex<Draw>>,
    /// Builds whose success owes a drain, whether their host was told so or not.
    pub(crate) deployments: Arc<Mutex<BTreeSet<BuildId>>>,
}

impl Book {
    fn keep(&self, effect: &ExecutorEffect) {
        lock(&self.kept).get_or_insert_default().write(effect);
        self.judge.hear_of(&self.speaker, |who| News::Wrote(who, effect.clone()));
        if let ExecutorEffect::StoreEntry { work: Work::Local(build), entry: Some(entry) } = effect
            && entry.state == BuildState::Succeeded
            && lock(&self.deployments).contains(build)
        {
            let work = Work::Local(build.clone());
            self.judge.hear_of(&self.speaker, |who| News::Owes(who, work));
        }
    }
}

impl LedgerStore for Book {
    async fn load(&self) -> Result<Option<Ledger>, LedgerStoreError> {
        Ok(lock(&self.kept).clone())
    }

    async fn write(&self, effect: &ExecutorEffect) -> Result<(), LedgerStoreError> {
        let (fails, after, takes) = {
            let mut draw = lock(&self.draw);
            let chance = self.faults.read().disk;
            (draw.chance(chance), draw.chance(500), draw.chance(300).then(|| draw.below(5)))
        };
        if let Some(takes) = takes {
            sleep(Duration::from_millis(takes)).await;
        }
        if *lock(&self.is_dead) {
            return Err(LedgerStoreError::Lost { why: "the disk is dead".to_owned() });
        }
        if fails && !after {
            return Err(LedgerStoreError::NotWritten { why: "a fault".to_owned() });
        }
        self.keep(effect);
        if fails { Err(LedgerStoreError::Unknown { why: "a fault".to_owned() }) } else { Ok(()) }
    }
}
