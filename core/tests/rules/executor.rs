//! The executor's rules, one by one (Ex1 to Ex7, Ho1, Ho2, Ho5).

use handover_core::executor::{
    Acknowledgement, AtDeadline, BuildState, CancelRefusal, DrainRequest, End, EndAction, Executor,
    ExecutorEffect, Ledger, LedgerError, NotRunning, Progress, ReserveRefusal, Settings, Stage,
    StartRefusal, SubmitRefusal, Term, Waiter, Work,
};
use handover_core::{BuildId, GrantId, Reason, Version};

fn executor(slots: u32) -> Executor {
    Executor::new(Settings::new(slots, false), Version::from("v1"))
}

fn id(build: &str) -> BuildId {
    BuildId::from(build)
}

fn local(build: &str) -> Work {
    Work::Local(id(build))
}

fn submit(executor: &mut Executor, build: &str) {
    executor.submit(id(build), None, None).expect("a new build is taken");
}

fn request(term: Term, end: EndAction) -> DrainRequest {
    let at_deadline = AtDeadline::Interrupt;
    DrainRequest { reason: Reason::from("rollout"), term, end, at_deadline, since: 7 }
}

fn deployment() -> DrainRequest {
    request(Term::ThisVersion, EndAction::Restart)
}

fn maintenance() -> DrainRequest {
    request(Term::UntilUndrained, EndAction::Nothing)
}

fn describe(effect: &ExecutorEffect) -> String {
    match effect {
        ExecutorEffect::Wake(Waiter::Build(build)) => format!("wake {build}"),
        ExecutorEffect::Wake(Waiter::Candidate) => "wake candidate".to_owned(),
        ExecutorEffect::StoreEntry { work, entry: Some(entry) } => {
            format!("store {work} {:?} {}", entry.state, entry.attempts)
        }
        ExecutorEffect::StoreEntry { work, entry: None } => format!("drop {work}"),
        ExecutorEffect::Start { work } => format!("start {work}"),
        ExecutorEffect::Stop { work } => format!("stop {work}"),
        ExecutorEffect::StoreArtifacts { work } => format!("artifacts {work}"),
        ExecutorEffect::StoreDrain { drain: Some(drain) } => {
            format!("drain {} {:?}", drain.id, drain.end)
        }
        ExecutorEffect::StoreDrain { drain: None } => "no drain".to_owned(),
        ExecutorEffect::Remove { work } => format!("remove {work}"),
        ExecutorEffect::Release { work } => format!("release {work}"),
        ExecutorEffect::Drained { end, drain } => format!("drained {drain} {end:?}"),
    }
}

/// Performs all effects as they come, and lists them.
fn drive(executor: &mut Executor) -> Vec<String> {
    let mut done = Vec::new();
    while let Some(effect) = executor.poll_effect() {
        done.push(describe(&effect));
        let progress = executor.acknowledge(&effect, Acknowledgement::Done);
        assert_ne!(progress, Some(Progress::Refused), "{effect:?} was handed out");
        executor.check();
    }
    done
}

/// Performs effects up to and with the one of this description.
fn drive_to(executor: &mut Executor, last: &str) {
    loop {
        let effect = executor.poll_effect().unwrap_or_else(|| panic!("no {last}"));
        executor.acknowledge(&effect, Acknowledgement::Done);
        executor.check();
        if describe(&effect) == last {
            return;
        }
    }
}

fn reboot(executor: &Executor, version: &str) -> Executor {
    let book = executor.ledger().clone();
    Executor::recover(executor.settings(), Version::from(version), book).expect("our own book")
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
fn an_effect_that_is_not_handed_out_is_refused_and_changes_nothing() {
    let mut executor = executor(1);
    submit(&mut executor, "x");
    let before = executor.clone();
    let start = ExecutorEffect::Start { work: local("x") };
    assert_eq!(executor.acknowledge(&start, Acknowledgement::Done), Some(Progress::Refused));
    assert_eq!(executor, before);
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
fn a_cancel_beats_an_interruption_and_a_success_that_came_first_stays() {
    let mut executor = executor(2);
    submit(&mut executor, "x");
    submit(&mut executor, "y");
    drive(&mut executor);
    executor.drain(maintenance()).expect("no drain is in force");
    executor.deadline().expect("it drains");
    executor.cancel(&id("x")).expect("it runs");
    executor.cancel(&id("y")).expect("it runs");
    assert_eq!(executor.cancel(&id("y")), Err(CancelRefusal::Cancelling));
    drive(&mut executor);
    executor.stopped(&local("x")).expect("it was told to stop");
    executor.ended(&local("y"), End::Succeeded).expect("it ended by itself");
    assert_eq!(executor.cancel(&id("y")), Err(CancelRefusal::Ended));
    drive(&mut executor);
    assert_eq!(executor.recorded(&local("x")), Some(&BuildState::Cancelled));
    assert_eq!(executor.recorded(&local("y")), Some(&BuildState::Succeeded));
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
fn a_build_cancelled_between_admission_and_start_never_starts() {
    let mut executor = executor(1);
    submit(&mut executor, "x");
    drive_to(&mut executor, "wake x");
    executor.cancel(&id("x")).expect("it is in flight");
    let end = ["store x Cancelled 1", "remove x", "release x"];
    assert_eq!(drive(&mut executor), end);
}

#[test]
fn a_cancel_reaches_a_build_that_is_being_queued_again() {
    let mut executor = executor(1);
    submit(&mut executor, "x");
    drive(&mut executor);
    executor.drain(maintenance()).expect("no drain is in force");
    executor.deadline().expect("it drains");
    drive(&mut executor);
    executor.stopped(&local("x")).expect("it was told to stop");
    drive_to(&mut executor, "store x Pending 0");
    executor.cancel(&id("x")).expect("it is unfinished");
    drive(&mut executor);
    assert_eq!(executor.recorded(&local("x")), Some(&BuildState::Cancelled));
    assert_eq!(executor.queue(), []);
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
fn a_pending_build_is_cancelled_at_once() {
    let mut executor = executor(1);
    submit(&mut executor, "runs");
    submit(&mut executor, "waits");
    drive(&mut executor);
    executor.cancel(&id("waits")).expect("it waits");
    assert_eq!(executor.queue(), []);
    assert_eq!(drive(&mut executor), ["store waits Cancelled 0"]);
}

#[test]
fn a_child_runs_on_its_parents_slot_through_a_closed_gate() {
    let mut executor = executor(1);
    submit(&mut executor, "parent");
    drive(&mut executor);
    executor.drain(maintenance()).expect("no drain is in force");
    executor.submit(id("child"), Some(id("parent")), None).expect("submitting is always allowed");
    assert!(drive(&mut executor).contains(&"start child".to_owned()));
    executor.ended(&local("parent"), End::Succeeded).expect("it runs");
    drive(&mut executor);
    assert_eq!(executor.stage(&local("parent")), Some(Stage::Removing), "its child is on its slot");
    executor.ended(&local("child"), End::Succeeded).expect("it runs");
    let end = drive(&mut executor);
    let last = ["release child", "remove parent", "release parent", "drained d1 Nothing"];
    assert!(end.ends_with(&last.map(str::to_owned)), "{end:?}");
    let late = executor.submit(id("late"), Some(id("parent")), None);
    assert_eq!(late, Err(SubmitRefusal::ParentNotInFlight));
}

#[test]
fn a_cancel_of_a_parent_cancels_its_children() {
    let mut executor = executor(1);
    submit(&mut executor, "parent");
    drive(&mut executor);
    executor.submit(id("child"), Some(id("parent")), None).expect("the parent runs");
    drive(&mut executor);
    executor.cancel(&id("parent")).expect("it runs");
    assert_eq!(drive(&mut executor), ["stop parent", "stop child"]);
}

#[test]
fn a_crash_queues_local_builds_once_and_drops_those_of_a_grant() {
    let mut executor = executor(3);
    submit(&mut executor, "x");
    executor.reserve().expect("a slot is free");
    executor.start_reserved(GrantId(3)).expect("the gate is open");
    drive(&mut executor);
    let mut booted = reboot(&executor, "v1");
    assert_eq!(booted, reboot(&booted, "v1"), "as if booted once");
    assert_eq!(booted.attempts(&local("x")), 0);
    assert_eq!(drive(&mut booted)[..2], ["store x Pending 0", "wake x"]);
    assert_eq!(booted.recorded(&Work::Granted(GrantId(3))), None);
    assert!(!booted.has_reservation(), "a reservation is not durable");
}

#[test]
fn a_younger_build_does_not_overtake_one_that_a_crash_had_cut() {
    let mut executor = executor(1);
    submit(&mut executor, "first");
    submit(&mut executor, "second");
    drive(&mut executor);
    let mut booted = reboot(&executor, "v1");
    assert_eq!(drive(&mut booted)[..2], ["store first Pending 0", "wake first"]);
    assert!(!booted.is_running(&local("second")));
}

#[test]
fn the_candidate_takes_its_turn_in_the_queue() {
    let mut executor = executor(1);
    submit(&mut executor, "first");
    drive(&mut executor);
    executor.enqueue_candidate();
    submit(&mut executor, "second");
    drive(&mut executor);
    executor.ended(&local("first"), End::Succeeded).expect("it runs");
    drive(&mut executor);
    assert!(executor.has_reservation(), "it came before the second build");
    assert_eq!(executor.reserve(), Err(ReserveRefusal::Already));
    assert!(executor.release_reservation());
    assert!(!executor.release_reservation(), "a slot is released once");
    assert!(drive(&mut executor).contains(&"start second".to_owned()));
    assert_eq!(executor.reserve(), Err(ReserveRefusal::Full));
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
fn stopped_granted_work_keeps_its_slot_until_it_has_stopped_and_is_never_queued() {
    let mut executor = executor(1);
    let work = Work::Granted(GrantId(1));
    executor.reserve().expect("a slot is free");
    executor.start_reserved(GrantId(1)).expect("the gate is open");
    drive(&mut executor);
    executor.drain(maintenance()).expect("no drain is in force");
    executor.deadline().expect("it drains");
    drive(&mut executor);
    assert_eq!(executor.slots_free(), 0);
    executor.stopped(&work).expect("it was told to stop");
    drive(&mut executor);
    assert_eq!(executor.recorded(&work), Some(&BuildState::Cancelled));
    assert_eq!(executor.slots_free(), 1);
    assert_eq!(executor.ended(&work, End::Succeeded), Err(NotRunning), "it has ended already");
}

#[test]
fn a_book_of_a_later_format_is_refused() {
    let book = Ledger { format: Ledger::FORMAT + 1, ..Ledger::default() };
    let refused = Executor::recover(Settings::new(1, false), Version::from("v1"), book);
    assert_eq!(refused, Err(LedgerError::NewerFormat { found: Ledger::FORMAT + 1 }));
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

#[test]
fn a_book_that_no_executor_has_written_is_refused() {
    let recovered = |spoil: fn(&mut Ledger)| {
        let mut executor = executor(1);
        submit(&mut executor, "x");
        drive(&mut executor);
        executor.submit("y".into(), Some("x".into()), None).expect("x is in flight");
        drive(&mut executor);
        let mut book = executor.ledger().clone();
        spoil(&mut book);
        Executor::recover(Settings::new(1, false), Version::from("v1"), book).err()
    };
    assert_eq!(recovered(|_| ()), None);
    let ends = Some(LedgerError::Exhausted);
    assert_eq!(recovered(|book| book.next_place = u64::MAX), ends);
    assert_eq!(recovered(|book| book.next_drain = u64::MAX), ends);
    let highest = |book: &mut Ledger| {
        book.entries.get_mut(&local("y")).expect("it was submitted").place = u64::MAX;
    };
    assert_eq!(recovered(highest), ends);
    let itself = |book: &mut Ledger| {
        book.entries.get_mut(&local("x")).expect("it was submitted").parent = Some("x".into());
    };
    assert_eq!(recovered(itself), Some(LedgerError::BeforeParent { build: "x".into() }));
    let circle = |book: &mut Ledger| {
        book.entries.get_mut(&local("x")).expect("it was submitted").parent = Some("y".into());
    };
    assert_eq!(recovered(circle), Some(LedgerError::BeforeParent { build: "x".into() }));
}
