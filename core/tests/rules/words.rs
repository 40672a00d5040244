//! How what is seen of core reads in a trace, a log and an error: each says what it is about.

use std::fmt::Display;
use std::hash::{Hash, Hasher};

use handover_core::executor::{DrainRefusal, LedgerError};
use handover_core::{
    ApplyError, AtDeadline, BuildId, CandidateRefusal, DrainRequest, EndAction, Executor, Gate,
    GrantId, HostId, Incarnation, Outcome, Phase, Priority, RecordError, RecordId, Refusal, Remark,
    Revision, Seq, Settings, Standing, Statement, Term, Ticket, Unreadable, Work,
};

use crate::common::{Arbiter, accepted, building, finished, host};

const G1: GrantId = GrantId(1);

#[track_caller]
fn read(cases: &[(&dyn Display, &str)]) {
    for (value, text) in cases {
        assert_eq!(value.to_string(), *text);
    }
}

#[test]
fn what_a_host_says_and_is_reads_as_in_a_trace() {
    let statement = Statement {
        host: host("b"),
        version: "v1".into(),
        seq: Seq(2),
        standing: Standing::StoodDown,
    };
    let failed = Outcome::Failed("no disk".into());
    read(&[
        (&statement, "StoodDown seq=2"),
        (&Standing::Asking { priority: Priority(0) }, "Asking"),
        (&Standing::Asking { priority: Priority(3) }, "Asking(p3)"),
        (&accepted(1, &[]), "Accepted(g1)"),
        (&accepted(1, &["x", "y"]), "Accepted(g1, plan x+y)"),
        (&building(1, &["x", "y!"]), "Building(g1, signed x+y!)"),
        (&finished(1, Outcome::Clean, &["x"]), "Finished(g1, Clean, signed x)"),
        (&failed, "Failed: no disk"),
        (&Outcome::Abandoned, "Abandoned"),
        (&Phase::Asking, "asking"),
        (&Phase::Expelled { running: Some(G1) }, "gone, stopping(g1)"),
        (&Work::Local("x".into()), "x"),
        (&Work::Granted(G1), "g1"),
        (&RecordId(0xab), "000000000000000000000000000000ab"),
    ]);
    assert_eq!(format!("{:?} {:?}", HostId::new("b", 2), HostId::new("b", 1)), "b.2 b");
    assert_eq!(format!("{:?}", RecordId(0xab)), RecordId(0xab).to_string());
}

#[test]
fn a_gate_says_what_it_waits_for() {
    let why = Unreadable::Unavailable { reason: "no route".into() };
    read(&[
        (&Gate::Open, "open"),
        (&Gate::Waiting { on: None }, "waiting"),
        (&Gate::Waiting { on: Some(host("b.2")) }, "waiting for b.2"),
        (&Gate::Blocked { reason: "no disk".into() }, "blocked: no disk"),
        (&Gate::Unknown { why }, "unknown: no route"),
        (&Unreadable::NoView, "no view yet"),
        (&Unreadable::NewerFormat { found: 2 }, "the record has the newer format 2"),
    ]);
    let replaced = Unreadable::OtherRecord { found: RecordId(1) };
    assert!(replaced.to_string().starts_with("the record was replaced by 0000"));
}

#[test]
fn a_refusal_says_its_name_and_why() {
    read(&[
        (
            &Refusal::Outdated { seen: Seq(3) },
            "Outdated: a word at least as new was folded (seq=3)",
        ),
        (&Refusal::StaleGrant { found: Some(G1) }, "StaleGrant: the grant there is g1"),
        (&Remark::StaleGrant { found: Some(G1) }, "StaleGrant: held under g1"),
        (&Remark::NotHolder { holder: host("b") }, "NotHolder: b holds"),
        (&Remark::UnknownChunk { chunk: "x".into() }, "UnknownChunk: x was not planned"),
        (&CandidateRefusal::OldView { held: Revision(4) }, "OldView: a view at r4 is held"),
        (
            &CandidateRefusal::IncarnationReused { above: Incarnation(2) },
            "IncarnationReused: it has to be above 2",
        ),
    ]);
}

#[test]
fn a_remark_has_a_name_and_only_the_impossible_is_an_alarm() {
    let found = Some(G1);
    assert_eq!(Remark::StaleGrant { found }.name(), "StaleGrant");
    assert_eq!(Remark::UnknownChunk { chunk: "x".into() }.name(), "UnknownChunk");
    assert!(Refusal::Impossible.is_alarm());
    assert!(!Refusal::StaleGrant { found }.is_alarm() && !Refusal::Gone.is_alarm());
}

#[test]
fn an_error_says_what_was_found() {
    let conflict = ApplyError::Conflict { expects: Revision(2), found: Revision(3) };
    let text = conflict.to_string();
    assert!(text.contains("folded on r2") && text.contains("at r3"), "{text}");
    let newer = LedgerError::NewerFormat { found: 9 }.to_string();
    assert!(newer.contains("format 9") && newer.contains("above 1"), "{newer}");
    read(&[
        (&ApplyError::Contradiction { what: "x" }, "the change contradicts the record: x"),
        (&LedgerError::PlaceTwice { place: 4 }, "two builds of the ledger have the place 4"),
        (&LedgerError::Exhausted, "a number of the ledger has come to its end"),
        (&RecordError::GrantReused(G1), "g1 is not below the next grant"),
        (&RecordError::TicketShared(Ticket(2)), "two lines have the ticket t2"),
    ]);
    let request = DrainRequest {
        reason: "rollout".into(),
        term: Term::UntilUndrained,
        end: EndAction::Stop,
        at_deadline: AtDeadline::Report,
        since: 0,
    };
    let mut executor = Executor::new(Settings::new(1, false), "v1".into());
    executor.drain(request.clone()).expect("there is none");
    let DrainRefusal { active } = executor.drain(request).expect_err("it is not stronger");
    let refusal = DrainRefusal { active };
    read(&[(&refusal, "the drain d1 is in force and not weaker: rollout")]);
}

/// What a value gives to a hasher, all of it.
#[derive(Default)]
struct Bytes(Vec<u8>);

impl Hasher for Bytes {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}

fn hashed(value: &impl Hash) -> Vec<u8> {
    let mut bytes = Bytes::default();
    value.hash(&mut bytes);
    bytes.0
}

#[test]
fn records_that_differ_in_one_row_are_told_apart_by_all_means() {
    let one = Arbiter::asked_by(&["a"]).record.to_parts();
    let mut other = one.clone();
    for line in other.lines.values_mut() {
        line.seq = Seq(9);
    }
    let record = |parts| handover_core::Record::from_parts(parts).expect("they fit");
    let (one, other) = (record(one), record(other));
    assert_ne!(one, other);
    assert_ne!(hashed(&one), hashed(&other));
    assert_eq!(hashed(&one), hashed(&one.clone()));
    assert!(format!("{one:?}").contains("{a: "), "{one:?}");
}

#[test]
fn names_that_differ_are_told_apart_by_all_means() {
    let names = ["", "a", "b", "a longer name than fifteen bytes", "another name that is so long"];
    for one in names {
        for other in names {
            let (a, b) = (BuildId::from(one), BuildId::from(other));
            assert_eq!(a == b, one == other);
            assert_eq!(hashed(&a) == hashed(&b), one == other, "{one:?} {other:?}");
            assert_eq!(a.cmp(&b), one.cmp(other));
        }
    }
}
