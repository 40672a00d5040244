//! What can happen by itself, in the order in which it is to happen.

use std::collections::{BTreeMap, BTreeSet};

use crate::world::{CalmChange, Event};

/// The events that happen by themselves, each with a key; the lowest is next, at one key by the
/// order of events.
#[derive(Clone, Debug, Default)]
pub(super) struct Happening {
    order: BTreeSet<(u64, Event)>,
    keys: BTreeMap<Event, u64>,
}

impl Happening {
    /// Drops the events that are not possible any more, and gives each of the others its key: `key`
    /// is told the place of the event among all, and the key that it has had, if it was possible
    /// before.
    pub(super) fn refresh(
        &mut self,
        possible: Vec<Event>,
        mut key: impl FnMut(usize, &Event, Option<u64>) -> u64,
    ) {
        let mut before = std::mem::take(&mut self.keys);
        for (place, event) in possible.into_iter().enumerate() {
            if self.keys.contains_key(&event) {
                continue;
            }
            let had = before.remove(&event);
            let key = key(place, &event, had);
            if had != Some(key) {
                if let Some(had) = had {
                    self.order.remove(&(had, event.clone()));
                }
                self.order.insert((key, event.clone()));
            }
            self.keys.insert(event, key);
        }
        for (event, key) in before {
            self.order.remove(&(key, event));
        }
    }

    /// Drops what has become impossible, and gives what has become possible a key.
    pub(super) fn change(&mut self, change: CalmChange, mut key: impl FnMut(&Event) -> u64) {
        for event in change.gone {
            if let Some(key) = self.keys.remove(&event) {
                self.order.remove(&(key, event));
            }
        }
        for event in change.came {
            if self.keys.contains_key(&event) {
                continue;
            }
            let key = key(&event);
            self.order.insert((key, event.clone()));
            self.keys.insert(event, key);
        }
    }

    /// What is next, with its key.
    pub(super) fn first(&self) -> Option<(u64, &Event)> {
        self.order.first().map(|(key, event)| (*key, event))
    }

    /// Takes what is next.
    pub(super) fn take_first(&mut self) -> Option<Event> {
        let (_, event) = self.order.pop_first()?;
        self.keys.remove(&event);
        Some(event)
    }

    /// Gives each its key anew.
    pub(super) fn rekey(&mut self, mut key: impl FnMut(&Event) -> u64) {
        for (event, had) in &mut self.keys {
            let key = key(event);
            if *had != key {
                self.order.remove(&(*had, event.clone()));
                self.order.insert((key, event.clone()));
                *had = key;
            }
        }
    }

    /// Gives what is next another key.
    pub(super) fn put_off(&mut self, key: u64) {
        if let Some((_, event)) = self.order.pop_first() {
            self.keys.insert(event.clone(), key);
            self.order.insert((key, event));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::Who;

    fn read(who: u16) -> Event {
        Event::Read(Who(who))
    }

    /// Gives what becomes possible this key.
    fn new(key: u64) -> impl FnMut(usize, &Event, Option<u64>) -> u64 {
        move |_, _, had| had.unwrap_or(key)
    }

    #[test]
    fn an_event_keeps_its_key_while_it_stays_possible() {
        let mut happening = Happening::default();
        happening.refresh(vec![read(1)], new(10));
        happening.refresh(vec![read(0), read(1)], new(20));
        assert_eq!(happening.first(), Some((10, &read(1))));
        assert_eq!(happening.take_first(), Some(read(1)));
        assert_eq!(happening.first(), Some((20, &read(0))));
    }

    #[test]
    fn an_event_that_is_impossible_in_between_begins_anew() {
        let mut happening = Happening::default();
        happening.refresh(vec![read(1)], new(10));
        happening.refresh(vec![], new(15));
        happening.refresh(vec![read(1)], new(20));
        assert_eq!(happening.first(), Some((20, &read(1))));
        happening.take_first();
        assert_eq!(happening.first(), None);
    }

    #[test]
    fn an_event_that_was_taken_begins_anew() {
        let mut happening = Happening::default();
        happening.refresh(vec![read(1)], new(10));
        happening.take_first();
        happening.refresh(vec![read(1)], new(20));
        assert_eq!(happening.first(), Some((20, &read(1))));
    }

    #[test]
    fn what_has_one_key_goes_by_the_order_of_events() {
        let mut happening = Happening::default();
        happening.refresh(vec![read(2), read(0), read(1)], new(10));
        let order: Vec<_> = std::iter::from_fn(|| happening.take_first()).collect();
        assert_eq!(order, [0, 1, 2].map(read));
    }

    #[test]
    fn an_event_that_is_possible_twice_happens_once() {
        let mut happening = Happening::default();
        happening.refresh(vec![read(1), read(1)], new(10));
        assert_eq!(happening.take_first(), Some(read(1)));
        assert_eq!(happening.take_first(), None);
    }

    #[test]
    fn a_change_leaves_alone_what_it_does_not_name() {
        let mut happening = Happening::default();
        happening.refresh(vec![read(0), read(1), read(2)], new(10));
        let change = CalmChange { gone: vec![read(1)], came: vec![read(2), read(3)] };
        happening.change(change, |_| 5);
        let order: Vec<_> = std::iter::from_fn(|| happening.take_first()).collect();
        assert_eq!(order, [3, 0, 2].map(read));
    }

    #[test]
    fn what_is_put_off_comes_after_what_has_a_lower_key() {
        let mut happening = Happening::default();
        happening.refresh(vec![read(0), read(1)], new(10));
        happening.put_off(11);
        let order: Vec<_> = std::iter::from_fn(|| happening.take_first()).collect();
        assert_eq!(order, [read(1), read(0)]);
    }

    #[test]
    fn a_new_key_takes_the_place_of_the_old_one() {
        let mut happening = Happening::default();
        happening.refresh(vec![read(0), read(1)], |place, _, _| place as u64);
        happening.refresh(vec![read(1), read(0)], |place, _, _| place as u64);
        let order: Vec<_> = std::iter::from_fn(|| happening.take_first()).collect();
        assert_eq!(order, [read(1), read(0)]);
    }
}
