//! What the disks of production had, and the writes of which nobody was told.

use std::collections::BTreeMap;

use handover_core::journal::JournalEntry;
use handover_core::{BuildState, Drain, Ledger, Name};

use super::super::tape::Moment;
use super::deeds::step_of;
use super::plain::plain_reason;
use crate::world::{Event, StepKind, Who, World};

/// The books that the processes of each name find, by the moments of their boots.
pub(super) struct Books(BTreeMap<Name, Vec<(usize, Ledger)>>);

impl Books {
    pub(super) fn of(moments: &[Moment]) -> Self {
        let mut books: BTreeMap<Name, Vec<_>> = BTreeMap::new();
        for (at, moment) in moments.iter().enumerate() {
            let Moment::Line(told) = moment else { continue };
            if let JournalEntry::Boot { ledger, .. } = &told.line.entry {
                let name = told.line.host.name.clone();
                books.entry(name).or_default().push((at, ledger.clone().unwrap_or_default()));
            }
        }
        Self(books)
    }

    /// The last write of a process that dies, where it came to the disk and its answer not to the
    /// process: what boots at this moment, or later, finds it.
    pub(super) fn last_write(
        &self,
        world: &World,
        who: Who,
        name: &Name,
        next: Option<usize>,
    ) -> Option<Event> {
        let mut books =
            self.0.get(name)?.iter().filter(|(at, _)| next.is_none_or(|next| *at >= next));
        let wanted = nameless(&books.next()?.1);
        if nameless(&world.process(who).ledger) == wanted {
            return None;
        }
        let mut steps = world.steps_of(who).into_iter().filter(is_write);
        steps.find(|event| {
            let mut tried = world.clone();
            tried.apply(event, &mut Vec::new()).is_ok()
                && nameless(&tried.process(who).ledger) == wanted
        })
    }
}

fn is_write(event: &Event) -> bool {
    let kind = step_of(event).map(|step| step.kind);
    matches!(kind, Some(StepKind::StoreEntry | StepKind::StoreDrain))
}

/// Is there nothing that a boot goes by?
pub(super) fn is_empty(book: &Ledger) -> bool {
    nameless(book) == Ledger::default()
}

/// A book without what only people read.
pub(super) fn nameless(book: &Ledger) -> Ledger {
    let mut book = book.clone();
    let plain = |drain: &Drain| Drain { reason: "".into(), since: 0, ..drain.clone() };
    book.drain = book.drain.as_ref().map(plain);
    for entry in book.entries.values_mut() {
        if let BuildState::Failed(reason) = &mut entry.state {
            *reason = plain_reason(reason);
        }
        if let Some(request) = &mut entry.drains {
            (request.reason, request.since) = ("".into(), 0);
        }
    }
    book.entries.retain(|work, entry| !(work.is_granted() && entry.state.is_terminal()));
    book
}
