//! How often what goes wrong. All in a thousand.

use std::sync::{Arc, Mutex};

use handover_sim::draw::Draw;

use crate::bell::lock;

/// The chances of the store's faults, and of the disks'.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Chances {
    /// A commit loses the compare-and-set although it would have won.
    pub(crate) conflict: u64,
    /// A commit takes its time, before and after it is durable.
    pub(crate) slow_commit: u64,
    /// A commit is durable, and its answer is lost.
    pub(crate) lost_reply: u64,
    /// A watch ends.
    pub(crate) watch_ends: u64,
    /// A watch tells again what it has told.
    pub(crate) repeat: u64,
    /// A watch is behind.
    pub(crate) lag: u64,
    /// A watch skips a change.
    pub(crate) skip: u64,
    /// A write of a ledger fails, before or after it is on the disk.
    pub(crate) disk: u64,
    /// Messages that the network loses, either way.
    pub(crate) loss: u64,
}

/// The chances as they are now; a clone is the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Faults(Arc<Mutex<Chances>>);

impl Faults {
    pub(crate) fn read(&self) -> Chances {
        *lock(&self.0)
    }

    pub(crate) fn set(&self, chances: Chances) {
        *lock(&self.0) = chances;
    }
}

impl Chances {
    /// Each fault is on in half of all runs, so that a run has few of them and those often.
    pub(crate) fn drawn(draw: &mut Draw) -> Self {
        let mut some = |most: u64| if draw.chance(500) { draw.below(most) } else { 0 };
        Self {
            conflict: some(200),
            slow_commit: some(300),
            lost_reply: some(150),
            watch_ends: some(200),
            repeat: some(300),
            lag: some(300),
            skip: some(200),
            disk: some(150),
            loss: some(100),
        }
    }
}
