//! A path through the space, told as a scenario.

use super::action::{Action, Choice};
use super::direct::Node;
use super::key::Scratch;
use super::step::OwnSteps;
use super::{Bounds, Property};
use crate::check::{Rest, Violation, rest};
use crate::choose::scene;
use crate::scenario::{
    self, Arbiter, CURRENT, Command, Ended, Ending, Scenario, Target, command_of,
};
use crate::variants::is_current;
use crate::world::{Event, World};

/// A shortest schedule that breaks a property.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// What is broken, and what shows it.
    pub violation: Violation,
    /// Its steps; for a liveness property, to the first state from which it is lost.
    pub steps: usize,
    /// The schedule as a file. Replayed it breaks the property, unless another one is broken on the
    /// way there: then it breaks that one. A file cannot show that a cycle is taken for ever.
    pub scenario: Scenario,
}

impl Counterexample {
    /// Its own replay comes to a good end, under a wrong protocol: what the search leaves out would
    /// have made up for what it found.
    pub(super) fn is_refuted(&self, bounds: &Bounds) -> bool {
        let ending = self.scenario.setup().ending(bounds.protocol.name());
        !is_current(bounds.protocol) && ending == Some(Ending::Holds)
    }
}

/// Goes the way of these fingerprints, and tells each choice before it is taken.
pub(super) fn go(bounds: &Bounds, path: &[u64], mut tell: impl FnMut(&Node, &Choice)) -> Node {
    let mut scratch = Scratch::new(bounds);
    let (mut at, first) = Node::first(bounds, &mut scratch);
    assert_eq!(path.first(), Some(&first), "each way begins with the first state");
    for print in &path[1..] {
        let found = at.choices(bounds).into_iter().find_map(|choice| {
            let (next, found, _) = at.follow(&choice, bounds, &mut scratch);
            (found == *print).then_some((choice, next))
        });
        let (choice, next) = found.expect("a choice that led on once leads on again");
        tell(&at, &choice);
        at = next;
    }
    at
}

/// What the choices at the end of this path break, each with where it leads to, in their order.
pub(super) fn judge_choices(bounds: &Bounds, path: &[u64]) -> Vec<(u64, Violation)> {
    let at = go(bounds, path, |_, _| ());
    let mut scratch = Scratch::new(bounds);
    let mut all = Vec::new();
    for choice in at.choices(bounds) {
        let (_, print, violations) = at.follow(&choice, bounds, &mut scratch);
        all.extend(violations.into_iter().map(|violation| (print, violation)));
    }
    all
}

/// Tells the path of these fingerprints.
///
/// The explorer leaves messages behind without a word; in a world that keeps them they are lost. It
/// publishes when it pleases, so the record's own publishing is stalled.
pub(super) fn tell(bounds: &Bounds, path: &[u64], violation: Violation) -> Counterexample {
    let mut plain = World::new(bounds.setup());
    let mut commands = vec![Command::Stall { target: Target::Arbiter(Arbiter::First) }];
    go(bounds, path, |_, choice| play(&mut plain, &choice.action, &mut commands));
    let violation = explain(violation, plain);
    let steps = path.len() - 1;
    let scenario = compose(bounds, &violation, steps, commands);
    Counterexample { violation, steps, scenario }
}

/// Of a wedge: what is stuck where the calm way from here ends.
fn explain(mut violation: Violation, mut world: World) -> Violation {
    if violation.property == Property::NoWedge
        && world.apply(&Event::Heal, &mut Vec::new()).is_ok()
        && let Rest::Broken(found) = rest(&mut world, |_| ())
    {
        violation.why = format!("{}: {}", violation.why, found.why);
    }
    violation
}

fn play(world: &mut World, action: &Action, commands: &mut Vec<Command>) {
    let apply = |world: &mut World, event: &Event| {
        world.apply(event, &mut Vec::new()).expect("the explorer has applied it");
    };
    for event in action.events(world) {
        commands.push(command_of(world, &event));
        apply(world, &event);
    }
    let mut own = OwnSteps::default();
    while let Ok(Some(event)) = own.next(world) {
        apply(world, &event);
    }
}

/// The head says how a wrong protocol ends; of the right one it says that it holds, whatever was
/// found: the file is kept until that is true.
fn compose(
    bounds: &Bounds,
    violation: &Violation,
    steps: usize,
    commands: Vec<Command>,
) -> Scenario {
    let protocol = bounds.protocol.name();
    let title = format!("{} is broken in {steps} steps", violation.property);
    let why = format!("Found: {}.", violation.why.replace('\n', " "));
    let with = |endings: Vec<(String, Ending)>| {
        let setup = scenario::Setup { endings, single_steps: false, ..scene(&bounds.setup()) };
        Scenario::compose(title.as_str(), &[&why], &setup, commands.clone())
    };
    let right = (CURRENT.to_owned(), Ending::Holds);
    let scenario = with(vec![right.clone()]);
    if is_current(bounds.protocol) {
        return scenario;
    }
    let ending = match scenario::run(&scenario, bounds.protocol).ended {
        Ended::Breaks { violation, .. } => Ending::Breaks(violation.property),
        Ended::Holds => Ending::Holds,
    };
    with(vec![right, (protocol.to_owned(), ending)])
}
