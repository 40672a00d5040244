//! What journals say of the record as it was read.

use handover_core::journal::{HostInput, JournalEntry};
use handover_core::{Record, RecordParts, Revision, Version, View};

/// A process reads it in a line of its journal.
pub(super) enum Reading<'a> {
    Whole(&'a RecordParts),
    View(&'a View),
}

impl<'a> Reading<'a> {
    pub(super) fn of(entry: &'a JournalEntry) -> Option<Self> {
        match entry {
            JournalEntry::Loaded(parts) => Some(Self::Whole(parts)),
            JournalEntry::Input(HostInput::View(view)) => Some(Self::View(view)),
            JournalEntry::Input(_)
            | JournalEntry::Boot { .. }
            | JournalEntry::Acknowledged { .. }
            | JournalEntry::Proposed { .. }
            | JournalEntry::Answered { .. }
            | JournalEntry::Refused { .. }
            | JournalEntry::Lost { .. }
            | JournalEntry::Ended => None,
        }
    }

    pub(super) fn revision(&self) -> Revision {
        match self {
            Self::Whole(parts) => parts.revision,
            Self::View(view) => view.revision,
        }
    }

    /// Is it of this record? None: of another revision, or nobody can tell.
    pub(super) fn is_of(&self, record: &Record, version: Option<&Version>) -> Option<bool> {
        if self.revision() != record.revision() {
            return None;
        }
        match self {
            Self::Whole(parts) => Some(**parts == record.to_parts()),
            Self::View(view) => Some(**view == record.view_for(&view.host, version?)),
        }
    }
}
