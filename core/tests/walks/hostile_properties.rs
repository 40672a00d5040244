//! Whatever is said, by whomever: no panic, no corrupt record, no approval lost.

use crate::common::{self, accepted, asking, building, finished, property};
use handover_core::{
    GrantId, HostId, Input, Outcome, Record, RecordId, Refusal, Seq, Standing, Statement, Then,
    Version,
};
use proptest::prelude::*;
use std::collections::BTreeSet;

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
