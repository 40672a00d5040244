//! What of a change is taken (Ar9): nothing that no fold on this record could have made.

use std::collections::BTreeSet;
use std::sync::Arc;

use handover_core::{
    ApplyError, Change, GrantId, HoldRow, Incarnation, Input, Outcome, Record, RecordId, Revision,
    Ruling, Seq, Stage, Standing, Statement, Ticket,
};

use crate::common::{Arbiter, asking, chunks, finished, host, signed};

/// `v1` is approved under `g1`, `c` is offered `v2` under `g2`, `z.2` is gone.
fn judged() -> Arbiter {
    let mut arbiter = Arbiter::started_by_a(&[]);
    arbiter.accepts("a", finished(1, Outcome::Clean, &[]));
    assert_eq!(arbiter.verdict("v1"), "Approved(g1)");
    arbiter.runs("c", "v2");
    arbiter.accepts("c", asking());
    assert_eq!(arbiter.hold(), "Offered(c, g2)");
    assert_eq!(arbiter.gone("z.2"), Ok(None));
    arbiter
}

fn word(name: &str, version: &str, seq: u64) -> Input {
    let standing = asking();
    Input::Statement(Statement {
        host: host(name),
        version: version.into(),
        seq: Seq(seq),
        standing,
    })
}

fn next(record: &Record) -> Change {
    record.fold(&word("d", "v1", 1), &BTreeSet::new()).expect("it is its first word")
}

#[track_caller]
fn applied(spoil: impl FnOnce(&mut Change)) -> Result<(), ApplyError> {
    let mut record = judged().record;
    let before = record.clone();
    let mut change = next(&record);
    spoil(&mut change);
    let answer = record.apply(&change);
    assert_eq!(answer.is_err(), record == before, "it is taken whole or not at all");
    answer
}

#[track_caller]
fn contradicts(what: &'static str, spoil: impl FnOnce(&mut Change)) {
    assert_eq!(applied(spoil), Err(ApplyError::Contradiction { what }));
}

#[test]
fn a_number_neither_shrinks_nor_comes_to_its_end() {
    let end = u64::MAX / 2;
    assert_eq!(applied(|_| ()), Ok(()));
    contradicts("a number shrinks", |change| change.next_grant = GrantId(2));
    contradicts("a number shrinks", |change| change.next_ticket = Ticket(0));
    contradicts("a number shrinks", |change| {
        change.gone.insert("z".into(), Incarnation(1));
    });
    let again = |change: &mut Change| change.gone.extend([("z".into(), Incarnation(2))]);
    assert_eq!(applied(again), Ok(()));
    let spoils: [fn(&mut Change, u64); 3] = [
        |change, to| change.revision = Revision(to),
        |change, to| change.next_grant = GrantId(to),
        |change, to| change.next_ticket = Ticket(to),
    ];
    for spoil in spoils {
        contradicts("a number has come to its end", |change| spoil(change, end + 1));
        assert_eq!(applied(|change| spoil(change, end)), Ok(()));
    }
}

#[test]
fn a_line_keeps_its_version_and_has_a_ticket_that_was_given_out() {
    let line = |change: &mut Change, spoil: fn(&mut handover_core::Line, Ticket)| {
        let next = change.next_ticket;
        change.lines.values_mut().flatten().for_each(|line| spoil(Arc::make_mut(line), next));
    };
    contradicts("a ticket is not below the next", |change| {
        line(change, |line, next| line.ticket = next)
    });
    contradicts("a line changes its version", |change| {
        let line = change.lines.values().flatten().next().cloned().expect("d has one");
        change.lines.insert(host("c"), Some(line));
    });
}

#[test]
fn no_two_lines_have_one_ticket() {
    let record = judged().record;
    let line = |name: &str| record.line(&host(name)).cloned().expect("it has spoken");
    let given = "a line takes a ticket that was given out before";
    contradicts(given, |change| {
        change
            .lines
            .values_mut()
            .flatten()
            .for_each(|d| Arc::make_mut(d).ticket = line("a").ticket);
    });
    contradicts(given, |change| {
        let exchanged = Ticket(line("a").ticket.0 + 1);
        let moved = handover_core::Line { ticket: exchanged, ..line("a") };
        change.lines.insert(host("a"), Some(Arc::new(moved)));
    });
    contradicts("two lines take one ticket", |change| {
        let d = change.lines.values().flatten().next().cloned().expect("d has one");
        change.lines.insert(host("e"), Some(d));
    });
    let kept =
        |change: &mut Change| drop(change.lines.insert(host("a"), Some(Arc::new(line("a")))));
    assert_eq!(applied(kept), Ok(()), "a line keeps its ticket");
}

#[test]
fn an_approval_stays_as_it_is() {
    let (v1, approval) = {
        let record = judged().record;
        (handover_core::Version::from("v1"), record.verdict(&"v1".into()).cloned().map(Arc::new))
    };
    contradicts("an approval goes", |change| {
        change.verdicts.insert(v1.clone(), None);
    });
    contradicts("an approval goes", |change| {
        let mut verdict = approval.clone().expect("it is approved");
        Arc::make_mut(&mut verdict).ruling = Ruling::Failed("late".into());
        change.verdicts.insert(v1.clone(), Some(verdict));
    });
    let same = |change: &mut Change| drop(change.verdicts.insert(v1.clone(), approval.clone()));
    assert_eq!(applied(same), Ok(()));
    let other = |change: &mut Change| drop(change.verdicts.insert("v9".into(), approval.clone()));
    assert_eq!(applied(other), Ok(()));
    contradicts("a verdict's grant is not below the next", |change| {
        let mut verdict = approval.clone().expect("it is approved");
        Arc::make_mut(&mut verdict).grant = change.next_grant;
        change.verdicts.insert("v9".into(), Some(verdict));
    });
}

#[test]
fn a_hold_is_of_a_grant_that_was_given_out_to_a_host_with_a_line_of_its_version() {
    let hold = judged().record.hold().cloned().expect("c is offered v2");
    let holds = |spoil: fn(&mut handover_core::Hold)| {
        let mut hold = hold.clone();
        spoil(&mut hold);
        move |change: &mut Change| change.hold = Some(HoldRow::Held(Arc::new(hold)))
    };
    assert_eq!(applied(holds(|_| ())), Ok(()));
    contradicts("the hold's grant is not below the next", holds(|hold| hold.grant = GrantId(3)));
    let no_line = "the hold's host has no line of its version";
    contradicts(no_line, holds(|hold| hold.host = host("y")));
    contradicts(no_line, holds(|hold| hold.version = "v9".into()));
    contradicts(no_line, |change| {
        change.lines.insert(host("c"), None);
        holds(|_| ())(change);
    });
    contradicts(no_line, |change| drop(change.lines.insert(host("c"), None)));
    let freed = |change: &mut Change| {
        change.lines.insert(host("c"), None);
        change.hold = Some(HoldRow::Nobody);
    };
    assert_eq!(applied(freed), Ok(()));
}

#[test]
fn a_hold_carries_what_its_stage_can() {
    let out_of_stage = "the hold carries what its stage cannot";
    let held = |spoil: fn(&mut handover_core::Hold)| {
        move |change: &mut Change| {
            let mut hold = judged().record.hold().cloned().expect("c is offered v2");
            spoil(&mut hold);
            change.hold = Some(HoldRow::Held(Arc::new(hold)));
        }
    };
    let plan = || Stage::Started { plan: chunks(&["x"]) };
    contradicts(out_of_stage, held(|hold| hold.signed_off = signed(&["x"])));
    contradicts(
        out_of_stage,
        held(|hold| {
            let then = handover_core::Then::Again;
            hold.cancelling = Some(handover_core::Cancelling { reason: "slow".into(), then });
        }),
    );
    let with = move |marks: &'static [&'static str]| {
        move |change: &mut Change| {
            held(|_| ())(change);
            let Some(HoldRow::Held(hold)) = &mut change.hold else { return };
            let hold = Arc::make_mut(hold);
            (hold.stage, hold.signed_off) = (plan(), signed(marks));
        }
    };
    contradicts(out_of_stage, with(&["y"]));
    assert_eq!(applied(with(&["x"])), Ok(()));
}

#[test]
fn a_change_fits_one_revision_of_one_record() {
    let found = judged().record.revision();
    let expects = Revision(found.0 - 1);
    let conflict = |expects| Err(ApplyError::Conflict { expects, found });
    assert_eq!(applied(|change| change.expects = expects), conflict(expects));
    assert_eq!(applied(|change| change.revision = change.expects), conflict(found));
    let other = RecordId(9);
    let answer = applied(|change| change.record = other);
    assert_eq!(answer, Err(ApplyError::OtherRecord { found: other }));
    let answer = applied(|change| change.format = 2);
    assert_eq!(answer, Err(ApplyError::NewerFormat { found: 2 }));
}

#[test]
fn several_inputs_in_one_change_are_as_many_revisions() {
    let mut one = judged().record;
    let mut other = one.clone();
    let inputs = [word("d", "v1", 1), word("d", "v1", 1), word("e", "v2", 1)];
    let batch = one.fold_all(&inputs, &BTreeSet::new());
    assert_eq!(batch.answers.iter().filter(|answer| answer.is_ok()).count(), 2);
    let change = batch.change.expect("two of them were accepted");
    one.apply(&change).expect("folded on this record");
    let mut joined: Option<Change> = None;
    for input in [&inputs[0], &inputs[2]] {
        let next = other.fold(input, &BTreeSet::new()).expect("it is a first word");
        other.apply(&next).expect("folded on this record");
        joined = Some(match joined {
            Some(before) => before.then(next).expect("it follows"),
            None => next,
        });
    }
    assert_eq!(one, other);
    assert_eq!(joined, Some(change));
}

#[test]
fn who_asks_again_in_the_change_that_frees_the_job_keeps_its_place() {
    let mut arbiter = Arbiter::started_by_a(&[]);
    arbiter.runs("c", "v2");
    for name in ["b", "c"] {
        arbiter.accepts(name, asking());
    }
    let host = host("a");
    let gives_back =
        Statement { host, version: "v1".into(), seq: Seq(9), standing: Standing::StoodDown };
    let inputs = [word("b", "v1", 2), Input::Statement(gives_back)];
    let change = arbiter.record.fold_all(&inputs, &BTreeSet::new()).change;
    let hold = change.and_then(|change| change.hold).expect("it goes to the next");
    assert_eq!(hold.hold().map(ToString::to_string).as_deref(), Some("Offered(b, g2)"));
}
