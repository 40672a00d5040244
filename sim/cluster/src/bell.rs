//! Wakes whoever waits for something to change.

use std::future::{Future, poll_fn};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

/// Rung after each change; a clone is the same bell.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bell(Arc<Mutex<Vec<Waker>>>);

impl Bell {
    pub(crate) fn ring(&self) {
        let waiting = std::mem::take(&mut *lock(&self.0));
        for waker in waiting {
            waker.wake();
        }
    }

    /// Ends once `look` finds something; it looks again whenever the bell rings.
    pub(crate) fn until<'a, T>(
        &'a self,
        mut look: impl FnMut() -> Option<T> + 'a,
    ) -> impl Future<Output = T> + 'a {
        poll_fn(move |context| match look() {
            Some(found) => Poll::Ready(found),
            None => {
                let mut waiting = lock(&self.0);
                if !waiting.iter().any(|waker| waker.will_wake(context.waker())) {
                    waiting.push(context.waker().clone());
                }
                Poll::Pending
            }
        })
    }
}

/// One thread runs a whole cluster, so a poisoned lock means that the run has failed already.
pub(crate) fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
