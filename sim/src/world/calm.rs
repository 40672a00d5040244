//! The calm events, kept from one step to the next.
//!
//! To ask each process after each step what it can do costs as much as there are processes. What a
//! process can do depends on it and its link, and in two cases on the record: whether its word has
//! to be said again, and whether its end is yet to be declared. So only the processes that a step
//! has touched are asked, and of the rest those that wait for the record, where that has changed.

use std::collections::BTreeSet;

use super::enabled::Rank;
use super::{Event, Who, World};

/// The calm events of a world that goes on step by step.
#[derive(Clone, Debug, Default)]
pub struct CalmEvents {
    /// By process, in the calm order.
    events: Vec<Vec<Event>>,
    publications: Vec<Event>,
    /// Of whom the record decides what they can do.
    waiting: BTreeSet<Who>,
    /// Of whom an event was taken since the last update.
    taken: Option<Who>,
    now: Vec<Event>,
}

/// What a step has made possible and impossible.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CalmChange {
    /// What cannot happen any more.
    pub gone: Vec<Event>,
    /// What can happen and could not, or has just happened and can happen again; in the calm order.
    pub came: Vec<Event>,
}

impl CalmEvents {
    /// The calm events of a world, and all of them as what came.
    #[must_use]
    pub fn of(world: &World) -> (Self, CalmChange) {
        let mut events = Self::default();
        let all: Vec<Who> = world.processes().map(|(who, _)| who).collect();
        let change = events.ask(world, &all, true);
        (events, change)
    }

    /// Forgets an event that is about to happen: if it can happen again behind it, it has come
    /// anew.
    pub fn take(&mut self, event: &Event) {
        self.taken = event.process();
        match self.taken.and_then(|who| self.events.get_mut(usize::from(who.0))) {
            Some(events) => events.retain(|known| known != event),
            None => self.publications.retain(|known| known != event),
        }
    }

    /// Takes in what has happened since `before`, which the world has not been
    /// [followed](World::follow) from since.
    pub fn update(&mut self, world: &World, before: &World) -> CalmChange {
        let recorded = !world.shares_store(before);
        let mut asked: Vec<Who> = world.touched_actors().chain(self.taken.take()).collect();
        if recorded {
            asked.extend(&self.waiting);
        }
        if world.history().reused {
            // Two processes of one identity share what the record says of it.
            let name = |who: &Who| &world.process(*who).name;
            let lives = asked.iter().flat_map(|who| world.lives_of(name(who)));
            asked = lives.map(|(who, _)| who).collect();
        }
        asked.sort_unstable();
        asked.dedup();
        let change = self.ask(world, &asked, recorded);
        debug_assert!(self.is_of(world), "{:?} are not {:?}", self.events, world.calm_events());
        change
    }

    /// All of them: of each process in the calm order, then the publications.
    pub fn iter(&self) -> impl Iterator<Item = &Event> {
        self.events.iter().flatten().chain(&self.publications)
    }

    /// The first of them in the calm order.
    #[must_use]
    pub fn first(&self) -> Option<&Event> {
        let firsts = self.events.iter().filter_map(|events| events.first());
        firsts.chain(self.publications.first()).min_by_key(|event| Rank::of(event))
    }

    fn ask(&mut self, world: &World, asked: &[Who], recorded: bool) -> CalmChange {
        let mut change = CalmChange::default();
        self.events.resize_with(world.processes().len(), Vec::new);
        for who in asked {
            self.ask_one(world, *who, &mut change);
        }
        if recorded {
            let now: Vec<Event> = world.publications().collect();
            let new = now.iter().filter(|event| !self.publications.contains(event));
            change.came.extend(new.cloned());
            let old = self.publications.iter().filter(|event| !now.contains(event));
            change.gone.extend(old.cloned());
            self.publications = now;
        }
        change.came.sort_by_key(Rank::of);
        change
    }

    fn ask_one(&mut self, world: &World, who: Who, change: &mut CalmChange) {
        let Self { events, now, .. } = self;
        for rank in Rank::ALL {
            world.push_calm(*rank, who, now);
        }
        let known = &mut events[usize::from(who.0)];
        if known != now {
            change.came.extend(now.iter().filter(|event| !known.contains(event)).cloned());
            std::mem::swap(known, now);
            change.gone.extend(now.drain(..).filter(|event| !known.contains(event)));
        }
        now.clear();
        if world.waits_for_record(who) {
            self.waiting.insert(who);
        } else {
            self.waiting.remove(&who);
        }
    }

    fn is_of(&self, world: &World) -> bool {
        let mut events: Vec<&Event> = self.iter().collect();
        events.sort_by_key(|event| Rank::of(event));
        events.into_iter().eq(&world.calm_events())
    }
}

impl World {
    /// Does the record decide what this process can do by itself?
    fn waits_for_record(&self, who: Who) -> bool {
        let process = self.process(who);
        self.awaits_answer(who)
            || (!process.lives() && !self.committed().is_gone(process.host.id()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choose::{FaultKind, WalkSettings, walk};
    use crate::variants::{self, Protocol};

    /// Goes through the schedules of walks; `seen` is told the world before and after each step,
    /// and the events that are kept.
    fn go(protocol: &'static dyn Protocol, mut seen: impl FnMut(&World, &World, &CalmEvents)) {
        let mut settings = WalkSettings::rolling_update();
        settings.faults.insert(FaultKind::Reuse, 3);
        for seed in 0..8 {
            let report = walk(seed, &settings, protocol);
            let mut world = World::new(report.setup);
            let mut before = world.clone();
            let (mut calm, _) = CalmEvents::of(&world);
            for event in &report.schedule {
                calm.take(event);
                world.apply(event, &mut Vec::new()).expect("the walk has applied it");
                calm.update(&world, &before);
                seen(&before, &world, &calm);
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

    #[test]
    fn what_a_step_has_touched_is_all_that_differs() {
        let current = variants::by_name("current").expect("there is the right one");
        go(current, |before, world, _| {
            let touched: Vec<Who> = world.touched_actors().collect();
            for (who, _) in before.processes().filter(|(who, _)| !touched.contains(who)) {
                assert!(world.shares_process(before, who));
            }
        });
    }
}
