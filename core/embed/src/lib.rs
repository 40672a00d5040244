//! A program of somebody else's that imports `handover-core` without default features: a store, a
//! hand-written loop of an arbiter, and hosts that it speaks for. Its test runs a scenario of its
//! own.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use handover_core::{
    Candidate, CandidateEffect, Change, HostId, Input, Outcome, Priority, Record, RecordId,
    Statement, Version, View,
};

/// What is durable here: the changes in the order in which they were committed.
#[derive(Default)]
pub struct Store {
    log: Vec<Change>,
}

impl Store {
    /// Compare-and-set on the revision: the change is taken if nobody was faster.
    fn commit(&mut self, change: Change) -> bool {
        let head = self.log.last().map_or(change.expects, |it| it.revision);
        let fits = change.expects == head;
        if fits {
            self.log.push(change);
        }
        fits
    }
}

/// One of perhaps several arbiters over one store.
pub struct Arbiter {
    record: Record,
}

impl Arbiter {
    /// An arbiter of a record that is empty in the store.
    #[must_use]
    pub fn new(record: RecordId) -> Self {
        let record = Record::new(record);
        Self { record }
    }

    /// Folds until it is committed or refused, and only then takes it (Ar9).
    pub fn decide(&mut self, store: &mut Store, input: &Input) {
        loop {
            self.catch_up(store);
            match self.record.fold(input, &BTreeSet::new()) {
                // A refusal changes nothing; who sent it is answered by the next view (Dr1).
                Err(refusal) => return assert!(!refusal.is_alarm(), "{refusal}"),
                Ok(change) => {
                    if store.commit(change) {
                        return self.catch_up(store);
                    }
                }
            }
        }
    }

    fn catch_up(&mut self, store: &Store) {
        let known = self.record.revision();
        for change in store.log.iter().filter(|change| change.expects >= known) {
            self.record.apply(change).expect("the log has each revision once, in order");
        }
    }

    /// What is published to a host.
    #[must_use]
    pub fn view(&self, host: &HostId, version: &Version) -> View {
        self.record.view_for(host, version)
    }

    /// What this arbiter knows.
    #[must_use]
    pub fn record(&self) -> &Record {
        &self.record
    }
}

/// The hosts of this program and what is on its way from them. Nothing arrives unless told so.
#[derive(Default)]
pub struct Hosts {
    candidates: BTreeMap<&'static str, Candidate>,
    /// Statements that were sent, oldest first.
    pub sent: VecDeque<Statement>,
}

impl Hosts {
    /// A process comes up and wants the job.
    pub fn ask(&mut self, name: &'static str, version: &str) {
        let candidate = Candidate::new(HostId::new(name, 1), version.into(), Priority(0));
        self.candidates.insert(name, candidate);
        self.act(name, Candidate::ask);
    }

    /// Does something to one host; its word goes out if it changed.
    pub fn act(&mut self, name: &str, act: impl FnOnce(&mut Candidate)) {
        let candidate = self.candidates.get_mut(name).expect("it came up");
        let before = candidate.seq();
        act(candidate);
        // A build here is ready as soon as it starts, and has no chunks.
        while let Some(effect) = candidate.poll_effect() {
            let answer = match effect {
                CandidateEffect::MakePlan { grant } => {
                    candidate.handle_plan(grant, BTreeSet::new())
                }
                CandidateEffect::StartBuild { grant } => {
                    candidate.handle_build_end(grant, Outcome::Clean)
                }
                other => panic!("this story has no {other:?}"),
            };
            answer.expect("the order was given in this step");
        }
        if candidate.seq() != before {
            self.sent.extend(candidate.statement());
        }
    }

    /// A host of this program.
    #[must_use]
    pub fn candidate(&self, name: &str) -> &Candidate {
        &self.candidates[name]
    }

    /// Publishes to all, and answers whether that made anybody speak.
    pub fn publish(&mut self, arbiter: &Arbiter) -> bool {
        let names: Vec<&'static str> = self.candidates.keys().copied().collect();
        for name in names {
            self.act(name, |it| {
                let view = arbiter.view(it.host(), it.version());
                // A view that is not newer is refused, and changes nothing.
                drop(it.handle_view(view));
            });
        }
        !self.sent.is_empty()
    }
}
