//! Who is who: the processes of each place, one life after another.

use std::collections::BTreeMap;
use std::sync::Arc;

use handover_core::{HostId, Name};

use super::{Link, Place, Process, Setup, Who, World};

/// A process and its link.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Actor {
    pub(super) process: Arc<Process>,
    pub(super) link: Arc<Link>,
}

/// What a world begins with, and where in it each name is.
#[derive(Debug)]
pub(crate) struct Ground {
    pub(super) setup: Setup,
    /// By the name, the number of the place.
    places: BTreeMap<Name, usize>,
}

/// The lives of each place. Numbers alone, so that a boot copies a few bytes a process.
#[derive(Clone, Debug)]
pub(super) struct Cast {
    /// By place, the newest process.
    newest: Vec<Option<Who>>,
    /// By process, the process before it at its place.
    earlier: Vec<Option<Who>>,
    /// By process, whether it is the newest of its place.
    is_newest: Vec<bool>,
}

impl Ground {
    pub(crate) fn new(setup: Setup) -> Self {
        let places = setup.places.iter().enumerate().rev();
        let places = places.map(|(number, place)| (place.name.clone(), number)).collect();
        Self { setup, places }
    }
}

impl Cast {
    pub(super) fn new(places: usize) -> Self {
        Self { newest: vec![None; places], earlier: Vec::new(), is_newest: Vec::new() }
    }

    /// The cast of these processes, in the order of their starts.
    pub(super) fn of(ground: &Ground, actors: &[Actor]) -> Self {
        let mut cast = Self::new(ground.setup.places.len());
        for (i, actor) in actors.iter().enumerate() {
            cast.enter(ground, &actor.process.name, Who::from(i));
        }
        cast
    }

    fn enter(&mut self, ground: &Ground, name: &Name, who: Who) {
        let number = ground.places.get(name);
        let newest = number.map(|number| &mut self.newest[*number]);
        self.is_newest.push(newest.is_some());
        let earlier = newest.and_then(|newest| newest.replace(who));
        if let Some(earlier) = earlier {
            self.is_newest[usize::from(earlier.0)] = false;
        }
        self.earlier.push(earlier);
    }
}

impl World {
    pub(super) fn place(&self, name: &Name) -> Option<&Place> {
        let number = self.ground.places.get(name)?;
        Some(&self.ground.setup.places[*number])
    }

    /// Takes a process up; nothing of it is on its way.
    pub(super) fn enter(&mut self, process: Process) -> Who {
        let who = Who::from(self.actors.len());
        Arc::make_mut(&mut self.cast).enter(&self.ground, &process.name, who);
        self.actors.push(Actor { process: Arc::new(process), link: Arc::default() });
        self.touched.processes.insert(who);
        self.touched.links.insert(who);
        self.touched.whole_links.insert(who);
        who
    }

    /// Is it the newest process of its place?
    pub(super) fn is_newest(&self, who: Who) -> bool {
        self.cast.is_newest[usize::from(who.0)]
    }

    /// The newest process of a place.
    #[must_use]
    pub fn newest(&self, name: &Name) -> Option<Who> {
        self.cast.newest[*self.ground.places.get(name)?]
    }

    /// All processes of a place, the newest first.
    pub(super) fn lives_of(&self, name: &Name) -> impl Iterator<Item = (Who, &Process)> {
        let lives =
            std::iter::successors(self.newest(name), |who| self.cast.earlier[usize::from(who.0)]);
        lives.map(|who| (who, self.process(who)))
    }

    /// The process that runs, or last ran, under this identity.
    #[must_use]
    pub fn by_id(&self, id: &HostId) -> Option<Who> {
        let mut lives = self.lives_of(&id.name);
        lives.find(|(_, process)| process.host.id() == id).map(|(who, _)| who)
    }

    /// Does a process live under this identity? One that has died under it may not be the only one
    /// that had it, where a boot has reused a number.
    pub(crate) fn is_lived(&self, id: &HostId) -> bool {
        self.lives_of(&id.name).any(|(_, process)| process.lives() && process.host.id() == id)
    }
}
