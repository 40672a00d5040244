//! The clock of one host: its own zero, its own rate.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use handover_node::Clock;
use madsim::time::TimeHandle;

use crate::bell::lock;

/// A clock that is off.
#[derive(Clone, Debug)]
pub(crate) struct Skewed {
    /// What it showed when the run began.
    pub(crate) zero: Duration,
    /// Its seconds in a thousand true ones; 1000 is right.
    pub(crate) rate: u32,
    /// How far it has jumped; a clone jumps with it.
    pub(crate) jumped: Arc<Mutex<Duration>>,
}

impl Skewed {
    /// It shows a later time at once. What sleeps by it sleeps on.
    pub(crate) fn jump(&self, by: Duration) {
        *lock(&self.jumped) += by;
    }
}

impl Clock for Skewed {
    fn now(&self) -> Duration {
        let ran = TimeHandle::current().elapsed() * self.rate / 1_000;
        self.zero + ran + *lock(&self.jumped)
    }

    async fn sleep(&self, duration: Duration) {
        // What its hand takes for this long.
        madsim::time::sleep(duration * 1_000 / self.rate).await;
    }
}
