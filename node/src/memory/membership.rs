//! Membership in memory: who joined lives until somebody says otherwise.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use handover_core::{HostId, Incarnation, Name};

use crate::{Liveness, Membership, MembershipError, Predecessors, Sightings};

/// Membership in memory, for the nodes of one process. It counts as durable as long as it lives.
#[derive(Debug, Default)]
pub struct MemoryMembership {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    used: BTreeMap<Name, Incarnation>,
    log: Vec<(HostId, Liveness)>,
    watchers: Vec<Waker>,
}

impl MemoryMembership {
    /// Nobody has ever lived.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Says what a supervisor says: that this host is suspected, or alive again, or has ended.
    pub fn say(&self, host: HostId, liveness: Liveness) {
        let watchers = {
            let mut inner = lock(&self.inner);
            inner.log.push((host, liveness));
            std::mem::take(&mut inner.watchers)
        };
        for waker in watchers {
            waker.wake();
        }
    }
}

fn lock(inner: &Mutex<Inner>) -> MutexGuard<'_, Inner> {
    inner.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Membership for MemoryMembership {
    async fn next_incarnation(
        &self,
        name: &Name,
        above: Incarnation,
    ) -> Result<Incarnation, MembershipError> {
        let mut inner = lock(&self.inner);
        let used = inner.used.entry(name.clone()).or_default();
        *used = (*used).max(above).next();
        Ok(*used)
    }

    async fn join(&self, host: &HostId) -> Result<Predecessors, MembershipError> {
        self.say(host.clone(), Liveness::Alive);
        Ok(Predecessors::Unknown)
    }

    async fn leave(&self, host: &HostId) -> Result<(), MembershipError> {
        self.say(host.clone(), Liveness::Gone);
        Ok(())
    }

    async fn watch(&self) -> Result<Sightings, MembershipError> {
        Ok(Sightings::new(Watch { inner: Arc::clone(&self.inner), next: 0 }))
    }
}

struct Watch {
    inner: Arc<Mutex<Inner>>,
    next: usize,
}

impl Stream for Watch {
    type Item = (HostId, Liveness);

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let shared = Arc::clone(&self.inner);
        let mut inner = lock(&shared);
        if let Some(sighting) = inner.log.get(self.next) {
            self.next += 1;
            return Poll::Ready(Some(sighting.clone()));
        }
        if !inner.watchers.iter().any(|waker| waker.will_wake(context.waker())) {
            inner.watchers.push(context.waker().clone());
        }
        Poll::Pending
    }
}
