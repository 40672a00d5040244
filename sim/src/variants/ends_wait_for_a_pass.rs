//! `ends-wait-for-a-pass`: what ends a hold is decided by a pass that only a waiting host wakes.
//!
//! A report that nobody waits behind is acknowledged and not judged: its builder reads no verdict and
//! builds again and again (Systemorph/MeshWeaver#3598). It leaves out Ar7 as a part of each fold, for
//! `Finished` and `StoodDown`. Breaks `Settled`.

use std::collections::BTreeSet;

use handover_core::{Change, HostId, Input, Record, Refusal, Standing};

use super::decide_when_queued::{somebody_waits, undecided};
use super::{Property, Protocol};

#[derive(Debug)]
pub(super) struct EndsWaitForAPass;

impl Protocol for EndsWaitForAPass {
    fn name(&self) -> &'static str {
        "ends-wait-for-a-pass"
    }

    fn summary(&self) -> &'static str {
        "a report or a stand-down is judged only while somebody waits for the job"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::Settled)
    }

    fn fold(
        &self,
        record: &Record,
        input: &Input,
        suspects: &BTreeSet<HostId>,
    ) -> Result<Change, Refusal> {
        let change = record.fold(input, suspects)?;
        let ends = match input {
            Input::Statement(statement) => match statement.standing {
                Standing::Finished { .. } | Standing::StoodDown => true,
                Standing::Asking { .. } | Standing::Accepted { .. } | Standing::Building { .. } => {
                    false
                }
            },
            Input::Gone(_)
            | Input::Retry { .. }
            | Input::Lapse { .. }
            | Input::Cancel { .. }
            | Input::Revoke { .. } => false,
        };
        if ends && !somebody_waits(record, &change) {
            return Ok(undecided(record, change));
        }
        Ok(change)
    }
}
