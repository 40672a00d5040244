//! The clock of one host: its own zero, its own rate.

use std::time::Duration;

use handover_node::Clock;
use madsim::time::TimeHandle;

/// A clock that is off.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Skewed {
    /// What it showed when the run began.
    pub(crate) zero: Duration,
    /// Its seconds in a thousand true ones; 1000 is right.
    pub(crate) rate: u32,
}

impl Clock for Skewed {
    fn now(&self) -> Duration {
        self.zero + TimeHandle::current().elapsed() * self.rate / 1_000
    }

    async fn sleep(&self, duration: Duration) {
        // What its hand takes for this long.
        madsim::time::sleep(duration * 1_000 / self.rate).await;
    }
}
