//! What of a state goes into which part.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use handover_core::{GrantId, Hold, Ledger, Name, Record, Standing, Statement, View, Work};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::Reductions;
use super::canon::Writer;
use super::key::{Memory, Part, Scratch};
use super::says::Says;
use crate::world::{Link, Process, Who, World};

/// The hold, the verdicts, and what really happened. The one arbiter's record is the committed one,
/// and its revision is only compared with those of views, which are in order.
pub(super) fn whole_part(world: &World, scratch: &mut Scratch) -> Part {
    let record = world.committed();
    scratch.writer.clear();
    write_decisions(record, scratch);
    let writer = &mut scratch.writer;
    for (_, arbiter) in world.arbiters() {
        writer.write(&arbiter.unpublished);
    }
    if !scratch.reductions.ranks {
        writer.write(&(record.revision(), record.next_grant(), record.next_ticket()));
    }
    let history = world.history();
    writer.write(&history.reused);
    let revoked = |grant: &GrantId| Memory { grant: *grant, place: None, hash: 1 };
    let mut memories: Vec<Memory> = history.revoked.iter().map(revoked).collect();
    for (grant, end) in &history.ended {
        let place = Some(scratch.place(&end.host.name));
        let life = end.host.incarnation;
        let hash = if scratch.reductions.spent {
            hash_of(&(life, end.clean, end.is_complete()))
        } else {
            hash_of(&(life, end.clean, &end.plan, &end.signed_off))
        };
        memories.push(Memory { grant: *grant, place, hash });
    }
    part(&scratch.writer, memories)
}

pub(super) fn write_decisions(record: &Record, scratch: &mut Scratch) {
    let writer = &mut scratch.writer;
    if !scratch.reductions.spent {
        writer.write(&record.hold());
        record.verdicts().for_each(|verdict| writer.write(&verdict));
        return;
    }
    // The report that ends a build names all that it has signed off.
    writer.write(&record.hold().map(|hold| {
        let Hold { host, version, grant, stage, signed_off: _, cancelling } = hold;
        (host, version, grant, stage, cancelling)
    }));
    for (version, verdict) in record.verdicts() {
        writer.write(&(version, &verdict.ruling));
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
        writer.write(&*heard(&line.standing, scratch.reductions.spent));
        writer.write(&line.passed_over);
        // Who does not ask takes a new ticket when it does.
        if let Standing::Asking { .. } = line.standing {
            writer.write(&line.ticket);
        }
    }
    scratch.writer.write(&record.gone(name));
}

/// What counts of a word that the record has heard: whether its host asks, or works, and under which
/// grant.
pub(super) fn heard(standing: &Standing, spent: bool) -> Cow<'_, Standing> {
    match standing {
        Standing::Accepted { grant, .. } | Standing::Building { grant, .. } if spent => {
            Cow::Owned(Standing::Accepted { grant: *grant, plan: BTreeSet::new() })
        }
        Standing::Finished { .. } if spent => Cow::Owned(Standing::StoodDown),
        Standing::Asking { .. }
        | Standing::Accepted { .. }
        | Standing::Building { .. }
        | Standing::Finished { .. }
        | Standing::StoodDown => Cow::Borrowed(standing),
    }
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
    writer.write(&(host.id().incarnation, host.version(), process.life));
    let mut memories = Vec::new();
    if process.lives() || world.newest(&process.name) == Some(who) {
        write_process(scratch, &mut memories, process);
    }
    write_link(world.link(who), process, scratch);
    part(&scratch.writer, memories)
}

fn write_link(link: &Link, process: &Process, scratch: &mut Scratch) {
    let Link { statements, views, newest, statements_stalled, views_stalled, cut } = link;
    let own = scratch.writer.host;
    scratch.writer.write(&statements.len());
    for statement in statements {
        scratch.writer.host = scratch.scope(&statement.host);
        write_statement(statement, scratch);
    }
    scratch.writer.host = own;
    scratch.writer.write(&(statements_stalled, views_stalled, cut));
    for view in views.iter().chain(newest) {
        write_view(view, process, scratch);
    }
}

/// Only the report that ends a build is asked what was signed off.
fn write_statement(statement: &Statement, scratch: &mut Scratch) {
    let writer = &mut scratch.writer;
    match &statement.standing {
        Standing::Building { grant, .. } if scratch.reductions.spent => {
            let standing = Standing::Building { grant: *grant, signed_off: BTreeMap::new() };
            writer.write(&Statement { standing, ..statement.clone() });
        }
        Standing::Asking { .. }
        | Standing::Accepted { .. }
        | Standing::Building { .. }
        | Standing::Finished { .. }
        | Standing::StoodDown => writer.write(statement),
    }
}

/// A view, as its host acts on it.
fn write_view(view: &View, process: &Process, scratch: &mut Scratch) {
    let Reductions { projection, spent, .. } = scratch.reductions;
    if projection {
        scratch.writer.write(&(view.revision, Says::of(view, process, spent)));
    } else {
        scratch.writer.write(view);
    }
}

/// The view that a host holds, or none; one that says nothing is as good as none.
fn write_held(view: Option<&View>, process: &Process, scratch: &mut Scratch) {
    let Reductions { projection, spent, .. } = scratch.reductions;
    let says_nothing = |view| projection && spent && Says::of(view, process, spent).nothing();
    let view = view.filter(|view| !says_nothing(view));
    scratch.writer.write(&view.is_some());
    if let Some(view) = view {
        write_view(view, process, scratch);
    }
}

/// Its memory, if it lives, and its disk. What lies about of a build under a grant counts as long
/// as the grant does.
fn write_process(scratch: &mut Scratch, memories: &mut Vec<Memory>, process: &Process) {
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
    let place = scratch.place(&process.name);
    if process.lives() {
        write_held(host.candidate().view(), process, scratch);
        let shown = shown.as_deref().filter(|view| view.host == *host.id());
        let is_held = shown == host.candidate().view();
        scratch.writer.write(&is_held);
        if !is_held {
            write_held(shown, process, scratch);
        }
        let writer = &mut scratch.writer;
        writer.write(host);
        writer.write(orders);
        writer.write(builds);
        writer.write(&(said, muted));
        writer.write(put_off);
        writer.write(owes_drain);
        writer.write(&(stale, slow));
    }
    let writer = &mut scratch.writer;
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
    Part::new(xxh3_128(&writer.bytes), writer.numbers.clone(), memories)
}

/// Of something that names no place.
fn hash_of(value: &impl serde::Serialize) -> u64 {
    let mut writer = Writer::new(Reductions::NONE, Vec::new());
    writer.write(value);
    xxh3_64(&writer.bytes)
}
