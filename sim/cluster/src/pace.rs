//! A slow host: others come between two of its adjacent steps.
//!
//! A node yields after each step, and is polled again only once this lets it. A paused host stops;
//! a slow one goes on, and everything it does takes longer.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use handover_sim::draw::Draw;
use madsim::time::{Sleep, TimeHandle, sleep};

use crate::bell::lock;

/// How long a step of a host takes beside those of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// Nothing is put between two steps but what the scheduler puts there.
    Quick,
    /// Up to so many steps of others, too short for a timer: the scheduler picks them.
    Turns(u64),
    /// Up to this time.
    Slow(Duration),
}

/// A future that is polled at a pace.
pub(crate) struct Paced<F> {
    inner: Pin<Box<F>>,
    pace: Arc<Mutex<Pace>>,
    draw: Draw,
    woken: Arc<Woken>,
    turns: u64,
    rest: Option<Pin<Box<Sleep>>>,
    not_before: Duration,
}

/// Remembers that the future was woken, and wakes the task.
struct Woken {
    is: AtomicBool,
    task: Mutex<Option<Waker>>,
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.is.store(true, Ordering::SeqCst);
        if let Some(task) = &*lock(&self.task) {
            task.wake_by_ref();
        }
    }
}

impl<F: Future> Paced<F> {
    pub(crate) fn new(inner: F, pace: Arc<Mutex<Pace>>, draw: Draw) -> Self {
        let woken = Arc::new(Woken { is: AtomicBool::new(true), task: Mutex::new(None) });
        let (inner, not_before) = (Box::pin(inner), Duration::ZERO);
        Self { inner, pace, draw, woken, turns: 0, rest: None, not_before }
    }

    /// How long until the next step.
    fn put_between(&mut self, context: &Context<'_>) {
        match *lock(&self.pace) {
            Pace::Quick => {}
            Pace::Turns(most) => self.turns = self.draw.below(most + 1),
            Pace::Slow(most) => {
                let most = u64::try_from(most.as_micros()).unwrap_or(u64::MAX).max(1);
                let gap = Duration::from_micros(self.draw.below(most));
                self.not_before = TimeHandle::current().elapsed() + gap;
            }
        }
        if self.woken.is.load(Ordering::SeqCst) {
            context.waker().wake_by_ref();
        }
    }
}

impl<F: Future> Future for Paced<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = &mut *self;
        *lock(&this.woken.task) = Some(context.waker().clone());
        if !this.woken.is.load(Ordering::SeqCst) {
            return Poll::Pending;
        }
        if this.turns > 0 {
            this.turns -= 1;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let now = TimeHandle::current().elapsed();
        if now < this.not_before {
            let gap = this.not_before - now;
            let rest = this.rest.get_or_insert_with(|| Box::pin(sleep(gap)));
            if rest.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
        }
        this.rest = None;
        this.woken.is.store(false, Ordering::SeqCst);
        let waker = Waker::from(Arc::clone(&this.woken));
        let polled = this.inner.as_mut().poll(&mut Context::from_waker(&waker));
        if polled.is_pending() {
            this.put_between(context);
        }
        polled
    }
}
