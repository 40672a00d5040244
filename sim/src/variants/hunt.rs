//! How long a strategy takes to find what a wrong protocol breaks.

use super::Protocol;
use crate::check::Property;
use crate::choose::{FaultKind, Outcome, Plan, WalkSettings, walk_by};

/// What one random seed has found, by trying schedules until one fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hunt {
    /// Schedules that were tried, the one that fails included.
    pub schedules: u64,
    /// Their events together.
    pub events: u64,
    /// What broke first; none where the bound was reached.
    pub found: Option<Property>,
}

/// Tries at most so many schedules of this seed. The schedules of two seeds have nothing in common.
/// The plan is that of the [`hunting_ground`], made once for all seeds.
#[must_use]
pub fn hunt(seed: u64, schedules_max: u64, plan: &Plan) -> Hunt {
    let mut hunt = Hunt { schedules: 0, events: 0, found: None };
    while hunt.schedules < schedules_max && hunt.found.is_none() {
        let schedule = seed.wrapping_mul(schedules_max).wrapping_add(hunt.schedules);
        let report = walk_by(schedule, plan);
        hunt.schedules += 1;
        hunt.events += report.steps as u64;
        if let Outcome::Broken(violation) = report.outcome {
            hunt.found = Some(violation.property);
        }
    }
    hunt
}

/// A rolling update of five hosts with all faults that the protocol stands up to; where the rule
/// that is left out is about numbers that are used twice, these too.
#[must_use]
pub fn hunting_ground(protocol: &dyn Protocol) -> WalkSettings {
    let mut settings = WalkSettings::rolling_update();
    if protocol.needs_reuse() {
        settings.faults.insert(FaultKind::Reuse, 3);
    }
    settings
}
