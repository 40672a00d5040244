//! The key of a state: equal for states between which no actor can ever tell a difference.

use std::sync::Arc;

use handover_core::{GrantId, HostId, Standing, Work};
use xxhash_rust::xxh3::xxh3_128;

use super::Reductions;
use super::bounds::{Budget, place_index};
use super::canon::{Kind, Number, Writer};
use crate::world::{Process, Who, World};

/// A part of a state, encoded once for all states that share it.
#[derive(Debug)]
pub(super) struct Part {
    /// Of all but the numbers.
    hash: u128,
    numbers: Vec<Number>,
    /// What is remembered of grants; it counts only while the grant can still be named.
    memories: Vec<(GrantId, u64)>,
}

/// The parts of a state: what really happened and the record, then each process with its link.
pub(super) type Parts = Vec<Arc<Part>>;

/// Encodes a state. What it shares with `before` is not encoded again.
pub(super) fn parts(
    world: &World,
    before: Option<(&World, &Parts)>,
    reductions: Reductions,
) -> Parts {
    let same_cast =
        before.filter(|(before, _)| before.processes().count() == world.processes().count());
    let mut parts = Vec::with_capacity(world.processes().count() + 1);
    let shared = |index: usize, same: &dyn Fn(&World) -> bool| {
        same_cast.filter(|(before, _)| same(before)).map(|(_, parts)| Arc::clone(&parts[index]))
    };
    let record = shared(0, &|before| world.shares_record(before));
    parts.push(record.unwrap_or_else(|| Arc::new(record_part(world, reductions))));
    for (who, _) in world.processes() {
        let index = usize::from(who.0) + 1;
        let part = shared(index, &|before| world.shares_process(before, who));
        parts.push(part.unwrap_or_else(|| Arc::new(process_part(world, who, reductions))));
    }
    parts
}

/// The fingerprint of a state with so many faults left.
pub(super) fn fingerprint(parts: &Parts, budget: &Budget, gaps: bool) -> u128 {
    let mut numbers: Vec<Number> =
        parts.iter().flat_map(|part| part.numbers.iter().copied()).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let ranks = ranks(&numbers, gaps);
    let rank = |number: &Number| {
        let at = numbers.binary_search(number).ok()?;
        Some(ranks[at])
    };
    let mut bytes = Vec::with_capacity(256);
    bytes.extend(budget.bytes());
    let mut memories = Vec::new();
    for part in parts {
        bytes.extend(part.hash.to_le_bytes());
        bytes.extend(part.numbers.iter().filter_map(rank));
        for (grant, hash) in &part.memories {
            if let Some(rank) = rank(&Number::new(Kind::Grant, 0, grant.0)) {
                memories.push((rank, *hash));
            }
        }
    }
    memories.sort_unstable();
    for (rank, hash) in memories {
        bytes.push(rank);
        bytes.extend(hash.to_le_bytes());
    }
    xxh3_128(&bytes)
}

/// The rank of each number among those of its kind and scope. With `gaps`, for a wrong protocol
/// that may look at numbers: neighbours stay neighbours, and the first numbers are told from later
/// ones.
fn ranks(numbers: &[Number], gaps: bool) -> Vec<u8> {
    let mut ranks = Vec::with_capacity(numbers.len());
    let mut last: Option<Number> = None;
    let mut rank = 0_u8;
    for number in numbers {
        let before = last.filter(|last| last.group() == number.group());
        let gap = number.value() - before.map_or(0, Number::value);
        rank = match before {
            None if gaps => u8::try_from(gap.min(2)).expect("at most 2"),
            None => 0,
            Some(_) if gaps => rank + u8::try_from(gap.min(2)).expect("at most 2"),
            Some(_) => rank + 1,
        };
        ranks.push(rank);
        last = Some(*number);
    }
    ranks
}

fn host_scope(world: &World, host: &HostId) -> u16 {
    let place = place_index(world.setup(), &host.name);
    let scope = place * 64 + usize::try_from(host.incarnation.0).expect("few lives");
    u16::try_from(scope).expect("few hosts and few lives")
}

/// The committed record, what membership says, and what really happened. The one arbiter's record
/// is the committed one, and its revision is only compared with those of views, which are in order.
fn record_part(world: &World, reductions: Reductions) -> Part {
    let mut writer = Writer::new(reductions);
    let record = world.committed();
    for (host, line) in record.lines() {
        writer.host = host_scope(world, host);
        writer.write(host);
        writer.write(&line.version);
        writer.write(&line.seq);
        writer.write(&line.standing);
        writer.write(&line.passed_over);
        // Who does not ask takes a new ticket when it does.
        if let Standing::Asking { .. } = line.standing {
            writer.write(&line.ticket);
        }
    }
    writer.write(&record.hold());
    for verdict in record.verdicts() {
        writer.write(&verdict);
    }
    for place in &world.setup().places {
        writer.write(&record.gone(&place.name));
    }
    for (_, arbiter) in world.arbiters() {
        writer.write(&arbiter.unpublished);
    }
    writer.write(world.oracle());
    if !reductions.ranks {
        writer.write(&(record.revision(), record.next_grant(), record.next_ticket()));
    }
    let mut memories = Vec::new();
    for grant in &world.history().revoked {
        memories.push((*grant, 1));
    }
    for (grant, end) in &world.history().ended {
        memories.push((*grant, hash_of(end)));
    }
    part(writer, memories)
}

/// A process and its link. Of a dead one only its disk and its last words matter, and the disk only
/// until the next boot there.
fn process_part(world: &World, who: Who, reductions: Reductions) -> Part {
    let process = world.process(who);
    let host = &process.host;
    let mut writer = Writer::new(reductions);
    writer.process = u16::from(who.0);
    writer.host = host_scope(world, host.id());
    writer.read_by(host.id(), host.candidate().seq());
    writer.write(host.id());
    writer.write(host.version());
    writer.write(&process.life);
    let mut memories = Vec::new();
    if process.lives() {
        write_living(&mut writer, process);
    }
    if process.lives() || world.newest(&process.name) == Some(who) {
        writer.write(&process.ledger);
        remember(&mut writer, &mut memories, process);
    }
    let link = world.link(who);
    writer.write(&link.statements.len());
    for statement in &link.statements {
        writer.host = host_scope(world, &statement.host);
        writer.write(&**statement);
    }
    writer.host = host_scope(world, host.id());
    for view in &link.views {
        writer.write(&**view);
    }
    part(writer, memories)
}

fn write_living(writer: &mut Writer, process: &Process) {
    writer.write(&process.host);
    writer.write(&process.orders);
    writer.write(&process.builds);
    writer.write(&(process.said, process.muted));
    writer.write(&process.put_off);
    writer.write(&process.owes_drain);
    writer.write(&(process.stale, process.slow));
    let shown = process.shown.as_deref();
    writer.write(&shown.filter(|view| view.host == *process.host.id()));
}

/// What lies about of builds: of local ones by name, of granted ones as long as the grant counts.
fn remember(writer: &mut Writer, memories: &mut Vec<(GrantId, u64)>, process: &Process) {
    for (tag, works) in [(2, &process.workspaces), (3, &process.artifacts)] {
        for work in works {
            match work {
                Work::Local(build) => writer.write(&(tag, build)),
                Work::Granted(grant) => {
                    memories.push((*grant, hash_of(&(tag, process.host.id()))));
                }
            }
        }
    }
}

fn part(writer: Writer, memories: Vec<(GrantId, u64)>) -> Part {
    Part { hash: xxh3_128(&writer.bytes), numbers: writer.numbers, memories }
}

fn hash_of(value: &impl serde::Serialize) -> u64 {
    let mut writer = Writer::new(Reductions::NONE);
    writer.write(value);
    xxhash_rust::xxh3::xxh3_64(&writer.bytes)
}
