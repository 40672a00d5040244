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
mod process;
mod touched;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use handover_core::{
    Chunk, GrantId, HostId, Incarnation, Name, Priority, Record, RecordId, Version,
};
use serde::Serialize;

pub use arbiter::{Arbiter, Store};
pub(crate) use assembly::{Common, Member};
pub use convergence::Stuck;
pub use event::{ArbiterIndex, Direction, Event, Step, StepKind, Target, Who, Wire};
pub use fact::{Fact, Lost};
pub use follow::{Astray, Followed, News};
pub use network::Link;
pub use process::{Life, Process, RunningBuild};

use crate::variants::Protocol;

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
    setup: Arc<Setup>,
    store: Arc<Store>,
    arbiters: Vec<Arc<Arbiter>>,
    processes: Vec<Arc<Process>>,
    links: Vec<Arc<Link>>,
    oracle: Arc<Oracle>,
    history: Arc<History>,
}

/// What membership says, apart from `Gone`, which is an event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct Oracle {
    /// Who is suspected at present.
    pub suspects: BTreeSet<HostId>,
    /// The highest incarnation of each name that was ever used: the durable counter (Dr4).
    pub used: BTreeMap<Name, Incarnation>,
}

/// What really happened, which no actor can know by itself. Only checks read it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct History {
    /// Grants that were revoked after their acceptance had been folded.
    pub revoked: BTreeSet<GrantId>,
    /// How the build of each grant really ended.
    pub ended: BTreeMap<GrantId, RealEnd>,
    /// An identity was used twice: alarms are in order.
    pub reused: bool,
}

/// How a build really ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
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

impl World {
    /// The most processes that a world can have, the dead ones counted: [`Who`] numbers them.
    pub const PROCESSES_MAX: usize = 1 << 16;

    /// The world at the start: the processes of the places that are up, an empty record.
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        let record = Arc::new(Record::new(RecordId(1)));
        let arbiter = Arc::new(Arbiter::new(Arc::clone(&record)));
        let mut world = Self {
            store: Arc::new(Store::new(record)),
            arbiters: vec![arbiter; usize::from(setup.arbiters.clamp(1, 2))],
            processes: Vec::new(),
            links: Vec::new(),
            oracle: Arc::default(),
            history: Arc::default(),
            setup: Arc::new(setup),
        };
        let setup = Arc::clone(&world.setup);
        for place in setup.places.iter().filter(|place| place.up) {
            world.start_process(place, &place.version, None, None);
        }
        world
    }

    /// What it began with.
    #[must_use]
    pub fn setup(&self) -> &Setup {
        &self.setup
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
        (0..).map(ArbiterIndex).zip(self.arbiters.iter().map(|arbiter| &**arbiter))
    }

    /// All processes that were ever started, in the order of their starts.
    pub fn processes(&self) -> impl Iterator<Item = (Who, &Process)> {
        (0..).map(Who).zip(self.processes.iter().map(|process| &**process))
    }

    /// One process.
    ///
    /// # Panics
    /// If `who` is of another world.
    #[must_use]
    pub fn process(&self, who: Who) -> &Process {
        &self.processes[usize::from(who.0)]
    }

    /// The links of a process.
    ///
    /// # Panics
    /// If `who` is of another world.
    #[must_use]
    pub fn link(&self, who: Who) -> &Link {
        &self.links[usize::from(who.0)]
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
        self.setup.protocol
    }

    /// The newest process of a place.
    #[must_use]
    pub fn newest(&self, name: &Name) -> Option<Who> {
        let named = self.processes().filter(|(_, process)| process.name == *name);
        named.map(|(who, _)| who).last()
    }

    /// The process that runs, or last ran, under this identity.
    #[must_use]
    pub fn by_id(&self, id: &HostId) -> Option<Who> {
        self.processes().filter(|(_, process)| process.host.id() == id).map(|(who, _)| who).last()
    }

    /// Does a process live under this identity? One that has died under it may not be the only one
    /// that had it, where a boot has reused a number.
    fn is_lived(&self, id: &HostId) -> bool {
        self.processes().any(|(_, process)| process.lives() && process.host.id() == id)
    }

    /// The parts of an actor that a digest covers, each as something that serializes canonically.
    pub(crate) fn part(&self, part: Part) -> PartRef<'_> {
        match part {
            Part::Store => PartRef::Store(&self.store),
            Part::Arbiter(index) => PartRef::Arbiter(&self.arbiters[usize::from(index.0)]),
            Part::Process(who) => PartRef::Process(self.process(who)),
            Part::Link(who) => PartRef::Link(self.link(who)),
            Part::Oracle => PartRef::Oracle(&self.oracle),
        }
    }

    /// All parts.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Part> {
        let processes = self.processes().map(|(who, _)| who);
        let processes = processes.flat_map(|who| [Part::Process(who), Part::Link(who)]);
        let arbiters = self.arbiters().map(|(index, _)| Part::Arbiter(index));
        [Part::Store, Part::Oracle].into_iter().chain(arbiters).chain(processes)
    }

    /// The parts in which this world differs from an earlier one of which it is a clone that went
    /// on: found by what is no longer shared, not by comparing.
    pub(crate) fn touched_since(&self, before: &Self) -> Vec<Part> {
        let mut parts = Vec::new();
        if !Arc::ptr_eq(&self.store, &before.store) {
            parts.push(Part::Store);
        }
        for (i, arbiter) in self.arbiters.iter().enumerate() {
            if !Arc::ptr_eq(arbiter, &before.arbiters[i]) {
                parts.push(Part::Arbiter(ArbiterIndex::from(i)));
            }
        }
        for (i, process) in self.processes.iter().enumerate() {
            if before.processes.get(i).is_none_or(|before| !Arc::ptr_eq(process, before)) {
                parts.push(Part::Process(Who::from(i)));
            }
        }
        for (i, link) in self.links.iter().enumerate() {
            if before.links.get(i).is_none_or(|before| !Arc::ptr_eq(link, before)) {
                parts.push(Part::Link(Who::from(i)));
            }
        }
        if !Arc::ptr_eq(&self.oracle, &before.oracle) {
            parts.push(Part::Oracle);
        }
        parts
    }
}

/// Equal worlds offer the same events with the same outcomes.
impl PartialEq for World {
    fn eq(&self, other: &Self) -> bool {
        self.store == other.store
            && self.arbiters == other.arbiters
            && self.processes == other.processes
            && self.links == other.links
            && self.oracle == other.oracle
            && self.history == other.history
    }
}

impl Eq for World {}

impl std::hash::Hash for World {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.store.hash(state);
        self.arbiters.hash(state);
        self.processes.hash(state);
        self.links.hash(state);
        self.oracle.hash(state);
    }
}

/// A part of the world that changes as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub(crate) enum Part {
    Store,
    Arbiter(ArbiterIndex),
    Process(Who),
    Link(Who),
    Oracle,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) enum PartRef<'a> {
    Store(&'a Store),
    Arbiter(&'a Arbiter),
    Process(&'a Process),
    Link(&'a Link),
    Oracle(&'a Oracle),
}
