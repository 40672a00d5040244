//! What is due when, in virtual time.

use std::collections::{BTreeMap, BTreeSet};

use super::FaultKind;
use super::workload::Wish;
use crate::world::{CalmChange, Event};

/// Something that is due.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Item {
    /// An event that happens by itself.
    Happens(Event),
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
    /// Due times are in microseconds.
    items: BTreeSet<(u64, Item)>,
    /// When each event that happens by itself is due: an event keeps the time that it was given
    /// when it became possible, for as long as it stays possible.
    happens: BTreeMap<Event, u64>,
}

impl Agenda {
    /// Enters an item that does not happen by itself.
    pub(super) fn enter(&mut self, due_us: u64, item: Item) {
        self.items.insert((due_us, item));
    }

    /// Takes what is due first.
    pub(super) fn take_first(&mut self) -> Option<(u64, Item)> {
        let (due_us, item) = self.items.pop_first()?;
        if let Item::Happens(event) = &item {
            self.happens.remove(event);
        }
        Some((due_us, item))
    }

    /// Drops the events that are not possible any more, and gives those that have become possible a
    /// time.
    pub(super) fn refresh(&mut self, change: CalmChange, mut due_us: impl FnMut(&Event) -> u64) {
        for event in change.gone {
            if let Some(due_us) = self.happens.remove(&event) {
                self.items.remove(&(due_us, Item::Happens(event)));
            }
        }
        for event in change.came {
            if self.happens.contains_key(&event) {
                continue;
            }
            let due_us = due_us(&event);
            self.items.insert((due_us, Item::Happens(event.clone())));
            self.happens.insert(event, due_us);
        }
    }

    /// Is nothing due but what happens by itself?
    pub(super) fn is_calm(&self) -> bool {
        self.items.len() == self.happens.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::Who;

    fn read(who: u16) -> Event {
        Event::Read(Who(who))
    }

    fn came(who: &[u16]) -> CalmChange {
        CalmChange { gone: Vec::new(), came: who.iter().copied().map(read).collect() }
    }

    #[test]
    fn an_event_keeps_its_time_while_it_stays_possible() {
        let mut agenda = Agenda::default();
        agenda.refresh(came(&[1]), |_| 10);
        agenda.refresh(came(&[0]), |_| 20);
        assert_eq!(agenda.take_first(), Some((10, Item::Happens(read(1)))));
        assert_eq!(agenda.take_first(), Some((20, Item::Happens(read(0)))));
    }

    #[test]
    fn an_event_that_is_impossible_in_between_begins_anew() {
        let mut agenda = Agenda::default();
        agenda.refresh(came(&[1]), |_| 10);
        agenda.refresh(CalmChange { gone: vec![read(1)], came: Vec::new() }, |_| 15);
        agenda.refresh(came(&[1]), |_| 20);
        assert_eq!(agenda.take_first(), Some((20, Item::Happens(read(1)))));
        assert_eq!(agenda.take_first(), None);
    }

    #[test]
    fn an_event_that_was_taken_begins_anew() {
        let mut agenda = Agenda::default();
        agenda.refresh(came(&[1]), |_| 10);
        agenda.take_first();
        agenda.refresh(came(&[1]), |_| 20);
        assert_eq!(agenda.take_first(), Some((20, Item::Happens(read(1)))));
    }

    #[test]
    fn what_is_due_at_one_time_goes_by_the_order_of_events() {
        let mut agenda = Agenda::default();
        agenda.refresh(came(&[2, 0, 1]), |_| 10);
        let order: Vec<_> = std::iter::from_fn(|| agenda.take_first()).collect();
        assert_eq!(order, [0, 1, 2].map(|who| (10, Item::Happens(read(who)))),);
    }

    #[test]
    fn an_event_that_comes_twice_is_due_once() {
        let mut agenda = Agenda::default();
        agenda.refresh(came(&[1, 1]), |_| 10);
        assert_eq!(agenda.take_first(), Some((10, Item::Happens(read(1)))));
        assert_eq!(agenda.take_first(), None);
    }

    #[test]
    fn an_agenda_with_a_fault_on_it_is_not_calm() {
        let mut agenda = Agenda::default();
        agenda.refresh(came(&[1]), |_| 10);
        assert!(agenda.is_calm());
        agenda.enter(5, Item::Ends(Event::Heal));
        assert!(!agenda.is_calm());
        agenda.take_first();
        assert!(agenda.is_calm());
    }
}
