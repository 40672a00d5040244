//! What can happen by itself, in the order in which it is to happen.

use crate::first::First;
use crate::world::{CalmChange, Event, Who};

/// The events that happen by themselves, each with a key; the lowest is next, at one key by the
/// order of events. A change costs O(log n) in the number of processes.
#[derive(Clone, Debug, Default)]
pub(super) struct Happening {
    /// By whose they are, in order: a process can do a few things at a time.
    lists: Vec<Vec<(u64, Event)>>,
    /// By the first of each list: its key, and its turn among those with the same.
    first: First<(u64, u32)>,
    /// Room for a list that is made anew.
    before: Vec<(u64, Event)>,
}

impl Happening {
    /// Takes it that these are the events of a process, or of the arbiters, from here on: `key` is
    /// told the place of the event among them, and the key that it has had, if it was possible
    /// before.
    pub(super) fn replace(
        &mut self,
        whose: Option<Who>,
        possible: &[Event],
        mut key: impl FnMut(usize, &Event, Option<u64>) -> u64,
    ) {
        let list = self.list(whose);
        let mut before = std::mem::take(&mut self.before);
        std::mem::swap(&mut before, &mut self.lists[list]);
        for (place, event) in possible.iter().enumerate() {
            let had = before.iter().find(|(_, known)| known == event).map(|(key, _)| *key);
            self.insert(list, |event| key(place, event, had), event);
        }
        before.clear();
        self.before = before;
        self.follow(list);
    }

    /// Drops what has become impossible, and gives what has become possible a key.
    pub(super) fn change(&mut self, change: &CalmChange, mut key: impl FnMut(&Event) -> u64) {
        for event in &change.gone {
            let list = self.list(event.who());
            self.lists[list].retain(|(_, known)| known != event);
            self.follow(list);
        }
        for event in &change.came {
            let list = self.list(event.who());
            self.insert(list, &mut key, event);
            self.follow(list);
        }
    }

    /// What is next, with its key.
    pub(super) fn first(&self) -> Option<(u64, &Event)> {
        let (key, event) = self.lists[self.first.place()?].first()?;
        Some((*key, event))
    }

    /// Takes what is next.
    pub(super) fn take_first(&mut self) -> Option<Event> {
        let list = self.first.place()?;
        let (_, event) = self.lists[list].remove(0);
        self.follow(list);
        Some(event)
    }

    /// Gives each its key anew.
    pub(super) fn rekey(&mut self, mut key: impl FnMut(&Event) -> u64) {
        for list in 0..self.lists.len() {
            self.lists[list].iter_mut().for_each(|(had, event)| *had = key(event));
            self.lists[list].sort();
            self.follow(list);
        }
    }

    /// Gives what is next another key.
    pub(super) fn put_off(&mut self, key: u64) {
        if let Some(list) = self.first.place() {
            self.lists[list][0].0 = key;
            self.lists[list].sort();
            self.follow(list);
        }
    }

    /// The number of the list of a process, or of the arbiters.
    fn list(&mut self, whose: Option<Who>) -> usize {
        let list = whose.map_or(0, |who| usize::from(who.0) + 1);
        if list >= self.lists.len() {
            self.lists.resize_with(list + 1, Vec::new);
        }
        list
    }

    /// An event that is there already keeps its place.
    fn insert(&mut self, list: usize, key: impl FnOnce(&Event) -> u64, event: &Event) {
        let list = &mut self.lists[list];
        if list.iter().all(|(_, known)| known != event) {
            let key = key(event);
            let at = list.partition_point(|(before, other)| (*before, other) <= (key, event));
            list.insert(at, (key, event.clone()));
        }
    }

    fn follow(&mut self, list: usize) {
        let first = self.lists[list].first().map(|(key, event)| (*key, turn(event)));
        self.first.set(list, first);
    }
}

/// The turn of an event among those of other processes: theirs is the order of events.
fn turn(event: &Event) -> u32 {
    let kind = if let Event::Deliver { .. } = event {
        0
    } else if let Event::Publish(_) = event {
        1
    } else if let Event::Read(_) = event {
        2
    } else if let Event::Repeat(_) = event {
        3
    } else if let Event::Plan { .. } = event {
        4
    } else if let Event::Step { .. } = event {
        5
    } else if let Event::SignOff { .. } = event {
        6
    } else if let Event::BuildEnds { .. } = event {
        7
    } else if let Event::BuildStops { .. } = event {
        8
    } else if let Event::Gone(_) = event {
        9
    } else if let Event::Lapse(_) = event {
        10
    } else {
        unreachable!("{event:?} does not happen by itself")
    };
    kind << 16 | event.who().map_or(0, |who| u32::from(who.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{ArbiterIndex, Direction, Step, StepKind, Wire};
    use handover_core::{GrantId, Work};

    fn read(who: u16) -> Event {
        Event::Read(Who(who))
    }

    fn come(happening: &mut Happening, came: &[Event], key: u64) {
        happening.change(&CalmChange { came: came.to_vec(), ..CalmChange::default() }, |_| key);
    }

    fn go(happening: &mut Happening, gone: &[Event]) {
        let change = CalmChange { gone: gone.to_vec(), ..CalmChange::default() };
        happening.change(&change, |_| unreachable!("nothing came"));
    }

    fn order(happening: &mut Happening) -> Vec<Event> {
        std::iter::from_fn(|| happening.take_first()).collect()
    }

    #[test]
    fn an_event_keeps_its_key_while_it_stays_possible() {
        let mut happening = Happening::default();
        come(&mut happening, &[read(1)], 10);
        come(&mut happening, &[read(0), read(1)], 20);
        assert_eq!(happening.first(), Some((10, &read(1))));
        assert_eq!(happening.take_first(), Some(read(1)));
        assert_eq!(happening.first(), Some((20, &read(0))));
    }

    #[test]
    fn an_event_that_is_impossible_in_between_begins_anew() {
        let mut happening = Happening::default();
        come(&mut happening, &[read(1)], 10);
        go(&mut happening, &[read(1)]);
        assert_eq!(happening.first(), None);
        come(&mut happening, &[read(1)], 20);
        assert_eq!(happening.first(), Some((20, &read(1))));
    }

    #[test]
    fn an_event_that_was_taken_begins_anew() {
        let mut happening = Happening::default();
        come(&mut happening, &[read(1)], 10);
        happening.take_first();
        come(&mut happening, &[read(1)], 20);
        assert_eq!(happening.first(), Some((20, &read(1))));
    }

    #[test]
    fn what_has_one_key_goes_by_the_order_of_events() {
        let (who, work) = (Who(3), Work::Granted(GrantId(1)));
        let mut events = vec![
            Event::Lapse(GrantId(1)),
            Event::Gone(Who(9)),
            Event::BuildStops { who: Who(1), work: work.clone() },
            Event::BuildEnds { who: Who(2), work: work.clone(), failed: None },
            Event::SignOff { who, chunk: "a".into(), failed: false },
            Event::Step { who: Who(7), step: Step { kind: StepKind::Wake, work: None } },
            Event::Step { who, step: Step { kind: StepKind::Stop, work: Some(work) } },
            Event::Step { who, step: Step { kind: StepKind::Wake, work: None } },
            Event::Plan { who, chunks: None },
            Event::Repeat(Wire { who, direction: Direction::FromRecord }),
            Event::Repeat(Wire { who, direction: Direction::ToRecord }),
            read(5),
            read(4),
            Event::Publish(ArbiterIndex(1)),
            Event::Publish(ArbiterIndex(0)),
            Event::Deliver { from: who, to: ArbiterIndex(0) },
        ];
        let mut happening = Happening::default();
        come(&mut happening, &events, 10);
        events.sort();
        assert_eq!(order(&mut happening), events);
    }

    #[test]
    fn an_event_that_is_possible_twice_happens_once() {
        let mut happening = Happening::default();
        happening.replace(Some(Who(1)), &[read(1), read(1)], |_, _, _| 10);
        assert_eq!(order(&mut happening), [read(1)]);
        come(&mut happening, &[read(1), read(1)], 10);
        assert_eq!(order(&mut happening), [read(1)]);
    }

    #[test]
    fn a_change_leaves_alone_what_it_does_not_name() {
        let mut happening = Happening::default();
        come(&mut happening, &[read(0), read(1), read(2)], 10);
        go(&mut happening, &[read(1)]);
        come(&mut happening, &[read(2), read(3)], 5);
        assert_eq!(order(&mut happening), [3, 0, 2].map(read));
    }

    #[test]
    fn what_is_put_off_comes_after_what_has_a_lower_key() {
        let mut happening = Happening::default();
        come(&mut happening, &[read(0), read(1)], 10);
        happening.put_off(11);
        assert_eq!(order(&mut happening), [read(1), read(0)]);
    }

    #[test]
    fn a_list_that_is_replaced_leaves_the_others_alone_and_tells_the_keys_that_were() {
        let (who, step) = (Who(1), |kind| Step { kind, work: None });
        let steps =
            [StepKind::Wake, StepKind::Stop].map(|kind| Event::Step { who, step: step(kind) });
        let mut happening = Happening::default();
        come(&mut happening, &[read(0)], 10);
        happening.replace(Some(who), &steps, |place, _, _| 5 + place as u64);
        happening.replace(Some(who), &steps[1..], |_, _, had| 10 * had.unwrap_or_default());
        assert_eq!(order(&mut happening), [read(0), steps[1].clone()]);
    }

    #[test]
    fn a_new_key_takes_the_place_of_the_old_one() {
        let mut happening = Happening::default();
        come(&mut happening, &[read(0), read(1)], 10);
        happening.rekey(|event| if *event == read(1) { 5 } else { 20 });
        assert_eq!(order(&mut happening), [read(1), read(0)]);
    }
}
