//! A path through the space, told as a scenario.

use handover_core::HostId;

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
use crate::world::{Direction, Event, Who, Wire, World};

/// A shortest schedule that breaks a property.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// What is broken, and what shows it.
    pub violation: Violation,
    /// Its steps; for a liveness property, to the first state from which it is lost.
    pub steps: usize,
    /// The schedule as a file. Replayed it breaks the property, unless another one is broken on the
    /// way there: then it breaks that one. A file cannot show that a cycle is taken for ever, nor tell
    /// two processes of one number apart, where a number is used twice: it means the newer one.
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
    go(bounds, path, |at, choice| {
        let mut stage = Stage { world: &mut plain, commands: &mut commands };
        stage.clear_for(&at.world, &choice.action);
        stage.play(&choice.action);
    });
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

/// A world that keeps its messages, and what was said to make it go the way of the explorer.
struct Stage<'a> {
    world: &'a mut World,
    commands: &'a mut Vec<Command>,
}

impl Stage<'_> {
    fn say(&mut self, event: &Event) {
        self.commands.push(command_of(self.world, event));
        self.apply(event);
    }

    fn apply(&mut self, event: &Event) {
        self.world.apply(event, &mut Vec::new()).expect("the explorer has applied it");
    }

    /// Who says again what is known is answered where no view is on its way to it. The explorer has
    /// left those behind that are.
    fn clear_for(&mut self, explored: &World, action: &Action) {
        let Action::Deliver(who, statement, _) = action.sure() else { return };
        let link = explored.link(*who);
        let may_be_known = action != action.sure() || !link.statements.contains(statement);
        if may_be_known && link.views.is_empty() {
            let wire = Wire { who: *who, direction: Direction::FromRecord };
            for _ in 0..self.world.link(*who).views.len() {
                self.say(&Event::Lose(wire));
            }
        }
    }

    fn play(&mut self, action: &Action) {
        let ids = self.world.processes().map(|(_, process)| process.host.id().clone());
        let before: Vec<_> = ids.collect();
        for event in action.events(self.world) {
            self.say(&event);
        }
        let mut own = OwnSteps::default();
        while let Ok(Some(event)) = own.next(self.world) {
            self.apply(&event);
        }
        self.show_what_is_published(&before);
    }

    /// Who begins finds what was published by then, also if it reads it after something newer was.
    fn show_what_is_published(&mut self, before: &[HostId]) {
        let count = self.world.processes().len();
        for at in 0..count {
            let who = Who::from(at);
            let begins = before.get(at) != Some(self.world.process(who).host.id());
            if begins && self.world.link(who).newest.is_some() {
                self.say(&Event::Repeat(Wire { who, direction: Direction::FromRecord }));
            }
        }
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
