//! What stores, watches and journals carry comes back as it was; what is not known is refused, not
//! guessed (Ar9).

use std::collections::BTreeSet;
use std::fmt::Debug;

use crate::common::{self, Cluster, Pair, host, property, walks};
use handover_core::{
    Acknowledgement, AtDeadline, Candidate, DrainRequest, Effect, End, EndAction, Executor,
    ExecutorEffect, FORMAT, Host, HostId, Ledger, Priority, Record, RecordId, RecordParts, Remark,
    Settings, Term, Unreadable, Work,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

fn round_trips<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    let text = serde_json::to_string(value).expect("it has a text form");
    let back: T = serde_json::from_str(&text).expect("its own text is read");
    assert_eq!(back, *value);
    let bytes = postcard::to_allocvec(value).expect("it has a binary form");
    let back: T = postcard::from_bytes(&bytes).expect("its own bytes are read");
    assert_eq!(back, *value);
}

/// A field that nobody knows is refused wherever it stands. Answers with how many places there
/// were.
fn refuses_unknown_fields<T: Serialize + DeserializeOwned>(value: &T) -> u64 {
    let value = serde_json::to_value(value).expect("it has a text form");
    let mut places = Vec::new();
    objects_of(&value, String::new(), &mut places);
    for place in &places {
        let mut spoilt = value.clone();
        let object = spoilt.pointer_mut(place).and_then(Value::as_object_mut);
        let object = object.expect("the place was found in this value");
        object.insert("surprise".into(), Value::Null);
        let read: Result<T, _> = serde_json::from_value(spoilt.clone());
        assert!(read.is_err(), "a surprise at {place:?} of {spoilt}");
    }
    places.len() as u64
}

/// The places of all structures and variants. Tables, whose keys are data, are only passed through.
fn objects_of(value: &Value, at: String, places: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            let tables = ["/lines", "/verdicts", "/gone", "/signed_off"];
            if !tables.iter().any(|table| at.ends_with(table)) {
                places.push(at.clone());
            }
            for (key, value) in object {
                objects_of(value, format!("{at}/{key}"), places);
            }
        }
        Value::Array(list) => {
            for (place, value) in list.iter().enumerate() {
                objects_of(value, format!("{at}/{place}"), places);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn records_candidates_and_all_between_them_come_back_as_they_were() {
    let floors = [("folds", 700), ("refused", 250)];
    property(40, &walks(), &floors, |steps, tally| {
        let mut cluster = Cluster::new();
        for step in steps {
            for fold in cluster.step(step) {
                round_trips(&fold.after);
                round_trips(&fold.after.to_parts());
                round_trips(&fold.input);
                match &fold.answer {
                    Ok(change) => round_trips(change),
                    Err(refusal) => {
                        round_trips(refusal);
                        tally.saw("refused");
                    }
                }
                tally.saw("folds");
            }
            for member in &cluster.members {
                round_trips(&member.candidate);
                round_trips(&member.candidate.gate());
                round_trips(&member.candidate.statement());
                round_trips(&member.candidate.view().cloned());
            }
        }
    });
}

#[test]
fn an_unknown_field_of_a_record_or_a_candidate_is_refused_wherever_it_stands() {
    let floors = [("places", 20_000)];
    property(8, &walks(), &floors, |steps, tally| {
        let mut cluster = Cluster::new();
        for step in steps {
            let mut places = 0;
            for fold in cluster.step(step) {
                places += refuses_unknown_fields(&fold.after);
                places += refuses_unknown_fields(&fold.after.to_parts());
                places += refuses_unknown_fields(&fold.input);
                if let Ok(change) = &fold.answer {
                    places += refuses_unknown_fields(change);
                }
            }
            for member in &cluster.members {
                places += refuses_unknown_fields(&member.candidate);
                places += refuses_unknown_fields(&member.candidate.gate());
            }
            (0..places).for_each(|_| tally.saw("places"));
        }
    });
}

/// A host with a queue, a deployment and a build under a grant, at each step of its life, and the
/// orders that it gave.
fn life_of_a_host() -> (Vec<Host>, Vec<Effect>) {
    let mut record = common::Arbiter::new();
    let candidate = Candidate::new(host("b"), "v1".into(), Priority(0));
    let executor = Executor::new(Settings::new(2, false), "v1".into());
    let mut host = Host::new(candidate, executor);
    let request = DrainRequest {
        reason: "deployed".into(),
        term: Term::ThisVersion,
        end: EndAction::Restart,
        at_deadline: AtDeadline::Interrupt,
        since: 7,
    };
    let known = host.submit("one".into(), None, Some(request));
    assert_eq!(known, Ok(()));
    host.ask();
    let (mut hosts, mut effects) = (Vec::new(), Vec::new());
    for _ in 0..60 {
        hosts.push(host.clone());
        if let Some(word) = host.statement() {
            drop(record.fold(&handover_core::Input::Statement(word)));
        }
        drop(host.handle_view(record.record.view_for(host.id(), host.version())));
        let Some(effect) = host.poll_effect() else {
            continue;
        };
        effects.push(effect.clone());
        match &effect {
            Effect::MakePlan { grant } => {
                assert_eq!(host.handle_plan(*grant, common::chunks(&["x"])), Ok(()));
            }
            Effect::Executor(ExecutorEffect::Start { work }) => {
                host.acknowledge(&effect, Acknowledgement::Done);
                hosts.push(host.clone());
                if let Work::Granted(grant) = work {
                    let clean = handover_core::SignOff::Clean;
                    assert_eq!(host.handle_sign_off(*grant, "x".into(), clean), Ok(()));
                }
                assert_eq!(host.handle_build_end(work, End::Succeeded), Ok(()));
            }
            Effect::Return { .. } | Effect::Alarm(_) | Effect::Executor(_) => {
                host.acknowledge(&effect, Acknowledgement::Done);
            }
        }
    }
    assert!(host.is_drained() && host.gate().is_open());
    (hosts, effects)
}

#[test]
fn hosts_and_their_orders_come_back_as_they_were() {
    let (hosts, effects) = life_of_a_host();
    for host in &hosts {
        round_trips(host);
        refuses_unknown_fields(host);
        round_trips(host.executor());
    }
    assert!(effects.len() > 12, "{effects:?}");
    for effect in &effects {
        round_trips(effect);
        refuses_unknown_fields(effect);
    }
}

#[test]
fn what_no_walk_shows_comes_back_as_it_was() {
    round_trips(&RecordId(u128::MAX));
    round_trips(&HostId::new("a.b", u64::MAX));
    for remark in [
        Remark::NotHolder { holder: host("a") },
        Remark::UnknownChunk { chunk: "x".into() },
        Remark::StaleGrant { found: None },
    ] {
        round_trips(&remark);
        refuses_unknown_fields(&remark);
    }
    for why in [
        Unreadable::NoView,
        Unreadable::NewerFormat { found: 2 },
        Unreadable::OtherRecord { found: RecordId(8) },
        Unreadable::Unavailable { reason: "away".into() },
    ] {
        let gate = handover_core::Gate::Unknown { why };
        round_trips(&gate);
        refuses_unknown_fields(&gate);
    }
}

#[test]
fn what_is_not_a_host_is_refused_with_a_reason() {
    for text in ["\"b\"", "\"b.\"", "\"b.x\"", "\"\"", "7"] {
        assert!(serde_json::from_str::<HostId>(text).is_err(), "{text}");
    }
    let error = serde_json::from_str::<HostId>("\"b\"").expect_err("it names no life");
    assert!(error.to_string().contains("name.incarnation"), "{error}");
}

#[test]
fn a_record_of_a_newer_format_is_refused_in_each_form() {
    let parts =
        RecordParts { format: FORMAT + 1, ..Pair::building(&["x"]).arbiter.record.to_parts() };
    let text = serde_json::to_string(&parts).expect("it has a text form");
    let error = serde_json::from_str::<Record>(&text).expect_err("it is newer");
    assert!(error.to_string().contains("format 2 is newer than 1"), "{error}");
    let bytes = postcard::to_allocvec(&parts).expect("it has a binary form");
    assert!(postcard::from_bytes::<Record>(&bytes).is_err());
    assert!(Record::from_parts(parts).is_err());
}

#[test]
fn a_change_of_a_newer_format_is_not_applied() {
    let pair = Pair::asking();
    let stand_down = handover_core::Input::Statement(handover_core::Statement {
        host: host("a"),
        version: "v1".into(),
        seq: handover_core::Seq(1),
        standing: common::asking(),
    });
    let change = pair.arbiter.record.fold(&stand_down, &BTreeSet::new());
    let mut change = change.expect("a speaks for the first time");
    change.format += 1;
    let mut record = pair.arbiter.record.clone();
    assert!(record.apply(&change).is_err());
    assert_eq!(record, pair.arbiter.record);
}

#[test]
fn rows_that_contradict_each_other_are_refused_as_they_are_read() {
    let mut parts = Pair::building(&["x"]).arbiter.record.to_parts();
    parts.lines.clear();
    let text = serde_json::to_string(&parts).expect("it has a text form");
    assert!(serde_json::from_str::<Record>(&text).is_err());
}

#[test]
fn a_ledger_comes_back_as_it_was_and_a_newer_one_is_refused() {
    let (hosts, _) = life_of_a_host();
    let ledger = hosts.last().map(|host| host.executor().ledger().clone());
    let mut ledger = ledger.expect("it lived");
    assert!(!ledger.entries.is_empty());
    round_trips(&ledger);
    assert!(refuses_unknown_fields(&ledger) > 1);
    ledger.format = Ledger::FORMAT + 1;
    let settings = Settings::new(1, false);
    assert!(Executor::recover(settings, "v1".into(), ledger).is_err());
}
