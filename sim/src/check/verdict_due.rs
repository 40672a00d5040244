//! The other half of `ApprovalTruth`: each verdict follows from what was reported under its grant
//! or from an operator's word, and neither of the two is lost.
//!
//! A failure that is reported fails the version, a build that was stopped and the death of its host
//! do not (Ar7). What an operator said of a hold stays with it, and a hold that was to be blocked
//! leaves a failure in each of its ends but a clean and complete report: the operator's word must
//! not be lost with the host (Ar5). Only a retry of that very failure lifts it (Ar3). And a report
//! tells how the build really ended (Ca4); `NoLostReport` judges a success that it does not tell.

use std::collections::BTreeMap;

use handover_core::{
    Cancelling, Chunk, GrantId, Hold, Input, Outcome, SignOff, Stage, Standing, Then, Verdict,
    Version,
};

use super::approval_truth::is_clean;
use super::{Around, Commit, Property, Violation, demand};
use crate::mark::mark;

/// What a commit has to make of a version.
#[derive(Clone, Copy, Debug)]
enum Due<'a> {
    /// No change.
    Stands,
    /// No verdict any more.
    Lifted,
    /// A failure by this hold.
    Failed(&'a Hold),
    /// An approval by this hold.
    Approved(&'a Hold),
}

pub(super) fn judge(world: &dyn Around, commit: &Commit<'_>) -> Result<(), Violation> {
    judge_cancelling(world, commit)?;
    judge_report(world, commit)?;
    let (before, after) = (commit.before, commit.after);
    let ended = before.hold().filter(|hold| {
        hold.is_started() && after.hold().is_none_or(|after| after.grant != hold.grant)
    });
    let versions = before.verdicts().chain(after.verdicts()).map(|(version, _)| version);
    for version in versions.chain(ended.map(|hold| &hold.version)) {
        let due = match ended.filter(|hold| hold.version == *version) {
            Some(hold) => due_at_end(commit, hold),
            None if is_retried(commit, version) => Due::Lifted,
            None => Due::Stands,
        };
        judge_verdict(world, commit, version, due)?;
    }
    Ok(())
}

/// What an operator said of a hold is there as long as the hold, and nothing that nobody said.
fn judge_cancelling(world: &dyn Around, commit: &Commit<'_>) -> Result<(), Violation> {
    let (Some(hold), Some(after)) = (commit.before.hold(), commit.after.hold()) else {
        return Ok(());
    };
    if hold.grant != after.grant {
        return Ok(());
    }
    let said = if let Some(Input::Cancel { grant, reason, then }) = commit.input
        && *grant == hold.grant
        && hold.is_started()
        && hold.cancelling.is_none()
    {
        Some(Cancelling { reason: reason.clone(), then: *then })
    } else {
        hold.cancelling.clone()
    };
    demand(Property::ApprovalTruth, after.cancelling == said, || {
        let held = world.hold_label(after);
        let then = |cancelling: &Option<Cancelling>| match cancelling.as_ref().map(|it| it.then) {
            Some(Then::Again) => "again",
            Some(Then::Block) => "block",
            None => "no cancel",
        };
        let (told, is) = (then(&said), then(&after.cancelling));
        format!("{held}: operators said {told}, and the record says {is}")
    })
}

/// A report tells how the build really ended.
fn judge_report(world: &dyn Around, commit: &Commit<'_>) -> Result<(), Violation> {
    let Some(hold) = commit.before.hold().filter(|hold| hold.is_started()) else {
        return Ok(());
    };
    let Some(Input::Statement(statement)) = commit.input else {
        return Ok(());
    };
    let Some((outcome, _)) = report(&statement.standing, hold.grant) else {
        return Ok(());
    };
    if statement.host != hold.host || !world.is_seen(&hold.host) {
        return Ok(());
    }
    let end = world.real_end(hold.grant).filter(|end| end.host == hold.host);
    let (told, is_true) = match outcome {
        Outcome::Clean => ("clean", end.is_some_and(|end| end.clean)),
        Outcome::Failed(_) => ("failed", end.is_some_and(|end| !end.clean)),
        // What becomes of a success that is told so, `NoLostReport` judges.
        Outcome::Abandoned => ("abandoned", end.is_none_or(|end| end.clean)),
    };
    demand(Property::ApprovalTruth, is_true, || {
        let (label, grant) = (world.host_label(&hold.host), hold.grant);
        let really = match end.map(|end| end.clean) {
            Some(true) => "ended well",
            Some(false) => "failed",
            None => "did not end by itself",
        };
        format!("{label} reports {grant} as {told}, and its build {really}")
    })
}

/// The outcome and the sign-offs that a standing reports under a grant.
fn report(standing: &Standing, under: GrantId) -> Option<(&Outcome, &BTreeMap<Chunk, SignOff>)> {
    let Standing::Finished { grant, outcome, signed_off } = standing else { return None };
    (*grant == under).then_some((outcome, signed_off))
}

/// What the end of a started hold makes of its version (Ar7, Ar5).
fn due_at_end<'a>(commit: &Commit<'a>, hold: &'a Hold) -> Due<'a> {
    let said = match commit.input {
        Some(Input::Statement(statement)) if statement.host == hold.host => {
            Some(&statement.standing)
        }
        Some(
            Input::Statement(_)
            | Input::Gone(_)
            | Input::Retry { .. }
            | Input::Lapse { .. }
            | Input::Cancel { .. }
            | Input::Revoke { .. },
        )
        | None => commit.before.line(&hold.host).map(|line| &line.standing),
    };
    let report = said.and_then(|standing| report(standing, hold.grant));
    let is_complete = |signed_off| match &hold.stage {
        Stage::Started { plan } => plan.iter().all(|chunk| is_clean(chunk, signed_off, hold)),
        Stage::Offered => false,
    };
    if let Some((Outcome::Clean, signed_off)) = report
        && is_complete(signed_off)
    {
        return Due::Approved(hold);
    }
    match hold.cancelling.as_ref().map(|cancelling| cancelling.then) {
        Some(Then::Block) => {
            mark!(ApprovalTruthBlocked);
            return Due::Failed(hold);
        }
        Some(Then::Again) => return Due::Stands,
        None => {}
    }
    match report.map(|(outcome, _)| outcome) {
        Some(Outcome::Clean | Outcome::Failed(_)) => {
            mark!(ApprovalTruthFailed);
            Due::Failed(hold)
        }
        Some(Outcome::Abandoned) | None => Due::Stands,
    }
}

/// Does an operator lift the failure that is there?
fn is_retried(commit: &Commit<'_>, of: &Version) -> bool {
    let Some(Input::Retry { version, grant }) = commit.input else { return false };
    let verdict = commit.before.verdict(of);
    let judged = verdict.is_some_and(|verdict| !verdict.is_approved() && verdict.grant == *grant);
    let retried = version == of && judged;
    if retried {
        mark!(ApprovalTruthRetried);
    }
    retried
}

fn judge_verdict(
    world: &dyn Around,
    commit: &Commit<'_>,
    version: &Version,
    due: Due<'_>,
) -> Result<(), Violation> {
    let (was, is) = (commit.before.verdict(version), commit.after.verdict(version));
    // What becomes of an approval is judged with the approvals.
    if was.is_some_and(|was| was.is_approved()) {
        return Ok(());
    }
    let by = |hold: &Hold| is.is_some_and(|is| is.grant == hold.grant && is.host == hold.host);
    let holds = match due {
        Due::Stands => was == is,
        Due::Lifted => is.is_none(),
        Due::Failed(hold) => by(hold) && is.is_some_and(|is| !is.is_approved()),
        Due::Approved(hold) => by(hold) && is.is_some_and(|is| is.is_approved()),
    };
    demand(Property::ApprovalTruth, holds, || {
        let verdict = |verdict: Option<&Verdict>| {
            verdict.map_or_else(|| "no verdict".to_owned(), ToString::to_string)
        };
        let (was, is) = (verdict(was), verdict(is));
        let why = match due {
            Due::Stands => {
                format!("it was {was}, and nothing was reported or said that changes it")
            }
            Due::Lifted => format!("an operator has retried {was}"),
            Due::Failed(hold) if hold.is_cancelling() => {
                format!("an operator has blocked {}", world.hold_label(hold))
            }
            Due::Failed(hold) => format!("the report ends {} as failed", world.hold_label(hold)),
            Due::Approved(hold) => {
                format!("the report ends {} clean and complete", world.hold_label(hold))
            }
        };
        format!("{version} has {is}, and {why}")
    })
}

#[cfg(test)]
mod tests {
    use handover_core::{RecordParts, Ruling};

    use super::*;
    use crate::check::testing::{
        A, B, G1, Made, after, building, judge_to_rest, saying, two, until,
    };
    use crate::world::{Event, World};

    const PROPERTY: Property = Property::ApprovalTruth;

    fn cancel(then: Then) -> Input {
        Input::Cancel { grant: G1, reason: "wrong".into(), then }
    }

    /// `a` builds, and an operator wants it stopped.
    fn cancelled(then: Then) -> World {
        let mut world = building();
        world.edit_record(|parts| {
            let hold = parts.hold.as_mut().expect("a builds");
            hold.cancelling = Some(Cancelling { reason: "wrong".into(), then });
        });
        world
    }

    fn end(parts: &mut RecordParts) {
        parts.hold = None;
    }

    fn fail(parts: &mut RecordParts) {
        let hold = parts.hold.take().expect("a builds");
        let verdict = Verdict {
            ruling: Ruling::Failed("broken".into()),
            grant: hold.grant,
            host: hold.host,
            signed_off: hold.signed_off,
        };
        parts.verdicts.insert(hold.version, verdict);
    }

    fn finished(world: &World, outcome: Outcome) -> Option<Input> {
        let signed_off = BTreeMap::new();
        Some(saying(world, A, Standing::Finished { grant: G1, outcome, signed_off }))
    }

    fn failed(world: &World) -> Option<Input> {
        finished(world, Outcome::Failed("broken".into()))
    }

    /// The world in which the build of `a` has really ended so, and is not reported.
    fn ended(clean: bool) -> World {
        let mut world = building();
        let host = world.process(A).host.id().clone();
        world.edit_history(|history| {
            let (plan, signed_off) = Default::default();
            history.ended.insert(G1, crate::world::RealEnd { host, clean, plan, signed_off });
        });
        world
    }

    fn gone() -> Option<Input> {
        Some(Input::Gone(building().process(A).host.id().clone()))
    }

    #[test]
    fn a_build_that_fails_fails_its_version() {
        let work = handover_core::Work::Granted(G1);
        let fails = Event::BuildEnds { who: A, work, failed: Some("broken".into()) };
        let world = after(building(), [fails]);
        let world = judge_to_rest(world, PROPERTY).expect("it holds");
        let verdict = world.committed().verdict(&"v1".into()).expect("it is blocked");
        assert!(!verdict.is_approved());
    }

    #[test]
    fn a_failure_that_makes_no_verdict_breaks_it() {
        let world = ended(false);
        Made::committing(&world, failed(&world), fail).holds(PROPERTY);
        let why = "v1 has no verdict, and the report ends Started(a, g1) as failed";
        Made::committing(&world, failed(&world), end).breaks(PROPERTY, why);
        let world = ended(true);
        Made::committing(&world, finished(&world, Outcome::Clean), end)
            .breaks(PROPERTY, "v1 has no verdict, and the report ends Started(a, g1) as failed");
    }

    #[test]
    fn a_failed_verdict_of_what_did_not_fail_breaks_it() {
        let why = "v1 has Failed(g1): broken, and it was no verdict, and nothing was reported or \
                   said that changes it";
        let world = building();
        let abandoned = finished(&world, Outcome::Abandoned);
        Made::committing(&world, abandoned.clone(), end).holds(PROPERTY);
        Made::committing(&world, abandoned, fail).breaks(PROPERTY, why);
        Made::committing(&world, gone(), end).holds(PROPERTY);
        Made::committing(&world, gone(), fail).breaks(PROPERTY, why);
        Made::committing(&world, None, fail).breaks(PROPERTY, why);
        let foreign = saying(&world, B, Standing::StoodDown);
        Made::committing(&world, Some(foreign), fail).breaks(PROPERTY, why);
    }

    #[test]
    fn a_report_that_tells_another_end_breaks_it() {
        let well = ended(true);
        let told = finished(&well, Outcome::Abandoned);
        Made::committing(&well, told, end).holds(PROPERTY);
        let ill = ended(false);
        let told = finished(&ill, Outcome::Abandoned);
        let why = "a reports g1 as abandoned, and its build failed";
        Made::committing(&ill, told, end).breaks(PROPERTY, why);
        let world = building();
        let why = "a reports g1 as failed, and its build did not end by itself";
        Made::committing(&world, failed(&world), fail).breaks(PROPERTY, why);
    }

    #[test]
    fn a_block_that_is_lost_with_its_hold_breaks_it() {
        let why = "v1 has no verdict, and an operator has blocked Started(a, g1) cancelling";
        let world = cancelled(Then::Block);
        let revoke = Some(Input::Revoke { grant: G1, reason: "slow".into() });
        let abandoned = finished(&world, Outcome::Abandoned);
        let stands_down = Some(saying(&world, A, Standing::StoodDown));
        for input in [gone(), revoke, abandoned, stands_down] {
            Made::committing(&world, input.clone(), fail).holds(PROPERTY);
            Made::committing(&world, input, end).breaks(PROPERTY, why);
        }
    }

    #[test]
    fn a_failed_verdict_of_a_build_that_is_to_run_again_breaks_it() {
        let world = cancelled(Then::Again);
        Made::committing(&world, gone(), end).holds(PROPERTY);
        assert!(Made::committing(&world, gone(), fail).judge(PROPERTY).is_err());
    }

    #[test]
    fn what_an_operator_says_of_a_hold_stays_as_it_was_said() {
        let set = |then: Option<Then>| {
            move |parts: &mut RecordParts| {
                let hold = parts.hold.as_mut().expect("a builds");
                let cancelling = |then| Cancelling { reason: "wrong".into(), then };
                hold.cancelling = then.map(cancelling);
            }
        };
        let block = Some(cancel(Then::Block));
        let made = |world: &World, input: &Option<Input>, then| {
            Made::committing(world, input.clone(), set(then))
        };
        made(&building(), &block, Some(Then::Block)).holds(PROPERTY);
        made(&building(), &block, Some(Then::Again)).breaks(
            PROPERTY,
            "Started(a, g1) cancelling: operators said block, and the record says again",
        );
        made(&building(), &block, None).breaks(
            PROPERTY,
            "Started(a, g1): operators said block, and the record says no cancel",
        );
        made(&building(), &None, Some(Then::Block)).breaks(
            PROPERTY,
            "Started(a, g1) cancelling: operators said no cancel, and the record says block",
        );
        made(&cancelled(Then::Block), &None, None).breaks(
            PROPERTY,
            "Started(a, g1): operators said block, and the record says no cancel",
        );
    }

    #[test]
    fn only_the_retry_of_a_failure_lifts_it() {
        let mut world = building();
        world.edit_record(fail);
        let retry = |grant| Some(Input::Retry { version: "v1".into(), grant });
        let lift = |parts: &mut RecordParts| parts.verdicts.clear();
        Made::committing(&world, retry(G1), lift).holds(PROPERTY);
        let why = "v1 has Failed(g1): broken, and an operator has retried Failed(g1): broken";
        Made::committing(&world, retry(G1), |_| ()).breaks(PROPERTY, why);
        let why = "v1 has no verdict, and it was Failed(g1): broken, and nothing was reported or \
                   said that changes it";
        Made::committing(&world, retry(G1.next()), lift).breaks(PROPERTY, why);
        Made::committing(&world, None, lift).breaks(PROPERTY, why);
    }

    #[test]
    fn an_end_that_is_no_start_makes_no_verdict() {
        let asked = after(two(), [Event::Ask(A)]);
        let offered = until(asked, |world| world.committed().hold().is_some());
        let block = Some(cancel(Then::Block));
        Made::committing(&offered, block.clone(), end).holds(PROPERTY);
        assert!(Made::committing(&offered, block, fail).judge(PROPERTY).is_err());
    }
}
