//! The key of a state: equal for states between which no actor can ever tell a difference.

use std::sync::Arc;

use handover_core::{GrantId, HostId, Ledger, Name, Record, Standing, Work};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::bounds::Budget;
use super::canon::{Kind, Number, Writer};
use super::{Bounds, Reductions};
use crate::world::{Link, Process, Setup, Who, World};

/// Encodes parts of a state.
#[derive(Debug)]
pub(super) struct Part {
    /// Of all but the numbers.
    pub(super) hash: u128,
    pub(super) numbers: Vec<Number>,
    pub(super) memories: Vec<Memory>,
}

/// What is remembered of a grant. It counts only while the grant can still be named.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    pub(super) grant: GrantId,
    /// Where it is remembered, or whom it is about.
    pub(super) place: Option<usize>,
    pub(super) hash: u64,
}

/// Of which kind a part is, and where it belongs.
#[derive(Clone, Copy, Debug)]
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
pub(super) struct Parts {
    whole: Arc<Part>,
    places: Vec<Arc<Part>>,
    /// Each with the index of its place.
    processes: Vec<(usize, Arc<Part>)>,
}

/// What is used again and again for the keys of one configuration.
#[derive(Debug)]
pub(super) struct Scratch {
    pub(super) writer: Writer,
    reductions: Reductions,
    pub(super) gaps: bool,
    pub(super) places: Vec<Name>,
    /// The ways to seat the places; nobody can tell them apart.
    pub(super) seats: Vec<Seats>,
    numbers: Vec<Number>,
    ranks: Vec<u8>,
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
        Self { seats, ..Self::with(&setup, bounds.reductions, bounds.has_gaps()) }
    }

    /// For places that keep their seats.
    pub(super) fn with(setup: &Setup, reductions: Reductions, gaps: bool) -> Self {
        let places: Vec<Name> = setup.places.iter().map(|place| place.name.clone()).collect();
        Self {
            writer: Writer::new(reductions, places.clone()),
            reductions,
            gaps,
            seats: Vec::new(),
            places,
            numbers: Vec::new(),
            ranks: Vec::new(),
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

/// Encodes a state. What it shares with `before` is not encoded again.
pub(super) fn parts(
    world: &World,
    before: Option<(&World, &Parts)>,
    scratch: &mut Scratch,
) -> Parts {
    let shared = before.filter(|(before, _)| world.shares_record(before));
    let (whole, places) = if let Some((_, parts)) = shared {
        (Arc::clone(&parts.whole), parts.places.clone())
    } else {
        let places =
            (0..scratch.places.len()).map(|place| Arc::new(place_part(world, place, scratch)));
        let places = places.collect();
        (Arc::new(whole_part(world, scratch)), places)
    };
    let same_cast =
        before.filter(|(before, _)| before.processes().count() == world.processes().count());
    let process = |(who, process): (Who, &Process)| {
        let shared = same_cast.filter(|(before, _)| world.shares_process(before, who));
        let part = match shared {
            Some((_, parts)) => Arc::clone(&parts.processes[usize::from(who.0)].1),
            None => Arc::new(process_part(world, who, scratch)),
        };
        (scratch.place(&process.name), part)
    };
    Parts { whole, places, processes: world.processes().map(process).collect() }
}

/// The fingerprint of a state with so many faults left.
pub(super) fn fingerprint(parts: &Parts, budget: Budget, scratch: &mut Scratch) -> u64 {
    let Scratch { numbers, ranks, bytes, gaps, seats, .. } = scratch;
    let processes = parts.processes.iter().map(|(_, part)| part);
    let all = std::iter::once(&parts.whole).chain(&parts.places).chain(processes);
    numbers.clear();
    numbers.extend(all.flat_map(|part| part.numbers.iter().copied()));
    numbers.sort_unstable();
    numbers.dedup();
    rank_all(numbers, ranks, *gaps);
    let rank = |number: Number| numbers.binary_search(&number).ok().map(|at| ranks[at]);
    let mut print = |seats: &Seats| {
        let mut sum = parts.whole.print(Role::Whole, seats, rank, bytes);
        for (place, part) in parts.places.iter().enumerate() {
            sum = sum.wrapping_add(part.print(Role::Spot { place }, seats, rank, bytes));
        }
        let mut lives = vec![0; seats.len()];
        for (place, part) in &parts.processes {
            let role = Role::Process { place: *place, life: lives[*place] };
            lives[*place] += 1;
            sum = sum.wrapping_add(part.print(role, seats, rank, bytes));
        }
        sum
    };
    let least = seats.iter().map(&mut print).min().expect("each place has a seat");
    seal(least, budget)
}

/// The fingerprint of a state whose parts have this sum.
pub(super) fn seal(sum: u128, budget: Budget) -> u64 {
    let mut bytes = [0; 24];
    bytes[..16].copy_from_slice(&sum.to_le_bytes());
    bytes[16..].copy_from_slice(&budget.0.to_le_bytes());
    xxh3_64(&bytes).max(1)
}

impl Part {
    /// What the part adds to the fingerprint where the places sit like this. A memory counts only
    /// where its grant has a rank.
    pub(super) fn print(
        &self,
        role: Role,
        seats: &Seats,
        rank: impl Fn(Number) -> Option<u8>,
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
        let written = |number: &Number| match number.name() {
            Some(place) => seats[place],
            None => rank(*number).expect("all numbers of the parts have a rank"),
        };
        bytes.extend(self.numbers.iter().map(written));
        let seat = |place: Option<usize>| place.map_or(u8::MAX, |place| seats[place]);
        let counts = |memory: &Memory| {
            let rank = rank(Number::new(Kind::Grant, 0, memory.grant.0))?;
            Some((rank, seat(memory.place), memory.hash))
        };
        if !self.memories.is_empty() {
            let mut memories: Vec<_> = self.memories.iter().filter_map(counts).collect();
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
/// comes after it. With gaps, for a wrong protocol that may look at numbers: neighbours stay
/// neighbours, and the first numbers are told from later ones.
pub(super) fn rank_all(numbers: &[Number], ranks: &mut Vec<u8>, gaps: bool) {
    ranks.clear();
    let mut last: Option<Number> = None;
    let mut rank = 0_u8;
    for number in numbers {
        let before = last.filter(|last| last.group() == number.group());
        let gap = number.value() - before.map_or(0, Number::value);
        let gap = u8::try_from(gap.min(if gaps { 2 } else { 1 })).expect("at most 2");
        rank = before.map_or(0, |_| rank) + gap;
        ranks.push(rank);
        last = Some(*number);
    }
}

/// The hold, the verdicts, and what really happened. The one arbiter's record is the committed one,
/// and its revision is only compared with those of views, which are in order.
pub(super) fn whole_part(world: &World, scratch: &mut Scratch) -> Part {
    let record = world.committed();
    let writer = &mut scratch.writer;
    writer.clear();
    write_decisions(record, writer);
    for (_, arbiter) in world.arbiters() {
        writer.write(&arbiter.unpublished);
    }
    if !scratch.reductions.ranks {
        writer.write(&(record.revision(), record.next_grant(), record.next_ticket()));
    }
    let history = world.history();
    let revoked = |grant: &GrantId| Memory { grant: *grant, place: None, hash: 1 };
    let mut memories: Vec<Memory> = history.revoked.iter().map(revoked).collect();
    for (grant, end) in &history.ended {
        let place = Some(scratch.place(&end.host.name));
        let life = end.host.incarnation;
        let hash = hash_of(&(life, end.clean, &end.plan, &end.signed_off));
        memories.push(Memory { grant: *grant, place, hash });
    }
    part(&scratch.writer, memories)
}

pub(super) fn write_decisions(record: &Record, writer: &mut Writer) {
    writer.write(&record.hold());
    for verdict in record.verdicts() {
        writer.write(&verdict);
    }
}

/// What the record and membership say of a place.
pub(super) fn place_part(world: &World, place: usize, scratch: &mut Scratch) -> Part {
    let name = scratch.places[place].clone();
    scratch.writer.clear();
    write_lines(world.committed(), &name, scratch);
    let writer = &mut scratch.writer;
    writer.write(&world.oracle().used.get(&name));
    for suspect in world.oracle().suspects.iter().filter(|suspect| suspect.name == name) {
        writer.write(&suspect.incarnation);
    }
    part(writer, Vec::new())
}

pub(super) fn write_lines(record: &Record, name: &Name, scratch: &mut Scratch) {
    for (host, line) in record.lines().filter(|(host, _)| host.name == *name) {
        scratch.writer.host = scratch.scope(host);
        let writer = &mut scratch.writer;
        writer.write(&host.incarnation);
        writer.write(&line.version);
        writer.write(&line.seq);
        writer.write(&line.standing);
        writer.write(&line.passed_over);
        // Who does not ask takes a new ticket when it does.
        if let Standing::Asking { .. } = line.standing {
            writer.write(&line.ticket);
        }
    }
    scratch.writer.write(&record.gone(name));
}

/// A process and its link. Of a dead one only its disk and its last words matter, and the disk only
/// until the next boot there.
pub(super) fn process_part(world: &World, who: Who, scratch: &mut Scratch) -> Part {
    let process = world.process(who);
    let host = &process.host;
    let scope = scratch.scope(host.id());
    let writer = &mut scratch.writer;
    writer.clear();
    writer.process = who.0.into();
    writer.host = scope;
    writer.read_by(host.id(), host.candidate().seq());
    writer.write(&(host.id().incarnation, host.version(), process.life));
    let mut memories = Vec::new();
    if process.lives() || world.newest(&process.name) == Some(who) {
        let place = scratch.place(&process.name);
        write_process(&mut scratch.writer, &mut memories, place, process);
    }
    write_link(world.link(who), scratch);
    part(&scratch.writer, memories)
}

fn write_link(link: &Link, scratch: &mut Scratch) {
    let Link { statements, views, newest, statements_stalled, views_stalled, cut } = link;
    let own = scratch.writer.host;
    scratch.writer.write(&statements.len());
    for statement in statements {
        scratch.writer.host = scratch.scope(&statement.host);
        scratch.writer.write(&**statement);
    }
    let writer = &mut scratch.writer;
    writer.host = own;
    writer.write(&(statements_stalled, views_stalled, cut));
    for view in views.iter().chain(newest) {
        writer.write(&**view);
    }
}

/// Its memory, if it lives, and its disk. What lies about of a build under a grant counts as long
/// as the grant does.
fn write_process(writer: &mut Writer, memories: &mut Vec<Memory>, place: usize, process: &Process) {
    // Without `..`: a field that is new has to find its place here.
    let Process {
        name: _,
        host,
        life: _,
        ledger,
        orders,
        builds,
        workspaces,
        artifacts,
        ended,
        said,
        muted,
        put_off,
        owes_drain,
        shown,
        stale,
        slow,
    } = process;
    if process.lives() {
        writer.write(host);
        writer.write(orders);
        writer.write(builds);
        writer.write(&(said, muted));
        writer.write(put_off);
        writer.write(owes_drain);
        writer.write(&(stale, slow));
        let shown = shown.as_deref().filter(|view| view.host == *host.id());
        let known = shown == host.candidate().view();
        writer.write(&(!known).then_some(shown));
    }
    let known = process.lives() && say_the_same(ledger, host.executor().ledger());
    writer.write(&(!known).then_some(ledger));
    let left = workspaces.iter().map(|work| ("workspace", work));
    let left = left.chain(artifacts.iter().map(|work| ("artifacts", work)));
    let how = |clean: bool| if clean { "clean" } else { "failed" };
    for (what, work) in left.chain(ended.iter().map(|(work, clean)| (how(*clean), work))) {
        match work {
            Work::Local(build) => writer.write(&(what, build)),
            Work::Granted(grant) => {
                let hash = hash_of(&(what, host.id().incarnation));
                memories.push(Memory { grant: *grant, place: Some(place), hash });
            }
        }
    }
}

/// Apart from the place that the next build will have: it is above all others.
fn say_the_same(one: &Ledger, other: &Ledger) -> bool {
    let Ledger { format, entries, drain, next_place: _, next_drain } = one;
    *format == other.format
        && *entries == other.entries
        && *drain == other.drain
        && *next_drain == other.next_drain
}

pub(super) fn part(writer: &Writer, memories: Vec<Memory>) -> Part {
    Part { hash: xxh3_128(&writer.bytes), numbers: writer.numbers.clone(), memories }
}

/// Of something that names no place.
fn hash_of(value: &impl serde::Serialize) -> u64 {
    let mut writer = Writer::new(Reductions::NONE, Vec::new());
    writer.write(value);
    xxh3_64(&writer.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variants::by_name;
    use crate::world::{ArbiterIndex, Event};

    const A: Who = Who(0);
    const B: Who = Who(1);

    fn key(bounds: &Bounds, events: &[Event]) -> u64 {
        let mut world = World::new(bounds.setup());
        for event in events {
            world.apply(event, &mut Vec::new()).expect("the test knows what can happen");
        }
        let mut scratch = Scratch::new(bounds);
        let parts = parts(&world, None, &mut scratch);
        fingerprint(&parts, bounds.budget(), &mut scratch)
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
        let mut encoded = parts(&world, None, &mut scratch);
        for event in asked(A, B).into_iter().chain([Event::Publish(ArbiterIndex(0))]) {
            let before = world.clone();
            world.apply(&event, &mut Vec::new()).expect("it can happen");
            encoded = parts(&world, Some((&before, &encoded)), &mut scratch);
            let anew = parts(&world, None, &mut Scratch::new(&bounds));
            let budget = bounds.budget();
            let print = fingerprint(&encoded, budget, &mut scratch);
            assert_eq!(print, fingerprint(&anew, budget, &mut scratch), "{event:?}");
        }
    }
}
