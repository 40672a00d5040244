//! A host through what happens seldom: a record that is replaced, an order to end that is void by
//! the time it is carried out, a store that has not answered.

use std::collections::BTreeSet;
use std::sync::Arc;

use handover_core::{
    Acknowledgement, ApplyError, AtDeadline, Candidate, DrainRequest, Effect, End, EndAction,
    Executor, ExecutorEffect, Host, HostId, Incarnation, Input, Priority, Record, RecordId,
    Settings, Standing, Statement, Term, Unreadable, Work,
};

/// A host with one slot, and what its driver knows.
struct Life {
    host: Host,
    boots: Incarnation,
    record: Record,
    ended: Vec<EndAction>,
}

impl Life {
    fn new(name: &str) -> Self {
        let candidate = Candidate::new(HostId::new(name, 1), "v1".into(), Priority(0));
        let executor = Executor::new(Settings::new(1, false), "v1".into());
        let host = Host::new(candidate, executor);
        Self { host, boots: Incarnation(1), record: Record::new(RecordId(1)), ended: vec![] }
    }

    fn fold(&mut self) {
        if let Some(statement) = self.host.unacknowledged()
            && let Ok(change) = self.record.fold(&Input::Statement(statement), &BTreeSet::new())
        {
            self.record.apply(&change).expect("folded on this record");
        }
    }

    fn read(&mut self) {
        let view = self.record.view_for(self.host.id(), self.host.version());
        let _ = self.host.handle_view(view);
    }

    /// Carries out all orders but those that `keep` holds back.
    fn carry_out(&mut self, keep: impl Fn(&Effect) -> bool) -> Vec<Effect> {
        let mut kept = Vec::new();
        while let Some(effect) = self.host.poll_effect() {
            if keep(&effect) {
                kept.push(effect);
                continue;
            }
            match &effect {
                Effect::MakePlan { grant } => {
                    let _ = self.host.handle_plan(*grant, BTreeSet::new());
                }
                Effect::Return { above } => {
                    self.boots = self.boots.max(*above).next();
                    self.host.come_back(self.boots).expect("the number is new");
                }
                Effect::Alarm(alarm) => panic!("{alarm:?}"),
                Effect::Executor(order) => {
                    if let ExecutorEffect::Drained { end, .. } = order {
                        self.ended.push(*end);
                    }
                    self.host.acknowledge(&effect, Acknowledgement::Done);
                    if let ExecutorEffect::Start { work: Work::Granted(grant) } = order {
                        let work = Work::Granted(*grant);
                        self.host.handle_build_end(&work, End::Succeeded).expect("it runs");
                    }
                }
            }
            self.host.check();
        }
        kept
    }

    fn rounds(&mut self, count: usize) {
        for _ in 0..count {
            self.fold();
            self.read();
            self.carry_out(|_| false);
        }
    }

    fn drain(&mut self, end: EndAction) {
        let request = DrainRequest {
            reason: "by hand".into(),
            term: Term::UntilUndrained,
            end,
            at_deadline: AtDeadline::Interrupt,
            since: 0,
        };
        self.host.drain(request).expect("no drain is in force");
    }
}

#[test]
fn a_host_that_has_built_builds_again_for_a_record_that_was_made_anew() {
    let mut life = Life::new("b");
    life.host.ask();
    life.rounds(12);
    assert!(life.host.gate().is_open());
    life.record = Record::new(RecordId(2));
    life.rounds(20);
    assert!(life.host.gate().is_open(), "{:?}", life.host.gate());
    assert!(life.record.verdicts().next().is_some(), "approved in the new record");
}

#[test]
fn a_drain_that_is_over_is_forgotten_when_the_record_is_made_anew() {
    let mut life = Life::new("b");
    life.host.ask();
    life.rounds(12);
    life.drain(EndAction::Nothing);
    life.rounds(3);
    life.host.undrain().expect("it was drained");
    life.rounds(3);
    life.record = Record::new(RecordId(2));
    life.rounds(20);
    assert!(life.host.gate().is_open(), "{:?}", life.host.gate());
}

#[test]
fn one_incarnation_is_enough_for_a_record_that_was_made_anew() {
    let mut life = Life::new("b");
    life.host.ask();
    life.rounds(12);
    let late = life.record.view_for(life.host.id(), life.host.version());
    life.record = Record::new(RecordId(2));
    life.read();
    life.host.handle_unreadable(Unreadable::Unavailable { reason: "away".into() });
    assert!(life.host.handle_view(late).is_err(), "the old record says nothing any more");
    assert!(!life.host.gate().is_open());
    life.rounds(20);
    assert_eq!(life.host.id().incarnation, Incarnation(2));
    assert!(life.host.gate().is_open());
}

#[test]
fn an_order_to_end_is_void_once_its_drain_is_over() {
    let mut life = Life::new("b");
    life.host.ask();
    life.drain(EndAction::Stop);
    life.carry_out(|_| false);
    life.host.undrain().expect("it was drained");
    life.drain(EndAction::Nothing);
    life.rounds(5);
    assert_eq!(life.ended, [EndAction::Nothing], "the drain in force says so");
}

#[test]
fn nobody_is_drained_while_what_was_accepted_is_not_written() {
    let mut life = Life::new("b");
    life.drain(EndAction::Stop);
    assert!(!life.host.is_drained(), "the drain itself is not written");
    life.host.submit("x1".into(), None, None).expect("it is new");
    let row =
        |effect: &Effect| matches!(effect, Effect::Executor(ExecutorEffect::StoreEntry { .. }));
    let kept = life.carry_out(row);
    assert_eq!((kept.len(), life.host.is_drained()), (1, false));
    assert_eq!(life.ended, []);
    life.host.acknowledge(&kept[0], Acknowledgement::Done);
    life.carry_out(|_| false);
    assert_eq!((life.host.is_drained(), &life.ended[..]), (true, &[EndAction::Stop][..]));
}

#[test]
fn a_watch_takes_the_wish_for_the_job_back() {
    let mut life = Life::new("b");
    life.drain(EndAction::Nothing);
    life.host.ask();
    life.host.watch();
    life.host.undrain().expect("it was drained");
    life.rounds(3);
    assert_eq!(life.host.statement(), None);
}

#[test]
fn a_reservation_does_not_outlast_the_view_of_the_record() {
    let mut life = Life::new("b");
    life.host.submit("x1".into(), None, None).expect("it is new");
    life.carry_out(|_| false);
    life.host.ask();
    life.fold();
    life.read();
    life.carry_out(|_| false);
    assert!(life.host.is_queued(), "its slot is taken");
    let x1 = Work::Local("x1".into());
    life.host.handle_build_end(&x1, End::Succeeded).expect("it runs");
    life.carry_out(|_| false);
    assert_eq!(life.host.executor().slots_free(), 0, "reserved for its asking");
    life.host.handle_unreadable(Unreadable::Unavailable { reason: "away".into() });
    assert_eq!(life.host.executor().slots_free(), 1);
    life.rounds(12);
    assert!(life.host.gate().is_open());
}

#[test]
fn a_record_that_is_read_again_is_known_again_though_nothing_has_moved() {
    let mut life = Life::new("b");
    life.host.watch();
    life.read();
    let before = life.host.gate();
    life.host.handle_unreadable(Unreadable::Unavailable { reason: "away".into() });
    assert_ne!(life.host.gate(), before);
    life.read();
    assert_eq!(life.host.gate(), before, "into a quiet record nothing newer ever comes");
    let view = life.record.view_for(life.host.id(), life.host.version());
    assert!(life.host.handle_view(view).is_err(), "and then it is old again");
}

#[test]
fn a_host_without_a_plan_gives_the_job_back_and_may_ask_again() {
    let mut life = Life::new("b");
    life.host.ask();
    life.fold();
    life.read();
    let Some(Effect::MakePlan { grant }) = life.host.poll_effect() else {
        panic!("it is offered the job");
    };
    life.host.handle_no_plan(grant).expect("a plan is wanted");
    assert!(life.host.handle_no_plan(grant).is_err(), "once");
    life.host.check();
    let standing = life.host.statement().map(|statement| statement.standing);
    assert_eq!(standing, Some(Standing::StoodDown));
    life.fold();
    assert_eq!(life.record.hold(), None);
    assert!(life.host.wants_job());
    life.host.ask();
    life.rounds(12);
    assert!(life.host.gate().is_open());
}

#[test]
fn whoever_ends_the_process_may_interrupt_what_its_drain_would_wait_for() {
    let mut life = Life::new("b");
    assert!(life.host.interrupt().is_err(), "what was interrupted would start again at once");
    life.host.submit("x1".into(), None, None).expect("it is new");
    life.carry_out(|_| false);
    let request = DrainRequest {
        reason: "shutdown".into(),
        term: Term::ThisVersion,
        end: EndAction::Nothing,
        at_deadline: AtDeadline::Report,
        since: 0,
    };
    life.host.drain(request).expect("no other is in force");
    assert_eq!(life.host.deadline(), Ok(AtDeadline::Report));
    life.carry_out(|_| false);
    assert!(!life.host.is_drained());
    life.host.interrupt().expect("it drains");
    life.carry_out(|_| false);
    life.host.handle_build_stop(&Work::Local("x1".into())).expect("it was told to stop");
    life.carry_out(|_| false);
    assert!(life.host.is_drained());
    assert_eq!(life.host.executor().queue().len(), 1, "x1 is queued again");
}

#[test]
fn a_record_tells_the_lives_of_one_name_the_earliest_first() {
    let mut life = Life::new("b");
    for (name, incarnation) in [("b", 10), ("b", 9), ("ba", 1), ("a", 1), ("b", 1)] {
        let standing = Standing::Asking { priority: Priority(0) };
        let host = HostId::new(name, incarnation);
        let seq = handover_core::Seq(1);
        let statement = Statement { host, version: "v1".into(), seq, standing };
        let change = life.record.fold(&Input::Statement(statement), &BTreeSet::new());
        life.record.apply(&change.expect("its first word")).expect("folded on this record");
    }
    let lives: Vec<u64> =
        life.record.lives(&"b".into()).map(|(host, _)| host.incarnation.0).collect();
    assert_eq!(lives, [1, 9, 10]);
}

#[test]
fn an_interruption_hands_on_the_slot_that_it_frees() {
    let mut executor = Executor::new(Settings::new(2, false), "v1".into());
    let done = |executor: &mut Executor| {
        while let Some(effect) = executor.poll_effect() {
            executor.acknowledge(&effect, Acknowledgement::Done);
        }
    };
    executor.submit("x1".into(), None, None).expect("it is new");
    done(&mut executor);
    executor.submit("x2".into(), Some("x1".into()), None).expect("x1 is in flight");
    let effect = executor.poll_effect().expect("the row of x2");
    executor.acknowledge(&effect, Acknowledgement::Done);
    executor.ended(&Work::Local("x1".into()), End::Succeeded).expect("it runs");
    let request = DrainRequest {
        reason: "by hand".into(),
        term: Term::UntilUndrained,
        end: EndAction::Nothing,
        at_deadline: AtDeadline::Interrupt,
        since: 0,
    };
    executor.drain(request).expect("no drain is in force");
    executor.deadline().expect("it is drained");
    executor.check();
}

#[test]
fn a_change_that_no_fold_makes_is_not_taken() {
    let nobody = BTreeSet::new();
    let word = |name: &str, seq: u64| {
        Input::Statement(Statement {
            host: HostId::new(name, 1),
            version: "v1".into(),
            seq: handover_core::Seq(seq),
            standing: Standing::Asking { priority: Priority(0) },
        })
    };
    let mut record = Record::new(RecordId(1));
    for name in ["a", "b"] {
        let change = record.fold(&word(name, 1), &nobody).expect("it is new");
        record.apply(&change).expect("folded on this record");
    }
    let good = record.fold(&word("b", 2), &nobody).expect("it is newer");
    let spoil: [fn(&mut handover_core::Change); 4] = [
        |change| {
            let row = change.lines.values_mut().next().and_then(Option::as_mut);
            Arc::make_mut(row.expect("b has a line")).version = "v2".into();
        },
        |change| change.next_grant = handover_core::GrantId(0),
        |change| change.next_ticket = handover_core::Ticket(0),
        |change| change.lines.clear(),
    ];
    for spoil in &spoil[..3] {
        let mut bad = good.clone();
        spoil(&mut bad);
        let answer = record.clone().apply(&bad);
        assert!(matches!(answer, Err(ApplyError::Contradiction { .. })), "{answer:?}");
    }
    let mut fewer = good.clone();
    spoil[3](&mut fewer);
    assert_eq!(record.clone().apply(&fewer), Ok(()), "fewer rows contradict nothing");
    assert_eq!(record.apply(&good), Ok(()));
}
