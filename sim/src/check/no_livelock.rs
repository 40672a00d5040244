//! `NoLivelock`: no cycle without faults avoids convergence.
//!
//! Judged by a bound: a calm world that has not come to rest after far more steps than any rollout
//! needs never will. Carried by St2, Ar4, Ar8, Ca5 and Ho1.

use super::{Property, Violation};
use crate::world::World;

/// Steps after which a calm world that has not come to rest never will: each host takes part in
/// at most a few hand-overs of a few dozen steps.
pub(super) fn bound(world: &World) -> usize {
    let hosts = world.processes().count();
    1_000 + 200 * hosts * hosts
}

/// What is said of a world that goes on after so many steps.
pub(super) fn endless(steps: usize) -> Violation {
    let why = format!("after {steps} calm steps it still goes on");
    Violation::new(Property::NoLivelock, why)
}

#[cfg(test)]
mod tests {
    use handover_core::View;

    use super::*;
    use crate::check::testing::{A, after, two, world_under};
    use crate::check::{Rest, rest};
    use crate::variants::Protocol;
    use crate::world::{Event, Place, Process};

    /// A host that never hears that it was heard says its word again for ever.
    #[derive(Debug)]
    struct Deaf;

    impl Protocol for Deaf {
        fn name(&self) -> &'static str {
            "deaf"
        }

        fn summary(&self) -> &'static str {
            "no view acknowledges anything"
        }

        fn breaks(&self) -> Option<Property> {
            Some(Property::NoLivelock)
        }

        fn hear(&self, view: &View, _process: &Process) -> View {
            View { acknowledged: None, ..view.clone() }
        }
    }

    #[test]
    fn a_world_that_goes_on_for_ever_breaks_it() {
        let world = world_under(&Deaf, vec![Place::new("a", "v1")]);
        let mut world = after(world, [Event::Ask(A)]);
        let Rest::Broken(violation) = rest(&mut world, |_| ()) else {
            panic!("it repeats its word for ever");
        };
        assert_eq!(violation.property, Property::NoLivelock);
        assert_eq!(violation.why, "after 1200 calm steps it still goes on");
    }

    #[test]
    fn a_rollout_comes_to_rest_far_below_the_bound() {
        let mut world = after(two(), [Event::Ask(A)]);
        let bound = bound(&world);
        let rested = rest(&mut world, |_| ());
        let far_below = matches!(rested, Rest::Converged { steps } if steps * 10 < bound);
        assert!(far_below, "{rested:?}, of {bound}");
    }
}
