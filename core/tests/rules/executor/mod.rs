//! The executor's rules, one by one (Ex1 to Ex7, Ho1, Ho2, Ho5); drains have a file of their own.

mod drains;

use handover_core::executor::{
    Acknowledgement, AtDeadline, BuildState, CancelRefusal, DrainRequest, End, EndAction, Executor,
    ExecutorEffect, Ledger, LedgerError, NotRunning, Progress, ReserveRefusal, Settings, Stage,
    SubmitRefusal, Term, Waiter, Work,
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
