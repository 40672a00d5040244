//! `SupersededStops`: a live host that has read a view without its grant has cancelled.
//!
//! What it has read is taken from the link, not from the host's own copy. Carried by Ca0 and Ca4.

use handover_core::{GrantId, Phase, View};

use super::{Property, Transition, Violation, demand};

pub(super) fn check(step: &Transition<'_>) -> Result<(), Violation> {
    for (who, _, process) in step.touched() {
        let (Phase::Building { grant }, true) = (process.phase(), process.lives()) else {
            continue;
        };
        let shown = process.shown.as_ref();
        let Some(view) = shown.filter(|view| view.host == *process.host.id()) else {
            continue;
        };
        demand(Property::SupersededStops, shows(view, grant), || {
            let label = step.after.label(who);
            let now = view.hold.as_ref();
            let now = now.map_or_else(|| "no hold".into(), |hold| step.after.hold_label(hold));
            format!("{label} builds under {grant}, and has read a view with {now}")
        })?;
    }
    Ok(())
}

/// Does the view let its host go on under this grant?
fn shows(view: &View, grant: GrantId) -> bool {
    let hold = view.hold_of(&view.host);
    hold.is_some_and(|hold| hold.grant == grant && !hold.is_cancelling())
}
