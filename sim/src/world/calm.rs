//! The calm events, kept from one step to the next.
//!
//! To ask each process after each step what it can do costs as much as there are processes. What a
//! process can do depends on it and its link, and in two cases on the record: whether its word has
//! to be said again, and whether its end is yet to be declared. So only the processes that a step
//! has touched are asked, and of the rest those that wait for the record, where that has changed.

use super::enabled::Rank;
use super::touched::Crowd;
use super::{Event, Who, World};
use crate::first::First;

/// The calm events of a world that goes on step by step, each with a key for whoever picks by keys.
#[derive(Clone, Debug, Default)]
pub struct CalmEvents {
    /// At place 0 what the arbiters can do, then what each process can; each in the calm order.
    lists: Vec<Vec<Calm>>,
    /// By the first of each list. None as long as nobody has asked for the first of all.
    first: Option<First>,
    /// Of whom the record decides what they can do.
    waiting: Crowd,
    /// The list of which an event was taken since the last update.
    taken: Option<usize>,
    /// What the last update has brought, by its list and its place there: it can happen and could
    /// not, or has just happened and can happen again. In the calm order.
    came: Vec<(usize, usize)>,
    /// The lists that the last update has changed.
    changed: Vec<usize>,
    asked: Crowd,
    now: Vec<Event>,
    /// Room for a list that is made anew.
    before: Vec<Calm>,
}

/// A calm event.
#[derive(Clone, Debug)]
pub(crate) struct Calm {
    pub(crate) event: Event,
    /// What it was given since it came; 0 until then.
    pub(crate) key: u64,
}

impl CalmEvents {
    /// The calm events of a world; all of them came.
    #[must_use]
    pub fn of(world: &World) -> Self {
        let mut events = Self::default();
        world.processes().for_each(|(who, _)| events.asked.insert(who));
        events.ask(world, true);
        events
    }

    /// Forgets an event that is about to happen: if it can happen again behind it, it has come
    /// anew.
    pub fn take(&mut self, event: &Event) {
        let list = event.who().map_or(0, list_of);
        let mut known = self.lists.get(list).into_iter().flatten();
        if let Some(place) = known.position(|known| known.event == *event) {
            self.take_at(list, place);
        }
    }

    /// The same, by where it is.
    pub(crate) fn take_at(&mut self, list: usize, place: usize) {
        let known = &mut self.lists[list];
        let taken = known.remove(place);
        known.retain(|known| known.event != taken.event);
        self.taken = Some(list);
        self.rank(list);
    }

    /// Takes in what has happened since `before`, which the world has not been
    /// [followed](World::follow) from since.
    pub fn update(&mut self, world: &World, before: &World) {
        let recorded = !world.shares_store(before);
        self.asked.clear();
        world.add_touched(&mut self.asked);
        if let Some(who) = self.taken.and_then(|list| list.checked_sub(1)) {
            self.asked.insert(Who::from(who));
        }
        if recorded {
            self.asked.join(&self.waiting);
        }
        if world.history().reused {
            // Two processes of one identity share what the record says of it.
            for who in self.asked.clone().iter() {
                let lives = world.lives_of(&world.process(who).name);
                lives.for_each(|(who, _)| self.asked.insert(who));
            }
        }
        self.ask(world, recorded || self.taken == Some(0));
        self.taken = None;
        debug_assert!(self.is_of(world), "{:?} are not {:?}", self.lists, world.calm_events());
    }

    /// All of them: what the arbiters can do, then what each process can, in the calm order.
    pub fn iter(&self) -> impl Iterator<Item = &Event> {
        self.lists.iter().flatten().map(|calm| &calm.event)
    }

    /// The first of them in the calm order. Once it was asked for, it is kept: O(log n) a step.
    #[must_use]
    pub fn first(&mut self) -> Option<&Event> {
        if self.first.is_none() {
            self.first = Some(First::default());
            (0..self.lists.len()).for_each(|list| self.rank(list));
        }
        let list = self.first.as_ref()?.place()?;
        self.lists[list].first().map(|calm| &calm.event)
    }

    /// All lists: what the arbiters can do, then what each process can.
    pub(crate) fn lists(&self) -> &[Vec<Calm>] {
        &self.lists
    }

    /// A list that the last update has changed; each is told once.
    pub(crate) fn next_changed(&mut self) -> Option<usize> {
        self.changed.pop()
    }

    /// Gives each event of a list a key: `key` is told its place there, and the key that it has.
    pub(crate) fn rekey(&mut self, list: usize, mut key: impl FnMut(usize, &Calm) -> u64) {
        for (place, calm) in self.lists[list].iter_mut().enumerate() {
            calm.key = key(place, calm);
        }
    }

    /// Gives what has come a key, once. What can happen in two ways is one event, with one key.
    pub(crate) fn key_what_came(&mut self, mut key: impl FnMut(&Event) -> u64) {
        for (list, place) in self.came.drain(..) {
            let (before, [calm, ..]) = self.lists[list].split_at_mut(place) else {
                unreachable!("what came is in its list")
            };
            let twin = before.iter().find(|known| known.event == calm.event);
            calm.key = twin.map_or_else(|| key(&calm.event), |twin| twin.key);
        }
    }

    fn ask(&mut self, world: &World, publications: bool) {
        self.came.clear();
        self.changed.clear();
        self.lists.resize_with(world.processes().len() + 1, Vec::new);
        let asked = std::mem::take(&mut self.asked);
        for who in asked.iter() {
            self.ask_one(world, who);
        }
        self.asked = asked;
        if publications {
            self.now.extend(world.publications());
            self.take_over(0);
        }
        if self.came.len() > 1 {
            let lists = &self.lists;
            self.came.sort_by_key(|(list, place)| Rank::of(&lists[*list][*place].event));
        }
    }

    fn ask_one(&mut self, world: &World, who: Who) {
        if world.push_all_calm(who, &mut self.now) {
            self.waiting.insert(who);
        } else {
            self.waiting.remove(who);
        }
        self.take_over(list_of(who));
    }

    /// Takes it that what is in `now` can happen.
    fn take_over(&mut self, number: usize) {
        let list = &mut self.lists[number];
        if list.iter().map(|calm| &calm.event).eq(&self.now) && self.taken != Some(number) {
            self.now.clear();
            return;
        }
        std::mem::swap(list, &mut self.before);
        for (place, event) in self.now.drain(..).enumerate() {
            let known = self.before.iter().find(|known| known.event == event);
            if known.is_none() {
                self.came.push((number, place));
            }
            list.push(Calm { event, key: known.map_or(0, |known| known.key) });
        }
        self.before.clear();
        self.changed.push(number);
        self.rank(number);
    }

    fn rank(&mut self, list: usize) {
        if let Some(ranked) = &mut self.first {
            let first = self.lists[list].first();
            ranked.set(list, first.map(|calm| (Rank::of(&calm.event) as u64, 0)));
        }
    }

    /// Takes it that somebody can do this; none: the arbiters.
    #[cfg(test)]
    pub(crate) fn possible(&mut self, whose: Option<Who>, events: &[Event]) {
        let list = whose.map_or(0, list_of);
        if self.lists.len() <= list {
            self.lists.resize_with(list + 1, Vec::new);
        }
        self.now.extend_from_slice(events);
        self.take_over(list);
        self.taken = None;
    }

    fn is_of(&self, world: &World) -> bool {
        let mut events: Vec<&Event> = self.iter().collect();
        events.sort_by_key(|event| Rank::of(event));
        events.into_iter().eq(&world.calm_events())
    }
}

fn list_of(who: Who) -> usize {
    usize::from(who.0) + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choose::{FaultKind, WalkSettings, walk};
    use crate::variants::{self, Protocol};

    /// Goes through the schedules of walks; `seen` is told the world before and after each step,
    /// and the events that are kept.
    fn go(protocol: &'static dyn Protocol, mut seen: impl FnMut(&World, &World, &mut CalmEvents)) {
        let mut settings = WalkSettings::rolling_update();
        settings.faults.insert(FaultKind::Reuse, 3);
        for seed in 0..8 {
            let report = walk(seed, &settings, protocol);
            let mut world = World::new(report.setup);
            let mut before = world.clone();
            let mut calm = CalmEvents::of(&world);
            for event in &report.schedule {
                calm.take(event);
                world.apply(event, &mut Vec::new()).expect("the walk has applied it");
                calm.update(&world, &before);
                seen(&before, &world, &mut calm);
                before.follow(&mut world);
                assert_eq!(before, world, "who follows is where the other is");
            }
        }
    }

    #[test]
    fn what_is_kept_is_what_each_process_would_say() {
        for protocol in ["current", "silent-stand-down", "view-goes-back", "no-grants"] {
            let protocol = variants::by_name(protocol).expect("there is such a protocol");
            go(protocol, |_, world, calm| {
                assert!(calm.is_of(world));
                assert_eq!(calm.first().cloned(), world.next_calm());
            });
        }
    }

    /// How many processes the steps of a walk have asked what they can do, for each thousand of
    /// steps and of views that were published.
    fn asked(hosts: u16) -> usize {
        let settings = WalkSettings { hosts, steps_max: 3_000, ..WalkSettings::rolling_update() };
        let current = variants::by_name("current").expect("there is the right one");
        let (mut asked, mut told) = (0, 0);
        for seed in 0..2 {
            let report = walk(seed, &settings, current);
            let mut world = World::new(report.setup);
            let mut before = world.clone();
            let mut calm = CalmEvents::of(&world);
            for event in &report.schedule[..report.faults_end] {
                calm.take(event);
                world.apply(event, &mut Vec::new()).expect("the walk has applied it");
                let mut touched = Crowd::default();
                world.add_touched(&mut touched);
                told += touched.iter().count().max(1);
                calm.update(&world, &before);
                asked += calm.asked.iter().count();
                before.follow(&mut world);
            }
        }
        asked * 1_000 / told
    }

    #[test]
    fn a_step_asks_as_many_processes_of_a_large_world_as_of_a_small_one() {
        let (small, large) = (asked(8), asked(96));
        assert!(large < small * 3 / 2, "{small} of 8 hosts, {large} of 96, a thousand steps");
    }

    #[test]
    fn what_a_step_has_touched_is_all_that_differs() {
        let current = variants::by_name("current").expect("there is the right one");
        go(current, |before, world, _| {
            let mut touched = Crowd::default();
            world.add_touched(&mut touched);
            for (who, process) in before.processes().filter(|(who, _)| !touched.contains(*who)) {
                assert_eq!((process, before.link(who)), (world.process(who), world.link(who)));
            }
        });
    }
}
