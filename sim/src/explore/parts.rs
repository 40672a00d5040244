//! The parts of a state, with small numbers: what is of no single place, and each place.

use std::collections::{BTreeMap, BTreeSet};
use std::marker::PhantomData;
use std::sync::Arc;

use handover_core::{
    Candidate, Executor, GrantId, Hold, Host, HostId, Incarnation, Line, Name, Priority, Record,
    RecordParts, Revision, Seq, Settings, Standing, Ticket, Work,
};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::bounds::Gaps;
use super::canon::{Kind, Number};
use super::encode::{heard, place_part, process_part, whole_part};
use super::key::{Part, Role, Scratch, rank_all};
use super::renumber::{renumbered, renumbered_without_spent};
use crate::variants::is_current;
use crate::world::{Common, Ground, History, Link, Member, Oracle, Process, Who, World};

/// A set of grants, or of tickets, by their numbers.
pub(super) type Numbers = u64;

/// The numbers of a state are below it; the next one of a step has it.
const NEXT: u64 = 32;
const NEXT_MAX: u64 = 63;
/// The tickets that a step gives begin here, above those of lines that do not ask.
const NEXT_TICKET: u64 = 1_000;
const IDLE_TICKET: u64 = 500;
/// Above all that were read.
const REVISION: Revision = Revision(1_000);

/// What is of no single place: the hold, the verdicts, what really happened.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Core {
    /// Without lines, and without what is said of single names.
    record: RecordParts,
    unpublished: bool,
    history: Arc<History>,
}

/// What the record and membership say of a place.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Spot {
    name: Name,
    lines: BTreeMap<HostId, Line>,
    gone: Option<Incarnation>,
    used: Option<Incarnation>,
    suspects: BTreeSet<HostId>,
}

/// A place: what is said of it, and its processes with their links.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Seat {
    pub(super) spot: Spot,
    pub(super) members: Vec<Member>,
}

impl Core {
    /// The world of these parts, with some processes. A holder that is not among the spots has a
    /// line in its stead: nothing is folded then.
    pub(super) fn world<'a>(
        &self,
        ground: &Arc<Ground>,
        spots: impl IntoIterator<Item = &'a Spot>,
        members: &[Member],
    ) -> World {
        let mut record = self.record.clone();
        let mut oracle = Oracle::default();
        let mut idle = IDLE_TICKET;
        for Spot { name, lines, gone, used, suspects } in spots {
            for (host, line) in lines {
                let mut line = line.clone();
                if !asks(&line) {
                    line.ticket = Ticket(idle);
                    idle += 1;
                }
                record.lines.insert(host.clone(), line);
            }
            record.gone.extend(gone.map(|gone| (name.clone(), gone)));
            oracle.used.extend(used.map(|used| (name.clone(), used)));
            oracle.suspects.extend(suspects.iter().cloned());
        }
        if let Some(Hold { host, version, grant, .. }) = record.hold.clone() {
            let standing = Standing::Accepted { grant, plan: BTreeSet::new() };
            let (seq, ticket, passed_over) = (Seq(1), Ticket(idle), false);
            let line = Line { version, seq, standing, ticket, passed_over };
            record.lines.entry(host).or_insert(line);
        }
        let record = Record::from_parts(record).expect("numbers in order make a record");
        let common = Common {
            record: Arc::new(record),
            unpublished: self.unpublished,
            oracle: Arc::new(oracle),
            history: Arc::clone(&self.history),
        };
        World::assemble(ground, &common, members.iter().cloned())
    }
}

fn asks(line: &Line) -> bool {
    matches!(line.standing, Standing::Asking { .. })
}

/// A part as it is to be kept.
pub(super) struct PartOf<T> {
    pub(super) key: u128,
    /// None where it is known.
    pub(super) content: Option<Content>,
    pub(super) of: PhantomData<T>,
}

pub(super) struct Content {
    /// The part, encoded.
    pub(super) bytes: Box<[u8]>,
    pub(super) prints: Vec<u128>,
    pub(super) numbers: Named,
    /// What an election sees of it.
    pub(super) ballot: u64,
}

/// The numbers that a state shares, of a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Named {
    /// Grants that can be named.
    pub(super) grants: Numbers,
    /// Those that are remembered.
    pub(super) remembered: Numbers,
    /// Tickets of those who ask.
    pub(super) tickets: Numbers,
}

impl Named {
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            grants: self.grants | other.grants,
            remembered: self.remembered | other.remembered,
            tickets: self.tickets | other.tickets,
        }
    }
}

/// Small numbers for those that are in use at a place.
struct Ranks {
    numbers: Vec<Number>,
    ranks: Vec<u8>,
}

impl Ranks {
    fn of(parts: &[(Role, Part)]) -> Self {
        let mut numbers: Vec<Number> =
            parts.iter().flat_map(|(_, part)| part.numbers.iter().copied()).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let mut ranks = Vec::with_capacity(numbers.len());
        rank_all(&numbers, &mut ranks, Gaps::NONE);
        Self { numbers, ranks }
    }

    /// Grants and tickets, which the whole state shares, keep their numbers.
    fn of_known(&self, number: Number) -> u64 {
        if number.is(Kind::Grant) {
            return number.value();
        }
        if number.is(Kind::Ticket) {
            return small_ticket(number.value());
        }
        let at = self.numbers.binary_search(&number);
        self.ranks[at.expect("all numbers of the parts have a rank")].into()
    }

    /// One that no part mentions has the place of the highest one below it. Revisions stay apart:
    /// that of a view that says nothing is mentioned nowhere, and a view that is read is newer.
    fn of_any(&self, kind: Kind, scope: u32, value: u64) -> u64 {
        let number = Number::new(kind, scope, value);
        let below = self.numbers.partition_point(|other| *other <= number);
        let below = below.checked_sub(1).filter(|at| self.numbers[*at].group() == number.group());
        let Some(at) = below else { return 0 };
        let rank = u64::from(self.ranks[at]);
        if kind != Kind::Revision {
            return rank;
        }
        2 * rank + if self.numbers[at] == number { 1 } else { 2 }
    }
}

fn small_ticket(ticket: u64) -> u64 {
    ticket.checked_sub(NEXT_TICKET).map_or(ticket, |given| NEXT + given)
}

/// What is of no single place, to be kept where it is not known.
pub(super) fn core_of(
    world: &World,
    scratch: &mut Scratch,
    knows: impl Fn(u128) -> bool,
) -> PartOf<Core> {
    let parts = [(Role::Whole, whole_part(world, scratch))];
    let ranks = Ranks { numbers: Vec::new(), ranks: Vec::new() };
    // A record without a revision was never published. What follows from the lines of all places
    // does not follow from the core alone.
    let is_new = u128::from(world.committed().revision() == Revision(0));
    let spent = scratch.reductions.spent;
    part_of(&parts, is_new, &ranks, scratch, knows, |_| {
        let Common { record, unpublished, oracle: _, history } = world.common();
        let mut record = record.to_parts();
        record.lines.clear();
        record.gone.clear();
        record.next_ticket = Ticket(NEXT_TICKET);
        if record.revision > Revision(0) {
            record.revision = REVISION;
        }
        if spent {
            forget_spent(&mut record);
        }
        record.next_grant = GrantId(if record.next_grant.0 > NEXT { NEXT_MAX } else { NEXT });
        (Core { record, unpublished, history }, 0)
    })
}

/// What the key leaves out of a record must not come back with a part that is looked up.
fn forget_spent(record: &mut RecordParts) {
    if let Some(hold) = &mut record.hold {
        hold.signed_off.clear();
    }
    for verdict in record.verdicts.values_mut() {
        verdict.grant = GrantId(0);
        verdict.signed_off.clear();
    }
}

/// The place of all processes of a world, to be kept where it is not known.
pub(super) fn seat_of(
    world: &World,
    place: usize,
    scratch: &mut Scratch,
    knows: impl Fn(u128) -> bool,
) -> PartOf<Seat> {
    let mut parts = vec![(Role::Spot { place }, place_part(world, place, scratch))];
    for (life, (who, _)) in world.processes().enumerate() {
        parts.push((Role::Process { place, life }, process_part(world, who, scratch)));
    }
    let ranks = Ranks::of(&parts);
    part_of(&parts, 0, &ranks, scratch, knows, |scratch| {
        let spot = small_spot(world, place, &ranks, scratch);
        let members = world.members().enumerate().map(|(at, (process, link))| {
            let is_over = !process.lives() && world.newest(&process.name) != Some(Who::from(at));
            let process = if is_over { Arc::new(bare(&process)) } else { process };
            small_member(&(process, link), at, &ranks, scratch)
        });
        let ballot = ballot_of(&spot, !is_current(world.protocol()));
        (Seat { spot, members: members.collect() }, ballot)
    })
}

/// What is `apart` are two parts, though they count as one in a state.
fn part_of<T: Serialize>(
    parts: &[(Role, Part)],
    apart: u128,
    ranks: &Ranks,
    scratch: &Scratch,
    knows: impl Fn(u128) -> bool,
    make: impl FnOnce(&Scratch) -> (T, u64),
) -> PartOf<T> {
    let mut bytes = Vec::with_capacity(128);
    let small = |number| u8::try_from(ranks.of_known(number)).expect("numbers stay small");
    let standing = |part: &Part| {
        let mut standing = Vec::with_capacity(part.numbers.len());
        part.stand(|number| Some(small(number)), &mut standing);
        standing
    };
    let parts_standing: Vec<_> =
        parts.iter().map(|(role, part)| (*role, part, standing(part))).collect();
    let mut print = |seats| {
        let parts = parts_standing.iter();
        let prints =
            parts.map(|(role, part, standing)| part.print(*role, seats, standing, &mut bytes));
        prints.fold(0, u128::wrapping_add)
    };
    let key = print(&scratch.seats[0]).wrapping_add(apart);
    if knows(key) {
        return PartOf { key, content: None, of: PhantomData };
    }
    let prints = scratch.seats.iter().map(print).collect();
    let mut numbers = Named::default();
    for (_, part) in parts {
        for number in &part.numbers {
            if number.is(Kind::Grant) {
                numbers.grants |= bit(number.value());
            } else if number.is(Kind::Ticket) {
                numbers.tickets |= bit(small_ticket(number.value()));
            }
        }
        let remembered = part.memories.iter().map(|memory| bit(memory.grant.0));
        numbers.remembered |= remembered.fold(0, |all, grant| all | grant);
    }
    let (part, ballot) = make(scratch);
    let bytes = postcard::to_allocvec(&part).expect("whatever is known can be encoded");
    let content = Content { bytes: bytes.into(), prints, numbers, ballot };
    PartOf { key, content: Some(content), of: PhantomData }
}

fn bit(number: u64) -> Numbers {
    let shift = u32::try_from(number).expect("few numbers are shared at a time");
    1_u64.checked_shl(shift).expect("few numbers are shared at a time")
}

/// Who asks, as an election looks at it; a wrong protocol may look at all lines.
fn ballot_of(spot: &Spot, is_wrong: bool) -> u64 {
    let asking = spot.lines.iter().filter(|(_, line)| asks(line) || is_wrong);
    let asking: Vec<_> = asking
        .map(|(host, line)| {
            let Line { version, seq: _, standing, ticket, passed_over } = line;
            (host, version, standing, ticket, passed_over, spot.suspects.contains(host))
        })
        .collect();
    xxh3_64(&postcard::to_allocvec(&asking).expect("lines can be encoded"))
}

/// The words of its hosts are ranked; the tickets count of those who ask.
fn small_spot(world: &World, place: usize, ranks: &Ranks, scratch: &Scratch) -> Spot {
    let name = scratch.places[place].clone();
    let record = world.committed();
    let of_place = record.lines().filter(|(host, _)| host.name == name);
    let small = |(host, line): (&HostId, &Line)| {
        let seq = Seq(ranks.of_any(Kind::Seq, scratch.scope(host), line.seq.0));
        let ticket = Ticket(if asks(line) { small_ticket(line.ticket.0) } else { 0 });
        let standing = heard(&line.standing, scratch.reductions.spent).into_owned();
        (host.clone(), Line { seq, ticket, standing, ..line.clone() })
    };
    let suspects = world.oracle().suspects.iter().filter(|suspect| suspect.name == name);
    Spot {
        lines: of_place.map(small).collect(),
        gone: record.gone(&name),
        used: world.oracle().used.get(&name).copied(),
        suspects: suspects.cloned().collect(),
        name,
    }
}

fn small_member((process, link): &Member, at: usize, ranks: &Ranks, scratch: &Scratch) -> Member {
    let of_process = u32::try_from(at).expect("few processes");
    let number = |host: &HostId| {
        let of_host = scratch.scope(host);
        move |kind: Kind, value: u64| match kind {
            Kind::Seq => ranks.of_any(kind, of_host, value),
            Kind::Revision | Kind::Place => ranks.of_any(kind, of_process, value),
            Kind::Grant | Kind::Ticket | Kind::Name => value,
        }
    };
    let own = number(process.host.id());
    let process: Process = if scratch.reductions.spent {
        renumbered_without_spent(&**process, &own)
    } else {
        renumbered(&**process, &own)
    };
    let view = |view: &Arc<_>| Arc::new(renumbered(&**view, &own));
    let statements = link.statements.iter().map(|statement| {
        let of_host = number(&statement.host);
        Arc::new(renumbered(&**statement, &of_host))
    });
    let link = Link {
        statements: statements.collect(),
        views: link.views.iter().map(view).collect(),
        newest: link.newest.as_ref().map(view),
        ..Link::clone(link)
    };
    (Arc::new(process), Arc::new(link))
}

/// A process of which nothing but its identity is part of a state: its book names grants that are
/// numbered no more.
fn bare(process: &Process) -> Process {
    let (id, version) = (process.host.id().clone(), process.host.version().clone());
    let executor = Executor::new(Settings::new(1, false), version.clone());
    Process {
        name: process.name.clone(),
        life: process.life,
        ledger: Arc::new(executor.ledger().clone()),
        host: Host::new(Candidate::new(id, version, Priority(0)), executor),
        orders: Vec::new(),
        builds: Arc::default(),
        ended: Arc::default(),
        workspaces: Arc::default(),
        artifacts: Arc::default(),
        said: Seq(0),
        muted: Seq(0),
        put_off: Vec::new(),
        owes_drain: Arc::default(),
        shown: None,
        stale: 0,
        slow: 1,
    }
}

/// The numbers that a state shares, numbered anew from 1.
pub(super) struct Renaming {
    pub(super) grants: Numbers,
    pub(super) tickets: Numbers,
}

impl Renaming {
    fn number(&self, kind: Kind, value: u64) -> u64 {
        let small = |all: Numbers| u64::from((all & (bit(value) | (bit(value) - 1))).count_ones());
        match kind {
            Kind::Grant => small(self.grants),
            Kind::Ticket => small(self.tickets),
            Kind::Seq | Kind::Revision | Kind::Place | Kind::Name => value,
        }
    }

    fn names(&self, grant: GrantId) -> bool {
        self.grants & bit(grant.0) != 0
    }

    pub(super) fn core(&self, core: &Core) -> Core {
        let renamed = |grant: GrantId| GrantId(self.number(Kind::Grant, grant.0));
        let mut record = core.record.clone();
        // They are above all that are in use.
        (record.next_grant, record.next_ticket) = (GrantId(0), Ticket(0));
        let mut record = renumbered(&record, &|kind, value| self.number(kind, value));
        (record.next_grant, record.next_ticket) = (GrantId(NEXT), Ticket(NEXT_TICKET));
        let mut history = History::clone(&core.history);
        history.revoked.retain(|grant| self.names(*grant));
        history.revoked = history.revoked.into_iter().map(renamed).collect();
        history.ended.retain(|grant, _| self.names(*grant));
        history.ended =
            history.ended.into_iter().map(|(grant, end)| (renamed(grant), end)).collect();
        Core { record, history: Arc::new(history), unpublished: core.unpublished }
    }

    pub(super) fn seat(&self, seat: &Seat) -> Seat {
        let number = |kind, value| self.number(kind, value);
        let known = |work: &Work| match work {
            Work::Granted(grant) => self.names(*grant),
            Work::Local(_) => true,
        };
        let members = seat.members.iter().map(|(process, link)| {
            let mut process = Process::clone(process);
            Arc::make_mut(&mut process.workspaces).retain(known);
            Arc::make_mut(&mut process.artifacts).retain(known);
            Arc::make_mut(&mut process.ended).retain(|work, _| known(work));
            (Arc::new(renumbered(&process, &number)), Arc::new(renumbered(&**link, &number)))
        });
        Seat { spot: renumbered(&seat.spot, &number), members: members.collect() }
    }
}
