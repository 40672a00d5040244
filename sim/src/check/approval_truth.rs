//! `ApprovalTruth`: a version is approved only by folding the holder's own `Finished` under the
//! hold's grant, clean and with every planned chunk signed off clean; and each verdict follows from
//! what was reported under its grant, or from an operator's word, neither of which is lost.
//!
//! What the record says is held against what really happened: the build of that grant did end
//! well on that host, with those chunks. Carried by Ar1 (who is heard, and about what) and Ar7
//! (the one way to an approval). What else verdicts follow from is judged in `verdict_due`.

use std::collections::{BTreeMap, BTreeSet};

use handover_core::{Chunk, Hold, Input, Outcome, SignOff, Stage, Standing, Verdict, Version};

use super::{Around, Commit, Property, Transition, Violation, demand, verdict_due};
use crate::mark::mark;

pub(super) fn check(step: &Transition<'_>) -> Result<(), Violation> {
    step.commits().try_for_each(|commit| judge(step.after, &commit))
}

pub(super) fn judge(world: &dyn Around, commit: &Commit<'_>) -> Result<(), Violation> {
    let approved = commit.after.verdicts();
    for (version, verdict) in approved.filter(|(_, verdict)| verdict.is_approved()) {
        let earlier = commit.before.verdict(version);
        match earlier.filter(|earlier| earlier.is_approved()) {
            Some(earlier) => {
                mark!(ApprovalTruthStands);
                demand(Property::ApprovalTruth, earlier == verdict, || {
                    format!("{earlier} of {version} was replaced by {verdict}")
                })?;
            }
            None => judge_approval(world, commit, version, verdict)?,
        }
    }
    verdict_due::judge(world, commit)
}

fn judge_approval(
    world: &dyn Around,
    commit: &Commit<'_>,
    version: &Version,
    verdict: &Verdict,
) -> Result<(), Violation> {
    mark!(ApprovalTruthApproved);
    let broken = |why: String| {
        let why = format!("{verdict} of {version}, and {why}");
        Err(Violation::new(Property::ApprovalTruth, why))
    };
    let held = commit.before.hold().filter(|hold| {
        hold.version == *version && hold.grant == verdict.grant && hold.host == verdict.host
    });
    let Some(hold) = held else {
        return broken("nobody held it under that grant".into());
    };
    let holder = world.host_label(&hold.host);
    let Some(signed_off) = report(commit.input, hold) else {
        return broken(format!("not by a clean report of {holder}"));
    };
    let Stage::Started { plan } = &hold.stage else {
        return broken(format!("{holder} had not accepted"));
    };
    if let Some(chunk) = plan.iter().find(|chunk| !is_clean(chunk, signed_off, hold)) {
        return broken(format!("{chunk} is not signed off clean"));
    }
    judge_truth(world, hold, plan).or_else(|why| broken(format!("{why} on {holder}")))
}

/// The sign-offs of the holder's own clean report under the hold's grant.
fn report<'a>(input: Option<&'a Input>, hold: &Hold) -> Option<&'a BTreeMap<Chunk, SignOff>> {
    let Some(Input::Statement(statement)) = input else {
        return None;
    };
    let Standing::Finished { grant, outcome: Outcome::Clean, signed_off } = &statement.standing
    else {
        return None;
    };
    (statement.host == hold.host && *grant == hold.grant).then_some(signed_off)
}

/// Is this chunk clean by the newest word?
pub(super) fn is_clean(chunk: &Chunk, newest: &BTreeMap<Chunk, SignOff>, hold: &Hold) -> bool {
    let word = newest.get(chunk).or_else(|| hold.signed_off.get(chunk));
    word == Some(&SignOff::Clean)
}

fn judge_truth(
    world: &dyn Around,
    hold: &Hold,
    plan: &BTreeSet<Chunk>,
) -> Result<(), &'static str> {
    if !world.is_seen(&hold.host) {
        return Ok(());
    }
    let end = world.real_end(hold.grant);
    let Some(end) = end.filter(|end| end.host == hold.host) else {
        return Err("no build of it ended");
    };
    if !end.clean {
        return Err("its build did not end well");
    }
    if !plan.is_subset(&end.signed_off) {
        return Err("its build did not sign all chunks off");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use handover_core::{GrantId, Record, RecordParts};

    use super::*;
    use crate::check::testing::{
        A, B, G1, Made, approved, approving, building, judge_to_rest, saying,
    };
    use crate::world::{Fact, RealEnd};

    const PROPERTY: Property = Property::ApprovalTruth;

    fn edit_before(mut made: Made, edit: impl FnOnce(&mut RecordParts)) -> Made {
        let found = made.facts.iter_mut().find_map(|fact| {
            let Fact::Committed { before, .. } = fact else {
                return None;
            };
            Some(before)
        });
        let before = found.expect("the step commits");
        let mut parts = before.to_parts();
        edit(&mut parts);
        *before = Arc::new(Record::from_parts(parts).expect("a hand-made record is a record"));
        made
    }

    fn reported(mut made: Made, said: Input) -> Made {
        let found = made.facts.iter_mut().find_map(|fact| {
            let Fact::Committed { input, .. } = fact else {
                return None;
            };
            Some(input)
        });
        *found.expect("the step commits") = Some(Arc::new(said));
        made
    }

    fn really(edit: impl FnOnce(&mut RealEnd)) -> Made {
        let mut made = approving();
        made.after.edit_history(|history| {
            edit(history.ended.get_mut(&G1).expect("its build has ended"));
        });
        made
    }

    fn held(parts: &mut RecordParts) -> &mut Hold {
        parts.hold.as_mut().expect("the report is not folded")
    }

    #[test]
    fn a_rollout_approves_by_the_holders_clean_report() {
        judge_to_rest(building(), PROPERTY).expect("it holds");
        approving().holds(PROPERTY);
    }

    #[test]
    fn an_approval_without_a_hold_breaks_it() {
        let made = edit_before(approving(), |parts| parts.hold = None);
        made.breaks(PROPERTY, "Approved(g1) of v1, and nobody held it under that grant");
    }

    #[test]
    fn an_approval_by_anything_but_the_holders_clean_report_breaks_it() {
        let why = "Approved(g1) of v1, and not by a clean report of a";
        let finished =
            |outcome, grant| Standing::Finished { grant, outcome, signed_off: BTreeMap::new() };
        let world = approving().before;
        for said in [
            saying(&world, B, finished(Outcome::Clean, G1)),
            saying(&world, A, finished(Outcome::Abandoned, G1)),
            saying(&world, A, finished(Outcome::Clean, G1.next())),
            saying(&world, A, Standing::StoodDown),
            Input::Lapse { grant: G1 },
        ] {
            reported(approving(), said).breaks(PROPERTY, why);
        }
    }

    #[test]
    fn an_approval_of_an_offer_breaks_it() {
        let made = edit_before(approving(), |parts| {
            held(parts).stage = Stage::Offered;
            held(parts).signed_off.clear();
        });
        made.breaks(PROPERTY, "Approved(g1) of v1, and a had not accepted");
    }

    #[test]
    fn an_approval_without_a_planned_chunk_breaks_it() {
        let made = edit_before(approving(), |parts| {
            let plan = ["x".into(), "y".into()].into();
            held(parts).stage = Stage::Started { plan };
        });
        made.breaks(PROPERTY, "Approved(g1) of v1, and y is not signed off clean");
    }

    #[test]
    fn an_approval_of_what_did_not_really_end_well_breaks_it() {
        let why = "Approved(g1) of v1, and its build did not end well on a";
        really(|end| end.clean = false).breaks(PROPERTY, why);
    }

    #[test]
    fn an_approval_of_a_build_that_another_host_ended_breaks_it() {
        let b = approving().after.process(B).host.id().clone();
        let why = "Approved(g1) of v1, and no build of it ended on a";
        really(|end| end.host = b).breaks(PROPERTY, why);
    }

    #[test]
    fn an_approval_of_chunks_that_were_not_really_signed_off_breaks_it() {
        let why = "Approved(g1) of v1, and its build did not sign all chunks off on a";
        really(|end| end.signed_off.clear()).breaks(PROPERTY, why);
    }

    #[test]
    fn an_approval_that_replaces_another_breaks_it() {
        let made = Made::committing(&approved(), None, |parts| {
            parts.next_grant = GrantId(9);
            let verdict = parts.verdicts.values_mut().next();
            verdict.expect("it is approved").grant = GrantId(5);
        });
        made.breaks(PROPERTY, "Approved(g1) of v1 was replaced by Approved(g5)");
    }
}
