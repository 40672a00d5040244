//! One step of the explored system.

use super::Property;
use super::action::Choice;
use super::bounds::Bounds;
use super::tidy::tidy;
use crate::check::{self, Transition, Violation};
use crate::scenario::Keyword as _;
use crate::world::{Event, Fact, World};

/// One step: the choice, then what its hosts do at once, then off the links what cannot matter.
pub(super) fn take(world: &World, choice: &Choice, bounds: &Bounds) -> (World, Vec<Violation>) {
    let mut after = world.clone();
    let mut violations = Vec::new();
    let mut facts = Vec::new();
    for event in choice.action.events(world) {
        judge(&mut after, &event, &mut facts, &mut violations);
    }
    while let Some(event) = after.next_own_step() {
        judge(&mut after, &event, &mut facts, &mut violations);
    }
    tidy(&mut after, world, bounds);
    (after, violations)
}

fn judge(world: &mut World, event: &Event, facts: &mut Vec<Fact>, violations: &mut Vec<Violation>) {
    facts.clear();
    if let Event::Lose(_) | Event::Overtake(_) | Event::Double(_) = event {
        world.apply(event, facts).expect("what is on a link can be lost and doubled");
        return;
    }
    let before = world.clone();
    world.apply(event, facts).expect("what is chosen can happen");
    let step = Transition { before: &before, event, facts, after: world };
    if check::check(&step).is_err() {
        let all = Property::ALL.iter();
        violations.extend(all.filter_map(|property| check::check_one(*property, &step).err()));
    }
}
