//! What holds of each fold, over random walks of a cluster in which everything goes wrong.

use crate::common::{Cluster, Fold, Tally, property, walks};
use handover_core::{Batch, Change, HostId, Input, Record, Refusal, Standing, Statement};

/// Runs the property on each fold of 400 walks.
fn each_fold(floors: &[(&'static str, u64)], test: impl Fn(&Fold, &Tally)) {
    property(400, &walks(), floors, |steps, tally| {
        let mut cluster = Cluster::new();
        for step in steps {
            for fold in cluster.step(step) {
                test(&fold, tally);
            }
        }
    });
}

#[test]
fn folding_is_pure_and_repeatable() {
    let floors = [("believed", 4_000), ("refused", 3_500)];
    each_fold(&floors, |fold, tally| {
        let mut record = fold.before.clone();
        assert_eq!(record.fold(&fold.input, &fold.suspects), fold.answer);
        assert_eq!(record, fold.before, "a fold changes nothing by itself");
        // A record that was stored and loaded decides alike.
        let loaded = Record::from_parts(fold.before.to_parts()).expect("its own parts");
        assert_eq!(loaded.fold(&fold.input, &fold.suspects), fold.answer);
        if let Ok(change) = &fold.answer {
            assert_eq!(record.apply(change), Ok(()));
            assert!(record.apply(change).is_err(), "it applies once");
            tally.saw("believed");
        } else {
            tally.saw("refused");
        }
        assert_eq!(record, fold.after);
        record.check();
    });
}

#[test]
fn settling_again_changes_nothing() {
    let floors = [("held", 6_000), ("nobody asks", 1_400), ("left to settle", 5_000)];
    each_fold(&floors, |fold, tally| {
        assert_eq!(fold.after.settle(&fold.suspects), None);
        assert_eq!(fold.after.settle(&Default::default()), None);
        let held = fold.after.hold().is_some();
        tally.saw(if held { "held" } else { "nobody asks" });
        // A store that lost the hold leaves something to settle: one pass is enough.
        let mut parts = fold.after.to_parts();
        parts.hold = None;
        let mut record = Record::from_parts(parts).expect("a record without a hold");
        if let Some(change) = record.settle(&fold.suspects) {
            assert_eq!(record.apply(&change), Ok(()));
            assert_eq!(record.settle(&fold.suspects), None);
            record.check();
            tally.saw("left to settle");
        }
    });
}

#[test]
fn revisions_and_grants_only_grow() {
    let floors = [("handed over", 900), ("refused", 3_500)];
    each_fold(&floors, |fold, tally| {
        let (before, after) = (&fold.before, &fold.after);
        let Ok(change) = &fold.answer else {
            tally.saw("refused");
            return assert_eq!(before, after, "what is refused changes nothing");
        };
        assert_eq!(change.expects, before.revision());
        assert_eq!(after.revision(), before.revision().next());
        let grant_of = |record: &Record| record.hold().map(|hold| hold.grant);
        if grant_of(after).is_some() && grant_of(before) != grant_of(after) {
            assert_eq!(grant_of(after), Some(before.next_grant()));
            assert_eq!(after.next_grant(), before.next_grant().next());
            tally.saw("handed over");
        } else {
            assert_eq!(after.next_grant(), before.next_grant());
        }
    });
}

#[test]
fn a_word_about_another_grant_changes_neither_hold_nor_verdicts() {
    let floors = [("stale, believed", 120), ("another grant of the holder", 25)];
    each_fold(&floors, |fold, tally| {
        let Input::Statement(statement) = &fold.input else {
            return;
        };
        let Some(grant) = statement.standing.grant() else {
            return;
        };
        let hold = fold.before.hold();
        if hold.is_some_and(|hold| hold.grant == grant && hold.host == statement.host) {
            return;
        }
        assert_eq!(fold.after.hold(), hold);
        assert!(fold.after.verdicts().eq(fold.before.verdicts()));
        if let Ok(change) = &fold.answer {
            assert!(change.remark.is_some(), "and its host is told");
            tally.saw("stale, believed");
            let holder = hold.is_some_and(|hold| hold.host == statement.host);
            tally.saw_if(holder, "another grant of the holder");
        }
    });
}

#[test]
fn an_approval_never_goes_and_never_changes() {
    each_fold(&[("approved before", 3_000)], |fold, tally| {
        for (version, verdict) in fold.before.verdicts() {
            if verdict.is_approved() {
                assert_eq!(fold.after.verdict(version), Some(verdict));
                tally.saw("approved before");
            }
        }
    });
}

#[test]
fn an_approval_comes_only_from_the_holders_own_clean_and_complete_report() {
    each_fold(&[("approved", 150)], |fold, tally| {
        for (version, verdict) in fold.after.verdicts() {
            if !verdict.is_approved() || fold.before.verdict(version) == Some(verdict) {
                continue;
            }
            let hold = fold.before.hold().expect("somebody held the job");
            assert_eq!((&hold.version, hold.grant), (version, verdict.grant));
            let Input::Statement(Statement { host, standing, .. }) = &fold.input else {
                panic!("approved by {:?}", fold.input);
            };
            assert_eq!(*host, hold.host);
            let Standing::Finished { grant, outcome, .. } = standing else {
                panic!("approved by {standing}");
            };
            assert_eq!(*grant, hold.grant);
            assert_eq!(*outcome, handover_core::Outcome::Clean);
            let handover_core::Stage::Started { plan } = &hold.stage else {
                panic!("approved an offer");
            };
            let clean =
                |chunk| verdict.signed_off.get(chunk) == Some(&handover_core::SignOff::Clean);
            assert!(plan.iter().all(clean));
            tally.saw("approved");
        }
    });
}

#[test]
fn a_started_hold_ends_only_by_its_own_host_or_by_force() {
    let floors = [("kept", 2_800), ("own word", 240), ("gone", 90), ("revoked", 60)];
    each_fold(&floors, |fold, tally| {
        let Some(hold) = fold.before.hold().filter(|hold| hold.is_started()) else {
            return;
        };
        let still = fold.after.hold().is_some_and(|it| it.grant == hold.grant);
        let own = |host: &HostId| *host == hold.host;
        match &fold.input {
            _ if still => tally.saw("kept"),
            Input::Statement(statement) if own(&statement.host) => tally.saw("own word"),
            Input::Gone(host) if own(host) => tally.saw("gone"),
            Input::Revoke { grant, .. } if *grant == hold.grant => tally.saw("revoked"),
            Input::Statement(_)
            | Input::Gone(_)
            | Input::Retry { .. }
            | Input::Lapse { .. }
            | Input::Cancel { .. }
            | Input::Revoke { .. } => panic!("{hold} was ended by {:?}", fold.input),
        }
    });
}

#[test]
fn a_word_that_is_not_newer_is_refused() {
    each_fold(&[("outdated", 2_500), ("newer", 2_000)], |fold, tally| {
        let Input::Statement(statement) = &fold.input else {
            return;
        };
        let Some(line) = fold.before.line(&statement.host) else {
            return;
        };
        if statement.seq <= line.seq {
            let seen = line.seq;
            assert_eq!(fold.answer, Err(Refusal::Outdated { seen }));
            tally.saw("outdated");
        } else {
            let acknowledged = fold.after.line(&statement.host).map(|line| line.seq);
            assert_eq!(acknowledged, Some(statement.seq));
            tally.saw("newer");
        }
    });
}

#[test]
fn two_changes_in_one_batch_are_the_two_one_after_the_other() {
    property(400, &walks(), &[("batched", 1_400)], |steps, tally| {
        let mut cluster = Cluster::new();
        let folds: Vec<Fold> = steps
            .into_iter()
            .flat_map(|step| cluster.step(step))
            .filter(|fold| fold.answer.is_ok())
            .collect();
        for batch in folds.chunks_exact(3) {
            let changes = batch.iter().filter_map(|fold| fold.answer.clone().ok());
            let batched = changes
                .reduce(|first, then| first.then(then).expect("folded one on the other"))
                .expect("three changes");
            let mut record = batch[0].before.clone();
            assert_eq!(record.apply(&batched), Ok(()));
            assert_eq!(record, batch[2].after);
            tally.saw("batched");
        }
    });
}

#[test]
fn a_batch_is_its_inputs_one_after_the_other() {
    let floors = [("all refused", 150), ("some refused", 2_500), ("several accepted", 2_500)];
    property(400, &walks(), &floors, |steps, tally| {
        let mut cluster = Cluster::new();
        let folds: Vec<Fold> = steps.into_iter().flat_map(|step| cluster.step(step)).collect();
        for batch in folds.chunks(4) {
            let (base, suspects) = (&batch[0].before, &batch[0].suspects);
            let mut record = base.clone();
            let mut joined: Option<Change> = None;
            let mut answers = Vec::new();
            for fold in batch {
                let answer = record.fold(&fold.input, suspects);
                answers.push(answer.clone().map(|change| change.remark));
                let Ok(change) = answer else { continue };
                assert_eq!(record.apply(&change), Ok(()));
                joined = Some(match joined {
                    None => change,
                    Some(before) => before.then(change).expect("it was folded on its outcome"),
                });
            }
            let folded = base.fold_all(batch.iter().map(|fold| &fold.input), suspects);
            let accepted = answers.iter().filter(|answer| answer.is_ok()).count();
            tally.saw(match accepted {
                0 => "all refused",
                1 => "one accepted",
                _ => "several accepted",
            });
            if accepted > 0 && accepted < answers.len() {
                tally.saw("some refused");
            }
            assert_eq!(folded, Batch { change: joined, answers });
        }
    });
}
