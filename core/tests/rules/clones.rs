//! A clone into a value that is there already is the same as a fresh one, whatever was there.

use std::fmt::Debug;

use handover_core::{
    AtDeadline, BuildId, Candidate, DrainRequest, EndAction, Host, HostId, Outcome, Priority, Term,
};

use crate::common::{Driven, Pair};

fn candidates() -> Vec<Candidate> {
    let named = Candidate::new(HostId::new("c", 3), "v2".into(), Priority(7));
    let mut signed_off = Pair::building(&["x"]);
    signed_off.sign_off("x");
    let mut finished = Pair::building(&["x"]);
    finished.ends(Outcome::Clean);
    let mut gone = Pair::building(&[]);
    assert_eq!(gone.arbiter.gone("b"), Ok(None));
    gone.look();
    let pairs = [
        Pair::idle(),
        Pair::asking(),
        Pair::planning(),
        Pair::accepted(&["x"]),
        Pair::building(&["x"]),
        signed_off,
        Pair::cancelling(&["x"]),
        finished,
        gone,
    ];
    pairs.into_iter().map(|pair| pair.candidate).chain([named]).collect()
}

fn hosts() -> Vec<Host> {
    let mut busy = Driven::with_slots(1);
    busy.run_local("x");
    let mut queued = Driven::with_slots(1);
    queued.run_local("x");
    queued.host.submit(BuildId::from("y"), None, None).expect("the id is new");
    let mut drained = Driven::with_slots(2);
    let request = DrainRequest {
        reason: "by hand".into(),
        term: Term::UntilUndrained,
        end: EndAction::Stop,
        at_deadline: AtDeadline::Report,
        since: 1,
    };
    drained.host.drain(request).expect("there is none");
    drained.carry_out();
    let all = [
        Driven::with_slots(1),
        busy,
        queued,
        drained,
        Driven::offered(1),
        Driven::accepted(1),
        Driven::building(2),
    ];
    all.into_iter().map(|driven| driven.host).collect()
}

/// Clones each of them into a copy of each.
fn clones_into_each<T: Clone + PartialEq + Debug>(all: &[T]) {
    for from in all {
        for old in all {
            let mut into = old.clone();
            into.clone_from(from);
            assert_eq!(into, *from, "into {old:?}");
        }
    }
}

#[test]
fn a_candidate_that_is_cloned_into_another_is_the_same() {
    clones_into_each(&candidates());
}

#[test]
fn a_host_that_is_cloned_into_another_is_the_same() {
    clones_into_each(&hosts());
}

#[test]
fn an_executor_that_is_cloned_into_another_shares_what_it_has_until_one_of_them_changes() {
    let all = hosts();
    let (from, mut into) = (all[1].executor(), all[2].executor().clone());
    into.clone_from(from);
    assert!(into.is_unchanged_since(from));
    into.clone_from(from);
    assert!(into.is_unchanged_since(from), "what is shared already is left alone");
    into.submit(BuildId::from("z"), None, None).expect("the id is new");
    assert!(!into.is_unchanged_since(from));
    assert_ne!(into, *from);
}
