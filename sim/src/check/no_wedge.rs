//! `NoWedge`: from every reachable state, with faults off, a converged state can be reached.
//!
//! Judged at rest: where nothing can happen any more, the rollout has to have come to its end.
//! Broken in Systemorph/MeshWeaver#3567, where the record named a host that was alive and idle for
//! ever. Carried by St2, Ar2, Ar7, Ar8, Ca0, Ca5, Ca6, Ho1, Ho5 and Dr1 to Dr5.

use super::{Property, Violation};
use crate::world::World;

/// Demands that a world in which nothing more happens has converged.
///
/// # Errors
/// The violation, with all that is stuck.
pub(super) fn at_rest(world: &World) -> Result<(), Violation> {
    let stuck = world.stuck();
    if stuck.is_empty() {
        return Ok(());
    }
    let stuck: Vec<String> = stuck.into_iter().map(|stuck| stuck.0).collect();
    Err(Violation::new(Property::NoWedge, stuck.join("; ")))
}

#[cfg(test)]
mod tests {
    use handover_core::{AtDeadline, EndAction, Term};

    use super::*;
    use crate::check::testing::{A, B, after, two_under, until};
    use crate::check::{Rest, rest};
    use crate::world::{ArbiterIndex, Event};

    /// `a` is drained, and its drain is to end its process.
    fn over(end: EndAction) -> World {
        let term = Term::UntilUndrained;
        let drain = Event::Drain { who: A, term, end, at_deadline: AtDeadline::Report };
        let drained = |world: &World| world.process(A).host.is_drained();
        until(after(two_under("current"), [drain]), drained)
    }

    #[test]
    fn a_drained_process_that_is_to_end_and_does_not_breaks_it() {
        at_rest(&over(EndAction::Nothing)).expect("it stays");
        for end in [EndAction::Restart, EndAction::Stop] {
            let why = "a is drained, and does not end as its drain says";
            let broken = at_rest(&over(end)).map_err(|violation| violation.why);
            assert_eq!(broken, Err(why.to_owned()));
        }
    }

    /// `a` stands down while the offer is on its way to it; `b` asks too.
    fn crossing(protocol: &str) -> World {
        let to = ArbiterIndex(0);
        let stands_down = Event::StandDown { who: A, after: false };
        let events = [
            Event::Ask(A),
            Event::Deliver { from: A, to },
            Event::Ask(B),
            Event::Deliver { from: B, to },
            stands_down,
        ];
        after(two_under(protocol), events)
    }

    #[test]
    fn a_stand_down_that_crosses_the_offer_comes_to_its_end() {
        let mut world = crossing("current");
        let rested = rest(&mut world, |_| ());
        assert!(matches!(rested, Rest::Converged { .. }), "{rested:?}");
        assert!(world.process(B).host.gate().is_open());
    }

    #[test]
    fn a_silent_stand_down_that_crosses_the_offer_breaks_it() {
        let mut world = crossing("silent-stand-down");
        let Rest::Broken(violation) = rest(&mut world, |_| ()) else {
            panic!("the record names a for ever");
        };
        assert_eq!(violation.property, Property::NoWedge);
        let why = "the record holds Offered(a, g1), and a is alive and idle";
        assert!(violation.why.starts_with(why), "{}", violation.why);
    }

    #[test]
    fn a_busy_host_that_declines_an_offer_keeps_its_turn() {
        let world = crate::check::testing::queueing(&["l1"]);
        let mut world = after(world, [Event::Ask(A)]);
        let rested = rest(&mut world, |_| ());
        assert!(matches!(rested, Rest::Converged { .. }), "{rested:?}");
        assert!(world.process(A).host.gate().is_open());
    }
}
