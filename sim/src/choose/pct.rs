//! PCT: priorities over actors, and a few steps at which they change.
//!
//! Burckhardt, Kothari, Musuvathi and Nagarakatte, "A randomized scheduler with probabilistic
//! guarantees of finding bugs" (ASPLOS 2010): each actor has a priority that is drawn, and who can
//! act and stands highest is next. At d - 1 steps that are drawn among k, who is next falls below
//! all others instead. A failure that needs d orderings between n actors is found by one schedule
//! with a chance of at least 1 / (n k^(d-1)).
//!
//! Here the driver of a host, its builds, each direction of its link, what detects its end, each
//! arbiter, each wish and each fault is an actor. What is said again (Dr1) comes after all else:
//! a host that repeats itself for ever would keep all below it from acting.

use std::collections::{BTreeMap, BTreeSet};

use super::agenda::{Agenda, Item};
use super::happening::Happening;
use super::next::Next;
use crate::draw::Draw;
use crate::world::{ArbiterIndex, Direction, Event, Who};

/// Whose turn an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Actor {
    Driver(Who),
    Builds(Who),
    ToRecord(Who),
    FromRecord(Who),
    Detector(Who),
    Arbiter(ArbiterIndex),
}

/// Ranks are drawn below this; the lower, the earlier.
const DRAWN: u64 = 1 << 32;

/// What is said again comes after all that has a drawn rank.
const REPEATS: u64 = 1 << 33;

/// Whoever has fallen comes after that.
const FALLEN: u64 = 1 << 34;

/// Who goes first.
#[derive(Clone, Debug)]
pub(super) struct Priorities {
    draw: Draw,
    ranks: BTreeMap<Actor, u64>,
    /// Steps at which who is next falls, the last one first.
    changes: Vec<u64>,
    /// What is due, by rank.
    ready: BTreeSet<(u64, Item)>,
    /// Wishes and faults that have had a rank.
    items: usize,
}

/// What the bound of PCT speaks of, in one schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PctBound {
    /// The actors that had a priority.
    pub actors: usize,
    /// The steps among which the changes were drawn.
    pub steps: u64,
    /// The orderings that a failure may need.
    pub depth: u32,
}

impl PctBound {
    /// The chance with which one such schedule finds a failure, at least.
    #[must_use]
    pub fn chance(&self) -> f64 {
        let exponent = i32::try_from(self.depth.saturating_sub(1)).unwrap_or(i32::MAX);
        1.0 / (self.actors.max(1) as f64 * (self.steps.max(1) as f64).powi(exponent))
    }
}

impl Priorities {
    /// With `depth - 1` changes below `steps`.
    pub(super) fn new(mut draw: Draw, depth: u32, steps: u64) -> Self {
        let mut changes: Vec<u64> = (1..depth).map(|_| draw.below(steps.max(1))).collect();
        changes.sort_unstable_by(|one, other| other.cmp(one));
        Self { draw, ranks: BTreeMap::new(), changes, ready: BTreeSet::new(), items: 0 }
    }

    /// The actors that have had a priority so far.
    pub(super) fn actors(&self) -> usize {
        self.ranks.len() + self.items
    }

    /// The key of an event.
    pub(super) fn key(&mut self, event: &Event) -> u64 {
        let (actor, repeats) = actor(event);
        let draw = &mut self.draw;
        let rank = *self.ranks.entry(actor).or_insert_with(|| draw.below(DRAWN));
        if repeats { REPEATS + rank } else { rank }
    }

    /// What is next, of what happens by itself and of what is due at this step or before.
    pub(super) fn next(
        &mut self,
        step: u64,
        happening: &mut Happening,
        agenda: &mut Agenda,
    ) -> Option<Next> {
        while agenda.first_due().is_some_and(|due| due <= step) {
            let (_, item) = agenda.take_first()?;
            // What is tried again is no other actor.
            self.items += usize::from(!matches!(item, Item::Fault { tries: 1.., .. }));
            self.ready.insert((self.draw.below(DRAWN), item));
        }
        while self.changes.last().is_some_and(|change| *change <= step) {
            self.changes.pop();
            self.fall(happening);
        }
        let ready = self.ready.first().map(|(rank, _)| *rank);
        match (happening.first(), ready) {
            (None, None) => None,
            (Some((key, _)), ready) if ready.is_none_or(|rank| key <= rank) => {
                happening.take_first().map(Next::Happens)
            }
            (Some(_) | None, _) => self.ready.pop_first().map(|(_, item)| Next::Due(item)),
        }
    }

    /// Whoever is next falls below all others.
    fn fall(&mut self, happening: &mut Happening) {
        let rank = FALLEN + self.draw.below(DRAWN);
        let ready = self.ready.first().map(|(rank, _)| *rank);
        match happening.first() {
            Some((key, event)) if ready.is_none_or(|rank| key <= rank) => {
                self.ranks.insert(actor(event).0, rank);
                happening.rekey(|event| self.key(event));
            }
            Some(_) | None => {
                if let Some((_, item)) = self.ready.pop_first() {
                    self.ready.insert((rank, item));
                }
            }
        }
    }
}

/// Whose turn it is, and whether it only says something again.
fn actor(event: &Event) -> (Actor, bool) {
    if let Event::Publish(index) = event {
        return (Actor::Arbiter(*index), false);
    }
    if let Event::Lapse(_) = event {
        return (Actor::Arbiter(ArbiterIndex(0)), false);
    }
    if let Event::Gone(who) = event {
        return (Actor::Detector(*who), false);
    }
    if let Event::Deliver { from, .. } = event {
        return (Actor::ToRecord(*from), false);
    }
    if let Event::Read(who) = event {
        return (Actor::FromRecord(*who), false);
    }
    if let Event::Repeat(wire) = event {
        return match wire.direction {
            Direction::ToRecord => (Actor::ToRecord(wire.who), true),
            Direction::FromRecord => (Actor::FromRecord(wire.who), true),
        };
    }
    if let Event::Step { who, .. } | Event::Plan { who, .. } = event {
        return (Actor::Driver(*who), false);
    }
    let (Event::SignOff { who, .. } | Event::BuildEnds { who, .. } | Event::BuildStops { who, .. }) =
        event
    else {
        unreachable!("{event:?} does not happen by itself");
    };
    (Actor::Builds(*who), false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Concern;
    use crate::world::{CalmEvents, Wire};

    fn priorities(depth: u32, steps: u64) -> Priorities {
        Priorities::new(Draw::new(1, Concern::Delays), depth, steps)
    }

    fn all(priorities: &mut Priorities, events: &[Event]) -> Vec<Event> {
        let (mut happening, mut agenda) =
            (Happening::new(CalmEvents::default()), Agenda::default());
        happening.possible(events, |event| priorities.key(event));
        let next = |step| match priorities.next(step, &mut happening, &mut agenda)? {
            Next::Happens(_) => happening.go(),
            Next::Due(_) | Next::Departs { .. } => None,
        };
        (0..).map_while(next).collect()
    }

    #[test]
    fn the_bound_is_that_of_the_paper() {
        let bound = PctBound { actors: 10, steps: 100, depth: 3 };
        assert!((bound.chance() - 1e-5).abs() < 1e-12);
        assert!((PctBound { depth: 1, ..bound }.chance() - 0.1).abs() < 1e-12);
    }

    #[test]
    fn whoever_stands_highest_goes_first_and_keeps_its_place() {
        let reads: Vec<Event> = (0..9).map(|who| Event::Read(Who(who))).collect();
        let mut priorities = priorities(1, 100);
        let once = all(&mut priorities, &reads);
        assert_eq!(once.len(), 9);
        assert_ne!(once, reads, "the order is drawn");
        assert_eq!(all(&mut priorities, &reads), once);
    }

    #[test]
    fn what_is_said_again_comes_after_all_else() {
        let repeat = |who| Event::Repeat(Wire { who: Who(who), direction: Direction::ToRecord });
        let read = |who| Event::Read(Who(who));
        let events = [repeat(0), read(0), repeat(1), read(1)];
        let order = all(&mut priorities(1, 100), &events);
        assert!(matches!(order[..2], [Event::Read(_), Event::Read(_)]), "{order:?}");
    }

    #[test]
    fn at_a_change_who_is_next_falls_below_all_others() {
        let reads: Vec<Event> = (0..9).map(|who| Event::Read(Who(who))).collect();
        let before = all(&mut priorities(1, 1), &reads);
        // One change, drawn among one step.
        let mut changed = priorities(2, 1);
        changed.draw = priorities(1, 1).draw;
        let after = all(&mut changed, &reads);
        assert_eq!(after[..8], before[1..]);
        assert_eq!(after[8], before[0]);
    }
}
