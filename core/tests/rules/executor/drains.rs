//! Drains: declared, strengthened, at their deadlines and over boots (Ex2, Ex3, Ex7, Ho2).

use handover_core::executor::{
    Acknowledgement, AtDeadline, BuildState, DrainRequest, End, EndAction, Executor,
    ExecutorEffect, ReserveRefusal, Settings, StartRefusal, Term, Waiter,
};
use handover_core::{GrantId, Version};

use super::{describe, drive, drive_to, executor, id, local, maintenance, reboot, request, submit};

fn deployment() -> DrainRequest {
    request(Term::ThisVersion, EndAction::Restart)
}

/// Runs a deployment on the only slot until its success is recorded and its drain is not declared,
/// with another build waiting.
fn recorded_deployment() -> Executor {
    let mut executor = executor(1);
    executor.submit(id("deploy"), None, Some(deployment())).expect("a new build is taken");
    submit(&mut executor, "next");
    drive(&mut executor);
    executor.ended(&local("deploy"), End::Succeeded).expect("it runs");
    drive_to(&mut executor, "store deploy Succeeded 1");
    executor
}

#[test]
fn the_drain_is_declared_before_the_slot_is_released() {
    let mut executor = executor(1);
    executor.submit(id("deploy"), None, Some(deployment())).expect("a new build is taken");
    submit(&mut executor, "next");
    let start = [
        "store deploy Pending 0",
        "wake deploy",
        "store deploy Admitted 1",
        "start deploy",
        "store next Pending 0",
    ];
    assert_eq!(drive(&mut executor), start);
    executor.ended(&local("deploy"), End::Succeeded).expect("it runs");
    let release = [
        "artifacts deploy",
        "store deploy Succeeded 1",
        "drain d1 Restart",
        "remove deploy",
        "release deploy",
        "wake next",
        "drained d1 Restart",
    ];
    assert_eq!(drive(&mut executor), release);
    let queue = executor.queue();
    assert!(queue[0].parked, "the waiting build read the gate closed");
    assert_eq!(executor.attempts(&local("next")), 0, "parking costs no attempt");
    assert_eq!(executor.slots_free(), 1, "a parked build gives its slot back");
}

#[test]
fn a_success_recorded_before_a_crash_still_closes_the_gate() {
    let mut executor = reboot(&recorded_deployment(), "v1");
    assert!(executor.is_draining(), "derived again from the record");
    let effects = ["drain d2 Restart", "store deploy Succeeded 1", "wake next"];
    assert_eq!(drive(&mut executor)[..3], effects);
    assert!(executor.queue()[0].parked);
}

#[test]
fn a_success_under_another_version_declares_nothing_any_more() {
    let mut executor = reboot(&recorded_deployment(), "v2");
    assert!(!executor.is_draining());
    let book = drive(&mut executor);
    assert!(book.contains(&"start next".to_owned()), "{book:?}");
    let back = reboot(&executor, "v1");
    assert!(!back.is_draining(), "over is over, also for the first version's next boot");
}

#[test]
fn a_drain_given_up_is_not_declared_again_at_the_next_boot() {
    let mut executor = recorded_deployment();
    drive(&mut executor);
    executor.undrain().expect("the deployment drained it");
    drive(&mut executor);
    assert!(!reboot(&executor, "v1").is_draining());
}

#[test]
fn a_store_that_fails_keeps_the_build_in_flight() {
    let mut executor = recorded_deployment();
    for outcome in [Acknowledgement::Failed, Acknowledgement::Unknown, Acknowledgement::Failed] {
        let effect = executor.poll_effect().expect("the drain is to be declared");
        assert_eq!(describe(&effect), "drain d1 Restart");
        assert_eq!(executor.poll_effect(), None, "nothing follows before it is acknowledged");
        executor.acknowledge(&effect, outcome);
        assert_eq!(executor.current().count(), 1);
        assert!(!executor.is_draining(), "declared means durable");
    }
    drive(&mut executor);
    assert!(executor.is_drained());
}

#[test]
fn an_operators_drain_gates_at_once_and_ends_only_when_it_is_durable() {
    let mut executor = executor(1);
    executor.drain(maintenance()).expect("no drain is in force");
    assert!(executor.is_draining());
    assert_eq!(executor.reserve(), Err(ReserveRefusal::Closed));
    let store = executor.poll_effect().expect("the drain is to be written");
    assert_eq!(executor.poll_effect(), None, "drained, but the drain is not durable");
    executor.acknowledge(&store, Acknowledgement::Done);
    assert_eq!(drive(&mut executor), ["drained d1 Nothing"]);
    assert_eq!(drive(&mut executor), [""; 0], "said once");
}

#[test]
fn only_a_stronger_request_replaces_a_drain_and_keeps_its_id() {
    let mut executor = executor(1);
    let first = executor.drain(maintenance()).expect("no drain is in force").clone();
    drive(&mut executor);
    let equal = executor.drain(maintenance()).expect_err("an equal request is refused");
    assert_eq!(*equal.active, first, "the refusal says what is in force");
    let stop = request(Term::ThisVersion, EndAction::Stop);
    let stronger = executor.drain(stop).expect("a stronger request is taken").clone();
    assert_eq!(stronger.id, first.id);
    assert_eq!(stronger.term, Term::UntilUndrained, "the longer term stays");
    executor.drain(deployment()).expect_err("a weaker request is refused");
    assert_eq!(drive(&mut executor), ["drain d1 Stop", "drained d1 Stop"]);
}

#[test]
fn a_drain_for_one_version_is_over_at_a_boot_of_another() {
    let mut executor = executor(1);
    executor.drain(deployment()).expect("no drain is in force");
    drive(&mut executor);
    assert!(reboot(&executor, "v1").is_draining());
    let mut other = reboot(&executor, "v2");
    assert!(!other.is_draining());
    assert_eq!(drive(&mut other), ["no drain"]);
}

#[test]
fn a_boot_is_the_restart_that_a_drain_asked_for() {
    let mut executor = executor(1);
    executor.drain(deployment()).expect("no drain is in force");
    drive(&mut executor);
    assert_eq!(drive(&mut reboot(&executor, "v1")), ["drained d1 Nothing"], "no restart for ever");
}

#[test]
fn an_interrupted_build_is_pending_again_in_its_place() {
    let mut executor = executor(1);
    submit(&mut executor, "first");
    submit(&mut executor, "second");
    drive(&mut executor);
    executor.drain(maintenance()).expect("no drain is in force");
    assert_eq!(executor.deadline(), Ok(AtDeadline::Interrupt));
    drive(&mut executor);
    assert!(!executor.is_drained(), "it has been told to stop, and has not stopped");
    executor.stopped(&local("first")).expect("it was told to stop");
    drive(&mut executor);
    assert_eq!(executor.recorded(&local("first")), Some(&BuildState::Pending));
    assert_eq!(executor.attempts(&local("first")), 0);
    executor.undrain().expect("it drains");
    let order: Vec<_> = executor.queue().into_iter().map(|queued| queued.waiter).collect();
    assert_eq!(order, [Waiter::Build(id("first")), Waiter::Build(id("second"))]);
    assert!(drive(&mut executor).contains(&"start first".to_owned()));
}

#[test]
fn a_boot_writes_the_drain_before_it_notes_that_nothing_is_left_to_declare() {
    let mut executor = reboot(&recorded_deployment(), "v1");
    let drain = executor.poll_effect().expect("the drain is to be written");
    assert_eq!(describe(&drain), "drain d2 Restart");
    let wake = executor.poll_effect().expect("the slot was handed on");
    assert_eq!(describe(&wake), "wake next");
    assert_eq!(executor.poll_effect(), None, "a crash now must find the declaration due");
}

#[test]
fn an_interruption_lets_no_child_begin_on_the_slot_of_what_is_stopped() {
    let mut executor = executor(1);
    submit(&mut executor, "parent");
    drive(&mut executor);
    executor.submit(id("child"), Some(id("parent")), None).expect("the parent runs");
    drive_to(&mut executor, "store child Pending 0");
    executor.drain(maintenance()).expect("no drain is in force");
    executor.deadline().expect("it drains");
    assert_eq!(drive(&mut executor), ["drain d1 Nothing", "stop parent"]);
}

#[test]
fn a_drain_between_reservation_and_start_starts_nothing() {
    let mut executor = executor(1);
    executor.reserve().expect("a slot is free");
    assert!(!executor.is_drained());
    executor.drain(maintenance()).expect("no drain is in force");
    assert!(!executor.is_drained(), "a reservation counts as in flight");
    assert_eq!(executor.start_reserved(GrantId(1)), Err(StartRefusal::Closed));
    assert!(executor.is_drained());
    assert_eq!(executor.slots_free(), 1, "the reservation is released");
}

#[test]
fn a_drain_of_the_process_is_never_written_and_over_with_it() {
    let mut executor = executor(1);
    executor.drain(request(Term::ThisProcess, EndAction::Nothing)).expect("no drain is in force");
    assert!(executor.is_draining() && executor.is_written(), "it waits for no write");
    let ended = executor.poll_effect();
    assert!(matches!(ended, Some(ExecutorEffect::Drained { .. })), "{ended:?}");
    executor.undrain().expect("it drains");
    assert!(executor.is_written(), "nothing is in the book that is to be taken back");
    assert_eq!(executor.poll_effect(), None);

    // A stronger request for longer is written, under the same id.
    executor.drain(request(Term::ThisProcess, EndAction::Nothing)).expect("no drain is in force");
    let longer = request(Term::UntilUndrained, EndAction::Stop);
    let id = executor.drain(longer).expect("it is stronger").id.clone();
    drive(&mut executor);
    let book = executor.ledger().clone();
    assert_eq!(
        book.drain.as_ref().map(|drain| (&drain.id, drain.term)),
        Some((&id, Term::UntilUndrained))
    );

    // What was written before is taken out of the book, though the drain that follows is not.
    executor.undrain().expect("it drains");
    executor.drain(request(Term::ThisProcess, EndAction::Nothing)).expect("no drain is in force");
    drive(&mut executor);
    assert_eq!(executor.ledger().drain, None);
    assert!(executor.is_draining());
}

#[test]
fn a_success_that_owes_a_drain_joins_that_of_the_process_for_its_own_term() {
    let mut executor = executor(1);
    let owed = request(Term::ThisVersion, EndAction::Nothing);
    executor.submit("deploy".into(), None, Some(owed)).expect("it is new");
    drive(&mut executor);
    executor.drain(request(Term::ThisProcess, EndAction::Nothing)).expect("no drain is in force");
    executor.ended(&local("deploy"), End::Succeeded).expect("it runs");
    drive(&mut executor);
    let book = executor.ledger().clone();
    assert_eq!(book.drain.as_ref().map(|drain| drain.term), Some(Term::ThisVersion));
    let again = Executor::recover(Settings::new(1, false), Version::from("v1"), book);
    assert!(again.expect("it was written").is_draining(), "the next boot still owes it");
}
