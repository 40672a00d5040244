//! Replaying a list of deeds: calm, but for what the list holds back or brings.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::deed::{Deed, Key};
use super::round::{Round, rest};
use super::{Class, Failure};
use crate::check::{Property, Rest, Transition, Violation, check};
use crate::world::{Event, Setup, World};

/// A candidate: a setting, and the deeds that are mentioned, in their order.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) setup: Setup,
    pub(super) deeds: Vec<Arc<Deed>>,
}

/// What a replay has done.
#[derive(Clone, Debug)]
pub(super) struct Played {
    /// The events up to the violation of a safety property, or up to where the list ends.
    pub(super) events: Vec<Event>,
    /// The first violation, that of the rest included.
    pub(super) violation: Option<Violation>,
    /// The deeds that did not happen, by their index.
    pub(super) skipped: Vec<usize>,
}

impl Played {
    pub(super) fn breaks(&self, property: Property) -> bool {
        self.violation.as_ref().is_some_and(|violation| violation.property == property)
    }
}

/// What the replays may cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    pub(super) replays: usize,
    pub(super) steps: usize,
    pub(super) steps_max: usize,
}

impl Budget {
    pub(super) fn new(steps_max: usize) -> Self {
        Self { replays: 0, steps: 0, steps_max }
    }

    pub(super) fn is_spent(&self) -> bool {
        self.steps >= self.steps_max
    }
}

/// The world of a replay, and what is kept of its steps.
struct Stage {
    world: World,
    events: Vec<Event>,
    violation: Option<Violation>,
}

impl Stage {
    fn new(setup: &Setup) -> Self {
        Self { world: World::new(setup.clone()), events: Vec::new(), violation: None }
    }

    /// One step; false where it breaks something.
    fn step(&mut self, event: Event) -> bool {
        let before = self.world.clone();
        let mut facts = Vec::new();
        self.world.apply(&event, &mut facts).expect("only what is permitted is taken");
        let step = Transition { before: &before, event: &event, facts: &facts, after: &self.world };
        self.violation = check(&step).err();
        self.events.push(event);
        self.violation.is_none()
    }

    /// Back to where so many events have happened.
    fn rewind(&mut self, setup: &Setup, events: usize) {
        self.events.truncate(events);
        self.world = World::new(setup.clone());
        for event in &self.events {
            self.world.apply(event, &mut Vec::new()).expect("it has happened before");
        }
    }

    /// All faults end, and calm goes on to rest. That end belongs to each schedule, so its events
    /// are kept only where one of them breaks something.
    fn end(&mut self, budget: &mut Budget) {
        budget.steps += 1;
        let end = self.events.len();
        if !self.step(Event::Heal) {
            return;
        }
        let (steps, events) = (&mut budget.steps, &mut self.events);
        let rested = rest(&mut self.world, |step| {
            *steps += 1;
            events.push(step.event.clone());
        });
        if let Rest::Broken(violation) = rested {
            self.violation = Some(violation);
        }
        let is_safety = |found: &Violation| Class::of(found.property) == Class::Safety;
        if !self.violation.as_ref().is_some_and(is_safety) {
            self.events.truncate(end);
        }
    }
}

/// Replays a case.
pub(super) fn play(case: &Case, property: Property, budget: &mut Budget) -> Played {
    budget.replays += 1;
    let mut stage = Stage::new(&case.setup);
    let mut mentioned: BTreeMap<&Key, usize> = BTreeMap::new();
    for key in case.deeds.iter().filter_map(|deed| deed.key.as_ref()) {
        *mentioned.entry(key).or_default() += 1;
    }
    let mut skipped = Vec::new();
    let mut at = 0;
    let (mut round, mut moved) = (Round::new(&stage.world), 0);
    while stage.violation.is_none() {
        let deed = case.deeds.get(at).map(|deed| &**deed);
        if deed.is_none() && Class::of(property) == Class::Liveness {
            break;
        }
        let (event, is_deed) = match next(&stage.world, deed, &mentioned) {
            Some(found) => found,
            None if deed.is_none() => break,
            None => (deed.and_then(|deed| deed.event(&stage.world)), true),
        };
        if is_deed && let Some(deed) = deed {
            at += 1;
            if let Some(key) = deed.key.as_ref().filter(|_| deed.command.is_some()) {
                mentioned.entry(key).and_modify(|count| *count -= 1);
            }
        }
        match event {
            Some(event) => {
                budget.steps += 1;
                stage.step(event);
                if is_deed {
                    (round, moved) = (Round::new(&stage.world), stage.events.len());
                } else if round.see(&stage.world).is_some() {
                    // What is left of the list never comes, and what goes round is of the end.
                    stage.rewind(&case.setup, moved);
                    break;
                }
            }
            None => skipped.push(at - 1),
        }
    }
    if stage.violation.is_none() {
        stage.end(budget);
    }
    skipped.extend(at..case.deeds.len());
    Played { events: stage.events, violation: stage.violation, skipped }
}

/// What calm takes next among what is not held back: an event that is not mentioned any more, or
/// the next deed, where calm has come to it. None: the next deed is not calm's.
fn next(
    world: &World,
    deed: Option<&Deed>,
    mentioned: &BTreeMap<&Key, usize>,
) -> Option<(Option<Event>, bool)> {
    let due = deed.filter(|deed| deed.command.is_some()).and_then(|deed| deed.key.as_ref());
    for event in world.calm_events() {
        let key = Key::of(world, &event);
        if key.is_some() && key.as_ref() == due {
            return Some((deed.and_then(|deed| deed.event(world)), true));
        }
        let count = key.as_ref().and_then(|key| mentioned.get(key));
        if count.is_none_or(|count| *count == 0) {
            return Some((Some(event), false));
        }
    }
    None
}

/// Replays a failure as it is, and names its deeds; none where it does not break what it says.
pub(super) fn record(failure: &Failure, budget: &mut Budget) -> Option<Case> {
    budget.replays += 1;
    let property = failure.violation.property;
    let mut stage = Stage::new(&failure.setup);
    let mut deeds: Vec<Arc<Deed>> = Vec::new();
    // The calm events that were passed over and have not come since.
    let mut open: BTreeSet<Key> = BTreeSet::new();
    for event in &failure.schedule {
        if stage.world.permits(event).is_err() {
            continue;
        }
        let deed = Deed::of(&stage.world, event);
        for calm in stage.world.calm_events() {
            let key = Key::of(&stage.world, &calm);
            if key == deed.key {
                break;
            }
            open.extend(key);
        }
        if let Some(key) = &deed.key {
            open.remove(key);
        }
        deeds.push(Arc::new(deed));
        budget.steps += 1;
        if !stage.step(event.clone()) {
            break;
        }
    }
    if stage.violation.is_none() {
        stage.end(budget);
    }
    let is_broken = stage.violation.as_ref().is_some_and(|found| found.property == property);
    deeds.extend(open.into_iter().map(Deed::held).map(Arc::new));
    is_broken.then(|| Case { setup: failure.setup.clone(), deeds })
}

impl Case {
    /// The case without some of its deeds.
    pub(super) fn without(&self, left_out: &BTreeSet<usize>) -> Self {
        let kept = self.deeds.iter().enumerate().filter(|(index, _)| !left_out.contains(index));
        Self { setup: self.setup.clone(), deeds: kept.map(|(_, deed)| Arc::clone(deed)).collect() }
    }

    /// The indices of the deeds of which this is true.
    pub(super) fn indices(&self, wanted: impl Fn(&Deed) -> bool) -> Vec<usize> {
        let deeds = self.deeds.iter().enumerate();
        deeds.filter(|(_, deed)| wanted(deed)).map(|(index, _)| index).collect()
    }
}
