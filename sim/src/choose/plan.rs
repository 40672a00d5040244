//! What a strategy makes of each seed.
//!
//! Of the schedules with few departures from calm there may be few enough to run all of them. They
//! come first, those with fewer departures before the others; then schedules are drawn. They are
//! those of one rollout that has all the bounds of the settings, in which each wish comes when
//! nothing else is left to happen. Each departure puts what calm would do next off, in two ways, or
//! lets any fault of the settings strike wherever it can, to last or to end, with particulars that
//! are drawn once.

use super::walk::Walk;
use super::{Strategy, WalkSettings};
use crate::variants::Protocol;

/// More schedules than these are not few.
const FEW: usize = 2_000;

/// What a strategy makes of each seed.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The bounds of each schedule.
    pub(super) settings: WalkSettings,
    pub(super) strategy: Strategy,
    /// What the actors follow.
    pub(super) protocol: &'static dyn Protocol,
    /// All schedules with few departures, where there are few: for each its points of departure,
    /// and in which of the ways that there are.
    enumerated: Vec<Vec<(usize, usize)>>,
    departures: u32,
}

impl Plan {
    /// Counts the schedules with few departures, where the strategy asks for them.
    #[must_use]
    pub fn new(
        settings: &WalkSettings,
        strategy: Strategy,
        protocol: &'static dyn Protocol,
    ) -> Self {
        let (settings, enumerated) = (settings.clone(), Vec::new());
        let mut plan = Self { settings, strategy, protocol, enumerated, departures: 0 };
        let departures_max = match strategy {
            Strategy::DelayBounded { departures_max } => departures_max,
            Strategy::Mix => Strategy::DEPARTURES_MAX,
            Strategy::Random | Strategy::Pct { .. } => return plan,
        };
        let mut level = vec![Vec::new()];
        for departures in 0..=departures_max {
            plan.enumerated.append(&mut level.clone());
            plan.departures = departures;
            if departures < departures_max {
                match plan.next_level(&level) {
                    Some(next) => level = next,
                    None => break,
                }
            }
        }
        plan
    }

    /// The schedules with one departure more, after those that they have; none where they are not
    /// few.
    fn next_level(&self, level: &[Vec<(usize, usize)>]) -> Option<Vec<Vec<(usize, usize)>>> {
        let mut next = Vec::new();
        for ways in level {
            let from = ways.last().map_or(0, |(point, _)| point + 1);
            let room = FEW.checked_sub(self.enumerated.len() + next.len())?;
            for (point, count) in Walk::counted(self, ways, from, room)? {
                next.extend((0..count).map(|way| [ways.as_slice(), &[(point, way)]].concat()));
            }
        }
        (self.enumerated.len() + next.len() <= FEW).then_some(next)
    }

    /// All schedules with so many departures or fewer come first.
    #[must_use]
    pub fn departures(&self) -> u32 {
        self.departures
    }

    /// How many schedules come first; 0 where none are asked for.
    #[must_use]
    pub fn enumerated(&self) -> usize {
        self.enumerated.len()
    }

    /// Is this seed's schedule one of those that come first?
    #[must_use]
    pub fn is_enumerated(&self, seed: u64) -> bool {
        self.ways(seed).is_some()
    }

    /// What this seed follows if it is one of the schedules that come first.
    pub(super) fn ways(&self, seed: u64) -> Option<&[(usize, usize)]> {
        let Strategy::DelayBounded { .. } = self.strategy.of_seed(seed) else {
            return None;
        };
        let number = if self.strategy == Strategy::Mix { seed / 4 } else { seed };
        self.enumerated.get(usize::try_from(number).ok()?).map(Vec::as_slice)
    }
}
