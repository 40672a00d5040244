//! How long each thing takes, in microseconds of virtual time.

use crate::draw::{Concern, Draw};
use crate::world::{Direction, Event, Who, World};

/// From `min` to `min + spread`, all equally likely.
#[derive(Clone, Copy, Debug)]
struct Span {
    min_us: u64,
    spread_us: u64,
}

impl Span {
    /// A span of its own, between 2^6 and 2^13 times `unit_us`, with a spread up to seven times as
    /// wide: links differ by orders of magnitude, and so do their jitters.
    fn drawn(draw: &mut Draw, unit_us: u64) -> Self {
        let min_us = unit_us << draw.below(8);
        Self { min_us, spread_us: min_us * draw.below(8) }
    }

    fn draw(self, draw: &mut Draw) -> u64 {
        draw.between(self.min_us, self.min_us + self.spread_us)
    }
}

/// What is particular to a place: its links and its pace.
#[derive(Clone, Copy, Debug)]
struct Pace {
    to_record: Span,
    from_record: Span,
    /// A step of its driver.
    step: Span,
    /// A chunk of a build, or its end.
    build: Span,
    /// How long its silence is borne before something is sent again.
    patience: Span,
    /// All that is done there takes so many times as long.
    factor: u64,
}

/// How long each thing takes in one run.
#[derive(Clone, Debug)]
pub(super) struct Delays {
    draw: Draw,
    /// By place, in the order of the setup.
    places: Vec<Pace>,
    /// The place of each process.
    place_of: Vec<usize>,
    /// From a commit to its publication.
    publish: Span,
    /// From an end to the word that it has ended.
    detection: Span,
}

impl Delays {
    pub(super) fn new(seed: u64, places: usize, factors: bool) -> Self {
        let mut draw = Draw::new(seed, Concern::Delays);
        let publish = Span::drawn(&mut draw, 10);
        let detection = Span::drawn(&mut draw, 2_000);
        let places = (0..places)
            .map(|_| Pace {
                to_record: Span::drawn(&mut draw, 50),
                from_record: Span::drawn(&mut draw, 50),
                step: Span::drawn(&mut draw, 10),
                build: Span::drawn(&mut draw, 500),
                patience: Span::drawn(&mut draw, 1_000),
                factor: if factors && draw.chance(250) { 1 << draw.below(7) } else { 1 },
            })
            .collect();
        Self { draw, places, place_of: Vec::new(), publish, detection }
    }

    /// How long until an event happens that has just become possible.
    ///
    /// # Panics
    /// If it does not happen by itself.
    pub(super) fn draw(&mut self, world: &World, event: &Event) -> u64 {
        // A driver that lets offers lapse by itself does so as soon as it can.
        if let Event::Publish(_) | Event::Lapse(_) = event {
            return self.publish.draw(&mut self.draw);
        }
        if let Event::Gone(_) = event {
            return self.detection.draw(&mut self.draw);
        }
        if let Event::Deliver { from, .. } = event {
            return self.pace(world, *from).to_record.draw(&mut self.draw);
        }
        if let Event::Read(who) = event {
            let pace = self.pace(world, *who);
            let step = pace.step.draw(&mut self.draw) * pace.factor * factor(world, *who);
            return pace.from_record.draw(&mut self.draw) + step;
        }
        if let Event::Repeat(wire) = event {
            let pace = self.pace(world, wire.who);
            let patience = pace.patience.draw(&mut self.draw);
            // The host repeats at its own pace, the record at its own.
            return match wire.direction {
                Direction::ToRecord => patience * pace.factor * factor(world, wire.who),
                Direction::FromRecord => patience,
            };
        }
        if let Event::Step { who, .. } | Event::Plan { who, .. } = event {
            let pace = self.pace(world, *who);
            return pace.step.draw(&mut self.draw) * pace.factor * factor(world, *who);
        }
        let (Event::SignOff { who, .. }
        | Event::BuildEnds { who, .. }
        | Event::BuildStops { who, .. }) = event
        else {
            unreachable!("{event:?} does not happen by itself");
        };
        let pace = self.pace(world, *who);
        pace.build.draw(&mut self.draw) * pace.factor * factor(world, *who)
    }

    fn pace(&mut self, world: &World, who: Who) -> Pace {
        while self.place_of.len() <= usize::from(who.0) {
            let process = world.process(Who::from(self.place_of.len()));
            let mut places = world.setup().places.iter();
            let place = places.position(|place| place.name == process.name);
            self.place_of.push(place.expect("processes live at places"));
        }
        self.places[self.place_of[usize::from(who.0)]]
    }
}

fn factor(world: &World, who: Who) -> u64 {
    u64::from(world.process(who).slow.max(1))
}
