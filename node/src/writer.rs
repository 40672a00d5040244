//! From the machine's entries to the lines of a journal.

use handover_core::HostId;
use handover_core::journal::{JournalEntry, JournalLine};

use crate::journal::Journal;
use crate::machine::Noted;

/// Numbers the lines, and counts those that are lost.
pub(crate) struct Writer {
    sink: Box<dyn Journal>,
    boot: HostId,
    number: u64,
    lost: u64,
}

impl Writer {
    pub(crate) fn new(sink: Box<dyn Journal>, boot: HostId) -> Self {
        Self { sink, boot, number: 0, lost: 0 }
    }

    /// Writes what it can. A lost disk is said once, and in the journal when there is one again.
    pub(crate) fn write(&mut self, noted: Noted) {
        if self.lost > 0 {
            let Noted { record, host, seq, revision, .. } = &noted;
            let (record, host, seq, revision) = (*record, host.clone(), *seq, *revision);
            let entry = JournalEntry::Lost { lines: self.lost };
            if self.put(Noted { record, host, seq, revision, entry }).is_err() {
                self.number += 1;
                self.lost += 1;
                return;
            }
            self.lost = 0;
        }
        if let Err(error) = self.put(noted) {
            tracing::error!(%error, "the journal is lost; the node goes on without");
            self.number += 1;
            self.lost = 1;
        }
    }

    fn put(&mut self, noted: Noted) -> std::io::Result<()> {
        let Noted { record, host, seq, revision, entry } = noted;
        let (format, boot, number) = (JournalLine::FORMAT, self.boot.clone(), self.number);
        let line = JournalLine { format, boot, record, number, host, seq, revision, entry };
        let line = serde_json::to_string(&line)?;
        self.sink.write(&line)?;
        self.number += 1;
        Ok(())
    }
}
