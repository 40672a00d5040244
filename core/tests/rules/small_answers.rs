//! Small answers that others rely on, each at the edge where it changes.

use std::collections::BTreeSet;

use handover_core::executor::{
    Acknowledgement, BuildState, CancelRefusal, End, EndAction, Executor, ExecutorEffect, Ledger,
    Settings, Stage, SubmitRefusal, Term, Work,
};
use handover_core::{
    AtDeadline, BuildId, Cancelling, Candidate, Drain, DrainId, DrainRequest, Effect, GrantId,
    Hold, Host, HostId, Input, Priority, Record, RecordError, RecordId, Seq, SignOff, Standing,
    Statement, Then, Version,
};

fn executor() -> Executor {
    Executor::new(Settings::new(1, false), Version::from("v1"))
}

fn host() -> Host {
    let candidate = Candidate::new(HostId::new("b", 1), Version::from("v1"), Priority(0));
    Host::new(candidate, executor())
}

fn x() -> Work {
    Work::Local(BuildId::from("x"))
}

/// Carries out all orders.
fn drive(executor: &mut Executor) {
    while let Some(effect) = executor.poll_effect() {
        executor.acknowledge(&effect, Acknowledgement::Done);
        executor.check();
    }
}

fn running() -> Executor {
    let mut executor = executor();
    executor.submit(BuildId::from("x"), None, None).expect("the id is new");
    drive(&mut executor);
    assert_eq!(executor.stage(&x()), Some(Stage::Running));
    executor
}

fn request(end: EndAction) -> DrainRequest {
    DrainRequest {
        reason: "by hand".into(),
        term: Term::UntilUndrained,
        end,
        at_deadline: AtDeadline::Report,
        since: 0,
    }
}

fn drain(id: &str) -> Drain {
    Drain {
        id: DrainId::new(id),
        version: Version::from("v1"),
        by: None,
        reason: "by hand".into(),
        term: Term::UntilUndrained,
        end: EndAction::Nothing,
        at_deadline: AtDeadline::Report,
        since: 0,
    }
}

#[test]
fn what_is_about_to_be_told_to_stop_may_have_stopped() {
    let mut executor = running();
    executor.cancel(&BuildId::from("x")).expect("it runs");
    assert_eq!(executor.stage(&x()), Some(Stage::Stopping));
    assert_eq!(executor.stopped(&x()), Ok(()));
    drive(&mut executor);
    assert_eq!(executor.recorded(&x()), Some(&BuildState::Cancelled));
}

#[test]
fn what_was_told_to_stop_may_have_stopped_and_what_runs_has_not() {
    let mut executor = running();
    executor.stopped(&x()).expect_err("nobody has told it to stop");
    executor.cancel(&BuildId::from("x")).expect("it runs");
    drive(&mut executor);
    assert_eq!(executor.stage(&x()), Some(Stage::AwaitingStop));
    assert_eq!(executor.stopped(&x()), Ok(()));
}

#[test]
fn an_id_is_known_while_its_build_is_unfinished_and_once_it_is_over() {
    let mut executor = running();
    let again = |executor: &mut Executor| executor.submit(BuildId::from("x"), None, None);
    assert_eq!(again(&mut executor), Err(SubmitRefusal::Known));
    executor.ended(&x(), End::Succeeded).expect("it runs");
    drive(&mut executor);
    assert_eq!(executor.stage(&x()), None);
    assert_eq!(again(&mut executor), Err(SubmitRefusal::Known));
}

#[test]
fn a_build_is_in_flight_from_its_admission_to_its_removal() {
    let current = |stage: Stage| stage.is_current();
    assert!(!current(Stage::Handed) && current(Stage::Admitting));
    assert!(current(Stage::Removing) && !current(Stage::Releasing));
    let under_way = |stage: Stage| stage.is_under_way();
    assert!(!under_way(Stage::Handed) && under_way(Stage::Admitting));
    assert!(under_way(Stage::AwaitingStop) && !under_way(Stage::StoringArtifacts));
    let needs_slot = |stage: Stage| stage.needs_slot();
    assert!(!needs_slot(Stage::Waiting { parked: false }) && needs_slot(Stage::Handed));
}

#[test]
fn an_attempt_is_counted_with_the_admission_and_given_back_with_an_interruption() {
    let mut executor = running();
    assert_eq!(executor.attempts(&x()), 1);
    let request =
        DrainRequest { at_deadline: AtDeadline::Interrupt, ..request(EndAction::Nothing) };
    executor.drain(request).expect("there is none");
    executor.deadline().expect("there is one");
    drive(&mut executor);
    executor.stopped(&x()).expect("it was told to stop");
    drive(&mut executor);
    assert_eq!(executor.attempts(&x()), 0);
}

/// The ends of drains that are said.
fn ends(executor: &mut Executor) -> Vec<EndAction> {
    let mut ends = Vec::new();
    while let Some(effect) = executor.poll_effect() {
        if let ExecutorEffect::Drained { end, .. } = &effect {
            ends.push(*end);
        }
        executor.acknowledge(&effect, Acknowledgement::Done);
    }
    ends
}

#[test]
fn the_end_of_a_drain_is_said_once_and_again_when_it_is_strengthened() {
    let mut executor = executor();
    executor.drain(request(EndAction::Nothing)).expect("there is none");
    assert_eq!(ends(&mut executor), [EndAction::Nothing]);
    executor.drain(request(EndAction::Nothing)).expect_err("it is not stronger");
    assert_eq!(ends(&mut executor), []);
    executor.drain(request(EndAction::Stop)).expect("it is stronger");
    assert_eq!(ends(&mut executor), [EndAction::Stop]);
}

#[test]
fn the_book_gives_no_number_of_a_drain_twice() {
    let mut ledger = Ledger::default();
    ledger.write(&ExecutorEffect::StoreDrain { drain: Some(drain("d4")) });
    assert_eq!(ledger.next_drain, 5);
    ledger.write(&ExecutorEffect::StoreDrain { drain: Some(drain("d2")) });
    assert_eq!(ledger.next_drain, 5);
}

#[test]
fn a_host_cancels_a_build_of_its_own_and_refuses_what_it_does_not_know() {
    let mut host = host();
    let build = BuildId::from("x");
    assert_eq!(host.cancel(&build), Err(CancelRefusal::NotKnown));
    host.submit(build.clone(), None, None).expect("the id is new");
    assert_eq!(host.cancel(&build), Ok(()));
    while let Some(effect) = host.poll_effect() {
        if let Effect::Executor(_) = effect {
            host.acknowledge(&effect, Acknowledgement::Done);
        }
    }
    assert_eq!(host.executor().recorded(&x()), Some(&BuildState::Cancelled));
}

#[test]
fn the_job_is_wanted_from_the_asking_to_the_stand_down() {
    let mut host = host();
    assert!(!host.wants_job());
    host.ask();
    assert!(host.wants_job());
    host.stand_down();
    assert!(!host.wants_job());
}

#[test]
fn a_record_and_a_host_are_named_in_reports() {
    assert_eq!(format!("{:?}", HostId::new("b", 2)), "b.2");
    assert!(format!("{:?}", RecordId(0xab)).contains("ab"), "{:?}", RecordId(0xab));
}

/// A record whose only line has been offered the job.
fn offered() -> Record {
    let mut record = Record::new(RecordId(7));
    let (host, version) = (HostId::new("b", 1), Version::from("v1"));
    let standing = Standing::Asking { priority: Priority(0) };
    let statement = Statement { host, version, seq: Seq(1), standing };
    let change = record.fold(&Input::Statement(statement), &BTreeSet::new());
    record.apply(&change.expect("it is the first word")).expect("nobody else writes");
    record
}

#[test]
fn an_offer_carries_neither_sign_offs_nor_a_cancel() {
    let offered = offered().to_parts();
    let with = |change: fn(&mut Hold)| {
        let mut parts = offered.clone();
        change(parts.hold.as_mut().expect("it is offered"));
        Record::from_parts(parts)
    };
    let refused = Err(RecordError::HoldOutOfStage(GrantId(1)));
    assert!(with(|_| ()).is_ok());
    assert_eq!(with(|hold| drop(hold.signed_off.insert("c".into(), SignOff::Clean))), refused);
    assert_eq!(
        with(|hold| {
            hold.cancelling = Some(Cancelling { reason: "by hand".into(), then: Then::Block });
        }),
        refused
    );
}
