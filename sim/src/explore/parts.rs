//! The parts of a state, with small numbers.

use std::marker::PhantomData;
use std::sync::Arc;

use handover_core::{GrantId, HostId, Record, Revision, Seq, Ticket, Work};
use serde::Serialize;

use super::canon::{Kind, Number};
use super::key::{Part, Role, Scratch, place_of, place_part, process_part, rank_all, whole_part};
use super::renumber::renumbered;
use crate::world::{Common, History, Link, Member, Process, World};

/// A set of grants, by their numbers.
pub(super) type Grants = u64;

/// The grants of a state are below it; the next one of a step has it.
const NEXT_GRANT: u64 = 32;
const GRANT_MAX: u64 = 63;
const NEXT_TICKET: Ticket = Ticket(1_000);
/// Above all that were read.
const REVISION: Revision = Revision(1_000);

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
    pub(super) named: Grants,
    pub(super) remembered: Grants,
}

/// The common part, and that of the one place of a world.
pub(super) struct Draft {
    pub(super) common: PartOf<Common>,
    pub(super) place: Option<PartOf<Vec<Member>>>,
}

/// Small numbers for those that are in use.
struct Ranks {
    numbers: Vec<Number>,
    values: Vec<u64>,
}

impl Ranks {
    /// Of a world with one place, `place`, all of whose numbers are ranked, but grants. Where it is
    /// not given, the words of hosts keep their numbers.
    fn of<'a>(parts: impl Iterator<Item = &'a (Role, Part)>, place: Option<usize>) -> Self {
        let mut numbers: Vec<Number> =
            parts.flat_map(|(_, part)| part.numbers.iter().copied()).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let mut ranks = Vec::with_capacity(numbers.len());
        rank_all(&numbers, &mut ranks, false);
        let value = |(number, rank): (&Number, &u8)| {
            let words_of_another = number.is(Kind::Seq) && Some(place_of(number.scope())) != place;
            let stays = number.is(Kind::Grant) || words_of_another;
            if stays { number.value() } else { u64::from(*rank) }
        };
        let values = numbers.iter().zip(&ranks).map(value).collect();
        Self { numbers, values }
    }

    fn of_known(&self, number: Number) -> u64 {
        let at = self.numbers.binary_search(&number);
        self.values[at.expect("all numbers of the parts have a rank")]
    }

    /// One that no part mentions has the place of the highest one below it.
    fn of_any(&self, kind: Kind, scope: u32, value: u64) -> u64 {
        let number = Number::new(kind, scope, value);
        let below = self.numbers.partition_point(|other| *other <= number);
        let below = below.checked_sub(1).filter(|at| self.numbers[*at].group() == number.group());
        below.map_or(0, |at| self.values[at])
    }
}

/// What of a world is of no single process.
pub(super) fn common_parts(world: &World, scratch: &mut Scratch) -> Vec<(Role, Part)> {
    let mut parts = vec![(Role::Whole, whole_part(world, scratch))];
    for place in 0..scratch.seats[0].len() {
        parts.push((Role::Spot { place }, place_part(world, place, scratch)));
    }
    parts
}

/// The parts of a world, to be kept where they are not known. `of_common` are its common parts.
pub(super) fn draft(
    world: &World,
    place: Option<usize>,
    of_common: &[(Role, Part)],
    scratch: &mut Scratch,
    (knows_common, knows_place): (&dyn Fn(u128) -> bool, &dyn Fn(u128) -> bool),
) -> Draft {
    let mut of_place = Vec::with_capacity(world.processes().count());
    for (life, (who, process)) in world.processes().enumerate() {
        let place = scratch.place(&process.name);
        of_place.push((Role::Process { place, life }, process_part(world, who, scratch)));
    }
    let ranks = Ranks::of(of_common.iter().chain(&of_place), place);
    let common = part_of(of_common, &ranks, scratch, knows_common, |scratch| {
        small_common(world, place, &ranks, scratch)
    });
    let place = (!of_place.is_empty()).then(|| {
        part_of(&of_place, &ranks, scratch, knows_place, |scratch| {
            let members = world.members().enumerate();
            members.map(|(at, member)| small_member(&member, at, &ranks, scratch)).collect()
        })
    });
    Draft { common, place }
}

fn part_of<T: Serialize>(
    parts: &[(Role, Part)],
    ranks: &Ranks,
    scratch: &Scratch,
    knows: &dyn Fn(u128) -> bool,
    make: impl FnOnce(&Scratch) -> T,
) -> PartOf<T> {
    let mut bytes = Vec::with_capacity(128);
    let small = |number: Number| {
        // A grant that is only remembered has no rank.
        let value = if number.is(Kind::Grant) { number.value() } else { ranks.of_known(number) };
        Some(u8::try_from(value).expect("numbers stay small"))
    };
    let mut print = |seats| {
        let prints = parts.iter().map(|(role, part)| part.print(*role, seats, small, &mut bytes));
        prints.fold(0, u128::wrapping_add)
    };
    let key = print(&scratch.seats[0]);
    if knows(key) {
        return PartOf { key, content: None, of: PhantomData };
    }
    let prints = scratch.seats.iter().map(print).collect();
    let (mut named, mut remembered) = (0, 0);
    for (_, part) in parts {
        let grants = part.numbers.iter().filter(|number| number.is(Kind::Grant));
        named |= grants.fold(0, |all, number| all | bit(number.value()));
        remembered |= part.memories.iter().fold(0, |all, memory| all | bit(memory.grant.0));
    }
    let part = postcard::to_allocvec(&make(scratch)).expect("whatever is known can be encoded");
    let content = Content { bytes: part.into(), prints, named, remembered };
    PartOf { key, content: Some(content), of: PhantomData }
}

fn bit(grant: u64) -> Grants {
    let shift = u32::try_from(grant).expect("few grants are named at a time");
    1_u64.checked_shl(shift).expect("few grants are named at a time")
}

/// The words of the hosts of `place` are ranked, and the tickets.
fn small_common(world: &World, place: Option<usize>, ranks: &Ranks, scratch: &Scratch) -> Common {
    let common = world.common();
    let mut parts = common.record.to_parts();
    let mut tickets: Vec<Ticket> = parts.lines.values().map(|line| line.ticket).collect();
    tickets.sort_unstable();
    for (host, line) in &mut parts.lines {
        if Some(scratch.place(&host.name)) == place {
            line.seq = Seq(ranks.of_any(Kind::Seq, scratch.scope(host), line.seq.0));
        }
        let rank = tickets.binary_search(&line.ticket).expect("it is among them");
        line.ticket = Ticket(rank as u64 + 1);
    }
    parts.next_ticket = NEXT_TICKET;
    if parts.revision > Revision(0) {
        parts.revision = REVISION;
    }
    let next = if parts.next_grant.0 > NEXT_GRANT { GRANT_MAX } else { NEXT_GRANT };
    parts.next_grant = GrantId(next);
    let record = Record::from_parts(parts).expect("other numbers in the same order make a record");
    Common { record: Arc::new(record), ..common }
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
    let process: Process = renumbered(&**process, &own);
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

/// The same world where only these grants can be named; they are numbered from 1.
pub(super) fn with_grants(world: &World, grants: Grants) -> World {
    let small = |grant: u64| u64::from((grants & (bit(grant) | (bit(grant) - 1))).count_ones());
    let number = |kind: Kind, value: u64| match kind {
        Kind::Grant => small(value),
        Kind::Seq | Kind::Revision | Kind::Ticket | Kind::Place | Kind::Name => value,
    };
    let named = |grant: &GrantId| grants & bit(grant.0) != 0;
    let known = |work: &Work| match work {
        Work::Granted(grant) => named(grant),
        Work::Local(_) => true,
    };
    let common = world.common();
    let mut parts = renumbered(&common.record.to_parts(), &number);
    parts.next_grant = GrantId(NEXT_GRANT);
    let record = Record::from_parts(parts).expect("other numbers in the same order make a record");
    let mut history = History::clone(&common.history);
    let renamed = |grant: GrantId| GrantId(small(grant.0));
    history.revoked = history.revoked.into_iter().filter(named).map(renamed).collect();
    let ended = history.ended.into_iter().filter(|(grant, _)| named(grant));
    history.ended = ended.map(|(grant, end)| (renamed(grant), end)).collect();
    let common = Common { record: Arc::new(record), history: Arc::new(history), ..common };
    let members = world.members().map(|(process, link)| {
        let mut process = Process::clone(&process);
        Arc::make_mut(&mut process.workspaces).retain(known);
        Arc::make_mut(&mut process.artifacts).retain(known);
        Arc::make_mut(&mut process.ended).retain(|work, _| known(work));
        (Arc::new(renumbered(&process, &number)), Arc::new(renumbered(&*link, &number)))
    });
    World::assemble(&world.shared_ground(), &common, members)
}
