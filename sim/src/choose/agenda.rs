//! What is wanted and what goes wrong, and when.

use std::collections::BTreeSet;

use super::FaultKind;
use super::workload::Wish;
use crate::world::Event;

/// Something that does not happen by itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Item {
    /// What a host or an operator wants.
    Wish(Wish),
    /// Something goes wrong, wherever it can.
    Fault {
        /// What.
        kind: FaultKind,
        /// The how many-th of its kind.
        number: u32,
        /// How often it found nothing that it could hit.
        tries: u32,
    },
    /// A fault ends.
    Ends(Event),
}

/// What is due, earliest first; at one time by the order of the items.
#[derive(Clone, Debug, Default)]
pub(super) struct Agenda {
    items: BTreeSet<(u64, Item)>,
}

impl Agenda {
    /// Enters an item.
    pub(super) fn enter(&mut self, due: u64, item: Item) {
        self.items.insert((due, item));
    }

    /// When something is due first.
    pub(super) fn first_due(&self) -> Option<u64> {
        self.items.first().map(|(due, _)| *due)
    }

    /// Takes what is due first.
    pub(super) fn take_first(&mut self) -> Option<(u64, Item)> {
        self.items.pop_first()
    }

    /// Is nothing due?
    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}
