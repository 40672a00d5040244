//! A clock that moves when it is told to.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::Clock;

/// A clock that moves when it is told to, for tests: nothing waits for real time. A clone is the
/// same clock.
#[derive(Clone, Debug, Default)]
pub struct ManualClock {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    now: Duration,
    sleepers: BTreeMap<(Duration, u64), Option<Waker>>,
    next: u64,
}

impl ManualClock {
    /// A clock at zero.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Moves on, and wakes those whose time has come, in the order of their times.
    pub fn advance(&self, by: Duration) {
        let mut inner = self.lock();
        inner.now += by;
        let now = inner.now;
        let later = inner.sleepers.split_off(&(now, u64::MAX));
        let due = std::mem::replace(&mut inner.sleepers, later);
        drop(inner);
        for waker in due.into_values().flatten() {
            waker.wake();
        }
    }

    /// When the first sleeper wakes.
    #[must_use]
    pub fn next(&self) -> Option<Duration> {
        self.lock().sleepers.keys().next().map(|(at, _)| *at)
    }

    /// Moves on to when the first sleeper wakes; false where nobody sleeps.
    pub fn advance_to_next(&self) -> bool {
        let next = self.next();
        if let Some(at) = next {
            self.advance(at.saturating_sub(self.now()));
        }
        next.is_some()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Duration {
        self.lock().now
    }

    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send {
        let mut inner = self.lock();
        inner.next += 1;
        let key = (inner.now.saturating_add(duration), inner.next);
        inner.sleepers.insert(key, None);
        Sleep { clock: self.clone(), key }
    }
}

struct Sleep {
    clock: ManualClock,
    key: (Duration, u64),
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut inner = self.clock.lock();
        if inner.now >= self.key.0 {
            return Poll::Ready(());
        }
        inner.sleepers.insert(self.key, Some(context.waker().clone()));
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.clock.lock().sleepers.remove(&self.key);
    }
}
