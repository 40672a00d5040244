//! The point of no return: the step after which no fault-free way leads to convergence.

use std::collections::BTreeSet;

use super::fewest::is_flooded;
use super::round::rest;
use super::{Evidence, Limits, NoReturn};
use crate::check::Rest;
use crate::draw::{Concern, Draw};
use crate::explore::Printer;
use crate::world::{Event, Setup, World};

/// Steps of a seeded continuation, for each process.
const STEPS_PER_PROCESS: usize = 150;

/// Continuations by which a step is judged while the point is looked for.
const FEW: u32 = 20;

/// Can a converged state be reached?
enum Reach {
    Yes,
    No(Evidence),
    /// The limits were spent.
    Unknown,
}

/// Why a schedule has no point of no return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoPoint {
    /// From its end another order than the calm one still converges: what goes wrong is the order
    /// alone.
    Open,
    /// The limits do not reach.
    Unknown,
}

/// The point of no return of a schedule whose end does not converge: the step after which no
/// fault-free way leads to convergence.
///
/// # Errors
/// Why there is none.
///
/// # Panics
/// If the schedule is not one of this setup.
pub fn no_return(setup: &Setup, schedule: &[Event], limits: &Limits) -> Result<NoReturn, NoPoint> {
    let mut world = World::new(setup.clone());
    let mut worlds = vec![world.clone()];
    for event in schedule {
        world.apply(event, &mut Vec::new()).expect("the schedule was replayed");
        worlds.push(world.clone());
    }
    let printer = Printer::new(setup);
    let mut future = Future { printer, dead: BTreeSet::new(), states: 0, steps: 0, limits };
    let (after, evidence) = future.first_lost(&worlds)?;
    // Lost from the start: no step of it has done that.
    let step = after.checked_sub(1).ok_or(NoPoint::Unknown)?;
    let event = worlds[step].name_of(&schedule[step]);
    Ok(NoReturn { step, event, evidence })
}

/// What can follow without faults.
struct Future<'a> {
    printer: Printer,
    /// States from which convergence is known to be out of reach.
    dead: BTreeSet<u128>,
    states: usize,
    steps: usize,
    limits: &'a Limits,
}

impl Future<'_> {
    /// The first world of the last stretch from which nothing converges. Where that is not exact, it
    /// is looked for with a few continuations, and then held against all of them.
    fn first_lost(&mut self, worlds: &[World]) -> Result<(usize, Evidence), NoPoint> {
        let few = FEW.min(self.limits.continuations);
        let mut lost: Option<(usize, Evidence)> = None;
        for (step, world) in worlds.iter().enumerate().rev() {
            match self.reach(world, few) {
                Reach::No(evidence) => lost = Some((step, evidence)),
                Reach::Unknown => return Err(NoPoint::Unknown),
                Reach::Yes => break,
            }
        }
        let (first, evidence) = lost.ok_or(NoPoint::Open)?;
        if let Evidence::Exhausted { .. } = evidence {
            return Ok((first, evidence));
        }
        for (step, world) in worlds.iter().enumerate().skip(first) {
            match self.reach(world, self.limits.continuations) {
                Reach::No(evidence) => return Ok((step, evidence)),
                Reach::Unknown => return Err(NoPoint::Unknown),
                Reach::Yes => {}
            }
        }
        Err(NoPoint::Open)
    }

    fn reach(&mut self, world: &World, continuations: u32) -> Reach {
        if self.is_spent() {
            return Reach::Unknown;
        }
        let mut healed = world.clone();
        healed.apply(&Event::Heal, &mut Vec::new()).expect("faults can end at any time");
        let steps = &mut self.steps;
        if let Rest::Converged { .. } = rest(&mut healed.clone(), |_| *steps += 1) {
            return Reach::Yes;
        }
        if let Some(found) = self.exhaust(&healed) {
            return found;
        }
        self.sample(&healed, continuations)
    }

    fn is_spent(&self) -> bool {
        self.steps > self.limits.steps_max / 4
    }

    /// Follows all orders of what happens by itself; none where they are too many. Worlds that
    /// differ in their numbers alone are one.
    fn exhaust(&mut self, world: &World) -> Option<Reach> {
        let mut seen = BTreeSet::new();
        let mut open = vec![world.clone()];
        while let Some(world) = open.pop() {
            let key = self.printer.print(&world);
            if self.dead.contains(&key) || !seen.insert(key) {
                continue;
            }
            if is_flooded(&world) || self.states + seen.len() > self.limits.states_max {
                self.states = self.limits.states_max;
                return None;
            }
            let events = world.calm_events();
            if events.is_empty() && world.is_converged() {
                return Some(Reach::Yes);
            }
            // The calm way is looked at first.
            for event in events.iter().rev() {
                let mut next = world.clone();
                next.apply(event, &mut Vec::new()).expect("a calm event can happen");
                open.push(next);
            }
        }
        self.states += seen.len();
        self.dead.extend(seen);
        Some(Reach::No(Evidence::Exhausted { states: self.states }))
    }

    fn sample(&mut self, world: &World, continuations: u32) -> Reach {
        let steps_max = STEPS_PER_PROCESS * world.processes().count();
        for seed in 0..u64::from(continuations) {
            if self.is_spent() {
                return Reach::Unknown;
            }
            let mut draw = Draw::new(seed, Concern::Schedule);
            let mut world = world.clone();
            for _ in 0..steps_max {
                let events = world.calm_events();
                let Some(event) = draw.pick(&events) else {
                    break;
                };
                world.apply(event, &mut Vec::new()).expect("a calm event can happen");
                self.steps += 1;
            }
            if world.is_converged() {
                return Reach::Yes;
            }
        }
        Reach::No(Evidence::Sampled { continuations })
    }
}
