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

/// The calm events of a world that goes on step by step.
#[derive(Clone, Debug, Default)]
pub struct CalmEvents {
    /// By process, in the calm order.
    events: Vec<Vec<Event>>,
    publications: Vec<Event>,
    /// By the first of each list: at place 0 that of the arbiters, then those of the processes.
    /// None as long as nobody has asked for the first of all.
    first: Option<First<(Rank, usize)>>,
    /// Of whom the record decides what they can do.
    waiting: Crowd,
    /// Of whom an event was taken since the last update.
    taken: Option<Who>,
    asked: Vec<Who>,
    now: Vec<Event>,
}

/// What a step has made possible and impossible.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CalmChange {
    /// What cannot happen any more.
    pub gone: Vec<Event>,
    /// What can happen and could not, or has just happened and can happen again; in the calm order.
    pub came: Vec<Event>,
    /// Whose events are others than before; none: those of the arbiters.
    pub whose: Vec<Option<Who>>,
}

impl CalmChange {
    /// Nothing has changed; the room is kept.
    pub fn clear(&mut self) {
        self.gone.clear();
        self.came.clear();
        self.whose.clear();
    }
}

impl CalmEvents {
    /// The calm events of a world, and all of them as what came.
    #[must_use]
    pub fn of(world: &World) -> (Self, CalmChange) {
        let (mut events, mut change) = (Self::default(), CalmChange::default());
        events.asked.extend(world.processes().map(|(who, _)| who));
        events.ask(world, true, &mut change);
        (events, change)
    }

    /// Forgets an event that is about to happen: if it can happen again behind it, it has come
    /// anew.
    pub fn take(&mut self, event: &Event) {
        self.taken = event.who();
        match self.taken.and_then(|who| self.events.get_mut(usize::from(who.0))) {
            Some(events) => events.retain(|known| known != event),
            None => self.publications.retain(|known| known != event),
        }
        self.rank(self.taken);
    }

    /// Takes in what has happened since `before`, which the world has not been
    /// [followed](World::follow) from since; `change` is what has changed by it.
    pub fn update(&mut self, world: &World, before: &World, change: &mut CalmChange) {
        change.clear();
        let recorded = !world.shares_store(before);
        self.asked.clear();
        self.asked.extend(world.touched_actors());
        self.asked.extend(self.taken.take());
        if recorded {
            self.asked.extend(self.waiting.iter());
        }
        if world.history().reused {
            // Two processes of one identity share what the record says of it.
            let name = |who: &Who| &world.process(*who).name;
            let lives = self.asked.iter().flat_map(|who| world.lives_of(name(who)));
            self.asked = lives.map(|(who, _)| who).collect();
        }
        if self.asked.len() > 1 {
            self.asked.sort_unstable();
            self.asked.dedup();
        }
        self.ask(world, recorded, change);
        debug_assert!(self.is_of(world), "{:?} are not {:?}", self.events, world.calm_events());
    }

    /// All of them: of each process in the calm order, then the publications.
    pub fn iter(&self) -> impl Iterator<Item = &Event> {
        self.events.iter().flatten().chain(&self.publications)
    }

    /// The first of them in the calm order. Once it was asked for, it is kept: O(log n) a step.
    #[must_use]
    pub fn first(&mut self) -> Option<&Event> {
        if self.first.is_none() {
            self.first = Some(First::default());
            self.rank(None);
            (0..self.events.len()).for_each(|who| self.rank(Some(Who::from(who))));
        }
        match self.first.as_ref()?.place()?.checked_sub(1) {
            Some(who) => self.events[who].first(),
            None => self.publications.first(),
        }
    }

    /// Those of a process, or of the arbiters, in the calm order.
    #[must_use]
    pub fn of_process(&self, who: Option<Who>) -> &[Event] {
        let events =
            who.map_or(Some(&self.publications), |who| self.events.get(usize::from(who.0)));
        events.map_or(&[], Vec::as_slice)
    }

    fn ask(&mut self, world: &World, recorded: bool, change: &mut CalmChange) {
        self.events.resize_with(world.processes().len(), Vec::new);
        let asked = std::mem::take(&mut self.asked);
        for who in &asked {
            self.ask_one(world, *who, change);
        }
        self.asked = asked;
        if recorded {
            self.now.extend(world.publications());
            self.take_over(None, change);
        }
        if change.came.len() > 1 {
            change.came.sort_by_key(Rank::of);
        }
    }

    fn ask_one(&mut self, world: &World, who: Who, change: &mut CalmChange) {
        if world.push_all_calm(who, &mut self.now) {
            self.waiting.insert(who);
        } else {
            self.waiting.remove(who);
        }
        self.take_over(Some(who), change);
    }

    /// Takes it that what is in `now` can happen.
    fn take_over(&mut self, whose: Option<Who>, change: &mut CalmChange) {
        let known = match whose {
            Some(who) => &mut self.events[usize::from(who.0)],
            None => &mut self.publications,
        };
        if *known == self.now {
            self.now.clear();
            return;
        }
        change.came.extend(self.now.iter().filter(|event| !known.contains(event)).cloned());
        std::mem::swap(known, &mut self.now);
        change.gone.extend(self.now.drain(..).filter(|event| !known.contains(event)));
        change.whose.push(whose);
        self.rank(whose);
    }

    fn rank(&mut self, whose: Option<Who>) {
        let (place, first) = match whose {
            Some(who) => (usize::from(who.0) + 1, self.events[usize::from(who.0)].first()),
            None => (0, self.publications.first()),
        };
        let first = first.map(|event| (Rank::of(event), place));
        if let Some(ranked) = &mut self.first {
            ranked.set(place, first);
        }
    }

    fn is_of(&self, world: &World) -> bool {
        let mut events: Vec<&Event> = self.iter().collect();
        events.sort_by_key(|event| Rank::of(event));
        events.into_iter().eq(&world.calm_events())
    }
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
            let (mut calm, mut change) = CalmEvents::of(&world);
            for event in &report.schedule {
                calm.take(event);
                world.apply(event, &mut Vec::new()).expect("the walk has applied it");
                calm.update(&world, &before, &mut change);
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
            let (mut calm, mut change) = CalmEvents::of(&world);
            for event in &report.schedule[..report.faults_end] {
                calm.take(event);
                world.apply(event, &mut Vec::new()).expect("the walk has applied it");
                told += world.touched_actors().count().max(1);
                calm.update(&world, &before, &mut change);
                asked += calm.asked.len();
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
            let touched: Vec<Who> = world.touched_actors().collect();
            for (who, process) in before.processes().filter(|(who, _)| !touched.contains(who)) {
                assert_eq!((process, before.link(who)), (world.process(who), world.link(who)));
            }
        });
    }
}
