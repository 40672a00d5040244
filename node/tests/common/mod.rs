//! A small world for nodes: one thread, virtual time, and a seed that says who is polled next.
#![allow(dead_code, reason = "each test target uses a part")]

pub(crate) mod faulty;
pub(crate) mod shop;

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use handover_node::ManualClock;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Runs tasks one poll at a time; which one is next is drawn. Where none is ready, time moves on.
pub(crate) struct World {
    pub(crate) clock: ManualClock,
    tasks: BTreeMap<usize, Pin<Box<dyn Future<Output = ()> + Send>>>,
    ready: Arc<Mutex<Vec<usize>>>,
    next: usize,
    frozen: BTreeSet<usize>,
    draws: ChaCha8Rng,
    pub(crate) polls: u64,
}

struct Ready {
    task: usize,
    ready: Arc<Mutex<Vec<usize>>>,
}

impl Wake for Ready {
    fn wake(self: Arc<Self>) {
        let mut ready = self.ready.lock().expect("no test panics under it");
        if !ready.contains(&self.task) {
            ready.push(self.task);
        }
    }
}

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        Self {
            clock: ManualClock::new(),
            tasks: BTreeMap::new(),
            ready: Arc::default(),
            next: 0,
            frozen: BTreeSet::new(),
            draws: ChaCha8Rng::from_seed(key),
            polls: 0,
        }
    }

    /// Starts a task, and answers its number.
    pub(crate) fn spawn(&mut self, task: impl Future<Output = ()> + Send + 'static) -> usize {
        let number = self.next;
        self.next += 1;
        self.tasks.insert(number, Box::pin(task));
        self.ready.lock().expect("no test panics under it").push(number);
        number
    }

    /// Kills a task, as a crash does.
    pub(crate) fn kill(&mut self, task: usize) {
        self.tasks.remove(&task);
    }

    /// Never polls a task, until it thaws.
    pub(crate) fn freeze(&mut self, task: usize) {
        self.frozen.insert(task);
    }

    /// Polls a task again that was frozen.
    pub(crate) fn thaw(&mut self, task: usize) {
        self.frozen.remove(&task);
        self.ready.lock().expect("no test panics under it").push(task);
    }

    pub(crate) fn is_over(&self, task: usize) -> bool {
        !self.tasks.contains_key(&task)
    }

    fn take_ready(&mut self) -> Option<usize> {
        let mut ready = self.ready.lock().expect("no test panics under it");
        ready.retain(|task| self.tasks.contains_key(task) && !self.frozen.contains(task));
        if ready.is_empty() {
            return None;
        }
        let at = usize::try_from(self.draws.next_u64() % ready.len() as u64).expect("it is small");
        Some(ready.swap_remove(at))
    }

    /// One poll of one task; false where none is ready.
    pub(crate) fn step(&mut self) -> bool {
        let Some(task) = self.take_ready() else { return false };
        self.polls += 1;
        let waker = Waker::from(Arc::new(Ready { task, ready: Arc::clone(&self.ready) }));
        let mut context = Context::from_waker(&waker);
        let future = self.tasks.get_mut(&task).expect("only living tasks are taken");
        if future.as_mut().poll(&mut context).is_ready() {
            self.tasks.remove(&task);
        }
        true
    }

    /// Runs until this holds, moving time where nobody is ready.
    ///
    /// Panics where it does not hold after ten simulated minutes, or after a million polls.
    pub(crate) fn run_until(&mut self, what: &str, mut holds: impl FnMut() -> bool) {
        let end = handover_node::Clock::now(&self.clock) + Duration::from_secs(600);
        let polls = self.polls + 1_000_000;
        while !holds() {
            assert!(self.polls < polls, "{what}: not after a million polls");
            if self.step() {
                continue;
            }
            assert!(self.clock.advance_to_next(), "{what}: nothing will ever happen again");
            let now = handover_node::Clock::now(&self.clock);
            assert!(now < end, "{what}: not after ten minutes");
        }
    }

    /// Runs whatever can happen within this time.
    pub(crate) fn run_for(&mut self, time: Duration) {
        let end = handover_node::Clock::now(&self.clock) + time;
        loop {
            if self.step() {
                continue;
            }
            match self.clock.next() {
                Some(at) if at <= end => self.clock.advance_to_next(),
                _ => break,
            };
        }
        let rest = end.saturating_sub(handover_node::Clock::now(&self.clock));
        self.clock.advance(rest);
    }

    /// Runs a future to its end, the others beside it.
    pub(crate) fn block_on<T: Send + 'static>(
        &mut self,
        what: &str,
        future: impl Future<Output = T> + Send + 'static,
    ) -> T {
        let slot = Arc::new(Mutex::new(None));
        let filled = Arc::clone(&slot);
        self.spawn(async move {
            let value = future.await;
            *filled.lock().expect("no test panics under it") = Some(value);
        });
        self.run_until(what, || slot.lock().expect("no test panics under it").is_some());
        let mut slot = slot.lock().expect("no test panics under it");
        slot.take().expect("it was just seen")
    }
}

/// Polls a future so many times, woken or not, and then drops it; what it came to before.
pub(crate) fn cut<T: Send + 'static>(
    world: &mut World,
    polls: u32,
    future: impl Future<Output = T> + Send + 'static,
) -> Option<T> {
    let mut future = Some(Box::pin(future));
    let mut left = polls;
    let cut = std::future::poll_fn(move |context| {
        if left == 0 {
            future = None;
            return Poll::Ready(None);
        }
        left -= 1;
        let polled = future.as_mut().expect("it is there until it is cut").as_mut().poll(context);
        if left == 0 && polled.is_pending() {
            future = None;
            return Poll::Ready(None);
        }
        context.waker().wake_by_ref();
        polled.map(Some)
    });
    world.block_on("polls, or ends", cut)
}
