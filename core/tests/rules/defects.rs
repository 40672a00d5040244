//! Each check of a state sees what contradicts it: on states made by hand, for no input makes them.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use handover_core::executor::{
    Announced, BuildState, CandidateWait, Executor, ExecutorParts, Stage, Task, Work,
};
use handover_core::{
    AtDeadline, BuildId, Candidate, DrainRequest, EndAction, Host, Input, Ruling, Statement, Term,
    Verdict,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::common::{Arbiter, Driven, Pair, building, host};

/// What the check panics with.
fn defect(check: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(check)).expect_err("the check sees it");
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => (*panic.downcast::<&str>().expect("a panic has a text")).to_owned(),
    }
}

/// The same value with one field set to something else.
fn with<T: Serialize + DeserializeOwned>(value: &T, field: &str, to: Value) -> T {
    let mut form = serde_json::to_value(value).expect("it has a text form");
    let place = form.pointer_mut(field).expect("it has this field");
    *place = to;
    serde_json::from_value(form).expect("it is well formed all the same")
}

#[test]
fn a_candidate_that_contradicts_itself_is_a_defect() {
    let idle = Pair::idle().candidate;
    let building = Pair::building(&["x"]).candidate;
    building.check();
    let about = "the word names the grant that the phase is about";
    let cases: [(Candidate, &str); 5] = [
        (with(&idle, "/seq", json!(1)), "a number is taken only by a word"),
        (with(&idle, "/unsaid", json!({"x": "Clean"})), "sign-offs belong to a running build"),
        (with(&building, "/read", json!(1)), "a view never goes back"),
        (with(&building, "/phase", json!({"Building": {"grant": 2}})), about),
        (with(&building, "/phase", json!({"Cancelling": {"grant": 2}})), about),
    ];
    for (candidate, expected) in cases {
        let found = defect(|| candidate.check());
        assert!(found.contains(expected), "{found}, not {expected}");
    }
}

#[test]
fn a_host_whose_parts_contradict_each_other_is_a_defect() {
    let host = Driven::building(2).host;
    host.check();
    let accepted = Driven::accepted(2).host;
    accepted.check();
    let idle = Driven::with_slots(2).host;
    let mut reserving = idle.executor().clone();
    reserving.reserve().expect("a slot is free");
    let without = Executor::from_parts(ExecutorParts {
        reserved: false,
        free: 2,
        ..accepted.executor().parts().clone()
    });
    let form = serde_json::to_value(without).expect("it has a text form");
    let cases: [(Host, &str); 3] = [
        (with(&accepted, "/executor", form), "a slot is reserved exactly in the states"),
        (
            with(&idle, "/executor", serde_json::to_value(reserving).expect("likewise")),
            "a slot is reserved exactly in the states",
        ),
        (with(&idle, "/queued", json!(true)), "who waits for a slot holds no offer"),
    ];
    for (host, expected) in cases {
        let found = defect(|| host.check());
        assert!(found.contains(expected), "{found}, not {expected}");
    }
}

#[test]
fn a_record_in_which_a_held_version_has_a_verdict_is_a_defect() {
    let mut arbiter = Arbiter::started_by_a(&[]);
    let hold = arbiter.record.hold().expect("a builds");
    let verdict = Verdict {
        ruling: Ruling::Failed("no disk".into()),
        grant: hold.grant,
        host: hold.host.clone(),
        signed_off: hold.signed_off.clone(),
    };
    let seq = arbiter.record.line(&host("a")).expect("it holds").seq.next();
    let statement =
        Statement { host: host("a"), version: "v1".into(), seq, standing: building(1, &[]) };
    let change = arbiter.record.fold(&Input::Statement(statement), &BTreeSet::new());
    let mut change = change.expect("the number grows");
    change.verdicts.insert("v1".into(), Some(verdict.into()));
    arbiter.record.apply(&change).expect("of all contradictions the one that is taken");
    assert!(defect(|| arbiter.record.check()).contains("is held and has a verdict"));
}

fn x() -> Work {
    Work::Local(BuildId::from("x"))
}

/// One slot: `x` runs on it, `y` waits behind it.
fn busy() -> ExecutorParts {
    let mut driven = Driven::with_slots(1);
    driven.run_local("x");
    driven.run_local("y");
    driven.host.executor().clone().into_parts()
}

/// Nothing is there.
fn idle() -> ExecutorParts {
    Driven::with_slots(1).host.executor().clone().into_parts()
}

fn draining(mut parts: ExecutorParts) -> ExecutorParts {
    let request = DrainRequest {
        reason: "by hand".into(),
        term: Term::UntilUndrained,
        end: EndAction::Nothing,
        at_deadline: AtDeadline::Report,
        since: 0,
    };
    let mut executor = Executor::from_parts(parts);
    executor.drain(request).expect("there is none");
    parts = executor.into_parts();
    parts
}

fn task<'a>(parts: &'a mut ExecutorParts, build: &str) -> &'a mut Task {
    parts.tasks.get_mut(&Work::Local(build.into())).expect("it is unfinished")
}

#[track_caller]
fn sees(mut parts: ExecutorParts, spoil: impl FnOnce(&mut ExecutorParts), expected: &str) {
    Executor::from_parts(parts.clone()).check();
    spoil(&mut parts);
    let found = defect(|| Executor::from_parts(parts).check());
    assert!(found.contains(expected), "{found}, not {expected}");
}

#[test]
fn a_slot_that_is_lost_or_made_is_a_defect() {
    sees(idle(), |parts| parts.free = 0, "slots are neither lost nor made");
    sees(busy(), |parts| parts.free = 1, "slots are neither lost nor made");
}

#[test]
fn a_place_that_two_have_is_a_defect() {
    let of_x = |parts: &mut ExecutorParts| task(parts, "x").entry.place;
    sees(
        busy(),
        |parts| task(parts, "y").entry.place = of_x(parts),
        "has a place of its own, or the order of the queue is lost",
    );
    let waits = |parts: &mut ExecutorParts| {
        parts.candidate = CandidateWait::Waiting { place: of_x(parts), parked: false };
    };
    sees(busy(), waits, "the candidate has a place of its own");
    let is_handed = |parts: &mut ExecutorParts| {
        let place = of_x(parts);
        task(parts, "x").own_slot = false;
        task(parts, "x").stage = Stage::Waiting { parked: false };
        task(parts, "x").entry.state = BuildState::Pending;
        parts.candidate = CandidateWait::Handed { place, handed_out: false };
    };
    sees(busy(), is_handed, "the candidate has a place of its own");
    sees(busy(), |parts| parts.ledger.next_place = 2, "the next place is behind all others");
}

#[test]
fn who_parks_under_an_open_gate_is_a_defect() {
    let parks = |parts: &mut ExecutorParts| {
        task(parts, "y").stage = Stage::Waiting { parked: true };
    };
    sees(busy(), parks, "is not parked under an open gate");
    let parks = |parts: &mut ExecutorParts| {
        let place = parts.ledger.next_place;
        parts.ledger.next_place += 1;
        parts.candidate = CandidateWait::Waiting { place, parked: true };
    };
    sees(idle(), parks, "the candidate parks under a drain only");
    let mut parts = draining(idle());
    parks(&mut parts);
    Executor::from_parts(parts).check();
}

#[test]
fn a_slot_that_stays_free_while_somebody_waits_is_a_defect() {
    let waits = |parts: &mut ExecutorParts| {
        let place = parts.ledger.next_place;
        parts.ledger.next_place += 1;
        parts.candidate = CandidateWait::Waiting { place, parked: false };
    };
    sees(idle(), waits, "a free slot goes at once to whoever waits for one");
    let ends = |parts: &mut ExecutorParts| {
        parts.tasks.remove(&x());
        parts.free = 1;
    };
    sees(busy(), ends, "a free slot goes at once to whoever waits for one");
    let reserved = |parts: &mut ExecutorParts| {
        waits(parts);
        (parts.reserved, parts.free) = (true, 0);
    };
    sees(idle(), reserved, "the candidate does not wait for what it has");
}

#[test]
fn an_end_of_a_drain_that_is_said_before_it_is_drained_is_a_defect() {
    for announced in [Announced::HandedOut, Announced::Done] {
        let said = |parts: &mut ExecutorParts| parts.announced = announced;
        sees(idle(), said, "the end of a drain is said only while it is drained");
        sees(draining(busy()), said, "the end of a drain is said only while it is drained");
    }
}

#[test]
fn a_declaration_whose_write_nobody_has_is_a_defect() {
    let declares = |parts: &mut ExecutorParts| {
        let task = task(parts, "x");
        (task.stage, task.handed_out) = (Stage::Declaring { number: 1 }, true);
        task.entry.state = BuildState::Succeeded;
        let entry = task.entry.clone();
        parts.ledger.entries.insert(x(), entry);
    };
    sees(busy(), declares, "the write of a declaration is out exactly while");
}

#[test]
fn a_slot_that_is_held_where_none_is_needed_or_not_where_one_is_is_a_defect() {
    let swaps = |parts: &mut ExecutorParts| {
        task(parts, "x").own_slot = false;
        task(parts, "y").own_slot = true;
    };
    sees(busy(), swaps, "is on the slot of a parent that is in flight");
    let gives = |parts: &mut ExecutorParts| {
        parts.tasks.remove(&x());
        task(parts, "y").own_slot = true;
    };
    sees(busy(), gives, "holds a slot only where it needs one");
}

#[test]
fn a_stage_that_the_state_of_a_build_contradicts_is_a_defect() {
    let enters = |build: &'static str, stage: Stage| {
        move |parts: &mut ExecutorParts| task(parts, build).stage = stage
    };
    let retires = enters("y", Stage::Retiring);
    sees(busy(), retires, "is retired only once it is over");
    sees(busy(), enters("x", Stage::Admitting), "nothing of x has begun before its admission");
    sees(busy(), enters("x", Stage::Recording), "what is recorded of x is its end");
    for stage in [Stage::Declaring { number: 1 }, Stage::Removing, Stage::Releasing] {
        let leaves = |parts: &mut ExecutorParts| {
            task(parts, "x").stage = stage;
            task(parts, "x").entry.state = BuildState::Succeeded;
        };
        sees(busy(), leaves, "leaves the current set with its end recorded");
    }
    let is_counted = |parts: &mut ExecutorParts| {
        task(parts, "y").entry.state = BuildState::Admitted;
    };
    sees(busy(), is_counted, "y is pending until it is counted");
    let is_not_in_the_book = |parts: &mut ExecutorParts| {
        parts.ledger.entries.remove(&x());
    };
    sees(busy(), is_not_in_the_book, "a crash now would find x in the book as admitted");
    let is_out = |parts: &mut ExecutorParts| task(parts, "x").handed_out = true;
    sees(busy(), is_out, "a step of x is out only in a stage that has one");
}
