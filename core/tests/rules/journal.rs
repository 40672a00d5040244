//! What replays a journal: inputs as they were taken, and of which record a line tells.

use std::collections::BTreeSet;

use handover_core::journal::{CommitAnswer, HostInput, JournalEntry, JournalLine};
use handover_core::{
    AtDeadline, DrainRequest, End, EndAction, GrantId, Host, HostId, Incarnation, Input, Revision,
    Seq, SignOff, Standing, Statement, Term, Unreadable, Work,
};

use crate::common::{Driven, chunks};

fn request() -> DrainRequest {
    DrainRequest {
        reason: "by hand".into(),
        term: Term::UntilUndrained,
        end: EndAction::Nothing,
        at_deadline: AtDeadline::Interrupt,
        since: 0,
    }
}

/// Replays an input on one copy of a host and carries it out on another: both are the same then,
/// and the replay says whether it was taken.
#[track_caller]
fn replays<T, E>(host: &Host, input: HostInput, call: impl FnOnce(&mut Host) -> Result<T, E>) {
    let (mut replayed, mut called) = (host.clone(), host.clone());
    let is_taken = replayed.replay(input.clone());
    assert_eq!(is_taken, call(&mut called).is_ok(), "{input:?}");
    assert_eq!(replayed, called, "{input:?}");
}

/// As [`replays`], for what is never refused.
#[track_caller]
fn replays_wish(host: &Host, input: HostInput, call: impl FnOnce(&mut Host)) {
    replays(host, input, |host| {
        call(host);
        Ok::<(), ()>(())
    });
}

#[track_caller]
fn is_taken(host: &Host, input: HostInput) {
    let mut replayed = host.clone();
    assert!(replayed.replay(input.clone()), "{input:?}");
    assert_ne!(replayed, *host, "{input:?} changes something");
}

#[test]
fn an_input_is_replayed_as_it_was_taken_or_refused() {
    let idle = Driven::with_slots(1).host;
    let offered = Driven::offered(1);
    let mut building = Driven::building(2);
    let x = building.run_local("x");
    let view = offered.arbiter.record.view_for(offered.host.id(), offered.host.version());
    let grant = GrantId(1);
    let plan = HostInput::Plan { grant, plan: chunks(&["y"]) };
    let submit = HostInput::Submit { build: "z".into(), parent: None, drains: None };
    let cancel = HostInput::Cancel { build: "x".into() };
    let sign_off = HostInput::SignOff { grant, chunk: "y".into(), sign_off: SignOff::Clean };
    let ends = HostInput::BuildEnd { work: x.clone(), end: End::Succeeded };
    let (idle, offered, building) = (&idle, &offered.host, &building.host);
    for host in [idle, offered, building] {
        replays_wish(host, HostInput::Ask, Host::ask);
        replays_wish(host, HostInput::Watch, Host::watch);
        replays_wish(host, HostInput::StandDown, Host::stand_down);
        replays_wish(host, HostInput::StandDownAfter, Host::stand_down_after);
        let why = Unreadable::NoView;
        let unreadable = HostInput::Unreadable(why.clone());
        replays_wish(host, unreadable, |host| host.handle_unreadable(why));
        replays(host, submit.clone(), |host| host.submit("z".into(), None, None));
        replays(host, cancel.clone(), |host| host.cancel(&"x".into()));
        replays(host, HostInput::Drain(request()), |host| host.drain(request()));
        replays(host, HostInput::Undrain, Host::undrain);
        replays(host, HostInput::Deadline, Host::deadline);
        replays(host, HostInput::Interrupt, Host::interrupt);
        let seen = HostInput::View(Box::new(view.clone()));
        replays(host, seen, |host| host.handle_view(view.clone()));
        replays(host, plan.clone(), |host| host.handle_plan(grant, chunks(&["y"])));
        replays(host, HostInput::NoPlan { grant }, |host| host.handle_no_plan(grant));
        replays(host, sign_off.clone(), |host| {
            host.handle_sign_off(grant, "y".into(), SignOff::Clean)
        });
        replays(host, ends.clone(), |host| host.handle_build_end(&x, End::Succeeded));
        let stops = HostInput::BuildStop { work: x.clone() };
        replays(host, stops, |host| host.handle_build_stop(&x));
        let incarnation = Incarnation(2);
        replays(host, HostInput::ComeBack { incarnation }, |host| host.come_back(incarnation));
    }
    is_taken(idle, HostInput::Ask);
    is_taken(idle, submit);
    is_taken(offered, plan);
    is_taken(offered, HostInput::NoPlan { grant });
    is_taken(building, sign_off);
    is_taken(building, cancel);
    is_taken(building, ends);
    let mut draining = building.clone();
    assert!(draining.replay(HostInput::Drain(request())));
    is_taken(&draining, HostInput::Undrain);
    is_taken(&draining, HostInput::Interrupt);
    is_taken(&draining, HostInput::Deadline);
}

#[test]
fn a_stop_and_a_return_are_replayed() {
    let mut stopping = Driven::building(1);
    stopping.host.stand_down();
    assert_eq!(stopping.carry_out(), ["stop"]);
    is_taken(&stopping.host, HostInput::BuildStop { work: Work::Granted(GrantId(1)) });
    let mut gone = Driven::offered(1);
    assert_eq!(gone.arbiter.gone("b"), Ok(None));
    gone.look();
    is_taken(&gone.host, HostInput::ComeBack { incarnation: Incarnation(2) });
}

#[test]
fn an_entry_tells_of_the_record_that_it_carries_and_no_other_does() {
    let Driven { arbiter, host } = Driven::offered(1);
    let record = arbiter.record.to_parts().id;
    let told = |entry| {
        let line = JournalLine {
            format: JournalLine::FORMAT,
            boot: HostId::new("b", 1),
            record: None,
            number: 0,
            host: HostId::new("b", 1),
            seq: Seq(0),
            revision: Revision(0),
            entry,
        };
        line.record_of_entry()
    };
    let view = arbiter.record.view_for(host.id(), host.version());
    let word = host.statement().expect("it asks");
    let stands_down = Statement { standing: Standing::StoodDown, seq: word.seq.next(), ..word };
    let inputs = vec![Input::Statement(stands_down)];
    let change = arbiter.record.fold(&inputs[0], &BTreeSet::new()).expect("it is the next word");
    let revision = change.revision;
    let proposed = JournalEntry::Proposed { proposal: 0, change, inputs, suspects: [].into() };
    for carries in [
        JournalEntry::Input(HostInput::View(Box::new(view))),
        JournalEntry::Loaded(Box::new(arbiter.record.to_parts())),
        proposed,
    ] {
        assert_eq!(told(carries.clone()), Some(record), "{carries:?}");
    }
    let answer = CommitAnswer::Committed;
    for other in [
        JournalEntry::Input(HostInput::Ask),
        JournalEntry::Answered { proposal: 0, revision, answer },
        JournalEntry::Lost { lines: 1 },
        JournalEntry::Ended,
    ] {
        assert_eq!(told(other.clone()), None, "{other:?}");
    }
}
