//! Whatever is said, by whomever: no panic, no corrupt record, no approval lost.

use crate::common::{self, accepted, asking, building, finished, property};
use handover_core::{
    ApplyError, Change, GrantId, HoldRow, HostId, Input, Outcome, Record, RecordError, RecordId,
    Refusal, Seq, Stage, Standing, Statement, Then, Ticket, Version,
};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Inputs of a record that these hosts speak to. Half of what they say fits in number and grant,
/// so that it is not all refused for the same reason.
fn inputs(names: [&'static str; 3]) -> impl Strategy<Value = Vec<Input>> {
    let draws = prop::collection::vec(any::<u64>(), 0..120);
    draws.prop_map(move |draws| {
        let mut record = Record::new(RecordId(1));
        let said = draws.into_iter().map(|draw| {
            let input = input_of(draw, names, &record);
            if let Ok(change) = record.fold(&input, &BTreeSet::new()) {
                record.apply(&change).expect("folded on this record");
            }
            input
        });
        said.collect()
    })
}

/// One number is one input, so that they are drawn cheaply and shrink to the simplest.
fn input_of(draw: u64, names: [&str; 3], record: &Record) -> Input {
    let mut rest = draw;
    let mut below = |bound: u64| {
        let drawn = rest % bound;
        rest /= bound;
        drawn
    };
    let kind = below(40);
    let hold = record.hold();
    let holder = hold.map(|hold| hold.host.clone()).filter(|_| below(2) == 0);
    let floor = |name: &str| record.gone(&name.into()).map_or(1, |gone| gone.0 + 1);
    let name = names[below(3) as usize];
    let host = holder.unwrap_or_else(|| HostId::new(name, floor(name) - below(20) / 19));
    let version = ["v1", "v2", "v3", "v4"][below(4) as usize].into();
    let line = record.line(&host);
    let version = match line.filter(|_| below(20) > 0) {
        Some(line) => line.version.clone(),
        None => version,
    };
    let seq = line.map_or(0, |line| line.seq.0) + 2 - below(20).min(2).min(below(4));
    let grant = hold.map_or_else(|| record.next_grant(), |hold| hold.grant).0;
    let grant = (grant + 1).saturating_sub([1, 1, 1, 1, 0, 2][below(6) as usize]);
    let marks: &[&str] = [&["x", "y"][..], &["x"], &["y!"], &[], &["z", "x"]][below(5) as usize];
    let standing = match kind {
        0..6 => asking(),
        6..15 => accepted(grant, &marks[..marks.len().min(1)]),
        15..22 => building(grant, marks),
        22..27 => {
            let failed = Outcome::Failed("no disk".into());
            let outcome = [Outcome::Clean, Outcome::Clean, failed, Outcome::Abandoned];
            finished(grant, outcome[below(4) as usize].clone(), marks)
        }
        27..30 => Standing::StoodDown,
        kind => return other_input(kind, host, version, GrantId(grant)),
    };
    Input::Statement(Statement { host, version, seq: Seq(seq), standing })
}

fn other_input(kind: u64, host: HostId, version: Version, grant: GrantId) -> Input {
    let reason = "by hand".into();
    match kind {
        30 => Input::Gone(host),
        31 => Input::Revoke { grant, reason },
        32..35 => Input::Lapse { grant },
        35 | 36 => Input::Cancel {
            grant,
            reason,
            then: if kind == 35 { Then::Block } else { Then::Again },
        },
        _ => Input::Retry { version, grant: GrantId(grant.0.saturating_sub(1)) },
    }
}

#[test]
fn arbitrary_inputs_never_panic_and_keep_the_record_sound() {
    let floors = [
        ("believed", 7_000),
        ("started", 2_000),
        ("ruled", 80),
        ("Impossible", 900),
        ("VersionChanged", 200),
        ("StaleGrant", 3_000),
        ("Gone", 100),
        ("Outdated", 2_000),
        ("remark StaleGrant", 2_500),
        ("remark NotHolder", 700),
        ("remark UnknownChunk", 100),
    ];
    let cases = inputs(["a", "b", "c"]);
    property(600, &cases, &floors, |inputs, tally| {
        let mut record = Record::new(RecordId(1));
        for input in inputs {
            let before = record.clone();
            match record.fold(&input, &BTreeSet::new()) {
                Err(refusal) => {
                    assert_eq!(refusal.is_alarm(), refusal == Refusal::Impossible);
                    tally.saw(refusal.name());
                }
                Ok(change) => {
                    assert_eq!(record.apply(&change), Ok(()));
                    tally.saw("believed");
                    let remark = change.remark.map(|remark| match remark.name() {
                        "StaleGrant" => "remark StaleGrant",
                        "NotHolder" => "remark NotHolder",
                        _ => "remark UnknownChunk",
                    });
                    remark.into_iter().for_each(|remark| tally.saw(remark));
                }
            }
            record.check();
            assert_eq!(record.settle(&BTreeSet::new()), None);
            for (version, verdict) in before.verdicts().filter(|(_, it)| it.is_approved()) {
                assert_eq!(record.verdict(version), Some(verdict));
            }
            let started = record.hold().is_some_and(|hold| hold.is_started());
            tally.saw_if(started, "started");
            tally.saw_if(!record.verdicts().eq(before.verdicts()), "ruled");
        }
    });
}

/// A change with something else than the fold has put there: what a store makes that loses rows,
/// or mixes those of two states. The number chooses what.
fn spoil(change: &mut Change, record: &Record, earlier: &Record, draw: u64) {
    let mut lines = record.lines().map(|(host, line)| (host.clone(), Arc::new(line.clone())));
    let picked = lines.nth((draw / 16 % 3) as usize);
    let (other, line) = picked.map_or((None, None), |(host, line)| (Some(host), Some(line)));
    let own = change.lines.values_mut().flatten().next();
    let mut held = record.hold().cloned().map(Arc::new);
    let mut verdict = record.verdicts().next().map(|(_, verdict)| Arc::new(verdict.clone()));
    match draw % 16 {
        0 => own
            .into_iter()
            .zip(line)
            .for_each(|(own, line)| Arc::make_mut(own).ticket = line.ticket),
        1 => own.into_iter().for_each(|own| Arc::make_mut(own).ticket = Ticket(draw / 16 % 4)),
        2 => {
            let twin = own.cloned();
            change.lines.insert(HostId::new("z", 1), twin);
        }
        3 => change.lines.extend(other.map(|other| (other, None))),
        4 => change.lines.extend(other.map(|other| (other, line))),
        5 => change.lines.clear(),
        6 => change.hold = None,
        7 => {
            change.hold =
                Some(earlier.hold().cloned().map(Arc::new).map_or(HoldRow::Nobody, HoldRow::Held))
        }
        8 => {
            held.iter_mut()
                .for_each(|held| Arc::make_mut(held).signed_off = common::signed(&["q"]));
            change.hold = held.map(HoldRow::Held);
        }
        9 => {
            held.iter_mut().for_each(|held| Arc::make_mut(held).stage = Stage::Offered);
            change.hold = held.map(HoldRow::Held);
        }
        10 => {
            verdict
                .iter_mut()
                .for_each(|verdict| Arc::make_mut(verdict).grant = GrantId(draw / 16 % 9));
            change.verdicts.extend(verdict.map(|verdict| ("v9".into(), Some(verdict))));
        }
        11 => {
            let version = record.hold().map(|hold| hold.version.clone());
            change.verdicts.extend(version.zip(verdict).map(|(of, verdict)| (of, Some(verdict))));
        }
        12 => {
            let versions = record.verdicts().map(|(version, _)| (version.clone(), None));
            change.verdicts.extend(versions);
        }
        13 => change.next_ticket = earlier.next_ticket(),
        14 => change.next_grant = earlier.next_grant(),
        _ => change.gone.clear(),
    }
}

#[test]
fn a_change_that_is_taken_makes_a_record_that_could_be_loaded() {
    let floors = [
        ("taken", 8_000),
        ("judged", 30),
        ("a number shrinks", 200),
        ("a ticket is not below the next", 100),
        ("a line takes a ticket that was given out before", 800),
        ("two lines take one ticket", 150),
        ("an approval goes", 20),
        ("a verdict's grant is not below the next", 20),
        ("the hold's grant is not below the next", 60),
        ("the hold's host has no line of its version", 100),
        ("the hold carries what its stage cannot", 200),
    ];
    let cases = (inputs(["a", "b", "c"]), prop::collection::vec(any::<u64>(), 120));
    property(600, &cases, &floors, |(inputs, draws), tally| {
        let mut record = Record::new(RecordId(1));
        let mut earlier = record.clone();
        for (input, draw) in inputs.into_iter().zip(draws) {
            let Ok(change) = record.fold(&input, &BTreeSet::new()) else { continue };
            let mut spoilt = change.clone();
            spoil(&mut spoilt, &record, &earlier, draw);
            let mut after = record.clone();
            match after.apply(&spoilt) {
                Ok(()) => {
                    let loaded = Record::from_parts(after.to_parts());
                    let judged = matches!(loaded, Err(RecordError::HoldOfJudgedVersion(_)));
                    assert!(judged || loaded.as_ref() == Ok(&after), "{spoilt:?}: {loaded:?}");
                    tally.saw(if judged { "judged" } else { "taken" });
                }
                Err(ApplyError::Contradiction { what }) => {
                    assert_eq!(after, record, "it is taken whole or not at all");
                    tally.saw(what);
                }
                Err(other) => panic!("{spoilt:?}: {other}"),
            }
            earlier.clone_from(&record);
            assert_eq!(record.apply(&change), Ok(()));
        }
    });
}

#[test]
fn a_candidate_that_reads_any_view_never_panics_and_stays_sound() {
    use handover_core::{Candidate, Priority, SignOff};
    let floors = [("plan", 100), ("building", 50), ("expelled", 300), ("open", 150)];
    let acts = prop::collection::vec(any::<u8>(), 120);
    let cases = (inputs(["b", "c", "d"]), acts);
    property(600, &cases, &floors, |(inputs, acts), tally| {
        let mut record = Record::new(RecordId(1));
        let mut candidate = Candidate::new(HostId::new("a", 1), "v1".into(), Priority(0));
        for (input, act) in inputs.into_iter().zip(acts) {
            if let Ok(change) = record.fold(&input, &BTreeSet::new()) {
                assert_eq!(record.apply(&change), Ok(()));
            }
            let hold = record.hold().map_or(GrantId(1), |hold| hold.grant);
            let running = candidate.running().unwrap_or(hold);
            let view = record.view_for(candidate.host(), candidate.version());
            // What is refused is refused; only soundness is asked for here.
            match act % 20 {
                0 => candidate.ask(),
                1 => candidate.stand_down(),
                2 => candidate.stand_down_after(),
                3 => drop(candidate.handle_plan(hold, common::chunks(&["x"]))),
                4 => drop(candidate.handle_sign_off(running, "x".into(), SignOff::Clean)),
                5 => drop(candidate.handle_build_end(running, Outcome::Clean)),
                6 => drop(candidate.come_back(candidate.host().incarnation.next())),
                7 => candidate.decline(),
                8..12 => {
                    let word = candidate.statement().map(Input::Statement);
                    if let Some(Ok(change)) = word.map(|it| record.fold(&it, &BTreeSet::new())) {
                        assert_eq!(record.apply(&change), Ok(()));
                    }
                }
                _ => drop(candidate.handle_view(view)),
            }
            candidate.check();
            record.check();
            while let Some(effect) = candidate.poll_effect() {
                let plan = matches!(effect, handover_core::CandidateEffect::MakePlan { .. });
                tally.saw_if(plan, "plan");
            }
            tally.saw_if(candidate.running().is_some(), "building");
            tally.saw_if(candidate.statement().is_none(), "expelled");
            tally.saw_if(candidate.gate().is_open(), "open");
        }
    });
}
