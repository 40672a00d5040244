//! The world: the production state machines of all actors, and everything between them.
//!
//! A world offers the events that can happen; an event is one atomic step with a stable, readable
//! name. Who picks the next one is a chooser: a script, calm, a random walk. The list of names is
//! the schedule, so what one chooser finds another replays.
//!
//! The parts are shared between a world and its clones until one of them changes a part, so that a
//! search can keep many worlds: a clone costs a few counts.

mod apply;
mod arbiter;
mod assembly;
mod calm;
mod cast;
mod convergence;
mod driver;
mod enabled;
mod event;
mod fact;
mod follow;
#[cfg(test)]
mod handmade;
mod naming;
mod network;
mod operator;
mod parts;
mod process;
mod stock;
mod touched;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use handover_core::{
    Chunk, GrantId, HostId, Incarnation, Name, Priority, Record, RecordId, Version,
};
use serde::{Deserialize, Serialize};

pub use arbiter::{Arbiter, Store};
pub(crate) use assembly::{Common, Member};
pub(crate) use calm::Calm;
pub use calm::CalmEvents;
pub(crate) use cast::Ground;
pub use convergence::Stuck;
pub use event::{ArbiterIndex, Direction, Event, Step, StepKind, Target, Who, Wire};
pub use fact::{Fact, Lost};
pub use follow::{Astray, Followed, News};
pub use network::Link;
pub(crate) use parts::Part;
pub use process::{Life, Process, RunningBuild};
pub(crate) use stock::{Commons, Pairs, Shelf};

use crate::variants::Protocol;
use cast::{Actor, Cast};
use touched::Touched;

/// What a world begins with; it never changes afterwards.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The places, in the order in which they are shown.
    pub places: Vec<Place>,
    /// The plan of each build under a grant.
    pub chunks: BTreeSet<Chunk>,
    /// How many arbiters share the record: 1 or 2.
    pub arbiters: u8,
    /// What the actors follow.
    pub protocol: &'static dyn Protocol,
}

/// A place where processes of one name live.
#[derive(Clone, Debug)]
pub struct Place {
    /// Its name.
    pub name: Name,
    /// What boots there, unless an event says otherwise.
    pub version: Version,
    /// How many builds run there at a time, at least 1.
    pub slots: u32,
    /// The priority with which its processes ask.
    pub priority: Priority,
    /// A build may not drain what runs there.
    pub pinned: bool,
    /// A process is up at the start.
    pub up: bool,
}

impl Place {
    /// A place with one slot where a process of this version is up at the start.
    #[must_use]
    pub fn new(name: &str, version: &str) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            slots: 1,
            priority: Priority(0),
            pinned: false,
            up: true,
        }
    }
}

/// All actors, and everything between them.
#[derive(Clone, Debug)]
pub struct World {
    ground: Arc<Ground>,
    cast: Arc<Cast>,
    store: Arc<Store>,
    arbiters: Vec<Arbiter>,
    actors: Vec<Actor>,
    oracle: Arc<Oracle>,
    history: Arc<History>,
    touched: Touched,
}

/// What membership says, apart from `Gone`, which is an event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Oracle {
    /// Who is suspected at present.
    pub suspects: BTreeSet<HostId>,
    /// The highest incarnation of each name that was ever used: the durable counter (Dr4).
    pub used: BTreeMap<Name, Incarnation>,
}

/// What really happened, which no actor can know by itself. Only checks read it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct History {
    /// Grants that were revoked after their acceptance had been folded.
    pub revoked: BTreeSet<GrantId>,
    /// How the build of each grant really ended.
    pub ended: BTreeMap<GrantId, RealEnd>,
    /// An identity was used twice: alarms are in order.
    pub reused: bool,
}

/// How a build really ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RealEnd {
    /// On which host.
    pub host: HostId,
    /// By itself, well.
    pub clean: bool,
    /// The chunks that it was to sign off.
    pub plan: BTreeSet<Chunk>,
    /// The chunks that were really signed off clean.
    pub signed_off: BTreeSet<Chunk>,
}

impl RealEnd {
    /// By itself, well, with each chunk signed off clean: what an approval is earned by.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.clean && self.plan.is_subset(&self.signed_off)
    }
}

impl World {
    /// The most processes that a world can have, the dead ones counted: [`Who`] numbers them.
    pub const PROCESSES_MAX: usize = 1 << 16;

    /// The world at the start: the processes of the places that are up, an empty record.
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        let record = Arc::new(Record::new(RecordId(1)));
        let arbiter = Arbiter::new(Arc::clone(&record));
        let mut world = Self {
            store: Arc::new(Store::new(record)),
            arbiters: vec![arbiter; usize::from(setup.arbiters.clamp(1, 2))],
            actors: Vec::new(),
            oracle: Arc::default(),
            history: Arc::default(),
            cast: Arc::new(Cast::new(setup.places.len())),
            ground: Arc::new(Ground::new(setup)),
            touched: Touched::default(),
        };
        let ground = Arc::clone(&world.ground);
        for place in ground.setup.places.iter().filter(|place| place.up) {
            world.start_process(place, &place.version, None, None);
        }
        world
    }

    /// What it began with.
    #[must_use]
    pub fn setup(&self) -> &Setup {
        &self.ground.setup
    }

    /// The record as the store has it.
    #[must_use]
    pub fn committed(&self) -> &Record {
        self.store.committed()
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The arbiters.
    pub fn arbiters(&self) -> impl Iterator<Item = (ArbiterIndex, &Arbiter)> {
        (0..).map(ArbiterIndex).zip(&self.arbiters)
    }

    /// All processes that were ever started, in the order of their starts.
    pub fn processes(&self) -> impl ExactSizeIterator<Item = (Who, &Process)> {
        let processes = self.actors.iter().enumerate();
        processes.map(|(i, actor)| (Who::from(i), &*actor.process))
    }

    /// One process.
    ///
    /// # Panics
    /// If `who` is of another world.
    #[must_use]
    pub fn process(&self, who: Who) -> &Process {
        &self.actors[usize::from(who.0)].process
    }

    /// The links of a process.
    ///
    /// # Panics
    /// If `who` is of another world.
    #[must_use]
    pub fn link(&self, who: Who) -> &Link {
        &self.actors[usize::from(who.0)].link
    }

    /// What membership says.
    #[must_use]
    pub fn oracle(&self) -> &Oracle {
        &self.oracle
    }

    /// What really happened.
    #[must_use]
    pub fn history(&self) -> &History {
        &self.history
    }

    /// What the actors follow.
    #[must_use]
    pub fn protocol(&self) -> &'static dyn Protocol {
        self.ground.setup.protocol
    }
}

/// Equal worlds offer the same events with the same outcomes.
impl PartialEq for World {
    fn eq(&self, other: &Self) -> bool {
        self.store == other.store
            && self.arbiters == other.arbiters
            && self.actors == other.actors
            && self.oracle == other.oracle
            && self.history == other.history
    }
}

impl Eq for World {}

impl std::hash::Hash for World {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.store.hash(state);
        self.arbiters.hash(state);
        self.actors.hash(state);
        self.oracle.hash(state);
    }
}
