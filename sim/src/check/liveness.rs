//! Liveness at rest: heal, go on calmly until nothing happens, demand convergence.
//!
//! [`no_wedge`] is broken where nothing can happen any more and the rollout has not come to its
//! end; [`no_livelock`] where it goes on and on.

use std::ops::ControlFlow;

use super::{Transition, Violation, check, no_livelock, no_wedge};
use crate::world::{CalmEvents, Event, Fact, World};

/// How a rest went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Converged after this many steps.
    Converged {
        /// Steps taken.
        steps: usize,
    },
    /// A safety property broke on the way, or the world did not converge.
    Broken(Violation),
}

/// Goes on calmly to rest, calling `seen` after each step, and demands convergence. Faults that
/// are on stay on: heal first, where the question is whether it converges without them.
pub fn rest(world: &mut World, mut seen: impl FnMut(&Transition<'_>)) -> Rest {
    rest_while(world, |step| {
        seen(step);
        ControlFlow::Continue(())
    })
}

/// The same as long as `seen` says so after a step that breaks nothing.
pub(crate) fn rest_while(
    world: &mut World,
    mut seen: impl FnMut(&Transition<'_>) -> ControlFlow<Violation>,
) -> Rest {
    let bound = no_livelock::Bound::of(world);
    let mut calm = CalmEvents::of(world);
    let mut facts = Vec::new();
    let mut before = world.clone();
    let mut steps = 0;
    loop {
        if let Err(violation) = bound.judge(world, steps) {
            return Rest::Broken(violation);
        }
        let Some(event) = calm.first().cloned() else {
            return match no_wedge::at_rest(world) {
                Ok(()) => Rest::Converged { steps },
                Err(violation) => Rest::Broken(violation),
            };
        };
        let stepped = step(world, &before, &event, &mut facts, &mut seen);
        if let ControlFlow::Break(violation) = stepped {
            return Rest::Broken(violation);
        }
        calm.update(world, &before);
        before.follow(world);
        steps += 1;
    }
}

fn step(
    world: &mut World,
    before: &World,
    event: &Event,
    facts: &mut Vec<Fact>,
    seen: &mut impl FnMut(&Transition<'_>) -> ControlFlow<Violation>,
) -> ControlFlow<Violation> {
    facts.clear();
    world.apply(event, facts).expect("a calm event can happen");
    let transition = Transition { before, event, facts, after: world };
    let goes_on = seen(&transition);
    match check(&transition) {
        Ok(()) => goes_on,
        Err(violation) => ControlFlow::Break(violation),
    }
}
