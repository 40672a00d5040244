//! What the schedules have shown that calm does not, and how likely the next one shows something
//! new.
//!
//! A departure is a step that calm would not take next. It is told apart by what it is, what its
//! host is in, and what the record has for that host.
//!
//! Good (Biometrika 1953): of n schedules, those that showed what no other has shown are, by their
//! share, an unbiased estimate of the chance that a schedule shows what the n - 1 others have not.

use std::collections::{BTreeMap, BTreeSet};

use handover_core::Phase;
use serde::{Deserialize, Serialize};

use crate::check::Transition;
use crate::choose::Kind;
use crate::world::{Event, Process, World};

/// Which departures were shown, and by how many schedules.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Novelty {
    /// Shown by one schedule, whose seed this is.
    pub once: BTreeMap<String, u64>,
    /// Shown by more than one.
    pub more: BTreeSet<String>,
}

impl Novelty {
    /// What the schedule of one seed has shown.
    #[must_use]
    pub fn of(seed: u64, departures: impl IntoIterator<Item = String>) -> Self {
        let once = departures.into_iter().map(|departure| (departure, seed)).collect();
        Self { once, more: BTreeSet::new() }
    }

    /// What others have shown too.
    pub fn merge(&mut self, other: Self) {
        for departure in other.more {
            self.once.remove(&departure);
            self.more.insert(departure);
        }
        for (departure, seed) in other.once {
            if self.more.contains(&departure) {
                continue;
            }
            match self.once.get(&departure) {
                Some(known) if *known == seed => {}
                Some(_) => {
                    self.once.remove(&departure);
                    self.more.insert(departure);
                }
                None => {
                    self.once.insert(departure, seed);
                }
            }
        }
    }

    /// Different departures.
    #[must_use]
    pub fn count(&self) -> usize {
        self.once.len() + self.more.len()
    }

    /// Schedules that showed what no other has shown.
    #[must_use]
    pub fn singular(&self) -> u64 {
        let seeds: BTreeSet<u64> = self.once.values().copied().collect();
        seeds.len() as u64
    }
}

/// The departure that a step is, in words; none if it is what calm does next, or a wish or a fault
/// that comes when calm has nothing left to do.
pub(super) fn departure(step: &Transition<'_>, calm: Option<&Event>) -> Option<String> {
    if calm.is_none_or(|calm| is_same(step.event, calm)) {
        return None;
    }
    let kind = Kind::of(step.event);
    let mut words = kind.to_string();
    if let Some(who) = kind.who {
        let process = step.before.process(who);
        words.push_str(&format!(" ({}{})", phase(process), hold(step.before, process)));
    }
    Some(words)
}

/// Which arbiter folds a statement is no matter of calm.
fn is_same(event: &Event, calm: &Event) -> bool {
    match (event, calm) {
        (Event::Deliver { from, .. }, Event::Deliver { from: calm, .. }) => from == calm,
        (event, calm) => event == calm,
    }
}

fn phase(process: &Process) -> &'static str {
    if !process.lives() {
        return "dead";
    }
    match process.phase() {
        Phase::Idle => "idle",
        Phase::Asking => "asking",
        Phase::Planning { .. } => "planning",
        Phase::Accepted { .. } => "accepted",
        Phase::Building { .. } => "building",
        Phase::Cancelling { .. } => "cancelling",
        Phase::Finished { .. } => "finished",
        Phase::StoodDown => "stood down",
        Phase::Expelled { .. } => "expelled",
    }
}

/// What the record has for this process.
fn hold(world: &World, process: &Process) -> &'static str {
    match world.committed().hold() {
        None => "",
        Some(hold) if hold.host != *process.host.id() => ", another holds",
        Some(hold) if hold.is_cancelling() => ", cancelled",
        Some(hold) if hold.is_started() => ", started",
        Some(_) => ", offered",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(seed: u64, departures: &[&str]) -> Novelty {
        Novelty::of(seed, departures.iter().map(|departure| (*departure).to_owned()))
    }

    fn merged(parts: &[Novelty]) -> Novelty {
        let mut all = Novelty::default();
        parts.iter().for_each(|part| all.merge(part.clone()));
        all
    }

    #[test]
    fn a_schedule_is_singular_by_what_no_other_has_shown() {
        let all = merged(&[shown(0, &["a", "b"]), shown(1, &["a"]), shown(2, &["a", "c", "d"])]);
        assert_eq!(all.count(), 4);
        assert_eq!(all.singular(), 2);
    }

    #[test]
    fn the_parts_may_come_in_any_order() {
        let parts = [shown(0, &["a", "b"]), shown(1, &["a", "c"]), shown(2, &["c"])];
        let [one, two, three] = parts.clone();
        let pairs = merged(&[merged(&[three, one]), two]);
        assert_eq!(merged(&parts), pairs);
    }

    #[test]
    fn what_was_shown_more_than_once_stays_so() {
        let twice = merged(&[shown(0, &["a"]), shown(1, &["a"])]);
        let all = merged(&[shown(2, &["a"]), twice.clone()]);
        assert_eq!(all, twice);
        assert_eq!(all.singular(), 0);
    }
}
