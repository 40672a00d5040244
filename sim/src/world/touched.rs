//! The processes that a step has changed, found by what is no longer shared.

use std::sync::Arc;

use super::{Process, Who, World};

impl World {
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
