//! What can happen by itself, in the order in which it is to happen.

use crate::first::First;
use crate::world::{Calm, CalmEvents, Event, World};

/// The events that happen by themselves, by their keys; the lowest is next, at one key by the order
/// of events. A change costs O(log n) in the number of processes.
#[derive(Clone, Debug)]
pub(super) struct Happening {
    calm: CalmEvents,
    /// By the first of each list: its key, and its turn among those with the same.
    first: First,
    /// What is about to happen, by its list and its place there.
    taken: Option<(usize, usize)>,
}

impl Happening {
    pub(super) fn new(calm: CalmEvents) -> Self {
        Self { calm, first: First::default(), taken: None }
    }

    /// The same, in the calm order.
    pub(super) fn calm(&mut self) -> &mut CalmEvents {
        &mut self.calm
    }

    /// Takes in what has happened since `before`, as [`CalmEvents::update`].
    pub(super) fn update(&mut self, world: &World, before: &World) {
        if let Some((list, place)) = self.taken.take() {
            self.calm.take_at(list, place);
        }
        self.calm.update(world, before);
    }

    /// Gives what has become possible a key.
    pub(super) fn key_what_came(&mut self, key: impl FnMut(&Event) -> u64) {
        self.calm.key_what_came(key);
        while let Some(list) = self.calm.next_changed() {
            self.follow(list);
        }
    }

    /// Gives each event of a list that has changed a key: `key` is told its place there, and the
    /// key that it has had, 0 if it was impossible before.
    pub(super) fn key_what_changed(&mut self, key: impl Fn(usize, &Event, u64) -> u64) {
        while let Some(list) = self.calm.next_changed() {
            self.calm.rekey(list, |place, calm| key(place, &calm.event, calm.key));
            self.follow(list);
        }
    }

    /// The key of what is next.
    pub(super) fn first_key(&self) -> Option<u64> {
        self.first.key()
    }

    /// What is next, with its key.
    pub(super) fn first(&self) -> Option<(u64, &Event)> {
        let (_, calm) = self.first_of(self.first.place()?)?;
        Some((calm.key, &calm.event))
    }

    /// Takes what is next: with the next update it has happened.
    pub(super) fn take_first(&mut self) -> Option<Event> {
        let list = self.first.place()?;
        let (place, calm) = self.first_of(list)?;
        let event = calm.event.clone();
        self.taken = Some((list, place));
        Some(event)
    }

    /// Gives each its key anew.
    pub(super) fn rekey(&mut self, mut key: impl FnMut(&Event) -> u64) {
        for list in 0..self.calm.lists().len() {
            self.calm.rekey(list, |_, calm| key(&calm.event));
            self.follow(list);
        }
    }

    /// Gives what is next another key.
    pub(super) fn put_off(&mut self, key: u64) {
        let first = self.first.place().zip(self.first().map(|(_, event)| event.clone()));
        if let Some((list, first)) = first {
            self.calm.rekey(list, |_, calm| if calm.event == first { key } else { calm.key });
            self.follow(list);
        }
    }

    /// The first of a list, with its place there. A process can do a few things at a time.
    fn first_of(&self, list: usize) -> Option<(usize, &Calm)> {
        let calm = self.calm.lists()[list].iter().enumerate();
        calm.min_by_key(|&(_, calm)| (calm.key, &calm.event))
    }

    fn follow(&mut self, list: usize) {
        let first = self.first_of(list).map(|(_, calm)| (calm.key, turn(&calm.event)));
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
impl Happening {
    /// Of whom these are, that is all that they can do; what of it came has this key.
    pub(super) fn possible(&mut self, events: &[Event], key: impl FnMut(&Event) -> u64) {
        for events in events.chunk_by(|one, other| one.who() == other.who()) {
            self.calm.possible(events[0].who(), events);
        }
        self.key_what_came(key);
    }

    /// Takes what is next, and nobody can do it again.
    pub(super) fn go(&mut self) -> Option<Event> {
        let event = self.take_first()?;
        let (list, place) = self.taken.take()?;
        self.calm.take_at(list, place);
        self.follow(list);
        Some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{ArbiterIndex, Direction, Step, StepKind, Who, Wire};
    use handover_core::{GrantId, Work};

    fn read(who: u16) -> Event {
        Event::Read(Who(who))
    }

    fn step(who: u16, kind: StepKind) -> Event {
        Event::Step { who: Who(who), step: Step { kind, work: None } }
    }

    fn happening() -> Happening {
        Happening::new(CalmEvents::default())
    }

    fn order(happening: &mut Happening) -> Vec<Event> {
        std::iter::from_fn(|| happening.go()).collect()
    }

    #[test]
    fn an_event_keeps_its_key_while_it_stays_possible() {
        let mut happening = happening();
        happening.possible(&[read(1)], |_| 10);
        happening.possible(&[read(0), step(1, StepKind::Wake), read(1)], |_| 20);
        assert_eq!(happening.first(), Some((10, &read(1))));
        assert_eq!(happening.go(), Some(read(1)));
        assert_eq!(happening.first(), Some((20, &read(0))));
    }

    #[test]
    fn an_event_that_is_impossible_in_between_begins_anew() {
        let mut happening = happening();
        happening.possible(&[read(1)], |_| 10);
        happening.calm.possible(Some(Who(1)), &[]);
        happening.key_what_came(|_| unreachable!("nothing came"));
        assert_eq!(happening.first(), None);
        happening.possible(&[read(1)], |_| 20);
        assert_eq!(happening.first(), Some((20, &read(1))));
    }

    #[test]
    fn an_event_that_was_taken_begins_anew() {
        let mut happening = happening();
        happening.possible(&[read(1)], |_| 10);
        happening.go();
        happening.possible(&[read(1)], |_| 20);
        assert_eq!(happening.first(), Some((20, &read(1))));
    }

    #[test]
    fn what_has_one_key_goes_by_the_order_of_events() {
        let (who, work) = (Who(3), Work::Granted(GrantId(1)));
        let mut events = vec![
            Event::Lapse(GrantId(1)),
            Event::Publish(ArbiterIndex(1)),
            Event::Publish(ArbiterIndex(0)),
            Event::Gone(Who(9)),
            Event::BuildStops { who: Who(1), work: work.clone() },
            Event::BuildEnds { who: Who(2), work: work.clone(), failed: None },
            Event::SignOff { who, chunk: "a".into(), failed: false },
            Event::Step { who, step: Step { kind: StepKind::Stop, work: Some(work) } },
            step(3, StepKind::Wake),
            Event::Plan { who, chunks: None },
            Event::Repeat(Wire { who, direction: Direction::FromRecord }),
            Event::Repeat(Wire { who, direction: Direction::ToRecord }),
            Event::Deliver { from: who, to: ArbiterIndex(0) },
            step(7, StepKind::Wake),
            read(5),
            read(4),
        ];
        let mut happening = happening();
        happening.possible(&events, |_| 10);
        events.sort();
        assert_eq!(order(&mut happening), events);
    }

    #[test]
    fn an_event_that_is_possible_twice_happens_once() {
        let mut happening = happening();
        let (mut keys, again) = (0_u64.., [read(1), read(1)]);
        happening.possible(&again, |_| keys.next().expect("no end"));
        assert_eq!(keys.next(), Some(1), "it has one key");
        happening.put_off(10);
        assert_eq!(happening.first(), Some((10, &read(1))));
        assert_eq!(order(&mut happening), [read(1)]);
        happening.calm.possible(Some(Who(1)), &again);
        happening.key_what_changed(|place, _, _| place as u64);
        assert_eq!(order(&mut happening), [read(1)]);
    }

    #[test]
    fn a_change_leaves_alone_what_it_does_not_name() {
        let mut happening = happening();
        happening.possible(&[read(0), read(1), read(2)], |_| 10);
        happening.calm.possible(Some(Who(1)), &[]);
        happening.possible(&[read(2), read(3)], |_| 5);
        assert_eq!(order(&mut happening), [3, 0, 2].map(read));
    }

    #[test]
    fn what_is_put_off_comes_after_what_has_a_lower_key() {
        let mut happening = happening();
        happening.possible(&[read(0), read(1)], |_| 10);
        happening.put_off(11);
        assert_eq!(order(&mut happening), [read(1), read(0)]);
    }

    #[test]
    fn a_list_that_has_changed_is_told_the_keys_that_were_and_leaves_the_others_alone() {
        let steps = [StepKind::Wake, StepKind::Stop].map(|kind| step(1, kind));
        let mut happening = happening();
        happening.possible(&[read(0)], |_| 10);
        happening.calm.possible(Some(Who(1)), &steps);
        happening.key_what_changed(|place, _, had| 5 + had + place as u64);
        assert_eq!(happening.first(), Some((5, &steps[0])));
        happening.calm.possible(Some(Who(1)), &steps[1..]);
        happening.key_what_changed(|_, _, had| 10 * had);
        assert_eq!(order(&mut happening), [read(0), steps[1].clone()]);
    }

    #[test]
    fn a_new_key_takes_the_place_of_the_old_one() {
        let mut happening = happening();
        happening.possible(&[read(0), read(1)], |_| 10);
        happening.rekey(|event| if *event == read(1) { 5 } else { 20 });
        assert_eq!(order(&mut happening), [read(1), read(0)]);
    }
}
