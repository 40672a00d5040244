//! Liveness at rest: heal, go on calmly until nothing happens, demand convergence.
//!
//! `NoWedge` is broken where nothing can happen any more and the rollout has not come to its end;
//! `NoLivelock` where it goes on and on.

use super::{Property, Transition, Violation, check};
use crate::world::{Event, Fact, World};

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

/// Steps after which a calm world that has not come to rest never will: each host takes part in
/// at most a few hand-overs of a few dozen steps.
fn bound(world: &World) -> usize {
    let hosts = world.processes().count();
    1_000 + 200 * hosts * hosts
}

/// Goes on calmly to rest, calling `seen` after each step, and demands convergence. Faults that
/// are on stay on: heal first, where the question is whether it converges without them.
pub fn rest(world: &mut World, mut seen: impl FnMut(&Transition<'_>)) -> Rest {
    let bound = bound(world);
    for steps in 0..bound {
        let Some(event) = world.next_calm() else {
            return judge(world, steps);
        };
        if let Err(violation) = step(world, &event, &mut seen) {
            return Rest::Broken(violation);
        }
    }
    let why = format!("after {bound} calm steps it still goes on");
    Rest::Broken(Violation::new(Property::NoLivelock, why))
}

fn step(
    world: &mut World,
    event: &Event,
    seen: &mut impl FnMut(&Transition<'_>),
) -> Result<(), Violation> {
    let before = world.clone();
    let mut facts: Vec<Fact> = Vec::new();
    world
        .apply(event, &mut facts)
        .expect("a calm event can happen");
    let transition = Transition {
        before: &before,
        event,
        facts: &facts,
        after: world,
    };
    seen(&transition);
    check(&transition)
}

fn judge(world: &World, steps: usize) -> Rest {
    let stuck = world.stuck();
    if stuck.is_empty() {
        return Rest::Converged { steps };
    }
    let stuck: Vec<String> = stuck.into_iter().map(|stuck| stuck.0).collect();
    Rest::Broken(Violation::new(Property::NoWedge, stuck.join("; ")))
}
