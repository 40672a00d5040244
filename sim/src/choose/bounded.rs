//! Calm, but for a few departures.
//!
//! Emmi, Qadeer and Rakamarić, "Delay-bounded scheduling" (POPL 2011): most failures need few
//! departures from a schedule that is fixed, and there are few schedules with few departures. Here
//! the fixed schedule is calm. A departure puts what calm would do next off until nothing else can
//! happen, or lets a fault strike.

use handover_core::Name;

use super::FaultKind;
use super::agenda::Agenda;
use super::faults::{Strike, strike, strikes};
use super::happening::Happening;
use super::next::Next;
use super::settings::Draft;
use crate::draw::Draw;
use crate::world::{Direction, Event, Wire, World};

/// What is put off until nothing else happens by itself has a key from here on.
const HELD: u64 = 1 << 60;

/// What is put off until nothing else is due either has a key from here on.
const HELD_LONG: u64 = 1 << 61;

/// How a schedule departs from calm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Departure {
    /// In one of the ways that there are at that point, by its number.
    Way(usize),
    /// In a way that is drawn.
    Drawn,
}

/// How many ways there are to put off what is next.
fn holds(happening: &Happening) -> usize {
    if happening.first().is_some() { 2 } else { 0 }
}

/// Departs from calm at a few points.
#[derive(Clone, Debug)]
pub(super) struct Departures {
    draw: Draw,
    kinds: Vec<FaultKind>,
    /// The place that is hit more often than others.
    victim: Option<Name>,
    /// Points at which it departs, the last one first. The first decision is point 0.
    planned: Vec<(usize, Departure)>,
    /// Decisions taken.
    decisions: usize,
    /// Things put off so far; they go on in their order.
    held: u64,
    /// How many ways to depart there are; none if nobody wants to know.
    counting: Option<Counting>,
}

#[derive(Clone, Debug)]
struct Counting {
    /// The first point that is counted.
    from: usize,
    /// How many more ways there is room for; none: there were more.
    room: Option<usize>,
    /// Those of each point.
    ways: Vec<usize>,
}

impl Departures {
    /// Departs in these ways at these points, in their order.
    pub(super) fn planned(draw: Draw, kinds: Vec<FaultKind>, ways: &[(usize, usize)]) -> Self {
        let planned = ways.iter().map(|(point, way)| (*point, Departure::Way(*way)));
        Self::new(draw, kinds, planned.collect())
    }

    fn new(draw: Draw, kinds: Vec<FaultKind>, mut planned: Vec<(usize, Departure)>) -> Self {
        planned.reverse();
        Self { draw, kinds, victim: None, planned, decisions: 0, held: 0, counting: None }
    }

    /// Departs in ways that are drawn at so many points, which are drawn below `steps`. Half of them
    /// come soon after the one before: two that have to do with each other often do.
    pub(super) fn drawn(mut draw: Draw, draft: &Draft, departures: u64, steps: u64) -> Self {
        let mut points: Vec<u64> = Vec::new();
        for _ in 0..departures {
            let point = match points.last() {
                Some(last) if draw.chance(500) => {
                    let window = 1 << draw.between(1, 6);
                    last + draw.below(window)
                }
                Some(_) | None => draw.below(steps.max(1)),
            };
            points.push(point);
        }
        points.sort_unstable();
        let at = |point| usize::try_from(point).unwrap_or(usize::MAX);
        let planned = points.into_iter().map(|point| (at(point), Departure::Drawn)).collect();
        Self { victim: draft.victim.clone(), ..Self::new(draw, draft.kinds(), planned) }
    }

    /// Counts the ways to depart at each point from this one on, as long as there is room for all
    /// of them.
    pub(super) fn count(&mut self, from: usize, room: usize) {
        self.counting = Some(Counting { from, room: Some(room), ways: Vec::new() });
    }

    /// Is there no room for all ways? Nothing that follows could make them few again.
    pub(super) fn has_too_many(&self) -> bool {
        self.counting.as_ref().is_some_and(|counting| counting.room.is_none())
    }

    /// The points that were counted, each with the number of its ways; none if there was no room.
    pub(super) fn counted(&self) -> Option<Vec<(usize, usize)>> {
        let counting = self.counting.as_ref().filter(|counting| counting.room.is_some())?;
        Some((counting.from..).zip(counting.ways.iter().copied()).collect())
    }

    /// The key of an event, by its place among those of its process: its place in the calm order,
    /// or what it has if it is put off.
    pub(super) fn key(place: usize, event: &Event, had: u64) -> u64 {
        if had >= HELD { had } else { calm_key(place, event) }
    }

    /// What is next, of what happens by itself and of what is due at this step or before.
    pub(super) fn next(
        &mut self,
        world: &World,
        step: u64,
        happening: &mut Happening,
        agenda: &mut Agenda,
    ) -> Option<Next> {
        let is_due = agenda.first_due().is_some_and(|due| due <= step);
        let waits = |(key, _): (u64, &Event)| key >= HELD_LONG && !agenda.is_empty();
        if !is_due && happening.first().is_none_or(waits) {
            return None;
        }
        let point = self.decisions;
        self.decisions += 1;
        if let Some(counting) = &mut self.counting
            && point >= counting.from
            && let Some(room) = counting.room
        {
            let faults = all(world, &self.kinds, &mut self.draw.clone());
            let ways = holds(happening) + faults.len();
            counting.room = room.checked_sub(ways);
            counting.ways.push(ways);
        }
        while let Some((_, departure)) = self.planned.pop_if(|(at, _)| *at <= point) {
            if let Some(strike) = self.depart(world, &departure, happening) {
                return Some(Next::Departs { event: strike.event, end: strike.end });
            }
        }
        if is_due {
            return agenda.take_first().map(|(_, item)| Next::Due(item));
        }
        happening.take_first().map(Next::Happens)
    }

    /// Puts off what is next, or gives the fault that strikes.
    fn depart(
        &mut self,
        world: &World,
        departure: &Departure,
        happening: &mut Happening,
    ) -> Option<Strike> {
        let way = match departure {
            Departure::Way(way) => *way,
            Departure::Drawn if happening.first().is_none() => return None,
            Departure::Drawn if self.kinds.is_empty() || self.draw.chance(400) => {
                usize::from(self.draw.chance(500))
            }
            Departure::Drawn => {
                let kind = *self.draw.pick(&self.kinds)?;
                return strike(world, kind, self.victim.as_ref(), &mut self.draw);
            }
        };
        if let Some(number) = way.checked_sub(holds(happening)) {
            let all = all(world, &self.kinds, &mut self.draw.clone());
            return all.into_iter().nth(number);
        }
        self.held += 1;
        happening.put_off(if way == 0 { HELD } else { HELD_LONG } + self.held);
        None
    }
}

/// All that can go wrong now; what ends after a while may also last.
fn all(world: &World, kinds: &[FaultKind], draw: &mut Draw) -> Vec<Strike> {
    let strikes = kinds.iter().flat_map(|kind| strikes(world, *kind, draw));
    let lasting = |strike: &Strike| Strike { event: strike.event.clone(), end: None };
    let both = strikes.flat_map(|strike| {
        let lasting = strike.end.is_some().then(|| lasting(&strike));
        [Some(strike), lasting]
    });
    both.flatten().collect()
}

/// The calm order: see [`World::calm_events`].
fn calm_key(place: usize, event: &Event) -> u64 {
    let (class, who) = if let Event::Step { who, .. } | Event::Plan { who, .. } = event {
        (0, who.0)
    } else if let Event::Deliver { from: who, .. } | Event::Gone(who) = event {
        (1, who.0)
    } else if let Event::Publish(index) = event {
        (2, u16::from(index.0))
    } else if let Event::Lapse(_) = event {
        (2, u16::from(u8::MAX))
    } else if let Event::Read(who) = event {
        (3, who.0)
    } else if let Event::SignOff { who, .. }
    | Event::BuildEnds { who, .. }
    | Event::BuildStops { who, .. } = event
    {
        (4, who.0)
    } else if let Event::Repeat(Wire { who, direction }) = event {
        (5 + u64::from(*direction == Direction::ToRecord), who.0)
    } else {
        unreachable!("{event:?} does not happen by itself");
    };
    class << 48 | u64::from(who) << 32 | place as u64
}
