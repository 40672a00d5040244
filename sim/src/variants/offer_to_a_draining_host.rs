//! `offer-to-a-draining-host`: a host that stands down keeps its place in the queue.
//!
//! It drains and lives on, is handed the job, and may not start it (assembledhq/143#1431). It leaves
//! out Ar8: the next asker is a line that is `Asking`. Breaks `TruthfulIdle`.

use std::collections::BTreeSet;

use handover_core::{Change, HostId, Input, Record, Refusal, Standing, Statement};

use super::{Property, Protocol};

#[derive(Debug)]
pub(super) struct OfferToADrainingHost;

impl Protocol for OfferToADrainingHost {
    fn name(&self) -> &'static str {
        "offer-to-a-draining-host"
    }

    fn summary(&self) -> &'static str {
        "a host that has stood down is offered the job all the same"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::TruthfulIdle)
    }

    fn fold(
        &self,
        record: &Record,
        input: &Input,
        suspects: &BTreeSet<HostId>,
    ) -> Result<Change, Refusal> {
        if let Input::Statement(statement) = input
            && statement.standing == Standing::StoodDown
            && let Some(line) = record.line(&statement.host)
            && matches!(line.standing, Standing::Asking { .. })
            && record.hold().is_none_or(|hold| hold.host != statement.host)
        {
            let statement = Statement { standing: line.standing.clone(), ..statement.clone() };
            return record.fold(&Input::Statement(statement), suspects);
        }
        record.fold(input, suspects)
    }
}
