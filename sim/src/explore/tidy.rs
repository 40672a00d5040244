//! What can never matter again is taken off the links.

use std::collections::VecDeque;
use std::sync::Arc;

use handover_core::{Input, Refusal, Statement, View};

use super::Bounds;
use super::says::Says;
use crate::variants::is_current;
use crate::world::{Who, World};

/// Takes off the links what the other side would refuse whatever happens, what says the same as the
/// message before it, and what is later than the bound allows. Nothing is known as the newest
/// publication afterwards: it is on the link, has been read, or says no more than what was. `before` is
/// tidy.
pub(super) fn tidy(world: &mut World, before: &World, bounds: &Bounds) {
    let (known, count) = (before.processes().count(), world.processes().count());
    let same_record = world.shares_record(before);
    for index in 0..count {
        let who = Who::from(index);
        if same_record && index < known && world.shares_process(before, who) {
            continue;
        }
        let link = world.link(who);
        if link.statements.is_empty() && link.views.is_empty() && link.newest.is_none() {
            continue;
        }
        let statements = statements(world, who, bounds);
        let views = views(world, who, bounds);
        let committed = world.committed().revision();
        let link = world.link(who);
        // A wrong protocol tells of what is not committed; then that is not told again.
        let newest = link.newest.clone().filter(|view| view.revision > committed);
        if newest != link.newest || statements != link.statements || views != link.views {
            let link = world.link_mut(who);
            link.statements = statements;
            link.views = views;
            link.newest = newest;
        }
    }
}

/// The statements that the record would take: of a host that is not gone, newer than its line.
fn statements(world: &World, who: Who, bounds: &Bounds) -> VecDeque<Arc<Statement>> {
    if !bounds.reductions.superseded {
        let mut all: Vec<_> = world.link(who).statements.iter().cloned().collect();
        all.sort_by_key(|statement| (statement.host.incarnation, statement.seq));
        all.dedup();
        return newest(all.into(), bounds.late);
    }
    let taken = |statement: &&Arc<Statement>| is_taken(world, statement);
    let mut taken: VecDeque<_> = world.link(who).statements.iter().filter(taken).cloned().collect();
    if !is_current(world.protocol()) {
        // One has overtaken others that stay.
        let order = |statement: &Arc<Statement>| (statement.host.incarnation, statement.seq);
        taken.make_contiguous().sort_by_key(order);
    }
    newest(taken, bounds.late)
}

/// Would the record take it? What a wrong protocol takes, only that protocol knows.
fn is_taken(world: &World, statement: &Statement) -> bool {
    let (record, protocol) = (world.committed(), world.protocol());
    if is_current(protocol) {
        let line = record.line(&statement.host);
        let is_new = line.is_none_or(|line| line.seq < statement.seq);
        return is_new && !record.is_gone(&statement.host);
    }
    let statement = protocol.take(record, statement.clone());
    match protocol.fold(record, &Input::Statement(statement), &world.oracle().suspects) {
        Err(Refusal::Outdated { .. } | Refusal::Gone) => false,
        Ok(_) | Err(_) => true,
    }
}

/// Would the host take it, after the one that it holds?
fn is_read(world: &World, who: Who, view: &Arc<View>, last: Option<&View>) -> bool {
    let process = world.process(who);
    let Some(held) = process.host.candidate().view() else {
        return true;
    };
    let heard = world.protocol().hear_shared(view, process);
    heard.revision > held.revision && last.is_none_or(|last| view.revision > last.revision)
}

/// The views that the host would take: its own, newer than the one it holds.
fn views(world: &World, who: Who, bounds: &Bounds) -> VecDeque<Arc<View>> {
    let process = world.process(who);
    let mut kept: VecDeque<Arc<View>> = VecDeque::new();
    if !process.lives() {
        return kept;
    }
    if !bounds.reductions.superseded {
        let link = world.link(who);
        let mut all: Vec<_> = link.views.iter().chain(&link.newest).cloned().collect();
        all.sort_by_key(|view| (view.host.incarnation, view.revision));
        all.dedup();
        return newest(all.into(), bounds.late);
    }
    let held = process.host.candidate().view();
    let spent = bounds.leaves_out_spent();
    let says_the_same = |view: &View, last: Option<&View>| {
        let says = |view| Says::of(view, process, spent);
        bounds.reductions.equal_views
            && match last {
                Some(last) => says(view) == says(last),
                None => spent && says(view).nothing(),
            }
    };
    let link = world.link(who);
    let mut views: Vec<_> = link.views.iter().chain(&link.newest).collect();
    if !is_current(world.protocol()) {
        views.sort_by_key(|view| (view.host.incarnation, view.revision));
    }
    for view in views {
        let sent = kept.back().map(|view| &**view);
        let newer = is_read(world, who, view, sent);
        if view.host == *process.host.id() && newer && !says_the_same(view, sent.or(held)) {
            kept.push_back(Arc::clone(view));
        }
    }
    let mut kept = newest(kept, bounds.late);
    // What made the first one differ may have been dropped just now.
    if kept.front().is_some_and(|first| says_the_same(first, held)) {
        kept.pop_front();
    }
    kept
}

/// The last one, and so many that it supersedes.
fn newest<T>(mut messages: VecDeque<T>, late: usize) -> VecDeque<T> {
    messages.drain(..messages.len().saturating_sub(late + 1));
    messages
}
