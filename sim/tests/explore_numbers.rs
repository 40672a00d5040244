//! Numbers are only compared. The explorer drops what the other side would refuse by its number,
//! and keeps of a number only its rank; here are the comparisons on which that relies.

use std::collections::BTreeSet;

use handover_core::{
    Candidate, CandidateRefusal, HostId, Incarnation, Input, Priority, Record, RecordId, Refusal,
    Revision, Seq, Standing, Statement, View,
};

/// Neighbours, and numbers far apart in the same order.
const SCALES: [u64; 2] = [1, 1_000];

fn pairs() -> impl Iterator<Item = (u64, u64)> {
    let scaled =
        |scale| (1..=4).flat_map(move |one| (1..=4).map(move |two| (one * scale, two * scale)));
    SCALES.into_iter().flat_map(scaled)
}

fn host(incarnation: u64) -> HostId {
    HostId { name: "a".into(), incarnation: Incarnation(incarnation) }
}

fn asking(incarnation: u64, seq: u64) -> Input {
    let standing = Standing::Asking { priority: Priority(0) };
    Input::Statement(Statement {
        host: host(incarnation),
        version: "v1".into(),
        seq: Seq(seq),
        standing,
    })
}

fn after(record: &Record, input: &Input) -> Record {
    let mut record = record.clone();
    let change = record.fold(input, &BTreeSet::new()).expect("it is accepted");
    record.apply(&change).expect("it was folded on this record");
    record
}

fn empty() -> Record {
    Record::new(RecordId(1))
}

#[test]
fn a_statement_is_outdated_exactly_if_its_seq_is_not_above_the_line() {
    for (seen, said) in pairs() {
        let record = after(&empty(), &asking(1, seen));
        let found = record.fold(&asking(1, said), &BTreeSet::new());
        let refused = found == Err(Refusal::Outdated { seen: Seq(seen) });
        assert_eq!((refused, found.is_ok()), (said <= seen, said > seen), "{seen} {said}");
    }
}

#[test]
fn a_host_is_gone_exactly_if_its_incarnation_is_not_above_the_one_declared_gone() {
    for (gone, speaks) in pairs() {
        let record = after(&empty(), &Input::Gone(host(gone)));
        let found = record.fold(&asking(speaks, 1), &BTreeSet::new());
        let refused = matches!(found, Err(Refusal::Gone { .. }));
        assert_eq!((refused, found.is_ok()), (speaks <= gone, speaks > gone), "{gone} {speaks}");
    }
}

#[test]
fn a_view_is_old_exactly_if_its_revision_is_not_above_the_one_that_is_held() {
    for (held, comes) in pairs() {
        let mut candidate = Candidate::new(host(1), "v1".into(), Priority(0));
        let view = |revision| View {
            revision: Revision(revision),
            ..empty().view_for(&host(1), &"v1".into())
        };
        candidate.handle_view(view(held)).expect("the first view is taken");
        let found = candidate.handle_view(view(comes));
        let refused = found == Err(CandidateRefusal::OldView { held: Revision(held) });
        assert_eq!((refused, found.is_ok()), (comes <= held, comes > held), "{held} {comes}");
    }
}

#[test]
fn an_offer_lapses_and_is_accepted_exactly_under_its_own_grant() {
    for (offered, named) in pairs() {
        let mut parts = empty().to_parts();
        parts.next_grant.0 = offered;
        let record = Record::from_parts(parts).expect("an empty record");
        let record = after(&after(&record, &asking(1, 1)), &other_asks());
        let named = handover_core::GrantId(named);
        let hold = record.hold().expect("the first one was offered the job");
        assert_eq!(hold.grant.0, offered);
        let lapse = record.fold(&Input::Lapse { grant: named }, &BTreeSet::new());
        assert_eq!(lapse.is_ok(), named == hold.grant, "{offered} {named}");
        let Input::Statement(asking) = asking(1, 2) else { unreachable!("it is a statement") };
        let standing = Standing::Accepted { grant: named, plan: BTreeSet::new() };
        let accepts = after(&record, &Input::Statement(Statement { standing, ..asking }));
        let started = accepts.hold().is_some_and(|hold| hold.is_started());
        assert_eq!(started, named == hold.grant, "{offered} {named}");
    }
}

fn other_asks() -> Input {
    let Input::Statement(asking) = asking(1, 1) else { unreachable!("it is a statement") };
    let host = HostId { name: "b".into(), incarnation: Incarnation(1) };
    Input::Statement(Statement { host, ..asking })
}
