//! The processes that a step has changed, found by what is no longer shared.

use std::sync::Arc;

use super::{Process, Who, World};

impl World {
    /// Are the record, the arbiters, membership and what really happened the same as in another
    /// world, by what is still shared?
    pub(crate) fn shares_record(&self, other: &Self) -> bool {
        let mut arbiters = self.arbiters.iter().zip(&other.arbiters);
        Arc::ptr_eq(&self.store, &other.store)
            && arbiters.all(|(one, other)| Arc::ptr_eq(one, other))
            && Arc::ptr_eq(&self.oracle, &other.oracle)
            && Arc::ptr_eq(&self.history, &other.history)
    }

    /// Are a process and its link the same as in another world, by what is still shared?
    pub(crate) fn shares_process(&self, other: &Self, who: Who) -> bool {
        let at = usize::from(who.0);
        Arc::ptr_eq(&self.processes[at], &other.processes[at])
            && Arc::ptr_eq(&self.links[at], &other.links[at])
    }

    /// The processes in which this world differs from an earlier one of which it is a clone that
    /// went on, each as it was, if it was, and as it is.
    pub(crate) fn touched_processes<'a>(
        &'a self,
        before: &'a Self,
    ) -> impl Iterator<Item = (Who, Option<&'a Process>, &'a Process)> {
        let pairs = self.processes.iter().enumerate().map(|(i, after)| {
            let before = before.processes.get(i);
            (i, before, after)
        });
        pairs
            .filter(|(_, before, after)| before.is_none_or(|before| !Arc::ptr_eq(before, after)))
            .map(|(i, before, after)| (Who::from(i), before.map(|before| &**before), &**after))
    }
}
