//! Worlds that go on for ever, told early.
//!
//! What calm does next depends on the world alone, so a world that comes again but for its numbers
//! comes again for ever. Where hosts come back without end none does; there the lives are counted.

use std::ops::ControlFlow;

use crate::check::{Property, Rest, Transition, Violation, rest_while};
use crate::explore::Printer;
use crate::world::World;

/// Calm steps after which a world is taken for one that never comes to rest: more than any rollout
/// that converges takes, for each process.
const STEPS_MAX: usize = 400;

/// Lives that may begin on the way, and one more for each process: a host that was wrongly declared
/// gone comes back once.
const LIVES_MAX: usize = 6;

/// Steps before the first print is taken, for each process: most worlds have come to rest by then.
const PRINTED_FROM: usize = 25;

/// Messages that may come to wait on a link, for no process; and for each eight more.
const MESSAGES_MAX: usize = 50;

/// Steps between two looks at all links.
const LOOKS: usize = 16;

/// Looks for a world that was there before (Brent, 1980): it is compared with one that is replaced
/// after one step, two, four, and so on.
#[derive(Debug)]
pub(super) struct Round {
    printer: Printer,
    kept: Option<u128>,
    since: usize,
    until: usize,
    steps: usize,
    lives: usize,
    messages: usize,
}

impl Round {
    /// From this world on.
    pub(super) fn new(world: &World) -> Self {
        let lives = world.processes().count();
        Self {
            printer: Printer::new(world.setup()),
            kept: None,
            since: 0,
            until: 1,
            steps: 0,
            lives,
            messages: 2 * most(world) + MESSAGES_MAX + 8 * lives,
        }
    }

    /// Sees the world after a calm step; says why it goes on for ever.
    pub(super) fn see(&mut self, world: &World) -> Option<String> {
        self.steps += 1;
        let lives = world.processes().count();
        if lives > 2 * self.lives + LIVES_MAX {
            let more = lives - self.lives;
            return Some(format!(
                "after {} calm steps hosts have come back {more} times",
                self.steps
            ));
        }
        // What piles up is never read: calm reads the oldest first.
        let is_looked_at = self.steps.is_multiple_of(LOOKS);
        if self.steps > STEPS_MAX * (1 + self.lives) || is_looked_at && most(world) > self.messages
        {
            return Some(format!("after {} calm steps it still goes on", self.steps));
        }
        // A print costs as much as there are processes, so it is not taken at each step. What goes
        // round does so in any stride.
        if self.steps < PRINTED_FROM * self.lives || !self.steps.is_multiple_of(lives) {
            return None;
        }
        let print = self.printer.print(world);
        self.since += 1;
        if self.kept == Some(print) {
            return Some(format!("after {} calm steps it goes round", self.steps));
        }
        if self.kept.is_none() || self.since == self.until {
            (self.kept, self.since, self.until) = (Some(print), 0, self.until * 2);
        }
        None
    }
}

/// Goes on calmly to rest, as [`check::rest`](crate::check::rest) does, and knows a world that never
/// gets there as soon as it can be known.
pub(super) fn rest(world: &mut World, mut seen: impl FnMut(&Transition<'_>)) -> Rest {
    let mut round = Round::new(world);
    rest_while(world, |step| {
        seen(step);
        match round.see(step.after) {
            Some(why) => ControlFlow::Break(Violation { property: Property::NoLivelock, why }),
            None => ControlFlow::Continue(()),
        }
    })
}

/// The messages on the link that has the most.
fn most(world: &World) -> usize {
    let waiting = world.processes().map(|(who, _)| {
        let link = world.link(who);
        link.statements.len() + link.views.len()
    });
    waiting.max().unwrap_or(0)
}
