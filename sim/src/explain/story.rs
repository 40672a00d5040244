//! The explained schedule as a scenario file.

use super::{Class, Departure};
use crate::check::{Property, Violation};
use crate::choose::scene;
use crate::scenario::{self, CURRENT, Command, Ended, Ending, Scenario, command_of, limits};
use crate::variants::names_with;
use crate::world::{Event, Setup, World};

/// The file, and whether it was seen to break the property.
///
/// It is told in a host's own words where that comes to the same: what a host does next by itself
/// is left out, and calm up to rest is one word. Otherwise each atomic step is a line.
pub(super) fn tell(
    setup: &Setup,
    schedule: &[Event],
    violation: &Violation,
    departures: &[Departure],
) -> (Scenario, bool) {
    let steps = Commands::of(setup, schedule);
    let forms = [(steps.with_rests(), false), (steps.coarse(), false), (steps.all(), true)];
    let mut last = None;
    for (commands, single_steps) in forms {
        let scenario = compose(setup, violation, departures, commands, single_steps);
        if breaks(&scenario, setup, violation.property) {
            return (scenario, true);
        }
        last = Some(scenario);
    }
    (last.expect("there are three forms"), false)
}

/// Read back from its text, as whoever gets the file reads it.
fn breaks(scenario: &Scenario, setup: &Setup, property: Property) -> bool {
    let Ok(scenario) =
        Scenario::parse("explained", &scenario.to_string(), &names_with(setup.protocol))
    else {
        return false;
    };
    let run = scenario::run(&scenario, setup.protocol);
    let is_broken = match &run.ended {
        Ended::Breaks { violation, .. } => violation.property == property,
        Ended::Holds => false,
    };
    is_broken && run.stale.is_empty()
}

/// The commands of a schedule, each with what it is.
struct Commands(Vec<(Command, Role)>);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// It follows by itself in a scenario that does not count single steps.
    Follows,
    /// Calm's next; true: nothing is left to happen after it.
    Calm(bool),
    /// All else.
    Other,
}

impl Commands {
    fn of(setup: &Setup, schedule: &[Event]) -> Self {
        let mut world = World::new(setup.clone());
        let command = |event: &Event| {
            let command = command_of(&world, event);
            let is_next = world.next_calm().as_ref() == Some(event);
            world.apply(event, &mut Vec::new()).expect("the schedule was replayed");
            let follows = matches!(
                event,
                Event::Step { .. } | Event::Plan { chunks: None, .. } | Event::Publish(_)
            );
            let role = match (follows, is_next) {
                (true, _) => Role::Follows,
                (false, true) => Role::Calm(world.next_calm().is_none()),
                (false, false) => Role::Other,
            };
            (command, role)
        };
        Self(schedule.iter().map(command).collect())
    }

    fn all(&self) -> Vec<Command> {
        self.0.iter().map(|(command, _)| command.clone()).collect()
    }

    fn coarse(&self) -> Vec<Command> {
        let told = self.0.iter().filter(|(_, role)| *role != Role::Follows);
        told.map(|(command, _)| command.clone()).collect()
    }

    fn with_rests(&self) -> Vec<Command> {
        let mut told: Vec<Command> = Vec::new();
        let mut calm_from = None;
        for (command, role) in self.0.iter().filter(|(_, role)| *role != Role::Follows) {
            match role {
                Role::Calm(rests) => {
                    let from = *calm_from.get_or_insert(told.len());
                    told.push(command.clone());
                    if *rests && told.len() - from > 1 {
                        told.truncate(from);
                        told.push(Command::Rest);
                        calm_from = None;
                    }
                }
                Role::Other | Role::Follows => {
                    calm_from = None;
                    told.push(command.clone());
                }
            }
        }
        told
    }
}

/// The head says that the right protocol holds, whatever was found: the file is kept until that is
/// true. Of a wrong protocol it says what it breaks.
fn compose(
    setup: &Setup,
    violation: &Violation,
    departures: &[Departure],
    commands: Vec<Command>,
    single_steps: bool,
) -> Scenario {
    let Violation { property, why } = violation;
    let protocol = setup.protocol.name();
    let mut endings = vec![(CURRENT.to_owned(), Ending::Holds)];
    if protocol != CURRENT {
        endings.push((protocol.to_owned(), Ending::Breaks(*property)));
    }
    let head = scenario::Setup { endings, single_steps, ..scene(setup) };
    let title = match departures {
        [] => format!("{property} is broken on the calm way"),
        [one] => format!("{property} is broken: {}", one.words),
        [_, ..] => format!("{property} is broken by {} departures from calm", departures.len()),
    };
    let found = short(format!("Found: {}.", why.replace('\n', " ")));
    let class = format!("A {} property; the departures from calm:", Class::of(*property));
    let numbered = (1..).zip(departures);
    let listed: Vec<String> =
        numbered.map(|(number, one)| short(format!("Number {number}: {}.", one.words))).collect();
    let mut prose = vec![found.as_str()];
    if departures.len() > 1 {
        prose.push(&class);
        prose.extend(listed.iter().map(String::as_str));
    }
    Scenario::compose(short(title), &prose, &head, commands)
}

/// Not longer than a line of a file may be.
fn short(text: String) -> String {
    let room = limits::LINE_CHARS_MAX - 10;
    if text.chars().count() <= room {
        return text;
    }
    text.chars().take(room).chain("...".chars()).collect()
}
