//! The key of a state: equal for states between which no actor can ever tell a difference.

use std::sync::Arc;

use handover_core::{GrantId, HostId, Name};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::bounds::{Budget, Gaps};
use super::canon::{Kind, Number, Writer};
use super::encode::{place_part, process_part, whole_part};
use super::{Bounds, Reductions};
use crate::world::{Setup, Shelf, World};

/// A part of a state, encoded.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Of all but the numbers.
    pub(super) hash: u128,
    /// In their order, some of them several times.
    pub(super) numbers: Vec<Number>,
    /// Each of those that have a rank once: most of a state's numbers are in many places of it.
    ranked: Vec<Number>,
    /// Of each of the numbers its place among these, or the place of the setup that it names.
    places: Vec<u16>,
    pub(super) memories: Vec<Memory>,
}

/// What is remembered of a grant. It counts only while the grant can still be named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Memory {
    pub(super) grant: GrantId,
    /// Where it is remembered, or whom it is about.
    pub(super) place: Option<usize>,
    pub(super) hash: u64,
}

impl Memory {
    fn number(&self) -> Number {
        Number::new(Kind::Grant, 0, self.grant.0)
    }
}

/// Of which kind a part is, and where it belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The hold and all that is of no single place.
    Whole,
    /// What the record and membership say of a place.
    Spot { place: usize },
    /// A process with its link: which one of those of its place.
    Process { place: usize, life: usize },
}

/// The seat of each place.
pub(super) type Seats = Vec<u8>;

/// The parts of a state: the hold and all that is of no single place, then what the record and
/// membership say of each place, then each process with its link.
#[derive(Clone, Debug)]
pub(super) struct Parts(Vec<Placed>);

/// A part in a state.
#[derive(Clone, Debug)]
struct Placed {
    role: Role,
    part: Arc<Part>,
    /// Of a state before, if it had this part.
    printed: Option<Arc<Printed>>,
}

/// What a part adds to the fingerprint of a state: the same from one state to the next, as long as
/// the ranks of its numbers are.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Printed {
    standing: Box<[u8]>,
    /// For each way to seat the places.
    prints: Box<[u128]>,
}

impl Parts {
    /// The grants that are named in it; in no order, some of them several times.
    pub(super) fn grants(&self) -> impl Iterator<Item = GrantId> {
        let numbers = self.0.iter().flat_map(|placed| &placed.part.ranked);
        numbers.filter(|number| number.is(Kind::Grant)).map(|number| GrantId(number.value()))
    }

    /// Shares with other states what is equal of what is added to fingerprints.
    pub(super) fn share(&mut self, shelf: &mut Shelf<Printed>) {
        self.0.iter_mut().filter_map(|placed| placed.printed.as_mut()).for_each(|printed| {
            shelf.share(printed);
        });
    }
}

/// What is used again and again for the keys of one configuration.
#[derive(Debug)]
pub(super) struct Scratch {
    pub(super) writer: Writer,
    pub(super) reductions: Reductions,
    pub(super) gaps: Gaps,
    pub(super) places: Vec<Name>,
    /// The ways to seat the places; nobody can tell them apart.
    pub(super) seats: Vec<Seats>,
    numbers: Vec<Number>,
    ranks: Vec<u8>,
    sorted: Vec<(Number, usize)>,
    standing: Vec<u8>,
    sums: Vec<u128>,
    bytes: Vec<u8>,
}

/// Places that change their seats among themselves. A larger group would have too many orders; two
/// states then stay two that could be one, which costs and does no harm.
const GROUP: usize = 4;

impl Scratch {
    pub(super) fn new(bounds: &Bounds) -> Self {
        let setup = bounds.setup();
        let symmetry = bounds.reductions.symmetry;
        let unlike = if symmetry { bounds.unlike() } else { setup.places.len() };
        let seats = seats(setup.places.len(), unlike);
        let reductions = Reductions { spent: bounds.leaves_out_spent(), ..bounds.reductions };
        Self { seats, ..Self::with(&setup, reductions, bounds.gaps()) }
    }

    /// For places that keep their seats.
    pub(super) fn with(setup: &Setup, reductions: Reductions, gaps: Gaps) -> Self {
        let places: Vec<Name> = setup.places.iter().map(|place| place.name.clone()).collect();
        Self {
            writer: Writer::new(reductions, places.clone()),
            reductions,
            gaps,
            seats: Vec::new(),
            places,
            numbers: Vec::new(),
            ranks: Vec::new(),
            sorted: Vec::new(),
            standing: Vec::new(),
            sums: Vec::new(),
            bytes: Vec::with_capacity(256),
        }
    }

    pub(super) fn place(&self, name: &Name) -> usize {
        let place = self.places.iter().position(|place| place == name);
        place.expect("hosts live at places of the setup")
    }

    pub(super) fn scope(&self, host: &HostId) -> u32 {
        let life = usize::try_from(host.incarnation.0).expect("few lives");
        u32::try_from(self.place(&host.name) * LIVES + life).expect("few hosts and few lives")
    }
}

/// Lives of one place, at most.
const LIVES: usize = 1 << 20;

/// All ways to seat so many places of which the first stay where they are.
fn seats(places: usize, unlike: usize) -> Vec<Seats> {
    let stay: Seats = (0..places).map(|place| u8::try_from(place).expect("few places")).collect();
    let first = unlike.min(places);
    let mut all = vec![stay];
    for at in first..places {
        let last = places.min(first + (at - first) / GROUP * GROUP + GROUP);
        let swap = |seats: &Seats, other: usize| {
            let mut seats = seats.clone();
            seats.swap(at, other);
            seats
        };
        all = all.iter().flat_map(|seats| (at..last).map(|other| swap(seats, other))).collect();
    }
    all
}

/// Of a state that is yet to be encoded, the parts that are known.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The first part, and those of the places.
    pub(super) common: Option<Arc<Vec<Arc<Part>>>>,
    /// By the number of the process.
    pub(super) processes: Vec<Option<Arc<Part>>>,
}

/// The part of no single place, and those of the places.
pub(super) fn common_parts(world: &World, scratch: &mut Scratch) -> Vec<Arc<Part>> {
    let mut parts = vec![Arc::new(whole_part(world, scratch))];
    let places = 0..scratch.places.len();
    parts.extend(places.map(|place| Arc::new(place_part(world, place, scratch))));
    parts
}

/// Encodes a state. What it shares with `before` is not encoded again, nor what is known.
pub(super) fn parts(
    world: &World,
    before: Option<(&World, &Parts)>,
    scratch: &mut Scratch,
    known: &Known,
) -> Parts {
    let places = scratch.places.len();
    let mut all = Vec::with_capacity(1 + places + world.processes().len());
    let was = |at: usize| before.and_then(|(_, parts)| parts.0.get(at));
    match before.filter(|(before, _)| world.shares_record(before)) {
        Some((_, parts)) => all.extend_from_slice(&parts.0[..=places]),
        None => {
            let made;
            let common = if let Some(common) = &known.common {
                common
            } else {
                made = common_parts(world, scratch);
                &made
            };
            for (at, part) in common.iter().enumerate() {
                let spot = at.checked_sub(1).map(|place| Role::Spot { place });
                let role = spot.unwrap_or(Role::Whole);
                all.push(Placed::of(role, Arc::clone(part), was(at)));
            }
        }
    }
    let same_cast =
        before.filter(|(before, _)| before.processes().len() == world.processes().len());
    for (who, process) in world.processes() {
        let shared = same_cast.filter(|(before, _)| world.shares_process(before, who));
        match shared {
            Some((_, parts)) => all.push(parts.0[all.len()].clone()),
            None => {
                let role = role_of(scratch.place(&process.name), &all);
                let part = known.processes.get(usize::from(who.0)).cloned().flatten();
                let part = part.unwrap_or_else(|| Arc::new(process_part(world, who, scratch)));
                all.push(Placed::of(role, part, was(all.len())));
            }
        }
    }
    Parts(all)
}

impl Placed {
    /// A part that was encoded anew; the one before stays where it says the same.
    fn of(role: Role, part: Arc<Part>, before: Option<&Self>) -> Self {
        match before.filter(|before| before.role == role && before.part == part) {
            Some(before) => before.clone(),
            None => Self { role, part, printed: None },
        }
    }
}

/// The role of a process of this place that comes after these.
fn role_of(place: usize, earlier: &[Placed]) -> Role {
    let is_here = |placed: &&Placed| match placed.role {
        Role::Process { place: other, .. } => other == place,
        Role::Whole | Role::Spot { .. } => false,
    };
    Role::Process { place, life: earlier.iter().filter(is_here).count() }
}

/// The fingerprint of a state with so many faults left.
pub(super) fn fingerprint(parts: &mut Parts, budget: Budget, scratch: &mut Scratch) -> u64 {
    scratch.rank(parts);
    let Scratch { standing, sums, bytes, seats, .. } = scratch;
    sums.clear();
    sums.resize(seats.len(), 0);
    let mut standing = standing.as_slice();
    for Placed { role, part, printed } in &mut parts.0 {
        let (own, others) = standing.split_at(part.ranked.len() + part.memories.len());
        standing = others;
        let known = printed.take().filter(|printed| *printed.standing == *own);
        let known = known.unwrap_or_else(|| {
            let prints = seats.iter().map(|seats| part.print(*role, seats, own, bytes));
            Arc::new(Printed { standing: own.into(), prints: prints.collect() })
        });
        for (sum, print) in sums.iter_mut().zip(&known.prints) {
            *sum = sum.wrapping_add(*print);
        }
        *printed = Some(known);
    }
    seal(sums.iter().copied().min().expect("each place has a seat"), budget)
}

impl Scratch {
    /// Finds out how each part of a state [stands](Part::stand), one after another: the numbers are
    /// sorted once, and each is told its rank.
    fn rank(&mut self, parts: &Parts) {
        let Self { numbers, ranks, sorted, standing, gaps, reductions, .. } = self;
        sorted.clear();
        standing.clear();
        for Placed { part, .. } in &parts.0 {
            sorted.extend(part.ranked.iter().copied().zip(standing.len()..));
            standing.resize(standing.len() + part.ranked.len() + part.memories.len(), UNNAMED);
        }
        sorted.sort_unstable();
        numbers.clear();
        numbers.extend(sorted.iter().map(|(number, _)| *number));
        numbers.dedup();
        rank_all(numbers, ranks, *gaps);
        let mut at = 0;
        for (number, stands) in &*sorted {
            at += usize::from(numbers[at] != *number);
            standing[*stands] = ranks[at];
        }
        let mut behind = 0;
        for Placed { part, .. } in &parts.0 {
            behind += part.ranked.len() + part.memories.len();
            let grants = part.memories.iter().rev().map(Memory::number);
            for (standing, grant) in standing[..behind].iter_mut().rev().zip(grants) {
                *standing = if reductions.ranks {
                    numbers.binary_search(&grant).map_or(UNNAMED, |at| ranks[at])
                } else {
                    u8::try_from(grant.value()).expect("few grants")
                };
            }
        }
    }
}

/// The fingerprint of a state whose parts have this sum.
pub(super) fn seal(sum: u128, budget: Budget) -> u64 {
    let mut bytes = [0; 24];
    bytes[..16].copy_from_slice(&sum.to_le_bytes());
    bytes[16..].copy_from_slice(&budget.0.to_le_bytes());
    xxh3_64(&bytes).max(1)
}

/// A grant that is remembered and cannot be named any more has no rank.
const UNNAMED: u8 = u8::MAX;

impl Part {
    pub(super) fn new(hash: u128, numbers: Vec<Number>, memories: Vec<Memory>) -> Self {
        let mut ranked: Vec<Number> = Vec::new();
        let place = |number: &Number| {
            let place = number.name().unwrap_or_else(|| {
                ranked.iter().position(|other| other == number).unwrap_or_else(|| {
                    ranked.push(*number);
                    ranked.len() - 1
                })
            });
            u16::try_from(place).expect("few numbers")
        };
        let places = numbers.iter().map(place).collect();
        Self { hash, numbers, ranked, places, memories }
    }

    /// Appends what of a state the part's share in the fingerprint depends on: the ranks of its
    /// numbers, and of the grants that are remembered.
    pub(super) fn stand(&self, rank: impl Fn(Number) -> Option<u8>, to: &mut Vec<u8>) {
        let known = |number: &Number| rank(*number).expect("all numbers of the parts have a rank");
        to.extend(self.ranked.iter().map(known));
        let grants = self.memories.iter().map(Memory::number);
        to.extend(grants.map(|grant| rank(grant).unwrap_or(UNNAMED)));
    }

    /// What the part adds to the fingerprint where it [stands](Self::stand) like this and the places
    /// sit like this. A memory counts only where its grant has a rank.
    pub(super) fn print(
        &self,
        role: Role,
        seats: &Seats,
        standing: &[u8],
        bytes: &mut Vec<u8>,
    ) -> u128 {
        bytes.clear();
        bytes.extend(self.hash.to_le_bytes());
        bytes.extend(match role {
            Role::Whole => [0, 0, 0],
            Role::Spot { place } => [1, seats[place], 0],
            Role::Process { place, life } => {
                [2, seats[place], u8::try_from(life).expect("few lives")]
            }
        });
        let (ranks, grants) = standing.split_at(self.ranked.len());
        let numbers = self.numbers.iter().zip(&self.places);
        bytes.extend(numbers.map(|(number, place)| {
            let place = usize::from(*place);
            if number.is(Kind::Name) { seats[place] } else { ranks[place] }
        }));
        let seat = |place: Option<usize>| place.map_or(u8::MAX, |place| seats[place]);
        if !self.memories.is_empty() {
            let memories = self.memories.iter().zip(grants).filter(|(_, rank)| **rank != UNNAMED);
            let memories = memories.map(|(memory, rank)| (*rank, seat(memory.place), memory.hash));
            let mut memories: Vec<_> = memories.collect();
            memories.sort_unstable();
            for (rank, seat, hash) in memories {
                bytes.extend([rank, seat]);
                bytes.extend(hash.to_le_bytes());
            }
        }
        xxh3_128(bytes)
    }
}

/// Gives each number its rank among those of its kind and scope: none has rank 0, any other one
/// comes after it, by as much as there may be between two.
pub(super) fn rank_all(numbers: &[Number], ranks: &mut Vec<u8>, gaps: Gaps) {
    ranks.clear();
    let mut last: Option<Number> = None;
    let mut rank = 0_u8;
    for number in numbers {
        let before = last.filter(|last| last.group() == number.group());
        let gap = number.value() - before.map_or(0, Number::value);
        let gap = u8::try_from(gap.min(gaps.most(*number))).expect("few words");
        rank = before.map_or(0, |_| rank).checked_add(gap).expect("few words");
        ranks.push(rank);
        last = Some(*number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variants::by_name;
    use crate::world::{ArbiterIndex, Event, Who};

    const A: Who = Who(0);
    const B: Who = Who(1);

    fn key(bounds: &Bounds, events: &[Event]) -> u64 {
        let mut world = World::new(bounds.setup());
        for event in events {
            world.apply(event, &mut Vec::new()).expect("the test knows what can happen");
        }
        let mut scratch = Scratch::new(bounds);
        let mut parts = parts(&world, None, &mut scratch, &Known::default());
        fingerprint(&mut parts, bounds.budget(), &mut scratch)
    }

    fn deliver(from: Who) -> Event {
        Event::Deliver { from, to: ArbiterIndex(0) }
    }

    /// Both ask, and one is offered the job.
    fn asked(first: Who, second: Who) -> [Event; 4] {
        [Event::Ask(first), Event::Ask(second), deliver(first), deliver(second)]
    }

    #[test]
    fn hosts_that_change_their_places_make_one_state_and_two_without_the_reduction() {
        let mut bounds = Bounds::new(&[0, 0]);
        assert_eq!(key(&bounds, &asked(A, B)), key(&bounds, &asked(B, A)));
        bounds.reductions.symmetry = false;
        assert_ne!(key(&bounds, &asked(A, B)), key(&bounds, &asked(B, A)));
    }

    #[test]
    fn hosts_of_two_versions_do_not_change_their_places() {
        let bounds = Bounds::new(&[0, 1]);
        assert_ne!(key(&bounds, &[Event::Ask(A)]), key(&bounds, &[Event::Ask(B)]));
    }

    #[test]
    fn a_host_on_which_local_builds_run_stays_in_its_place() {
        let bounds = Bounds { local_builds: (0, 1), ..Bounds::new(&[0, 0]) };
        assert_ne!(key(&bounds, &[Event::Ask(A)]), key(&bounds, &[Event::Ask(B)]));
    }

    /// A word that was taken back, and is said again under a higher number.
    fn said_again() -> Vec<Event> {
        let stands_down = Event::StandDown { who: A, after: false };
        let again = [Event::Ask(A), stands_down, Event::Reask(A)];
        let wire = crate::world::Wire { who: A, direction: crate::world::Direction::ToRecord };
        again.into_iter().chain([Event::Lose(wire), Event::Lose(wire)]).collect()
    }

    #[test]
    fn of_a_number_only_its_rank_counts_and_the_number_itself_without_the_reduction() {
        let mut bounds = Bounds::new(&[0]);
        // What the reask leaves behind apart from numbers: nothing.
        let (once, again) = ([Event::Ask(A)], said_again());
        let ranked = (key(&bounds, &once), key(&bounds, &again));
        bounds.reductions.ranks = false;
        let raw = (key(&bounds, &once), key(&bounds, &again));
        assert_eq!(ranked.0, ranked.1);
        assert_ne!(raw.0, raw.1);
    }

    #[test]
    fn a_wrong_protocol_tells_the_first_number_from_a_later_one() {
        let protocol = by_name("guarded-report").expect("it is known");
        let bounds = Bounds::new(&[0]).under(protocol);
        assert_ne!(key(&bounds, &[Event::Ask(A)]), key(&bounds, &said_again()));
    }

    #[test]
    fn what_is_shared_with_the_state_before_is_encoded_as_if_it_were_not() {
        let bounds = Bounds::new(&[0, 0]);
        let mut scratch = Scratch::new(&bounds);
        let mut world = World::new(bounds.setup());
        let mut encoded = parts(&world, None, &mut scratch, &Known::default());
        for event in asked(A, B).into_iter().chain([Event::Publish(ArbiterIndex(0))]) {
            let before = world.clone();
            world.apply(&event, &mut Vec::new()).expect("it can happen");
            encoded = parts(&world, Some((&before, &encoded)), &mut scratch, &Known::default());
            let mut anew = parts(&world, None, &mut Scratch::new(&bounds), &Known::default());
            let budget = bounds.budget();
            let print = fingerprint(&mut encoded, budget, &mut scratch);
            assert_eq!(print, fingerprint(&mut anew, budget, &mut scratch), "{event:?}");
        }
    }
}
