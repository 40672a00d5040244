//! A host whose orders are out, failed or void by the time something else happens (Dr3, Ho2, Ho4).

use handover_core::{
    Acknowledgement, AtDeadline, DrainRequest, Effect, End, EndAction, ExecutorEffect, GrantId,
    Incarnation, Record, RecordId, Term, Work,
};

use crate::common::{Arbiter, Driven};

const G1: Work = Work::Granted(GrantId(1));

impl Driven {
    /// Carries out all orders up to the one that gives the slot of this work back, which is out
    /// then.
    fn up_to_release(&mut self, work: &Work) -> Effect {
        let release = Effect::Executor(ExecutorEffect::Release { work: work.clone() });
        loop {
            let effect = self.host.poll_effect().expect("its slot is to be released");
            if effect == release {
                return release;
            }
            self.host.acknowledge(&effect, Acknowledgement::Done);
            self.host.check();
        }
    }

    fn drain_for_this_process(&mut self) {
        let request = DrainRequest {
            reason: "shutdown".into(),
            term: Term::ThisProcess,
            end: EndAction::Stop,
            at_deadline: AtDeadline::Interrupt,
            since: 0,
        };
        self.host.drain(request).expect("there is none");
    }
}

#[test]
fn a_return_that_failed_is_ordered_again_and_one_that_is_under_way_is_not() {
    let mut driven = Driven::offered(1);
    assert_eq!(driven.carry_out(), ["plan g1"]);
    assert_eq!(driven.arbiter.gone("b"), Ok(None));
    driven.look();
    let back = driven.host.poll_effect().expect("it is to come back");
    assert_eq!(back, Effect::Return { above: Incarnation(1) });
    assert_eq!(driven.host.poll_effect(), None);
    driven.host.acknowledge(&back, Acknowledgement::Done);
    assert_eq!(driven.host.poll_effect(), None, "the driver answers by coming back");
    driven.host.acknowledge(&back, Acknowledgement::Failed);
    assert_eq!(driven.host.poll_effect(), Some(back));
}

#[test]
fn a_plan_that_could_not_be_asked_for_is_asked_for_again() {
    let mut driven = Driven::offered(1);
    let plan = driven.host.poll_effect().expect("a plan is wanted");
    assert_eq!(plan, Effect::MakePlan { grant: GrantId(1) });
    driven.host.acknowledge(&Effect::MakePlan { grant: GrantId(2) }, Acknowledgement::Failed);
    assert_eq!(driven.host.poll_effect(), None, "that was about another offer");
    driven.host.acknowledge(&plan, Acknowledgement::Failed);
    assert_eq!(driven.host.poll_effect(), Some(plan));
}

#[test]
fn the_end_of_an_earlier_drain_is_not_the_end_of_a_later_one() {
    let mut driven = Driven::with_slots(1);
    driven.host.ask();
    driven.drain_for_this_process();
    assert_eq!(driven.host.poll_effect(), None, "the record has not heard of the stand-down");
    driven.host.undrain().expect("there is one");
    let x = driven.run_local("x");
    driven.ends(&x, End::Succeeded);
    let release = driven.up_to_release(&x);
    driven.drain_for_this_process();
    driven.exchange();
    assert_eq!(driven.host.poll_effect(), None, "x has its slot still");
    driven.host.acknowledge(&release, Acknowledgement::Done);
    let id = driven.host.executor().active_drain().expect("it is in force").id.clone();
    let end = ExecutorEffect::Drained { drain: id, end: EndAction::Stop };
    assert_eq!(driven.host.poll_effect(), Some(Effect::Executor(end)));
}

#[test]
fn a_grant_whose_namesake_is_unfinished_is_given_back_and_the_job_stays_wanted() {
    let mut driven = Driven::building(2);
    driven.arbiter = Arbiter::new();
    driven.arbiter.record = Record::new(RecordId(8));
    driven.look();
    assert_eq!(driven.carry_out(), ["stop"]);
    driven.host.handle_build_stop(&G1).expect("it was told to stop");
    let release = driven.up_to_release(&G1);
    assert_eq!(driven.host.poll_effect(), Some(Effect::Return { above: Incarnation(1) }));
    driven.host.come_back(Incarnation(2)).expect("it was expelled");
    driven.exchange();
    driven.plan(1);
    driven.exchange();
    assert_eq!(driven.phase(), "finished(g1)", "the other g1 is not gone yet");
    assert_eq!(driven.slots_free(), 1);
    driven.speak();
    let reported = driven.host.candidate().seq();
    driven.look();
    assert_eq!(driven.word(), "Asking");
    assert_eq!(driven.host.candidate().seq(), reported.next(), "it has not stood down");
    driven.host.acknowledge(&release, Acknowledgement::Done);
    driven.host.check();
    assert_eq!(driven.slots_free(), 2);
}
