//! What a host does, worked out once for all states in which its place and the hold are the same.
//!
//! A state is its core (the hold, the verdicts, what really happened) and each place: what the
//! record and membership say of it, and its processes and links. Every such part is kept once and
//! has a number, so that a state is a few numbers. What happens at a place depends on the core and
//! on that place, and changes these two alone; only where the job goes to somebody else do the
//! others have a say, by who of them asks. A publication reaches one place after another. So the
//! steps of each pair are worked out once, in a world in which no other place has a process, and
//! are looked up from then on. Three checks look at other places as well; what they look for is
//! known of each pair, and a state in which it comes together is judged as a whole.
//!
//! Numbers of the protocol are kept small, else no part would ever come again: those of a place are
//! ranked when a step is worked out, and grants and tickets, which the whole state shares, when a
//! state is put together. The searches with and without this are compared in tests.

mod shelf;
mod work;

use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_128;

use super::action::Action;
use super::bounds::{Budget, PLACES_MAX, Price};
use super::index::Index;
use super::key::{Scratch, seal};
use super::parts::{Core, Named, Numbers, Renaming, Seat};
use super::system::{Marks, Outcome};
use super::{Bounds, Property};
use crate::world::{ArbiterIndex, Event, Ground, World};
use shelf::Shelf;

/// The number of each place's part.
type Places = [u32; PLACES_MAX];

/// A state: the number of its core, those of its places, and the faults that are left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Compact {
    core: u32,
    places: Places,
    pub(super) budget: Budget,
}

/// What is not worked out yet, under the key of its answer.
pub(super) struct Question {
    pub(super) key: u128,
    asked: Asked,
}

enum Asked {
    /// The steps of a place, or of no place, in which others have no say.
    Steps { core: u32, places: Places, at: Option<usize> },
    /// And those in which they have.
    Turn { core: u32, places: Places, at: Option<usize> },
    /// What a step that concerns all places makes of one of them.
    Spread { what: Everywhere, core: u32, place: u32, at: usize },
    /// And of the core.
    SpreadEnds { what: Everywhere, core: u32 },
    /// A core where only these numbers are in use.
    RenamedCore { core: u32, renaming: Renaming },
    /// A place where only these numbers are in use.
    RenamedSeat { place: u32, at: usize, renaming: Renaming },
}

impl Question {
    /// The core of the states that ask, or any.
    fn core(&self) -> u32 {
        match self.asked {
            Asked::Steps { core, .. }
            | Asked::Turn { core, .. }
            | Asked::Spread { core, .. }
            | Asked::SpreadEnds { core, .. }
            | Asked::RenamedCore { core, .. } => core,
            Asked::RenamedSeat { .. } => 0,
        }
    }

    /// What the answer is worked out of, of so many places.
    fn places(&self, count: usize) -> &[u32] {
        match &self.asked {
            Asked::Steps { places, .. } | Asked::Turn { places, .. } => &places[..count],
            Asked::Spread { place, .. } | Asked::RenamedSeat { place, .. } => {
                std::slice::from_ref(place)
            }
            Asked::SpreadEnds { .. } | Asked::RenamedCore { .. } => &[],
        }
    }
}

/// Of the kind of a question and two numbers.
fn key(kind: u8, one: u32, other: u32) -> u128 {
    u128::from(kind) << 64 | u128::from(one) << 32 | u128::from(other)
}

/// Of more than has room in a key; its kind is a bit that [`key`] never sets.
fn hashed_key(kind: u8, numbers: &[u64]) -> u128 {
    let mut bytes = [0; 8 * (PLACES_MAX + 2)];
    for (at, number) in numbers.iter().enumerate() {
        bytes[at * 8..at * 8 + 8].copy_from_slice(&number.to_le_bytes());
    }
    bytes[8 * (PLACES_MAX + 1)] = kind;
    xxh3_128(&bytes) | 1 << 127
}

/// A step that concerns all places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Everywhere {
    Publish,
    Heal,
}

impl Everywhere {
    fn of(action: &Action) -> Option<Self> {
        match action {
            Action::Happens(Event::Publish(_)) => Some(Self::Publish),
            Action::Happens(Event::Heal) => Some(Self::Heal),
            Action::Happens(_) | Action::Deliver(..) | Action::Read(..) | Action::Unsure(..) => {
                None
            }
        }
    }

    fn event(self) -> Event {
        match self {
            Self::Publish => Event::Publish(ArbiterIndex(0)),
            Self::Heal => Event::Heal,
        }
    }
}

/// What a step makes of a pair.
#[derive(Clone, Copy, Debug)]
struct Step {
    price: Price,
    kind: StepKind,
    broken: Marks,
    /// What it may break: the holder is not there to be looked at.
    suspected: Marks,
}

#[derive(Clone, Copy, Debug)]
enum StepKind {
    /// It makes these of the core and the place.
    Here {
        core: u32,
        place: u32,
    },
    /// It makes this of the core.
    Core(u32),
    Everywhere(Everywhere),
}

/// The steps of a pair, and what is known of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    start: u32,
    end: u32,
    /// There are steps in which others have a say.
    has_turns: bool,
    /// Nothing is stuck at the place.
    converged: bool,
    /// Builds that count for `SingleBuilder`.
    builds: u8,
    /// The holder is drained.
    drained_holder: bool,
}

/// All parts and steps of a configuration that were met so far.
pub(super) struct Local<'a> {
    bounds: &'a Bounds,
    ground: Arc<Ground>,
    count: usize,
    ways: usize,
    cores: Shelf<Core>,
    seats: Shelf<Seat>,
    answers: Index<u128>,
    blocks: Vec<Block>,
    steps: Vec<Step>,
}

impl<'a> Local<'a> {
    /// With the first state.
    pub(super) fn new(bounds: &'a Bounds) -> (Self, Outcome<Compact>) {
        let mut scratch = Scratch::new(bounds);
        let mut local = Self {
            bounds,
            ground: Arc::new(Ground::new(bounds.setup())),
            count: bounds.hosts.len(),
            ways: scratch.seats.len(),
            cores: Shelf::new(),
            seats: Shelf::new(),
            answers: Index::new(),
            blocks: Vec::new(),
            steps: Vec::new(),
        };
        let world = World::new(bounds.setup());
        let core = local.core(&world, &mut scratch);
        let core = local.cores.put(core);
        let mut start = Compact { core, places: [0; PLACES_MAX], budget: bounds.budget() };
        for (at, member) in world.members().enumerate() {
            let common = world.common();
            let alone = World::assemble(&local.ground, &common, std::iter::once(member));
            let seat = local.seat(&alone, at, &mut scratch);
            start.places[at] = local.seats.put(seat);
        }
        let print = local.print(&start);
        (local, Outcome::of(print, true, Some(start)))
    }

    pub(super) fn scratch(&self) -> Scratch {
        Scratch::new(self.bounds)
    }

    pub(super) fn forget(&mut self) {
        (self.cores, self.seats) = (Shelf::new(), Shelf::new());
        self.answers = Index::new();
        (self.blocks, self.steps) = (Vec::new(), Vec::new());
    }

    /// Bytes that it holds, about.
    pub(super) fn bytes(&self) -> usize {
        let blocks = self.blocks.len() * size_of::<Block>();
        let steps = self.steps.len() * size_of::<Step>();
        self.cores.bytes() + self.seats.bytes() + self.answers.bytes() + blocks + steps
    }

    fn print(&self, state: &Compact) -> u64 {
        let of = |prints: &'_ [u128], id: u32, way: usize| prints[id as usize * self.ways + way];
        let print = |way: usize| {
            let places = state.places[..self.count].iter();
            places.fold(of(&self.cores.prints, state.core, way), |sum, place| {
                sum.wrapping_add(of(&self.seats.prints, *place, way))
            })
        };
        let least = (0..self.ways).map(print).min().expect("each place has a seat");
        seal(least, state.budget)
    }
}

/// How the expansion of a state went.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expanded {
    pub(super) is_converged: bool,
    /// What may be broken in the state, and has to be judged as a whole.
    pub(super) suspected: Marks,
}

/// A state that is being expanded: what comes of it, and what is missing for that.
struct Expanding<'a> {
    state: &'a Compact,
    outcomes: &'a mut Vec<Outcome<Compact>>,
    missing: &'a mut Vec<Question>,
}

impl Local<'_> {
    /// The answer to a question, or none, and then it is asked.
    fn answer(
        &self,
        key: u128,
        missing: &mut Vec<Question>,
        ask: impl FnOnce() -> Asked,
    ) -> Option<u32> {
        let answer = self.answers.find(key);
        if answer.is_none() {
            missing.push(Question { key, asked: ask() });
        }
        answer
    }

    /// What each choice of a state leads to; none where something is missing.
    pub(super) fn expand(
        &self,
        state: &Compact,
        outcomes: &mut Vec<Outcome<Compact>>,
        missing: &mut Vec<Question>,
    ) -> Option<Expanded> {
        let (asked, start) = (missing.len(), outcomes.len());
        let mut expanding = Expanding { state, outcomes, missing };
        let mut is_converged = true;
        let (mut builds, mut drained_holder) = (0, false);
        for at in std::iter::once(None).chain((0..self.count).map(Some)) {
            let Some(block) = self.take_steps(at, &mut expanding) else { continue };
            is_converged &= block.converged;
            builds += block.builds;
            drained_holder |= block.drained_holder;
        }
        if missing.len() > asked {
            outcomes.truncate(start);
            return None;
        }
        let mut suspected = Marks::NONE;
        if builds > 1 {
            suspected.put(Property::SingleBuilder);
        }
        if drained_holder {
            suspected.put(Property::TruthfulIdle);
        }
        Some(Expanded { is_converged, suspected })
    }

    /// The steps of a place, or of none, with what is known of it.
    fn take_steps(&self, at: Option<usize>, expanding: &mut Expanding<'_>) -> Option<Block> {
        let Compact { core, places, .. } = *expanding.state;
        let key = match at {
            Some(at) => key(1, core, places[at]),
            None => key(2, core, 0),
        };
        let asked = || Asked::Steps { core, places, at };
        let block = self.blocks[self.answer(key, expanding.missing, asked)? as usize];
        self.follow_all(block, at, expanding);
        if block.has_turns {
            let key = self.turn_key(expanding.state, at);
            let asked = || Asked::Turn { core, places, at };
            let turns = self.blocks[self.answer(key, expanding.missing, asked)? as usize];
            self.follow_all(turns, at, expanding);
        }
        Some(block)
    }

    /// The same for all states in which the same others ask, in the same order.
    fn turn_key(&self, state: &Compact, at: Option<usize>) -> u128 {
        let mut numbers = [0; PLACES_MAX + 1];
        let place = at.map_or(u32::MAX, |at| state.places[at]);
        numbers[0] = u64::from(state.core) << 32 | u64::from(place);
        for (other, place) in state.places[..self.count].iter().enumerate() {
            if Some(other) != at {
                numbers[other + 1] = self.seats.ballots[*place as usize];
            }
        }
        hashed_key(1, &numbers)
    }

    fn follow_all(&self, block: Block, at: Option<usize>, expanding: &mut Expanding<'_>) {
        for step in &self.steps[block.start as usize..block.end as usize] {
            self.follow(step, at, expanding);
        }
    }

    fn follow(&self, step: &Step, at: Option<usize>, expanding: &mut Expanding<'_>) {
        let state = expanding.state;
        if !state.budget.allows(step.price) {
            return;
        }
        let mut after = Compact { budget: state.budget.less(step.price), ..*state };
        let went = match step.kind {
            StepKind::Here { core, place } => {
                after.core = core;
                after.places[at.expect("it is a step of a place")] = place;
                Some(())
            }
            StepKind::Core(core) => {
                after.core = core;
                Some(())
            }
            StepKind::Everywhere(what) => self.spread(what, &mut after, expanding.missing),
        };
        if went.and_then(|()| self.rename(&mut after, expanding.missing)).is_some() {
            let print = self.print(&after);
            let is_free = step.price == Price::NOTHING;
            let Step { broken, suspected, .. } = *step;
            let outcome = Outcome::of(print, is_free, Some(after));
            expanding.outcomes.push(Outcome { broken, suspected, ..outcome });
        }
    }

    fn spread(
        &self,
        what: Everywhere,
        state: &mut Compact,
        missing: &mut Vec<Question>,
    ) -> Option<()> {
        let core = state.core;
        for (at, place) in state.places[..self.count].iter_mut().enumerate() {
            let asked = || Asked::Spread { what, core, place: *place, at };
            *place = self.answer(key(3 + what as u8, core, *place), missing, asked)?;
        }
        let asked = || Asked::SpreadEnds { what, core };
        state.core = self.answer(key(5 + what as u8, core, 0), missing, asked)?;
        Some(())
    }

    /// Grants and tickets are numbered from 1 in the whole state; a grant that is only remembered
    /// is forgotten.
    fn rename(&self, state: &mut Compact, missing: &mut Vec<Question>) -> Option<()> {
        let of_core = self.cores.numbers[state.core as usize];
        let places = state.places[..self.count].iter();
        let all = places.fold(of_core, |all, place| all.and(self.seats.numbers[*place as usize]));
        let (grants, tickets) = (first_numbers(all.grants), first_numbers(all.tickets));
        let changes =
            |of: Named| (of.grants | of.remembered) & !grants != 0 || of.tickets & !tickets != 0;
        if !changes(all) {
            return Some(());
        }
        let renaming = || Renaming { grants: all.grants, tickets: all.tickets };
        let hashed = |kind: u8, id: u32| hashed_key(kind, &[id.into(), all.grants, all.tickets]);
        if changes(of_core) {
            let core = state.core;
            let asked = || Asked::RenamedCore { core, renaming: renaming() };
            state.core = self.answer(hashed(2, core), missing, asked)?;
        }
        for (at, place) in state.places[..self.count].iter_mut().enumerate() {
            if changes(self.seats.numbers[*place as usize]) {
                let asked = || Asked::RenamedSeat { place: *place, at, renaming: renaming() };
                *place = self.answer(hashed(3, *place), missing, asked)?;
            }
        }
        Some(())
    }
}

/// Of these numbers those that follow each other from 1 on.
fn first_numbers(numbers: Numbers) -> Numbers {
    ((1 << (numbers >> 1).trailing_ones()) - 1) << 1
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, VecDeque};

    use super::super::direct::Node;
    use super::*;
    use crate::choose::FaultKind;

    impl Local<'_> {
        fn outcomes(&mut self, state: &Compact) -> Vec<Outcome<Compact>> {
            loop {
                let (mut outcomes, mut missing) = (Vec::new(), Vec::new());
                if self.expand(state, &mut outcomes, &mut missing).is_some() {
                    return outcomes;
                }
                self.answer_all(&missing, 1);
            }
        }
    }

    /// Each state beside the same one as a world of its own, and what either leads to.
    #[test]
    fn each_state_leads_to_what_it_leads_to_as_a_world_of_its_own() {
        const KINDS: &[&[FaultKind]] = &[
            &[FaultKind::Gone],
            &[FaultKind::Crash],
            &[FaultKind::Revoke],
            &[FaultKind::Fail, FaultKind::Retry, FaultKind::Unsigned],
            &[FaultKind::Reask, FaultKind::Lapse],
        ];
        for kinds in KINDS {
            let bounds = Bounds { chunks: 2, ..Bounds::new(&[0, 0]) };
            let bounds = kinds
                .iter()
                .fold(bounds, |bounds, kind| bounds.with(*kind, 1).expect("it has a budget"));
            let mut scratch = Scratch::new(&bounds);
            let (node, print) = Node::first(&bounds, &mut scratch);
            let (mut local, first) = Local::new(&bounds);
            assert_eq!(first.print, print);
            let mut known = BTreeSet::from([print]);
            let mut open = VecDeque::from([(node, first.node.expect("it is new"))]);
            while let Some((node, state)) = open.pop_front().filter(|_| known.len() < 4_000) {
                let choices = node.choices(&bounds);
                let follow = |choice| node.follow(choice, &bounds, &mut scratch);
                let mut alone: Vec<_> = choices.iter().map(follow).collect();
                let shared = local.outcomes(&state);
                let mut prints: Vec<u64> = shared.iter().map(|outcome| outcome.print).collect();
                for ((_, print, _), choice) in alone.iter().zip(&choices) {
                    let found = prints.iter().position(|other| other == print);
                    let found =
                        found.unwrap_or_else(|| panic!("{bounds}: {choice:?} in {:?}", node.world));
                    prints.swap_remove(found);
                }
                assert!(prints.is_empty(), "{bounds}: {prints:?} of {:?}", node.world);
                for outcome in shared.into_iter().filter(|outcome| known.insert(outcome.print)) {
                    let at = alone.iter().position(|(_, print, _)| *print == outcome.print);
                    let (next, ..) = alone.swap_remove(at.expect("compared above"));
                    open.push_back((next, outcome.node.expect("it is new")));
                }
            }
        }
    }
}
