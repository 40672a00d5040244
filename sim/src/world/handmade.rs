//! Worlds made by hand, for the tests of the checks: states that no event leads to.

use std::sync::Arc;

use handover_core::{Record, RecordParts};

use super::arbiter::Store;
use super::{History, Process, Who, World};

impl World {
    /// Changes a process.
    pub(crate) fn edit_process(&mut self, who: Who, edit: impl FnOnce(&mut Process)) {
        edit(self.process_mut(who));
    }

    /// Changes the committed record, in one revision; no arbiter has folded this.
    pub(crate) fn edit_record(&mut self, edit: impl FnOnce(&mut RecordParts)) {
        let mut parts = self.committed().to_parts();
        parts.revision = parts.revision.next();
        edit(&mut parts);
        let record = Record::from_parts(parts).expect("a hand-made record is a record");
        self.store = Arc::new(Store::new(Arc::new(record)));
    }

    /// Changes what really happened.
    pub(crate) fn edit_history(&mut self, edit: impl FnOnce(&mut History)) {
        edit(Arc::make_mut(&mut self.history));
    }
}
