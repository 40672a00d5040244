//! `ApprovalTruth`: a version is approved only by folding the holder's own `Finished` under the
//! hold's grant, clean and with every planned chunk signed off clean.
//!
//! What the record says is held against what really happened: the build of that grant did end
//! well on that host, with those chunks. Carried by Ar1 (who is heard, and about what) and Ar7
//! (the one way to an approval).

use std::collections::{BTreeMap, BTreeSet};

use handover_core::{Chunk, Hold, Input, Outcome, SignOff, Stage, Standing, Verdict, Version};

use super::{Commit, Property, Transition, Violation, demand};
use crate::world::World;

pub(super) fn check(step: &Transition<'_>) -> Result<(), Violation> {
    step.commits()
        .try_for_each(|commit| judge(step.after, &commit))
}

fn judge(world: &World, commit: &Commit<'_>) -> Result<(), Violation> {
    let approved = commit.after.verdicts();
    for (version, verdict) in approved.filter(|(_, verdict)| verdict.is_approved()) {
        let earlier = commit.before.verdict(version);
        match earlier.filter(|earlier| earlier.is_approved()) {
            Some(earlier) => demand(Property::ApprovalTruth, earlier == verdict, || {
                format!("{earlier} of {version} was replaced by {verdict}")
            })?,
            None => judge_approval(world, commit, version, verdict)?,
        }
    }
    Ok(())
}

fn judge_approval(
    world: &World,
    commit: &Commit<'_>,
    version: &Version,
    verdict: &Verdict,
) -> Result<(), Violation> {
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
    let Standing::Finished {
        grant,
        outcome: Outcome::Clean,
        signed_off,
    } = &statement.standing
    else {
        return None;
    };
    (statement.host == hold.host && *grant == hold.grant).then_some(signed_off)
}

/// Is this chunk clean by the newest word?
fn is_clean(chunk: &Chunk, newest: &BTreeMap<Chunk, SignOff>, hold: &Hold) -> bool {
    let word = newest.get(chunk).or_else(|| hold.signed_off.get(chunk));
    word == Some(&SignOff::Clean)
}

fn judge_truth(world: &World, hold: &Hold, plan: &BTreeSet<Chunk>) -> Result<(), &'static str> {
    let end = world.history().ended.get(&hold.grant);
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
