//! All that the threads of a node share, and how: the only such file (the parts in memory stand for
//! stores, each a value under one lock). It knows nothing of hosts, so that a test can compile it
//! over another [`sync`](super::sync) and try each interleaving.
//!
//! Three orders matter. *Change, then wake*: a waiter that is woken before the change looks, sees
//! nothing, and sleeps for ever. *Look and park in one step*: else the change falls between the two.
//! *Change, then publish the gate*: else a probe serves what nothing has approved.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::{PoisonError, TryLockError};
use std::task::{Poll, Waker};

use super::sync::{AtomicUsize, Mutex, MutexGuard, Ordering, RwLock, spin};

/// What is kept under the lock.
pub(crate) trait Guarded {
    /// What everybody may read without the lock.
    type Gate: Clone + PartialEq;

    /// As it is now.
    fn gate(&self) -> Self::Gate;

    /// Is there anything for the driver to do?
    fn has_work(&self) -> bool;
}

/// One machine, one driver that carries out its orders, any number of handles.
pub(crate) struct Shared<M: Guarded> {
    state: Mutex<State<M>>,
    gate: Published<M::Gate>,
}

struct State<M> {
    machine: M,
    driver: Option<Waker>,
    /// By the numbers of those who wait: who waits no more leaves none behind.
    waiting: BTreeMap<u64, Waker>,
    next_waiting: u64,
}

impl<M: Guarded> Shared<M> {
    pub(crate) fn new(machine: M) -> Self {
        let gate = Published::new(machine.gate());
        let state = State { machine, driver: None, waiting: BTreeMap::new(), next_waiting: 0 };
        Self { state: Mutex::new(state), gate }
    }

    /// Changes the machine, shows its gate, and wakes whoever waits, in this order.
    pub(crate) fn update<T>(&self, change: impl FnOnce(&mut M) -> T) -> T {
        let (answer, driver, waiting) = {
            let mut state = self.lock();
            let answer = change(&mut state.machine);
            // Under the lock, so that gates are shown in the order in which they came about.
            self.gate.publish(state.machine.gate());
            (answer, state.driver.take(), std::mem::take(&mut state.waiting))
        };
        for waker in driver.into_iter().chain(waiting.into_values()) {
            waker.wake();
        }
        answer
    }

    /// Changes what nobody waits for and no gate shows.
    pub(crate) fn quietly<T>(&self, change: impl FnOnce(&mut M) -> T) -> T {
        change(&mut self.lock().machine)
    }

    /// Looks at the machine.
    pub(crate) fn read<T>(&self, look: impl FnOnce(&M) -> T) -> T {
        look(&self.lock().machine)
    }

    /// Has the driver woken at the next change; false where there is work at once.
    pub(crate) fn park_driver(&self, waker: &Waker) -> bool {
        let mut state = self.lock();
        if state.machine.has_work() {
            return false;
        }
        let before = state.driver.replace(waker.clone());
        drop(state);
        // A waker may be the last that keeps a task, and what goes with it may look in here.
        drop(before);
        true
    }

    /// Ends once `look` finds something; it looks again after each change. Dropped before, it
    /// leaves nothing behind.
    pub(crate) async fn until<T>(&self, mut look: impl FnMut(&mut M) -> Option<T>) -> T {
        let mut waiter = Waiter { shared: self, number: None };
        poll_fn(|context| waiter.poll(context.waker(), &mut look)).await
    }

    /// The gate as it was shown last; never waits for whoever has the lock.
    pub(crate) fn gate(&self) -> M::Gate {
        self.gate.read()
    }

    /// A panic under the lock is a defect of the machine, which asserts its own state; the others
    /// go on from what it left.
    fn lock(&self) -> MutexGuard<'_, State<M>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Somebody who waits, and has a number once that has begun.
struct Waiter<'a, M: Guarded> {
    shared: &'a Shared<M>,
    number: Option<u64>,
}

impl<M: Guarded> Waiter<'_, M> {
    /// Looking and parking is one step.
    fn poll<T>(&mut self, waker: &Waker, look: impl FnOnce(&mut M) -> Option<T>) -> Poll<T> {
        let mut state = self.shared.lock();
        if let Some(found) = look(&mut state.machine) {
            return Poll::Ready(found);
        }
        let number = *self.number.get_or_insert_with(|| {
            state.next_waiting += 1;
            state.next_waiting
        });
        let before = state.waiting.insert(number, waker.clone());
        drop(state);
        drop(before);
        Poll::Pending
    }
}

impl<M: Guarded> Drop for Waiter<'_, M> {
    fn drop(&mut self) {
        let Some(number) = self.number else { return };
        let mut state = self.shared.lock();
        let waker = state.waiting.remove(&number);
        drop(state);
        drop(waker);
    }
}

/// A value that is read without waiting. Two places: the writer fills the one that is not shown,
/// then shows it. A reader finds its place locked only if the writer has come round since, and then
/// the other one is shown.
struct Published<T> {
    places: [RwLock<T>; 2],
    shown: AtomicUsize,
}

impl<T: Clone + PartialEq> Published<T> {
    fn new(value: T) -> Self {
        Self {
            places: [RwLock::new(value.clone()), RwLock::new(value)],
            shown: AtomicUsize::new(0),
        }
    }

    /// By one writer at a time.
    fn publish(&self, value: T) {
        let shown = self.shown.load(Ordering::Acquire);
        if *self.places[shown].read().unwrap_or_else(PoisonError::into_inner) == value {
            return;
        }
        let hidden = 1 - shown;
        *self.places[hidden].write().unwrap_or_else(PoisonError::into_inner) = value;
        self.shown.store(hidden, Ordering::Release);
    }

    fn read(&self) -> T {
        loop {
            let shown = self.shown.load(Ordering::Acquire);
            match self.places[shown].try_read() {
                Ok(value) => return value.clone(),
                Err(TryLockError::Poisoned(value)) => return value.into_inner().clone(),
                Err(TryLockError::WouldBlock) => spin(),
            }
        }
    }
}
