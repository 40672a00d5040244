//! The rollout that all tools run: some hosts ask for one version, and all that follows by itself
//! happens, in an order that the tool picks. No faults, no virtual time: what any of them can do.

use std::collections::BTreeSet;

use handover_core::Chunk;
use handover_sim::check::{Transition, check};
use handover_sim::variants::Current;
use handover_sim::world::{CalmEvents, Event, Fact, Place, Setup, Who, World};

/// A rollout that goes on step by step, each step judged.
pub struct Rollout {
    world: World,
    before: World,
    calm: CalmEvents,
    facts: Vec<Fact>,
    steps: u64,
}

/// The world in which all of these hosts have asked.
pub fn all_ask(hosts: u16) -> World {
    let place = |number: u16| Place::new(&format!("h{number}"), "v1");
    let mut world = World::new(Setup {
        places: (0..hosts).map(place).collect(),
        chunks: BTreeSet::from(["c1", "c2", "c3"].map(Chunk::from)),
        arbiters: 1,
        protocol: &Current,
    });
    for who in (0..hosts).map(Who) {
        world.apply(&Event::Ask(who), &mut Vec::new()).expect("who is up may ask");
    }
    world
}

impl Rollout {
    /// Goes on from a world in which all hosts have asked.
    pub fn new(world: &World) -> Self {
        let mut world = world.clone();
        let mut before = world.clone();
        before.follow(&mut world);
        let calm = CalmEvents::of(&world);
        Self { world, before, calm, facts: Vec::new(), steps: 0 }
    }

    /// What can happen.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.calm.iter()
    }

    /// What an actor can do: a host, or, with the number behind the last host's, the record.
    pub fn event_of(&self, actor: usize) -> Option<Event> {
        let hosts = self.world.processes().len();
        let of = |event: &&Event| actor_of(event, hosts) == actor;
        self.calm.iter().find(of).cloned()
    }

    /// The actors that have something to do.
    pub fn ready(&self) -> impl Iterator<Item = usize> {
        let hosts = self.world.processes().len();
        self.calm.iter().map(move |event| actor_of(event, hosts))
    }

    /// Makes an event happen, and judges it by all safety properties.
    pub fn step(&mut self, event: &Event) {
        self.calm.take(event);
        self.facts.clear();
        self.world.apply(event, &mut self.facts).expect("it can happen");
        let (facts, after) = (&self.facts, &self.world);
        let step = Transition { before: &self.before, event, facts, after };
        check(&step).expect("the right protocol keeps all properties");
        self.calm.update(&self.world, &self.before);
        self.before.follow(&mut self.world);
        self.steps += 1;
    }

    /// Ends a rollout that has nothing left to do: it has to have converged. Says how many steps
    /// it has taken.
    pub fn end(&self) -> u64 {
        assert!(
            self.calm.iter().next().is_none() && self.world.is_converged(),
            "it came to its end"
        );
        self.steps
    }
}

fn actor_of(event: &Event, hosts: usize) -> usize {
    if let Event::Step { who, .. }
    | Event::Plan { who, .. }
    | Event::Read(who)
    | Event::SignOff { who, .. }
    | Event::BuildEnds { who, .. }
    | Event::BuildStops { who, .. } = event
    {
        usize::from(who.0)
    } else {
        hosts
    }
}
