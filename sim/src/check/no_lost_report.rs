//! `NoLostReport`: a host that leaves finished leaves no hold under that grant, and a clean and
//! complete report of a host that is not gone has its approval.
//!
//! Complete means that the build really signed off all that it had planned. Carried by St1, St2
//! (a report is held until it is acknowledged), Ar7, Ca4 and Ca5. Broken in
//! Systemorph/MeshWeaver#4708, where a builder asked its own copy before it reported.

use handover_core::{GrantId, Phase};

use super::{Property, Transition, Violation, demand};
use crate::world::{Fact, Process, RealEnd, Who, World};

pub(super) fn check(step: &Transition<'_>) -> Result<(), Violation> {
    for fact in step.facts {
        let Fact::Moved {
            who,
            from: Phase::Finished { grant },
            to,
        } = fact
        else {
            continue;
        };
        let process = step.after.process(*who);
        // Who shares an identity is expelled by the other's words.
        let shared = step.after.history().reused && matches!(to, Phase::Expelled { .. });
        let gone = step.after.committed().is_gone(process.host.id());
        if process.lives() && !gone && !shared {
            judge(step.after, *who, *grant)?;
        }
    }
    Ok(())
}

fn judge(world: &World, who: Who, grant: GrantId) -> Result<(), Violation> {
    let process = world.process(who);
    let id = process.host.id();
    let hold = world.committed().hold();
    if let Some(hold) = hold.filter(|hold| hold.grant == grant && hold.host == *id) {
        let (label, held) = (world.label(who), world.hold_label(hold));
        let why = format!("{label} is done with its report, and the record says {held}");
        return Err(Violation::new(Property::NoLostReport, why));
    }
    let end = world.history().ended.get(&grant);
    let counts = end.is_some_and(|end| is_complete(end, process))
        && !world.history().revoked.contains(&grant);
    let version = process.host.version();
    let verdict = world.committed().verdict(version);
    let approved = verdict.is_some_and(|verdict| verdict.is_approved());
    demand(Property::NoLostReport, approved || !counts, || {
        let label = world.label(who);
        format!("the build of {grant} on {label} ended well, and {version} is not approved")
    })
}

fn is_complete(end: &RealEnd, process: &Process) -> bool {
    end.host == *process.host.id() && end.clean && end.plan.is_subset(&end.signed_off)
}
