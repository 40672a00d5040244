//! `build-at-the-offer`: a host builds as soon as it has accepted, before the record shows it.
//!
//! Masked while an offer goes only by its host's own word or end: nobody else is told to build. Once
//! an offer may lapse or be withdrawn, the next one builds beside it (MeshWeaver#1437, hashicorp/consul#1843).
//! It leaves out Ca3 and the fifth principle: work begins one step after the record shows the
//! acceptance. Breaks `SingleBuilder`, where offers lapse.

use handover_core::{ExecutorEffect, Phase, Work};

use super::{Property, Protocol};
use crate::world::Process;

#[derive(Debug)]
pub(super) struct BuildAtTheOffer;

impl Protocol for BuildAtTheOffer {
    fn name(&self) -> &'static str {
        "build-at-the-offer"
    }

    fn summary(&self) -> &'static str {
        "a host builds before the record shows its acceptance"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::SingleBuilder)
    }

    fn moved(&self, process: &mut Process, from: Phase) {
        begin_at_the_offer(process, from);
    }
}

/// The driver begins at the acceptance, and stops at once when that is taken back; what it has begun
/// is the build of the record once that shows the start.
pub(super) fn begin_at_the_offer(process: &mut Process, from: Phase) {
    let phase = process.phase();
    if phase == from {
        return;
    }
    process.put_off.retain(|order| !matches!(order, ExecutorEffect::Start { .. }));
    if let Phase::Accepted { grant } = phase {
        process.put_off.push(ExecutorEffect::Start { work: Work::Granted(grant) });
    }
}
