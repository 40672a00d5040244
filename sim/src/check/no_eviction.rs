//! `NoEviction`: a started hold of a live host in accepted, building or finished is never taken
//! back.
//!
//! It goes by its host's own report, by an operator's revocation, or with its host. A host that
//! cancels, asks or has stood down has itself said otherwise. Carried by St1 and St2 (no old word
//! undoes a newer one), Ar1, Ar2 and Ar7 (silence and suspicion take nothing back).
//!
//! Nor does a commit take a line, or mark anybody as gone, but of whom membership named in its
//! input, and of nobody else of that name (Ar2). A hold would go with its line, and with the mark
//! go the claims of a host that lives: all properties excuse who is gone by the record. As this is
//! judged at each commit, whoever is gone by a record that broke nothing was named, or has no line
//! below a life that was, which is what Ar2 says that such an end implies.

use handover_core::{Hold, HostId, Input, Phase, Standing};

use super::{Around, Commit, Property, Transition, Violation, demand};
use crate::mark::mark;

pub(super) fn check(step: &Transition<'_>) -> Result<(), Violation> {
    step.commits().try_for_each(|commit| judge(step.after, &commit))
}

pub(super) fn judge(world: &dyn Around, commit: &Commit<'_>) -> Result<(), Violation> {
    judge_gone(world, commit)?;
    let Some(hold) = commit.before.hold().filter(|hold| hold.is_started()) else {
        return Ok(());
    };
    let stays = commit.after.hold().is_some_and(|after| {
        after.grant == hold.grant && after.host == hold.host && after.is_started()
    });
    let goes = commit.input.is_some_and(|input| ends(input, hold))
        || commit.after.is_gone(&hold.host)
        || world.is_revoked(hold.grant);
    if stays || goes {
        if goes {
            mark!(NoEvictionGoes);
        }
        return Ok(());
    }
    mark!(NoEvictionGivenBack);
    let works = world.living_phase(&hold.host).and_then(Phase::works_under) == Some(hold.grant);
    demand(Property::NoEviction, !works, || {
        let held = world.hold_label(hold);
        format!("{held} was taken back, and its host lives and works under it")
    })
}

/// Ar2: only whom membership names goes, and only his line.
fn judge_gone(world: &dyn Around, commit: &Commit<'_>) -> Result<(), Violation> {
    let named = match commit.input {
        Some(Input::Gone(host)) => Some(host),
        Some(
            Input::Statement(_)
            | Input::Retry { .. }
            | Input::Lapse { .. }
            | Input::Cancel { .. }
            | Input::Revoke { .. },
        )
        | None => None,
    };
    if named.is_some() {
        mark!(NoEvictionNamed);
    }
    let (before, after) = (commit.before, commit.after);
    for (host, _) in after.lines_unlike(before) {
        let stays = named == Some(host) || after.line(host).is_some();
        demand(Property::NoEviction, stays, || {
            let label = world.host_label(host);
            format!("the line of {label} was taken, and membership did not name it")
        })?;
    }
    for (name, incarnation) in after.gone_unlike(before) {
        let marked = incarnation.map(|incarnation| HostId { name: name.clone(), incarnation });
        demand(Property::NoEviction, marked.as_ref() == named, || {
            let label = marked.map_or_else(|| name.to_string(), |host| world.host_label(&host));
            format!("{label} was marked as gone, and membership did not name it")
        })?;
    }
    Ok(())
}

/// Is this the holder's own report, or the operator's force?
fn ends(input: &Input, hold: &Hold) -> bool {
    match input {
        Input::Statement(statement) => {
            let reports = matches!(
                &statement.standing,
                Standing::Finished { grant, .. } if *grant == hold.grant
            );
            reports && statement.host == hold.host
        }
        Input::Revoke { grant, .. } => *grant == hold.grant,
        Input::Gone(_) | Input::Retry { .. } | Input::Lapse { .. } | Input::Cancel { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use handover_core::{GrantId, Incarnation, Outcome, RecordParts};

    use super::*;
    use crate::check::testing::{
        A, B, G1, Made, after, building, judge_to_rest, saying, two, until,
    };
    use crate::world::Event;

    const PROPERTY: Property = Property::NoEviction;

    fn take_back(parts: &mut RecordParts) {
        parts.hold = None;
    }

    fn bury_holder(parts: &mut RecordParts) {
        let hold = parts.hold.take().expect("a builds");
        parts.lines.remove(&hold.host);
        parts.gone.insert(hold.host.name, hold.host.incarnation);
    }

    fn report(grant: GrantId) -> Standing {
        Standing::Finished { grant, outcome: Outcome::Clean, signed_off: BTreeMap::new() }
    }

    #[test]
    fn a_rollout_evicts_nobody() {
        judge_to_rest(building(), PROPERTY).expect("it holds");
    }

    #[test]
    fn taking_a_started_hold_back_from_a_builder_breaks_it() {
        let why = "Started(a, g1) was taken back, and its host lives and works under it";
        let world = building();
        Made::committing(&world, None, take_back).breaks(PROPERTY, why);
        let old = Input::Lapse { grant: G1 };
        Made::committing(&world, Some(old), take_back).breaks(PROPERTY, why);
        let foreign = saying(&world, B, report(G1));
        Made::committing(&world, Some(foreign), take_back).breaks(PROPERTY, why);
        let stale = saying(&world, A, report(G1.next()));
        Made::committing(&world, Some(stale), take_back).breaks(PROPERTY, why);
        let other = Input::Revoke { grant: G1.next(), reason: "slow".into() };
        Made::committing(&world, Some(other), take_back).breaks(PROPERTY, why);
    }

    #[test]
    fn turning_a_started_hold_into_an_offer_breaks_it() {
        let made = Made::committing(&building(), None, |parts| {
            let hold = parts.hold.as_mut().expect("a builds");
            hold.stage = handover_core::Stage::Offered;
            hold.signed_off.clear();
        });
        assert!(made.judge(PROPERTY).is_err());
    }

    #[test]
    fn the_holders_report_and_the_operators_force_end_a_hold() {
        let world = building();
        let own = saying(&world, A, report(G1));
        Made::committing(&world, Some(own), take_back).holds(PROPERTY);
        let force = Input::Revoke { grant: G1, reason: "slow".into() };
        Made::committing(&world, Some(force), take_back).holds(PROPERTY);
    }

    #[test]
    fn a_host_that_is_gone_dead_or_cancelling_has_no_claim() {
        let named = Some(Input::Gone(building().process(A).host.id().clone()));
        Made::committing(&building(), named, bury_holder).holds(PROPERTY);
        let dead = after(building(), [Event::Crash(A)]);
        Made::committing(&dead, None, take_back).holds(PROPERTY);
        let stops = Event::StandDown { who: A, after: false };
        let cancelling = after(building(), [stops]);
        Made::committing(&cancelling, None, take_back).holds(PROPERTY);
    }

    #[test]
    fn burying_whom_membership_did_not_name_breaks_it() {
        let why = "the line of a was taken, and membership did not name it";
        let world = building();
        Made::committing(&world, None, bury_holder).breaks(PROPERTY, why);
        let own = saying(&world, A, report(G1));
        Made::committing(&world, Some(own), bury_holder).breaks(PROPERTY, why);
        let other = Input::Gone(world.process(B).host.id().clone());
        Made::committing(&world, Some(other), bury_holder).breaks(PROPERTY, why);
        let a = world.process(A).host.id();
        for incarnation in [a.incarnation.next(), Incarnation(0)] {
            let life = Input::Gone(HostId { name: a.name.clone(), incarnation });
            Made::committing(&world, Some(life), bury_holder).breaks(PROPERTY, why);
        }
    }

    #[test]
    fn marking_more_as_gone_than_membership_named_breaks_it() {
        let world = building();
        let named = world.process(A).host.id().clone();
        let later = named.incarnation.next();
        let made = Made::committing(&world, Some(Input::Gone(named)), |parts| {
            let hold = parts.hold.take().expect("a builds");
            parts.lines.remove(&hold.host);
            parts.gone.insert(hold.host.name, later);
        });
        made.breaks(PROPERTY, "a.2 was marked as gone, and membership did not name it");
    }

    #[test]
    fn a_revoked_grant_and_an_offer_may_be_taken_back() {
        let mut revoked = Made::committing(&building(), None, take_back);
        revoked.after.edit_history(|history| {
            history.revoked.insert(G1);
        });
        revoked.holds(PROPERTY);
        let asked = after(two(), [Event::Ask(A)]);
        let offered = until(asked, |world| world.committed().hold().is_some());
        Made::committing(&offered, None, take_back).holds(PROPERTY);
    }
}
