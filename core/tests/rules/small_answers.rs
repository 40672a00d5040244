//! Small answers that others rely on, each at the edge where it changes.

use std::collections::BTreeSet;

use handover_core::executor::{
    Acknowledgement, BuildState, CancelRefusal, End, EndAction, Entry, Executor, ExecutorEffect,
    Ledger, Progress, Settings, Stage, SubmitRefusal, Term, Waiter, Work,
};
use handover_core::{
    AtDeadline, BuildId, Cancelling, Candidate, Drain, DrainId, DrainRequest, Effect, GrantId,
    Hold, Host, HostId, Input, Priority, Record, RecordError, RecordId, RecordParts, Revision, Seq,
    SignOff, Standing, Statement, Then, Version,
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
fn the_candidate_is_woken_in_its_turn_among_the_steps_of_builds() {
    let wakes = ExecutorEffect::Wake(Waiter::Candidate);
    let mut first = executor();
    first.enqueue_candidate();
    first.submit(BuildId::from("x"), None, None).expect("the id is new");
    assert_eq!(first.poll_effect(), Some(wakes.clone()), "it has the earlier place");
    let mut second = Executor::new(Settings::new(2, false), Version::from("v1"));
    second.submit(BuildId::from("x"), None, None).expect("the id is new");
    drive(&mut second);
    second.enqueue_candidate();
    second.ended(&x(), End::Succeeded).expect("it runs");
    assert_eq!(second.poll_effect(), Some(ExecutorEffect::StoreArtifacts { work: x() }));
    assert_eq!(second.poll_effect(), Some(wakes));
}

#[test]
fn the_word_on_a_step_that_is_not_out_is_refused() {
    let refuses = |executor: &Executor, effect: &ExecutorEffect| {
        let mut told = executor.clone();
        assert_eq!(told.acknowledge(effect, Acknowledgement::Done), Some(Progress::Refused));
        assert_eq!(told, *executor);
    };
    let mut submitted = executor();
    submitted.submit(BuildId::from("x"), None, None).expect("the id is new");
    let next = submitted.clone().poll_effect().expect("its row is to be written");
    refuses(&submitted, &next);
    let mut drained = executor();
    drained.drain(request(EndAction::Nothing)).expect("there is none");
    let store = drained.poll_effect().expect("it is to be written");
    drained.acknowledge(&store, Acknowledgement::Done);
    let end = ExecutorEffect::Drained { drain: DrainId::new("d1"), end: EndAction::Nothing };
    refuses(&drained, &end);
    assert_eq!(drained.poll_effect(), Some(end.clone()));
    refuses(&drained, &ExecutorEffect::Drained { drain: DrainId::new("d2"), end: EndAction::Stop });
    assert_eq!(drained.acknowledge(&end, Acknowledgement::Done), None);
}

#[test]
fn a_candidate_that_wakes_under_a_drain_gives_its_slot_back() {
    let mut executor = executor();
    executor.enqueue_candidate();
    assert_eq!(executor.slots_free(), 0);
    executor.drain(request(EndAction::Nothing)).expect("there is none");
    drive(&mut executor);
    assert_eq!((executor.slots_free(), executor.candidate_waits()), (1, true));
}

/// Up to the step that would start `x`, which is not out yet.
fn about_to_start() -> Executor {
    let mut executor = executor();
    executor.submit(BuildId::from("x"), None, None).expect("the id is new");
    while executor.stage(&x()) != Some(Stage::Starting) {
        let effect = executor.poll_effect().expect("it is on its way to the start");
        executor.acknowledge(&effect, Acknowledgement::Done);
    }
    executor
}

#[test]
fn a_build_may_run_from_the_step_that_starts_it_to_the_word_on_its_end() {
    let mut executor = about_to_start();
    assert!(!executor.is_running(&x()), "nobody was told to start it");
    executor.ended(&x(), End::Succeeded).expect_err("likewise");
    assert_eq!(executor.poll_effect(), Some(ExecutorEffect::Start { work: x() }));
    assert!(executor.is_running(&x()));
    executor.ended(&x(), End::Succeeded).expect("it may have begun");
    assert!(!executor.is_running(&x()));
    executor.ended(&x(), End::Failed("late".into())).expect_err("its end is known");
}

#[test]
fn what_was_never_started_is_cancelled_without_a_stop() {
    let mut executor = about_to_start();
    executor.cancel(&BuildId::from("x")).expect("it is in flight");
    assert_eq!(executor.stage(&x()), Some(Stage::Recording));
    drive(&mut executor);
    assert_eq!(executor.recorded(&x()), Some(&BuildState::Cancelled));
}

#[test]
fn what_may_have_been_started_is_stopped() {
    let mut executor = about_to_start();
    let start = executor.poll_effect().expect("it is to be started");
    executor.cancel(&BuildId::from("x")).expect("it is in flight");
    executor.acknowledge(&start, Acknowledgement::Unknown);
    assert_eq!(executor.poll_effect(), Some(ExecutorEffect::Stop { work: x() }));
}

#[test]
fn the_candidate_waits_once_and_not_for_what_it_has() {
    let mut reserved = executor();
    reserved.reserve().expect("a slot is free");
    reserved.enqueue_candidate();
    assert!(!reserved.candidate_waits());
    let mut waits = running();
    waits.enqueue_candidate();
    let once = waits.clone();
    waits.enqueue_candidate();
    assert_eq!(waits, once);
}

#[test]
fn a_candidate_that_leaves_the_queue_gives_back_the_slot_that_it_was_handed_and_no_other() {
    let mut handed = executor();
    handed.enqueue_candidate();
    handed.dequeue_candidate();
    assert_eq!((handed.slots_free(), handed.candidate_waits()), (1, false));
    let mut waits = running();
    waits.enqueue_candidate();
    waits.dequeue_candidate();
    assert_eq!((waits.slots_free(), waits.candidate_waits()), (0, false));
}

#[test]
fn an_instance_is_pinned_where_its_operator_says_so() {
    assert!(Settings::new(1, true).pinned() && !Settings::new(1, false).pinned());
}

#[test]
fn the_end_of_a_build_that_was_cancelled_in_the_queue_is_told_once_it_is_recorded() {
    let mut executor = running();
    let y = Work::Local(BuildId::from("y"));
    executor.submit(BuildId::from("y"), None, None).expect("the id is new");
    drive(&mut executor);
    executor.cancel(&BuildId::from("y")).expect("it waits");
    let store = executor.poll_effect().expect("its row is to be written");
    let progress = executor.acknowledge(&store, Acknowledgement::Done);
    assert_eq!(progress, Some(Progress::Recorded { work: y.clone() }));
    assert_eq!(executor.recorded(&y), Some(&BuildState::Cancelled));
}

fn boot(book: Ledger) -> Executor {
    let executor = Executor::recover(Settings::new(1, false), Version::from("v1"), book);
    executor.expect("the book is in order")
}

/// A book with this entry alone, which says nothing of the numbers that come next.
fn book(state: BuildState, place: u64) -> Ledger {
    let entry = Entry { state, attempts: 1, place, parent: None, drains: None, admitted_by: None };
    Ledger { entries: [(x(), entry)].into(), ..Ledger::default() }
}

#[test]
fn a_boot_gives_no_number_of_the_book_again() {
    let mut last_place = boot(book(BuildState::Succeeded, 4));
    assert_eq!(last_place.ledger().next_place, 5);
    last_place.submit(BuildId::from("y"), None, None).expect("the id is new");
    assert_eq!(last_place.queue()[0].place, 5);
    let drained = Ledger { drain: Some(drain("d3")), ..Ledger::default() };
    assert_eq!(boot(drained).ledger().next_drain, 4);
    let highest = Ledger { next_place: u64::MAX / 2, ..Ledger::default() };
    assert_eq!(boot(highest).ledger().next_place, u64::MAX / 2);
}

#[test]
fn a_boot_has_nothing_to_write_about_a_success_that_owes_no_drain() {
    assert_eq!(boot(book(BuildState::Succeeded, 1)).poll_effect(), None);
}

#[test]
fn the_book_gives_no_place_twice() {
    let mut ledger = Ledger::default();
    let entry = Entry {
        state: BuildState::Pending,
        attempts: 0,
        place: 4,
        parent: None,
        drains: None,
        admitted_by: None,
    };
    let earlier = Entry { place: 2, ..entry.clone() };
    ledger.write(&ExecutorEffect::StoreEntry { work: x(), entry: Some(entry) });
    assert_eq!(ledger.next_place, 5);
    ledger.write(&ExecutorEffect::StoreEntry { work: x(), entry: Some(earlier) });
    assert_eq!(ledger.next_place, 5);
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

#[test]
fn a_record_may_have_come_to_the_highest_number_and_not_beyond() {
    let to = |number: u64| {
        let parts = RecordParts { revision: Revision(number), ..offered().to_parts() };
        Record::from_parts(parts).err()
    };
    assert_eq!(to(u64::MAX / 2), None);
    assert_eq!(to(u64::MAX / 2 + 1), Some(RecordError::Exhausted));
}
