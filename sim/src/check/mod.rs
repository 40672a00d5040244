//! The properties, each judged by a file of its own.
//!
//! Safety is judged after each step, from the world before it, the world after it and the facts
//! that it brought about. Liveness is judged at rest.
//!
//! | property | module |
//! |---|---|
//! | `SingleBuilder` | [`single_builder`] |
//! | `ApprovalTruth` | [`approval_truth`] |
//! | `NoEviction` | [`no_eviction`] |
//! | `GateTruth` | [`gate_truth`] |
//! | `NoLostReport` | [`no_lost_report`] |
//! | `StaleIsNoEffect` | [`stale_is_no_effect`] |
//! | `Settled` | [`settled`] |
//! | `GrantsIncrease` | [`grants_increase`] |
//! | `SupersededStops` | [`superseded_stops`] |
//! | `NoAlarm` | [`no_alarm`] |
//! | `QuietDrain` | [`quiet_drain`] |
//! | `TruthfulIdle` | [`truthful_idle`] |
//! | `SlotHeldOnce` | [`slot_held_once`] |
//! | `Capacity` | [`capacity`] |
//! | `QueueKept` | [`queue_kept`] |
//! | `RecoveryExact` | [`recovery_exact`] |
//! | `NoWedge` | [`no_wedge`] |
//! | `NoLivelock` | [`no_livelock`] |

pub mod approval_truth;
pub mod capacity;
mod drain_as_asked;
pub mod gate_truth;
pub mod grants_increase;
mod liveness;
mod machines;
pub mod no_alarm;
pub mod no_eviction;
pub mod no_livelock;
pub mod no_lost_report;
pub mod no_wedge;
pub mod queue_kept;
pub mod quiet_drain;
pub mod recovery_exact;
pub mod settled;
pub mod single_builder;
pub mod slot_held_once;
pub mod stale_is_no_effect;
pub mod superseded_stops;
#[cfg(test)]
mod testing;
pub mod truthful_idle;
mod verdict_due;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use handover_core::{GrantId, Hold, HostId, Input, Phase, Record};

pub(crate) use liveness::rest_while;
pub use liveness::{Rest, rest};
pub use machines::check_machines;

pub(crate) use no_lost_report::judge as judge_report;
pub(crate) use single_builder::counted_builds;

pub use crate::scenario::Property;
use crate::world::{Event, Fact, Process, RealEnd, Who, World};

/// One step: what was, what happened, what is.
#[derive(Clone, Copy, Debug)]
pub struct Transition<'a> {
    /// The world before the step.
    pub before: &'a World,
    /// The step.
    pub event: &'a Event,
    /// What it brought about, in order.
    pub facts: &'a [Fact],
    /// The world after the step.
    pub after: &'a World,
}

/// A property that does not hold, and what shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which one.
    pub property: Property,
    /// In words of the domain, with the names that commands use.
    pub why: String,
}

/// Judges one property on one step.
type Safety = fn(&Transition<'_>) -> Result<(), Violation>;

/// What a check looks at: without any of it in a step, there is nothing to judge.
type Looks = u8;

/// At the commits.
const COMMITS: Looks = 1 << 0;
/// At who has moved, and which builds have begun.
const MOVES: Looks = 1 << 1;
/// At what was refused, and alarms.
const REFUSALS: Looks = 1 << 2;
/// At the orders that were carried out, and who has ended.
const ORDERS: Looks = 1 << 3;
/// At who has booted.
const BOOTS: Looks = 1 << 4;
/// At the processes that the step has changed.
const PROCESSES: Looks = 1 << 5;
/// At their executors, books and builds.
const EXECUTORS: Looks = 1 << 6;

/// All safety properties, in the order in which a step is judged.
const SAFETY: &[(Property, Looks, Safety)] = &[
    (Property::SingleBuilder, COMMITS | MOVES, single_builder::check),
    (Property::ApprovalTruth, COMMITS, approval_truth::check),
    (Property::NoEviction, COMMITS, no_eviction::check),
    (Property::GateTruth, COMMITS | PROCESSES, gate_truth::check),
    (Property::NoLostReport, MOVES, no_lost_report::check),
    (Property::StaleIsNoEffect, COMMITS, stale_is_no_effect::check),
    (Property::Settled, COMMITS, settled::check),
    (Property::GrantsIncrease, COMMITS, grants_increase::check),
    (Property::SupersededStops, PROCESSES, superseded_stops::check),
    (Property::NoAlarm, REFUSALS, no_alarm::check),
    (Property::QuietDrain, EXECUTORS, quiet_drain::check),
    (Property::TruthfulIdle, COMMITS | ORDERS | PROCESSES, truthful_idle::check),
    (Property::SlotHeldOnce, PROCESSES, slot_held_once::check),
    (Property::Capacity, EXECUTORS, capacity::check),
    (Property::QueueKept, EXECUTORS, queue_kept::check),
    (Property::RecoveryExact, ORDERS | BOOTS, recovery_exact::check),
];

/// Judges a step by all safety properties; the first one that is broken is the answer.
///
/// # Errors
/// The violation.
pub fn check(step: &Transition<'_>) -> Result<(), Violation> {
    #[cfg(feature = "marks")]
    crate::mark::sometimes(step);
    let there = there(step);
    SAFETY
        .iter()
        .filter(|(_, looks, _)| looks & there != 0)
        .try_for_each(|(_, _, judge)| judge(step))
}

/// What there is to look at in a step.
fn there(step: &Transition<'_>) -> Looks {
    let facts = step.facts.iter().fold(0, |looks, fact| looks | looks_at(fact));
    let touched = step.touched().fold(0, |looks, (_, before, after)| {
        let same = before.is_some_and(|before| is_same_executor(before, after));
        looks | PROCESSES | if same { 0 } else { EXECUTORS }
    });
    // A deadline that does nothing may be wrong.
    let deadline = if let Event::Deadline(_) = step.event { EXECUTORS } else { 0 };
    facts | touched | deadline
}

/// What looks at such a fact.
fn looks_at(fact: &Fact) -> Looks {
    match fact {
        Fact::Committed { .. } => COMMITS,
        Fact::Moved { .. } | Fact::BuildRuns { .. } => MOVES,
        Fact::Refused { .. } | Fact::Alarm { .. } => REFUSALS,
        Fact::Performed { .. } | Fact::Exited { .. } => ORDERS,
        Fact::Booted { .. } => BOOTS,
        Fact::Said { .. }
        | Fact::Lost { .. }
        | Fact::Gate { .. }
        | Fact::Conflicted { .. }
        | Fact::AnswerLost { .. }
        | Fact::Published { .. }
        | Fact::Restarted { .. }
        | Fact::Read { .. }
        | Fact::Ordered { .. }
        | Fact::PutOff { .. }
        | Fact::BuildEnded { .. }
        | Fact::BuildStopped { .. }
        | Fact::Declined { .. }
        | Fact::CameBack { .. }
        | Fact::Crashed { .. } => 0,
    }
}

/// Are executor, book, workspaces and builds of a process the same as before?
fn is_same_executor(before: &Process, after: &Process) -> bool {
    after.host.executor().is_unchanged_since(before.host.executor())
        && Arc::ptr_eq(&after.ledger, &before.ledger)
        && Arc::ptr_eq(&after.workspaces, &before.workspaces)
        && Arc::ptr_eq(&after.builds, &before.builds)
}

/// Judges a step by one property. The liveness properties are judged at rest, by [`rest`].
///
/// # Errors
/// The violation.
pub fn check_one(property: Property, step: &Transition<'_>) -> Result<(), Violation> {
    let mut safety = SAFETY.iter().filter(|(judged, _, _)| *judged == property);
    safety.try_for_each(|(_, _, safety)| safety(step))
}

/// A commit of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Commit<'a> {
    /// What was folded; none where a restarted arbiter settled.
    pub(crate) input: Option<&'a Input>,
    pub(crate) before: &'a Record,
    pub(crate) after: &'a Record,
}

/// What a commit is judged by beside itself: a world, or what journals tell of one.
pub(crate) trait Around {
    /// A host by the name that commands use.
    fn host_label(&self, host: &HostId) -> String;
    /// Was this grant revoked after its acceptance?
    fn is_revoked(&self, grant: GrantId) -> bool;
    /// Is it known what this host's builds really did?
    fn is_seen(&self, host: &HostId) -> bool;
    /// How the build of a grant really ended, if it has.
    fn real_end(&self, grant: GrantId) -> Option<&RealEnd>;
    /// What a host is in; none if it is not known to live.
    fn living_phase(&self, host: &HostId) -> Option<Phase>;

    /// `Offered(b, g1)`
    fn hold_label(&self, hold: &Hold) -> String {
        let stage = if hold.is_started() { "Started" } else { "Offered" };
        let cancelling = if hold.is_cancelling() { " cancelling" } else { "" };
        format!("{stage}({}, {}){cancelling}", self.host_label(&hold.host), hold.grant)
    }
}

impl Around for World {
    fn host_label(&self, host: &HostId) -> String {
        Self::host_label(self, host)
    }

    fn is_revoked(&self, grant: GrantId) -> bool {
        self.history().revoked.contains(&grant)
    }

    fn is_seen(&self, _: &HostId) -> bool {
        true
    }

    fn real_end(&self, grant: GrantId) -> Option<&RealEnd> {
        self.history().ended.get(&grant)
    }

    fn living_phase(&self, host: &HostId) -> Option<Phase> {
        let process = self.by_id(host).map(|who| self.process(who));
        process.filter(|process| process.lives()).map(Process::phase)
    }
}

/// Judges a commit by the properties that a record shows by itself.
pub(crate) fn check_commit(around: &dyn Around, commit: &Commit<'_>) -> Result<(), Violation> {
    approval_truth::judge(around, commit)?;
    no_eviction::judge(around, commit)?;
    gate_truth::approvals_stay(commit)?;
    stale_is_no_effect::judge(around, commit)?;
    settled::judge(commit.after, &BTreeSet::new())?;
    grants_increase::judge(around, commit)
}

impl<'a> Transition<'a> {
    /// The commits of the step, in their order.
    fn commits(&self) -> impl Iterator<Item = Commit<'a>> + use<'a> {
        self.facts.iter().filter_map(|fact| {
            let Fact::Committed { input, before, after, .. } = fact else {
                return None;
            };
            Some(Commit { input: input.as_deref(), before, after })
        })
    }

    /// The processes that the step has changed, each as it was, if it was, and as it is.
    pub(crate) fn touched(
        &self,
    ) -> impl Iterator<Item = (Who, Option<&'a Process>, &'a Process)> + use<'a> {
        self.after.touched_processes(self.before)
    }
}

impl Commit<'_> {
    fn hold_before(&self, world: &dyn Around) -> String {
        let hold = self.before.hold();
        hold.map_or_else(|| "no hold".into(), |hold| world.hold_label(hold))
    }
}

/// The process that has just booted, and the dead one whose disk it found; none of another event.
fn dead_before<'a>(step: &Transition<'a>) -> Option<(&'a Process, Who, &'a Process)> {
    let Event::Boot { name, .. } = step.event else {
        return None;
    };
    let last = step.before.newest(name)?;
    let dead = Some(step.before.process(last)).filter(|last| !last.lives())?;
    let who = step.after.newest(name).filter(|booted| *booted != last)?;
    Some((dead, who, step.after.process(who)))
}

/// The verdict on one claim.
fn demand(property: Property, holds: bool, why: impl FnOnce() -> String) -> Result<(), Violation> {
    if holds { Ok(()) } else { Err(Violation::new(property, why())) }
}

impl Violation {
    pub(crate) fn new(property: Property, why: impl Into<String>) -> Self {
        Self { property, why: why.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.property, self.why)
    }
}

impl std::error::Error for Violation {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Keyword;

    #[test]
    fn each_property_but_those_of_liveness_is_judged_once_in_the_order_of_the_design() {
        let judged: Vec<Property> = SAFETY.iter().map(|(property, _, _)| *property).collect();
        let safety = |property: &Property| match property {
            Property::NoWedge | Property::NoLivelock => false,
            Property::SingleBuilder
            | Property::ApprovalTruth
            | Property::NoEviction
            | Property::GateTruth
            | Property::NoLostReport
            | Property::StaleIsNoEffect
            | Property::Settled
            | Property::GrantsIncrease
            | Property::SupersededStops
            | Property::NoAlarm
            | Property::QuietDrain
            | Property::TruthfulIdle
            | Property::SlotHeldOnce
            | Property::Capacity
            | Property::QueueKept
            | Property::RecoveryExact => true,
        };
        let all = Property::ALL.iter().copied();
        assert_eq!(judged, all.filter(safety).collect::<Vec<_>>());
    }
}
