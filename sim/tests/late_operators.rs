//! What operators and timers do too late, or to the wrong build, is refused; a protocol that takes it
//! is shown what comes of that.

mod found;

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use handover_core::{Change, HostId, Input, Record, Refusal, Ruling};
use handover_sim::choose::FaultKind::{self, Lapse, Retry, Revoke};
use handover_sim::explore::{Bounds, Counterexample, Property, explore};
use handover_sim::scenario::Ended;
use handover_sim::variants::{Current, Protocol, first_broken};

use found::replay;

/// A timer that is not stopped at the acceptance takes a build away that is under way (against Ar4).
#[derive(Debug)]
struct LapseOfABuild;

impl Protocol for LapseOfABuild {
    fn name(&self) -> &'static str {
        "lapse-of-a-build"
    }

    fn summary(&self) -> &'static str {
        "a job that was accepted lapses as an offer does"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::NoEviction)
    }

    fn fold(
        &self,
        record: &Record,
        input: &Input,
        suspects: &BTreeSet<HostId>,
    ) -> Result<Change, Refusal> {
        match record.fold(input, suspects) {
            Err(Refusal::AlreadyStarted) => {
                let hold = record.hold().expect("it has started");
                record.fold(&Input::Revoke { grant: hold.grant, reason: "late".into() }, suspects)
            }
            folded => folded,
        }
    }
}

/// An operator who means an earlier build hits the present one (against Ar6).
#[derive(Debug)]
struct RevokesWhatIsThere;

impl Protocol for RevokesWhatIsThere {
    fn name(&self) -> &'static str {
        "revokes-what-is-there"
    }

    fn summary(&self) -> &'static str {
        "a revocation takes the job back, whatever grant it names"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::NoEviction)
    }

    fn fold(
        &self,
        record: &Record,
        input: &Input,
        suspects: &BTreeSet<HostId>,
    ) -> Result<Change, Refusal> {
        let present = record.hold().map(|hold| hold.grant);
        if let (Input::Revoke { reason, .. }, Some(grant)) = (input, present) {
            return record.fold(&Input::Revoke { grant, reason: reason.clone() }, suspects);
        }
        record.fold(input, suspects)
    }
}

/// A retry takes an approval back (against Ar3).
#[derive(Debug)]
struct RetriesASuccess;

impl Protocol for RetriesASuccess {
    fn name(&self) -> &'static str {
        "retries-a-success"
    }

    fn summary(&self) -> &'static str {
        "a retry takes whatever verdict there is back"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::GateTruth)
    }

    fn fold(
        &self,
        record: &Record,
        input: &Input,
        suspects: &BTreeSet<HostId>,
    ) -> Result<Change, Refusal> {
        match (record.fold(input, suspects), input) {
            (Err(Refusal::NotFailed), Input::Retry { version, .. }) => {
                let mut parts = record.to_parts();
                let verdict = parts.verdicts.get_mut(version).expect("it is approved");
                verdict.ruling = Ruling::Failed("retried".into());
                let failed = Record::from_parts(parts).expect("another verdict makes a record");
                failed.fold(input, suspects)
            }
            (folded, _) => folded,
        }
    }
}

fn bounds(hosts: &[u8], kind: FaultKind, times: u8) -> Bounds {
    Bounds::new(hosts).with(kind, times).expect("it has a budget")
}

/// The shortest schedule of what a protocol breaks first; its text replays to that.
fn shown(bounds: Bounds, protocol: &'static dyn Protocol) -> Counterexample {
    let found = explore(&bounds.under(protocol), 1, |_| ControlFlow::Continue(()));
    let first = first_broken(&found).expect("it breaks something").clone();
    let text = first.scenario.to_string();
    let Ended::Breaks { violation, .. } = replay(&text, protocol) else {
        panic!("{} holds in\n{text}", protocol.name());
    };
    assert_eq!(violation.property, first.violation.property, "{text}");
    first
}

#[test]
fn a_lapse_of_what_is_accepted_a_revocation_of_what_is_over_and_a_retry_of_a_success_are_tried() {
    let cases: [(&[u8], _, _, &'static dyn Protocol, _); 3] = [
        (&[0], Lapse, 1, &LapseOfABuild, 6),
        (&[0], Revoke, 1, &RevokesWhatIsThere, 6),
        (&[0], Retry, 1, &RetriesASuccess, 11),
    ];
    for (hosts, kind, times, protocol, steps) in cases {
        let first = shown(bounds(hosts, kind, times), protocol);
        let found = (Some(first.violation.property), first.steps);
        assert_eq!(found, (protocol.breaks(), steps), "{}", first.scenario);
        let right = bounds(hosts, kind, times).under(&Current);
        assert!(explore(&right, 1, |_| ControlFlow::Continue(())).holds(), "{right}");
    }
}
