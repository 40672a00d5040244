//! What hosts and operators want in a rolling update.
//!
//! Each process asks for its version to be prepared. One place after another is drained, ends, and
//! boots with the next version. Builds are submitted to the executors now and then; some are
//! deployments, whose success drains the host.

use std::collections::BTreeMap;

use handover_core::{EndAction, Name, Term, Version};

use super::faults::{at_deadline, running_local};
use super::settings::version_name;
use crate::draw::Draw;
use crate::world::{Event, Fact, Process, Who, World};

/// Processes after which nothing boots any more: room is left for the faults that start one.
const PROCESSES_MAX: usize = World::PROCESSES_MAX - 256;

/// The shortest time in which wishes begin.
const SPAN_MIN: u64 = 100;

/// What somebody wants of a place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wish {
    /// Its process asks.
    Ask(Name),
    /// It is drained, to come back with the next version.
    Roll(Name),
    /// A process starts there.
    Boot(Name),
    /// Its executor is given a build.
    Submit {
        /// Where.
        name: Name,
        /// The number in the build's id.
        number: u32,
    },
}

/// What becomes of a wish when it is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Granted {
    /// This event.
    Now(Event),
    /// It has to wait: the process is paused.
    Later,
    /// It is pointless by now.
    Never,
}

/// The wishes of one run.
#[derive(Clone, Debug)]
pub(super) struct Workload {
    draw: Draw,
    versions: u8,
    /// The time in which wishes begin.
    span: u64,
    /// The version that each place boots next.
    next: BTreeMap<Name, u8>,
}

impl Workload {
    pub(super) fn new(draw: Draw, versions: u8, span: u64) -> Self {
        Self { draw, versions, span: span.max(SPAN_MIN), next: BTreeMap::new() }
    }

    /// All wishes that do not follow from what happens, each with the time at which it is due.
    pub(super) fn begin(&mut self, places: &[Name], local_builds: u32) -> Vec<(u64, Wish)> {
        let span = self.span;
        let mut wishes = Vec::new();
        for name in places {
            wishes.push((self.draw.below(span / 8), Wish::Ask(name.clone())));
        }
        for version in 1..u64::from(self.versions) {
            let leg = span / u64::from(self.versions);
            for name in places {
                let due = leg * version + self.draw.below(leg);
                wishes.push((due, Wish::Roll(name.clone())));
            }
        }
        for number in 1..=local_builds {
            if let Some(name) = self.draw.pick(places).cloned() {
                wishes.push((self.draw.below(span), Wish::Submit { name, number }));
            }
        }
        wishes
    }

    /// What becomes of a wish that is due.
    pub(super) fn grant(&mut self, world: &World, wish: &Wish) -> Granted {
        let name = match wish {
            Wish::Ask(name) | Wish::Roll(name) | Wish::Boot(name) | Wish::Submit { name, .. } => {
                name
            }
        };
        let Some(who) = world.newest(name) else {
            return Granted::Never;
        };
        let process = world.process(who);
        let lives = process.lives();
        match wish {
            Wish::Boot(_) if lives || world.processes().count() >= PROCESSES_MAX => Granted::Never,
            Wish::Boot(name) => Granted::Now(Event::Boot {
                name: name.clone(),
                version: Some(self.next_version(name)),
            }),
            Wish::Ask(_) | Wish::Roll(_) | Wish::Submit { .. } if !lives => Granted::Never,
            Wish::Ask(_) | Wish::Roll(_) | Wish::Submit { .. } if !process.acts() => Granted::Later,
            Wish::Ask(_) if self.draw.chance(50) => Granted::Now(Event::Watch(who)),
            Wish::Ask(_) => Granted::Now(Event::Ask(who)),
            Wish::Roll(name) => {
                self.advance(name, process.host.version());
                Granted::Now(Event::Drain {
                    who,
                    term: Term::ThisVersion,
                    end: EndAction::Restart,
                    at_deadline: at_deadline(&mut self.draw),
                })
            }
            Wish::Submit { number, .. } => Granted::Now(self.submit(who, process, *number)),
        }
    }

    /// The wishes that follow from what has happened, each with the time until it is due.
    pub(super) fn follow(&mut self, world: &World, facts: &[Fact]) -> Vec<(u64, Wish)> {
        let mut wishes = Vec::new();
        for fact in facts {
            if let Fact::Crashed { who } = fact
                && self.draw.chance(900)
            {
                wishes.push(self.after_a_while(Wish::Boot(world.process(*who).name.clone())));
            }
            if let Fact::Exited { who } = fact {
                let process = world.process(*who);
                self.advance(&process.name, process.host.version());
                let drain = process.host.executor().active_drain();
                let stops = drain.is_some_and(|drain| drain.end == EndAction::Stop);
                if !stops || self.draw.chance(250) {
                    wishes.push(self.after_a_while(Wish::Boot(process.name.clone())));
                }
            }
            if let Fact::Booted { id, .. } = fact {
                wishes.push(self.after_a_while(Wish::Ask(id.name.clone())));
            }
        }
        wishes
    }

    fn after_a_while(&mut self, wish: Wish) -> (u64, Wish) {
        (self.draw.between(self.span / 4_000, self.span / 20), wish)
    }

    fn submit(&mut self, who: Who, process: &Process, number: u32) -> Event {
        let parent = running_local(process).filter(|_| self.draw.chance(400));
        let deploys = !self.is_last(process.host.version()) && self.draw.chance(300);
        let end = match self.draw.below(3) {
            0 => EndAction::Nothing,
            1 => EndAction::Restart,
            _ => EndAction::Stop,
        };
        Event::Submit {
            who,
            build: format!("x{number}").as_str().into(),
            parent,
            drains: deploys.then_some(end),
        }
    }

    /// The place boots with a later version than this one, if there is one.
    fn advance(&mut self, name: &Name, version: &Version) {
        let runs = (0..self.versions).find(|index| version_name(*index) == *version);
        let next = runs.map_or(0, |index| index + 1).min(self.versions - 1);
        let entry = self.next.entry(name.clone()).or_default();
        *entry = next.max(*entry);
    }

    fn next_version(&self, name: &Name) -> Version {
        version_name(self.next.get(name).copied().unwrap_or_default())
    }

    fn is_last(&self, version: &Version) -> bool {
        *version == version_name(self.versions - 1)
    }
}
