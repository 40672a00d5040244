//! `lapse-to-the-same-host`: an offer that lapses does not pass its host over.
//!
//! A driver that lets an offer lapse while somebody else asks gives the job to the next. Here the
//! order of election is as before, so the same host is offered it again, round and round
//! (MeshWeaver#1440). It leaves out Ar4 and the first half of Ar8's order. Breaks `NoLivelock`.

use std::collections::BTreeSet;
use std::sync::Arc;

use handover_core::{Change, GrantId, HostId, Input, Record, Refusal};

use super::{Property, Protocol};

#[derive(Debug)]
pub(super) struct LapseToTheSameHost;

impl Protocol for LapseToTheSameHost {
    fn name(&self) -> &'static str {
        "lapse-to-the-same-host"
    }

    fn summary(&self) -> &'static str {
        "an offer that lapses goes to the same host again"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::NoLivelock)
    }

    /// A lapse, but the line keeps its place.
    fn fold(
        &self,
        record: &Record,
        input: &Input,
        suspects: &BTreeSet<HostId>,
    ) -> Result<Change, Refusal> {
        let change = record.fold(input, suspects)?;
        let Input::Lapse { .. } = input else {
            return Ok(change);
        };
        let mut parts = record.to_parts();
        let Some(hold) = parts.hold.take() else {
            return Ok(change);
        };
        parts.revision = change.revision;
        let freed = Record::from_parts(parts).expect("nobody has to hold");
        let Some(again) = freed.settle(suspects) else {
            return Ok(change);
        };
        let mut lines = change.lines;
        let kept = record.line(&hold.host).cloned().map(Arc::new);
        lines.insert(hold.host, kept);
        let (hold, next_grant) = (again.hold, again.next_grant);
        Ok(Change { lines, hold, next_grant, ..change })
    }

    /// As soon as it stands, as long as somebody else asks.
    fn lapses(&self, record: &Record) -> Option<GrantId> {
        let hold = record.hold().filter(|hold| !hold.is_started())?;
        let input = Input::Lapse { grant: hold.grant };
        record.fold(&input, &BTreeSet::new()).is_ok().then_some(hold.grant)
    }
}
