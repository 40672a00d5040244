//! All that the threads of a node share, and how: the only such file (the parts in memory stand for
//! stores, each a value under one lock). It knows nothing of hosts, so that a test can compile it
//! over another [`sync`](super::sync) and try each interleaving.
//!
//! Three orders matter. *Change, then wake*: a waiter that is woken before the change looks, sees
//! nothing, and sleeps for ever. *Look and park in one step*: else the change falls between the two.
//! *Change, then publish the gate*: else a probe serves what nothing has approved.

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
    waiting: Vec<Waker>,
}

impl<M: Guarded> Shared<M> {
    pub(crate) fn new(machine: M) -> Self {
        let gate = Published::new(machine.gate());
        let state = State { machine, driver: None, waiting: Vec::new() };
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
        for waker in driver.into_iter().chain(waiting) {
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
        state.driver = Some(waker.clone());
        true
    }

    /// Ready once `look` finds something; else woken at the next change.
    pub(crate) fn poll_until<T>(
        &self,
        waker: &Waker,
        look: impl FnOnce(&mut M) -> Option<T>,
    ) -> Poll<T> {
        let mut state = self.lock();
        if let Some(found) = look(&mut state.machine) {
            return Poll::Ready(found);
        }
        if !state.waiting.iter().any(|waiting| waiting.will_wake(waker)) {
            state.waiting.push(waker.clone());
        }
        Poll::Pending
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
