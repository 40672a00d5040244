//! What became of a walk, and the scenario that replays it.

use handover_core::{Chunk, Version};

use super::{PctBound, Strategy};
use crate::check::Violation;
use crate::digest::Digest;
use crate::scenario::{self, CURRENT, Command, Ending, HostSetup, Scenario, command_of};
use crate::world::{Event, Place, Setup, World};

/// What became of a walk.
#[derive(Clone, Debug)]
pub struct WalkReport {
    /// What made it, together with the settings and the protocol.
    pub seed: u64,
    /// By what it went; never a mix.
    pub strategy: Strategy,
    /// What the bound of PCT speaks of, where that was the strategy.
    pub pct: Option<PctBound>,
    /// Events, those of the rest included.
    pub steps: usize,
    /// The virtual time at which the faults ended, in microseconds; 0 where no time was.
    pub virtual_time_us: u64,
    /// Of all events.
    pub digest: Digest,
    /// How it ended.
    pub outcome: Outcome,
    /// The world that it began with.
    pub setup: Setup,
    /// All events in order, those of the rest included; replayed from the setup they are the walk.
    pub schedule: Vec<Event>,
    /// After each event, the digest so far.
    pub digests: Vec<Digest>,
    /// How many of the events came before the faults ended.
    pub faults_end: usize,
}

/// How a walk ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All properties held, and it converged.
    Holds,
    /// A property is broken.
    Broken(Violation),
}

impl WalkReport {
    /// The world that it ended with.
    #[must_use]
    pub fn world(&self) -> World {
        let mut world = World::new(self.setup.clone());
        for event in &self.schedule {
            apply(&mut world, event);
        }
        world
    }

    /// The names of all events, in order.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.commands_of(&self.schedule).iter().map(Command::to_string).collect()
    }

    /// The scenario that replays it, to the same end and the same digest. What follows once the
    /// faults have ended is left out: a scenario ends with it anyhow.
    ///
    /// Its head says that the right protocol holds, whatever the walk found: the file is kept until
    /// that is true. Of a wrong protocol it says what it did.
    #[must_use]
    pub fn scenario(&self) -> Scenario {
        let protocol = self.setup.protocol.name();
        let (ends, why, ending) = match &self.outcome {
            Outcome::Holds => {
                ("holds".to_owned(), "All properties held.".to_owned(), Ending::Holds)
            }
            Outcome::Broken(Violation { property, why }) => (
                format!("breaks {property}"),
                format!("Found: {}.", why.replace('\n', " ")),
                Ending::Breaks(*property),
            ),
        };
        let mut endings = vec![(CURRENT.to_owned(), Ending::Holds)];
        if protocol != CURRENT {
            endings.push((protocol.to_owned(), ending));
        }
        let setup = scenario::Setup { endings, ..scene(&self.setup) };
        let title = format!("A walk of seed {} {ends}", self.seed);
        let commands = self.commands_of(&self.schedule[..self.faults_end]);
        Scenario::compose(title, &[&why], &setup, commands)
    }

    fn commands_of(&self, events: &[Event]) -> Vec<Command> {
        let mut world = World::new(self.setup.clone());
        let command = |event: &Event| {
            let command = command_of(&world, event);
            apply(&mut world, event);
            command
        };
        events.iter().map(command).collect()
    }
}

fn apply(world: &mut World, event: &Event) {
    world.apply(event, &mut Vec::new()).expect("the walk has applied it to the same world");
}

/// The head of a scenario that begins with this world, each command of it one atomic step.
pub(crate) fn scene(setup: &Setup) -> scenario::Setup {
    let host = |place: &Place| HostSetup {
        name: place.name.to_string(),
        version: Version::to_string(&place.version),
        booted: place.up,
        slots: place.slots,
        priority: place.priority.0,
        pinned: place.pinned,
    };
    scenario::Setup {
        hosts: setup.places.iter().map(host).collect(),
        chunks: setup.chunks.iter().map(Chunk::to_string).collect(),
        arbiters: u32::from(setup.arbiters),
        endings: Vec::new(),
        single_steps: true,
    }
}
