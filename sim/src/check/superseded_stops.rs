//! `SupersededStops`: a live host that has read a view without its grant has cancelled.
//!
//! What it has read is taken from the link, not from the host's own copy. Carried by Ca0 and Ca4.

use handover_core::executor::Stage;
use handover_core::{GrantId, Phase, View, Work};

use super::{Property, Transition, Violation, demand};
use crate::mark::mark;
use crate::world::Process;

pub(super) fn check(step: &Transition<'_>) -> Result<(), Violation> {
    for (who, _, process) in step.touched().filter(|(_, _, process)| process.lives()) {
        let Some(grant) = going_on(process) else {
            continue;
        };
        let shown = process.shown.as_ref();
        let Some(view) = shown.filter(|view| view.host == *process.host.id()) else {
            continue;
        };
        mark!(SupersededStopsGoesOn);
        demand(Property::SupersededStops, shows(view, grant), || {
            let label = step.after.label(who);
            let now = view.hold.as_ref();
            let now = now.map_or_else(|| "no hold".into(), |hold| step.after.hold_label(hold));
            format!("{label} builds under {grant}, and has read a view with {now}")
        })?;
    }
    Ok(())
}

/// The build under a grant that nobody has told to stop, or is about to.
fn going_on(process: &Process) -> Option<GrantId> {
    if let Phase::Building { grant } = process.phase() {
        return Some(grant);
    }
    process.builds.iter().find_map(|(work, build)| {
        let Work::Granted(grant) = work else { return None };
        let stage = process.host.executor().stage(work);
        let told = [Some(Stage::Stopping), Some(Stage::AwaitingStop)].contains(&stage);
        (!told && !build.stopping).then_some(*grant)
    })
}

/// Does the view let its host go on under this grant?
fn shows(view: &View, grant: GrantId) -> bool {
    let hold = view.hold_of(&view.host);
    hold.is_some_and(|hold| hold.grant == grant && !hold.is_cancelling())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use handover_core::{Cancelling, HostId, Then};

    use super::*;
    use crate::check::testing::{A, Made, building, judge_to_rest};

    const PROPERTY: Property = Property::SupersededStops;

    /// `a` builds, and this is the view that it has read.
    fn having_read(edit: impl FnOnce(&mut View)) -> Made {
        Made::changing(&building(), A, |process| {
            let shown = process.shown.as_mut().expect("a has read its hold");
            edit(Arc::make_mut(shown));
        })
    }

    #[test]
    fn a_rollout_builds_under_what_was_read() {
        judge_to_rest(building(), PROPERTY).expect("it holds");
        having_read(|_| ()).holds(PROPERTY);
    }

    #[test]
    fn building_on_without_the_hold_breaks_it() {
        let why = "a builds under g1, and has read a view with no hold";
        having_read(|view| view.hold = None).breaks(PROPERTY, why);
    }

    #[test]
    fn building_on_under_another_grant_breaks_it() {
        let why = "a builds under g1, and has read a view with Started(a, g2)";
        let made = having_read(|view| {
            let hold = view.hold.as_mut().expect("a holds");
            Arc::make_mut(hold).grant = hold.grant.next();
        });
        made.breaks(PROPERTY, why);
    }

    #[test]
    fn building_on_when_cancelled_breaks_it() {
        let why = "a builds under g1, and has read a view with Started(a, g1) cancelling";
        let made = having_read(|view| {
            let cancelling = Cancelling { reason: "slow".into(), then: Then::Block };
            let hold = view.hold.as_mut().expect("a holds");
            Arc::make_mut(hold).cancelling = Some(cancelling);
        });
        made.breaks(PROPERTY, why);
    }

    #[test]
    fn a_view_of_another_life_says_nothing() {
        let made = having_read(|view| {
            view.host = HostId::new("a", 7);
            view.hold = None;
        });
        made.holds(PROPERTY);
    }
}
