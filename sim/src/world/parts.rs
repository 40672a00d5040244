//! The parts of a world that change as a whole.

use serde::Serialize;

use super::{Arbiter, ArbiterIndex, Link, Oracle, Process, Store, Who, World};

/// Which part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub(crate) enum Part {
    Store,
    Arbiter(ArbiterIndex),
    Process(Who),
    Link(Who),
    Oracle,
}

/// A part, as something that serializes canonically.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) enum PartRef<'a> {
    Store(&'a Store),
    Arbiter(&'a Arbiter),
    Process(&'a Process),
    Link(&'a Link),
    Oracle(&'a Oracle),
}

impl World {
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
    /// on.
    pub(crate) fn touched_since(&self, before: &Self) -> Vec<Part> {
        let store = self.touched_store(before).map(|_| Part::Store);
        let arbiters = self.touched_arbiters(before).map(|(index, _)| Part::Arbiter(index));
        let processes = self.touched_processes(before).map(|(who, _, _)| Part::Process(who));
        let links = self.touched_links(before).map(|(who, _, _)| Part::Link(who));
        let oracle = self.touched_oracle(before).map(|_| Part::Oracle);
        store.into_iter().chain(arbiters).chain(processes).chain(links).chain(oracle).collect()
    }
}
