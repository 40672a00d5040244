//! `NoLostReport`: a host that leaves finished leaves no hold under that grant, and a clean and
//! complete report of a host that is not gone has its approval.
//!
//! Complete means that the build really signed off all that it had planned. Carried by St1, St2
//! (a report is held until it is acknowledged), Ar7, Ca4 and Ca5. Broken in
//! Systemorph/MeshWeaver#4708, where a builder asked its own copy before it reported.

use handover_core::{GrantId, Host, Phase, Record};

use super::{Around, Property, Transition, Violation, demand};
use crate::mark::mark;
use crate::world::{Fact, RealEnd};

pub(super) fn check(step: &Transition<'_>) -> Result<(), Violation> {
    for fact in step.facts {
        let Fact::Moved { who, from: Phase::Finished { grant }, to } = fact else {
            continue;
        };
        let process = step.after.process(*who);
        // Who shares an identity is expelled by the other's words.
        let shared = step.after.history().reused && matches!(to, Phase::Expelled { .. });
        let gone = step.after.committed().is_gone(process.host.id());
        if process.lives() && !gone && !shared {
            judge(step.after, step.after.committed(), &process.host, *grant)?;
        }
    }
    Ok(())
}

/// Judges a host that is done with its report under this grant.
pub(crate) fn judge(
    world: &dyn Around,
    committed: &Record,
    host: &Host,
    grant: GrantId,
) -> Result<(), Violation> {
    mark!(NoLostReportDone);
    let (id, version) = (host.id(), host.version());
    if let Some(hold) = committed.hold().filter(|hold| hold.grant == grant && hold.host == *id) {
        let (label, held) = (world.host_label(id), world.hold_label(hold));
        let why = format!("{label} is done with its report, and the record says {held}");
        return Err(Violation::new(Property::NoLostReport, why));
    }
    let end = world.real_end(grant);
    let is_earned = |end: &RealEnd| end.host == *id && end.is_complete();
    let counts = end.is_some_and(is_earned) && !world.is_revoked(grant);
    if counts {
        mark!(NoLostReportCounts);
    }
    let approved = committed.verdict(version).is_some_and(|verdict| verdict.is_approved());
    demand(Property::NoLostReport, approved || !counts, || {
        let label = world.host_label(id);
        format!("the build of {grant} on {label} ended well, and {version} is not approved")
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use handover_core::{Hold, RecordParts, Stage};

    use super::*;
    use crate::check::testing::{
        A, B, G1, Made, after, building, calm_step, judge_to_rest, world_under,
    };
    use crate::variants;
    use crate::world::{Event, Place};

    const PROPERTY: Property = Property::NoLostReport;

    /// The step in which `a` has read that its report is folded.
    fn leaving() -> Made {
        calm_step(building(), |made| {
            let leaves =
                |fact: &Fact| matches!(fact, Fact::Moved { from: Phase::Finished { .. }, .. });
            made.facts.iter().any(leaves)
        })
    }

    fn leaving_without_approval() -> Made {
        let mut made = leaving();
        made.after.edit_record(|parts| parts.verdicts.clear());
        made
    }

    fn hold_again(parts: &mut RecordParts) {
        let (host, line) = parts.lines.iter().next().expect("a has a line");
        parts.hold = Some(Hold {
            host: host.clone(),
            version: line.version.clone(),
            grant: G1,
            stage: Stage::Started { plan: ["x".into()].into() },
            signed_off: BTreeMap::new(),
            cancelling: None,
        });
    }

    #[test]
    fn a_rollout_loses_no_report() {
        judge_to_rest(building(), PROPERTY).expect("it holds");
        leaving().holds(PROPERTY);
    }

    #[test]
    fn a_hold_left_behind_breaks_it() {
        let mut made = leaving_without_approval();
        made.after.edit_record(hold_again);
        let why = "a is done with its report, and the record says Started(a, g1)";
        made.breaks(PROPERTY, why);
    }

    #[test]
    fn a_complete_report_without_its_approval_breaks_it() {
        let why = "the build of g1 on a ended well, and v1 is not approved";
        leaving_without_approval().breaks(PROPERTY, why);
    }

    #[test]
    fn a_report_that_is_not_clean_or_not_complete_needs_no_approval() {
        let mut failed = leaving_without_approval();
        failed.after.edit_history(|history| {
            history.ended.get_mut(&G1).expect("it has ended").clean = false;
        });
        failed.holds(PROPERTY);
        let mut incomplete = leaving_without_approval();
        incomplete.after.edit_history(|history| {
            let end = history.ended.get_mut(&G1).expect("it has ended");
            end.signed_off.clear();
        });
        incomplete.holds(PROPERTY);
    }

    #[test]
    fn a_revoked_grant_and_a_host_that_is_gone_have_no_claim() {
        let mut revoked = leaving_without_approval();
        revoked.after.edit_history(|history| {
            history.revoked.insert(G1);
        });
        revoked.holds(PROPERTY);
        let mut gone = leaving_without_approval();
        let id = gone.after.process(A).host.id().clone();
        gone.after.edit_record(|parts| {
            parts.lines.remove(&id);
            parts.gone.insert(id.name, id.incarnation);
        });
        gone.holds(PROPERTY);
    }

    #[test]
    fn a_guarded_report_breaks_it_at_the_second_build() {
        let protocol = variants::by_name("guarded-report").expect("it is a protocol");
        let places = vec![Place::new("a", "v1"), Place::new("b", "v2")];
        let world = after(world_under(protocol, places), [Event::Ask(A), Event::Ask(B)]);
        let why = "b is done with its report, and the record says Started(b, g2)";
        let broken = judge_to_rest(world, PROPERTY).map(|_| ());
        assert_eq!(broken, Err(why.to_owned()));
    }
}
