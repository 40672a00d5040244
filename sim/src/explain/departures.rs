//! The departures of a schedule from calm.

use std::collections::BTreeSet;

use handover_core::Name;

use super::Departure;
use super::deed::{Key, Kind, place_of};
use super::words::clause;
use crate::world::{Event, Setup, World};

/// Which calm events are held back at a place, and what calm would take there.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Held(BTreeSet<Key>);

/// What an event is at its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// Calm's next, or what was held back, or a wish when nothing else is left, or a fault's end.
    Calm,
    /// A departure, with the event that calm would have taken, if there was one.
    Departure { passed: Option<Event> },
}

impl Held {
    /// What calm takes next of these events, apart from what is held back.
    pub(super) fn next<'a>(&self, world: &World, calm: &'a [Event]) -> Option<&'a Event> {
        let free = |event: &&Event| {
            Key::of(world, event).is_none_or(|key| self.0.is_empty() || !self.0.contains(&key))
        };
        calm.iter().find(free)
    }

    /// Forgets what cannot happen any more.
    pub(super) fn refresh(&mut self, world: &World, calm: &[Event]) {
        if !self.0.is_empty() {
            let possible: BTreeSet<Key> =
                calm.iter().filter_map(|event| Key::of(world, event)).collect();
            self.0.retain(|key| possible.contains(key));
        }
    }

    /// Judges an event that is taken here, and remembers what it passes over. The events that calm
    /// offers have been refreshed.
    pub(super) fn take(&mut self, world: &World, calm: &[Event], event: &Event) -> Taken {
        let next = self.next(world, calm);
        let key = Key::of(world, event);
        if next == Some(event) {
            return Taken::Calm;
        }
        let passed = next.cloned();
        match Kind::of(world, event) {
            Kind::End => Taken::Calm,
            Kind::Fault => Taken::Departure { passed },
            Kind::Wish if passed.is_none() => Taken::Calm,
            Kind::Move
                if calm.contains(event) && key.as_ref().is_some_and(|key| self.0.remove(key)) =>
            {
                Taken::Calm
            }
            Kind::Wish | Kind::Move => {
                // What takes the place of calm's next passes nothing over.
                let own = passed.as_ref().and_then(|passed| Key::of(world, passed));
                if own != key {
                    self.0.extend(own);
                }
                Taken::Departure { passed }
            }
        }
    }
}

/// A departure with all that its words need.
struct Found {
    step: usize,
    event: Event,
    world: World,
    passed: Option<Event>,
}

/// The departures of a schedule from calm, in its order.
///
/// # Panics
/// If the schedule is not one of this setup.
#[must_use]
pub fn departures(setup: &Setup, schedule: &[Event]) -> Vec<Departure> {
    let (found, worlds) = find(setup, schedule);
    let words = |found: &Found| {
        let words = words(found, schedule, &worlds);
        Departure { step: found.step, words }
    };
    found.iter().map(words).collect()
}

/// The departures without what two failures of one cause may differ in: numbers, the names of hosts,
/// and what calm would have taken. Hosts are numbered in the order in which they come.
pub(super) fn shape(setup: &Setup, schedule: &[Event]) -> String {
    let (found, _) = find(setup, schedule);
    let mut hosts: Vec<Name> = Vec::new();
    let shapes: Vec<String> = found
        .iter()
        .map(|found| {
            let Found { event, world, .. } = found;
            let kind = crate::choose::Kind::of(event);
            let Some(place) = place_of(world, event) else {
                return kind.to_string();
            };
            let known = hosts.iter().position(|host| *host == place);
            let number = known.unwrap_or_else(|| {
                hosts.push(place);
                hosts.len() - 1
            });
            format!("{kind} #{}", number + 1)
        })
        .collect();
    if shapes.is_empty() { "calm".to_owned() } else { shapes.join(", ") }
}

/// The departures, and the worlds before each event.
fn find(setup: &Setup, schedule: &[Event]) -> (Vec<Found>, Vec<World>) {
    let mut world = World::new(setup.clone());
    let mut held = Held::default();
    let mut worlds = Vec::new();
    let mut found: Vec<Found> = Vec::new();
    for (step, event) in schedule.iter().enumerate() {
        let calm = world.calm_events();
        held.refresh(&world, &calm);
        if let Taken::Departure { passed } = held.take(&world, &calm, event) {
            found.push(Found { step, event: event.clone(), world: world.clone(), passed });
        }
        worlds.push(world.clone());
        world.apply(event, &mut Vec::new()).expect("the schedule was replayed");
    }
    (found, worlds)
}

/// How many departures a schedule has.
pub(super) fn count(setup: &Setup, schedule: &[Event]) -> usize {
    let mut world = World::new(setup.clone());
    let mut held = Held::default();
    let mut count = 0;
    for event in schedule {
        let calm = world.calm_events();
        held.refresh(&world, &calm);
        if held.take(&world, &calm, event) != Taken::Calm {
            count += 1;
        }
        world.apply(event, &mut Vec::new()).expect("the schedule was replayed");
    }
    count
}

fn words(found: &Found, schedule: &[Event], worlds: &[World]) -> String {
    let Found { event, world, passed, .. } = found;
    let own = clause(world, event);
    let Some(passed) = passed else {
        return own;
    };
    if Key::of(world, passed) == Key::of(world, event) {
        return format!("{own}, where calm has: {}", clause(world, passed));
    }
    let said = match Kind::of(world, event) {
        Kind::Wish => its_word(found, passed, schedule, worlds),
        Kind::Move | Kind::Fault | Kind::End => None,
    };
    let own = said.unwrap_or(own);
    format!("{own} before {}", clause(world, passed))
}

/// Where the word that a wish brought about arrives while the other message is still on its way:
/// the two have crossed.
fn its_word(found: &Found, passed: &Event, schedule: &[Event], worlds: &[World]) -> Option<String> {
    let key = Key::of(&found.world, passed)?;
    let who = found.event.who()?;
    for (event, world) in schedule.iter().zip(worlds).skip(found.step + 1) {
        if Key::of(world, event).as_ref() == Some(&key) {
            return None;
        }
        if let Event::Deliver { from, .. } = event
            && *from == who
        {
            return Some(clause(world, event));
        }
    }
    None
}
