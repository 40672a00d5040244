//! `NoLivelock`: no cycle without faults avoids convergence.
//!
//! Judged by a bound: a calm world that has not come to rest after far more steps than any rollout
//! needs never will, nor one that has far more lives, or messages that nobody reads. Carried by St2, Ar4, Ar8, Ca5 and Ho1.

use super::{Property, Violation};
use crate::world::{Who, World};

/// Beyond what a calm world is taken for one that never comes to rest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    /// Each host takes part in at most a few hand-overs of a few dozen steps.
    steps: usize,
    /// Processes: a host that was wrongly declared gone comes back once.
    lives: usize,
    /// Messages on one link. Calm reads the oldest first, so what piles up is never read; and a
    /// long queue is dear.
    messages: usize,
}

/// Steps between two looks at all links.
const LOOKS: usize = 64;

impl Bound {
    /// For this world.
    pub(super) fn of(world: &World) -> Self {
        let hosts = world.processes().count();
        let links = || world.processes().map(|(who, _)| world.link(who));
        // Each word that is on its way makes one more view for everybody.
        let words: usize = links().map(|link| link.statements.len()).sum();
        let on_the_way = words + links().map(|link| link.views.len()).max().unwrap_or(0);
        Self {
            steps: 1_000 + 200 * hosts * hosts,
            lives: 4 * (hosts + 1),
            messages: 200 + 8 * hosts + 2 * on_the_way,
        }
    }

    /// Is the world beyond it after so many steps?
    pub(super) fn judge(&self, world: &World, steps: usize) -> Result<(), Violation> {
        let goes_on = steps >= self.steps
            || steps.is_multiple_of(LOOKS)
                && (world.processes().count() > self.lives
                    || world.processes().any(|(who, _)| waiting(world, who) > self.messages));
        if !goes_on {
            return Ok(());
        }
        let why = format!("after {steps} calm steps it still goes on");
        Err(Violation::new(Property::NoLivelock, why))
    }
}

/// The messages on a link, both ways.
fn waiting(world: &World, who: Who) -> usize {
    let link = world.link(who);
    link.statements.len() + link.views.len()
}

#[cfg(test)]
mod tests {
    use handover_core::View;

    use super::*;
    use crate::check::testing::{A, B, after, two, world_under};
    use crate::check::{Rest, rest};
    use crate::variants::{Protocol, by_name};
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
        let bound = Bound::of(&world);
        let rested = rest(&mut world, |_| ());
        let far_below = matches!(rested, Rest::Converged { steps } if steps * 10 < bound.steps);
        assert!(far_below, "{rested:?}, of {bound:?}");
    }

    #[test]
    fn news_that_nobody_reads_breaks_it_before_that_many_steps() {
        let protocol = by_name("lapse-to-the-same-host").expect("it is a protocol");
        let places = vec![Place::new("a", "v1"), Place::new("b", "v1")];
        let mut world = after(world_under(protocol, places), [Event::Ask(A), Event::Ask(B)]);
        let bound = Bound::of(&world);
        let mut steps = 0;
        let Rest::Broken(violation) = rest(&mut world, |_| steps += 1) else {
            panic!("the offer goes round for ever");
        };
        assert_eq!(violation.property, Property::NoLivelock);
        assert!(steps < bound.steps, "{steps} steps, of {bound:?}");
    }
}
