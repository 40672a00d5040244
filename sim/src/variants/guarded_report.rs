//! `guarded-report`: a builder asks its own copy whether it still holds the job before it reports.
//!
//! The copy is from before the offer, so it shows the previous build's end and not this host. The
//! builder sends nothing, takes its silence for acknowledged and reports success to its user;
//! servers wait for an approval that never comes (Systemorph/MeshWeaver#4708). Where no build went
//! before there is no end to be misled by, so the first report passes: it was always the second
//! build in a row. Breaks `NoLostReport`. The rule that it leaves out is the first principle: a
//! view may delay a host's work, it may never suppress a statement.

use handover_core::{GrantId, Standing};

use super::{Property, Protocol, Said, Saying};

/// The first hand-over of a record: no build has ended before it.
const FIRST: GrantId = GrantId(1);

#[derive(Debug)]
pub(super) struct GuardedReport;

impl Protocol for GuardedReport {
    fn name(&self) -> &'static str {
        "guarded-report"
    }

    fn summary(&self) -> &'static str {
        "a builder reports only if its copy, from before the offer, names it as the holder"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::NoLostReport)
    }

    fn say(&self, saying: &Saying<'_>) -> Said {
        let Saying { statement, process, .. } = saying;
        let after_silence = statement.seq.0 == process.muted.0 + 1;
        match statement.standing {
            Standing::Finished { grant, .. } if grant > FIRST => Said::Kept { acknowledged: true },
            Standing::StoodDown if after_silence => Said::Kept { acknowledged: false },
            Standing::Finished { .. }
            | Standing::Asking { .. }
            | Standing::Accepted { .. }
            | Standing::Building { .. }
            | Standing::StoodDown => Said::Sent((*statement).clone()),
        }
    }
}
