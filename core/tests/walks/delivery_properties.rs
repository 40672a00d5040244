//! Words and views that come twice, in another order or never change nothing that a newer one
//! decides (St1, St2, Ar9).

use crate::common::{Cluster, property, walks};
use handover_core::{CandidateRefusal, HostId, Input, Record, Refusal, Seq, Standing, Statement};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A way of losing, doubling and reordering: each number is the place of one arrival.
fn arrivals() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0..5_040_usize, 0..12)
}

/// What a record says, but for the numbers that depend on how many words have arrived.
fn said(record: &Record) -> Vec<(&HostId, Seq, &Standing)> {
    let lines = record.lines();
    lines.map(|(host, line)| (host, line.seq, &line.standing)).collect()
}

/// Folds these words in this order.
fn arrive(record: &Record, words: &[Statement]) -> Record {
    let mut record = record.clone();
    for word in words {
        let input = Input::Statement(word.clone());
        match record.fold(&input, &BTreeSet::new()) {
            Ok(change) => record.apply(&change).expect("folded on this record"),
            Err(Refusal::Outdated { .. } | Refusal::Gone) => {}
            Err(refusal) => panic!("{word}: {refusal}"),
        }
    }
    record.check();
    record
}

#[test]
fn what_arrives_besides_the_newest_words_changes_nothing_that_they_decide() {
    let floors = [("lost", 6_000), ("hold kept", 2_000), ("ruled", 1_000)];
    let cases = (walks(), arrivals());
    property(400, &cases, &floors, |(steps, arrivals), tally| {
        let mut cluster = Cluster::new();
        for step in steps {
            cluster.step(step);
            let in_flight: Vec<Statement> = cluster
                .members
                .iter()
                .filter(|member| !member.crashed)
                .flat_map(|member| member.in_flight.iter().cloned())
                .collect();
            let newest = newest_of(&in_flight);
            if newest.len() == in_flight.len() {
                continue;
            }
            let some = arrivals.iter().map(|place| &in_flight[place % in_flight.len()]);
            let some: Vec<Statement> = some.chain(&newest).cloned().collect();
            let (all, few, mixed) = (
                arrive(&cluster.record, &in_flight),
                arrive(&cluster.record, &newest),
                arrive(&cluster.record, &some),
            );
            tally.saw("lost");
            for other in [&few, &mixed] {
                assert_eq!(said(&all), said(other));
                let ruling = |record: &Record| {
                    let verdicts = record.verdicts();
                    verdicts.map(|(version, it)| (version.clone(), it.clone())).collect::<Vec<_>>()
                };
                assert_eq!(ruling(&all), ruling(other));
            }
            tally.saw_if(!all.verdicts().eq(cluster.record.verdicts()), "ruled");
            let started = |record: &Record| record.hold().filter(|it| it.is_started()).cloned();
            if let Some(hold) = started(&cluster.record)
                && all.hold().is_some_and(|it| it.grant == hold.grant)
            {
                assert_eq!(all.hold(), few.hold());
                assert_eq!(all.hold(), mixed.hold());
                tally.saw("hold kept");
            }
        }
    });
}

/// The newest word of each host.
fn newest_of(words: &[Statement]) -> Vec<Statement> {
    let newer =
        |word: &Statement, other: &Statement| other.host == word.host && other.seq > word.seq;
    let is_newest = |word: &&Statement| !words.iter().any(|other| newer(word, other));
    let mut newest: Vec<Statement> = words.iter().filter(is_newest).cloned().collect();
    newest.dedup();
    newest
}

#[test]
fn a_view_that_is_not_newer_changes_nothing() {
    let floors = [("old", 3_000), ("newest", 250)];
    let cases = (walks(), arrivals());
    property(400, &cases, &floors, |(steps, arrivals), tally| {
        let mut cluster = Cluster::new();
        for step in steps {
            cluster.step(step);
        }
        for member in cluster.members.iter().filter(|member| !member.crashed) {
            let view_at = |revision: usize| {
                let record = &cluster.history()[revision];
                record.view_for(member.candidate.host(), member.candidate.version())
            };
            let last = cluster.history().len() - 1;
            let mut at_once = member.candidate.clone();
            if at_once.handle_view(view_at(last)).is_ok() {
                tally.saw("newest");
            }
            let mut late = at_once.clone();
            let mut roundabout = member.candidate.clone();
            for arrival in &arrivals {
                let view = view_at(arrival % (last + 1));
                let held = late.view().map(|held| held.revision);
                let refused = late.handle_view(view.clone());
                assert_eq!(refused.err(), held.map(|held| CandidateRefusal::OldView { held }));
                assert_eq!(late, at_once, "what is refused changes nothing");
                tally.saw("old");
                drop(roundabout.handle_view(view));
            }
            drop(roundabout.handle_view(view_at(last)));
            assert_eq!(roundabout.view(), at_once.view());
            assert_eq!(roundabout.gate(), at_once.gate());
            roundabout.check();
        }
    });
}
