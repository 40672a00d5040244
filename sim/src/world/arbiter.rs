//! The arbiters and the store: fold, commit by compare-and-set, and only then publish.

use std::collections::VecDeque;
use std::sync::Arc;

use handover_core::{ApplyError, Change, Input, Record, Refusal, Remark, Revision};
use serde::{Serialize, Serializer};

use super::touched::Move;
use super::{ArbiterIndex, Fact, Who, World};

/// The record as it is committed, and the changes that made it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Store {
    committed: Arc<Record>,
    /// The changes that some arbiter has not applied, oldest first. Of them the digest needs only
    /// how many there are: each was part of it when it was committed.
    #[serde(serialize_with = "length")]
    changes: VecDeque<Arc<Change>>,
}

/// A process that folds; where the record lives is no matter.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Arbiter {
    /// The record as it knows it to be committed. For the digest its revision says it all: only one
    /// record was ever committed under it, and was part of the digest then.
    #[serde(serialize_with = "revision")]
    pub applied: Arc<Record>,
    /// It has applied what it has not published.
    pub unpublished: bool,
    /// It commits and does not publish.
    pub stalled: bool,
    /// Its next commit loses the compare-and-set.
    pub conflict_next: bool,
    /// Its next commit is done, and the answer is lost.
    pub unknown_next: bool,
}

fn length<S: Serializer>(changes: &VecDeque<Arc<Change>>, to: S) -> Result<S::Ok, S::Error> {
    changes.len().serialize(to)
}

fn revision<S: Serializer>(record: &Record, to: S) -> Result<S::Ok, S::Error> {
    record.revision().serialize(to)
}

impl Store {
    pub(super) fn new(record: Arc<Record>) -> Self {
        Self { committed: record, changes: VecDeque::new() }
    }

    /// The record as it is committed.
    #[must_use]
    pub fn committed(&self) -> &Record {
        &self.committed
    }

    /// How many changes some arbiter has not applied.
    pub(crate) fn unapplied(&self) -> usize {
        self.changes.len()
    }

    pub(super) fn shared(&self) -> Arc<Record> {
        Arc::clone(&self.committed)
    }

    /// The compare-and-set.
    fn commit(&mut self, change: &Arc<Change>) -> Result<(), Revision> {
        let record = Arc::make_mut(&mut self.committed);
        let found = record.revision();
        match record.apply(change) {
            Ok(()) => {}
            Err(ApplyError::Contradiction { .. }) => *record = written_anyhow(record, change),
            Err(_) => return Err(found),
        }
        self.changes.push_back(Arc::clone(change));
        Ok(())
    }

    fn forget_until(&mut self, revision: Revision) {
        while self.changes.front().is_some_and(|change| change.revision <= revision) {
            self.changes.pop_front();
        }
    }
}

/// A store writes the rows that it is given. Core refuses a change that no fold makes, so what a
/// wrong protocol takes away from the record is taken away by hand.
fn written_anyhow(record: &Record, change: &Change) -> Record {
    let mut parts = record.to_parts();
    for (version, verdict) in &change.verdicts {
        if verdict.is_none() {
            parts.verdicts.remove(version);
        }
    }
    let mut bent = Record::from_parts(parts).expect("a record with fewer verdicts is a record");
    bent.apply(change).expect("a protocol takes away no more than verdicts");
    bent
}

impl Arbiter {
    /// The same as another, by the record that the two still share.
    pub(super) fn is_one_with(&self, other: &Self) -> bool {
        let Self { applied, unpublished, stalled, conflict_next, unknown_next } = self;
        Arc::ptr_eq(applied, &other.applied)
            && *unpublished == other.unpublished
            && *stalled == other.stalled
            && *conflict_next == other.conflict_next
            && *unknown_next == other.unknown_next
    }

    /// Becomes as another, and keeps what is shared already.
    pub(super) fn follow(&mut self, other: &Self) {
        if !self.is_one_with(other) {
            self.clone_from(other);
        }
    }

    pub(super) fn new(record: Arc<Record>) -> Self {
        Self {
            applied: record,
            unpublished: false,
            stalled: false,
            conflict_next: false,
            unknown_next: false,
        }
    }
}

impl World {
    /// Folds an input until it is committed or refused: a lost compare-and-set and a lost answer
    /// both mean to drop the change, catch up by the store's changes, and fold again. So does a
    /// refusal of an arbiter that is behind, whom no compare-and-set corrects: to it, what follows
    /// from a change that it has not seen looks like what no correct host says.
    pub(super) fn fold(
        &mut self,
        index: ArbiterIndex,
        input: Arc<Input>,
        facts: &mut Vec<Fact>,
    ) -> Result<Option<Remark>, Refusal> {
        loop {
            let arbiter = &self.arbiters[usize::from(index.0)];
            let suspects = &self.oracle.suspects;
            let folded = self.protocol().fold(&arbiter.applied, &input, suspects);
            let change = match folded {
                Ok(change) => Arc::new(change),
                Err(_) if arbiter.applied.revision() < self.committed().revision() => {
                    self.catch_up(index);
                    continue;
                }
                Err(refusal) => {
                    let refused = Fact::Refused { arbiter: index, input, refusal: refusal.clone() };
                    facts.push(refused);
                    return Err(refusal);
                }
            };
            let told = self.protocol().tells_first(&change);
            if told {
                let mut record = Record::clone(&self.arbiters[usize::from(index.0)].applied);
                record.apply(&change).expect("it was folded on this record");
                self.tell_all(index, &record, facts);
            }
            if self.commit(index, &change, Some(&input), facts) {
                return Ok(change.remark.clone());
            }
            self.catch_up(index);
            if told {
                return Ok(change.remark.clone());
            }
        }
    }

    /// Commits a change; false where the arbiter does not know that it is committed.
    pub(super) fn commit(
        &mut self,
        index: ArbiterIndex,
        change: &Arc<Change>,
        input: Option<&Arc<Input>>,
        facts: &mut Vec<Fact>,
    ) -> bool {
        if std::mem::take(&mut self.arbiter_mut(index).conflict_next) {
            let found = self.committed().revision();
            facts.push(Fact::Conflicted { arbiter: index, found });
            return false;
        }
        let before = self.store.shared();
        if let Err(found) = Arc::make_mut(&mut self.store).commit(change) {
            facts.push(Fact::Conflicted { arbiter: index, found });
            return false;
        }
        let after = self.store.shared();
        self.note_revocation(input, &before);
        facts.push(Fact::Committed {
            arbiter: index,
            input: input.cloned(),
            remark: change.remark.clone(),
            before,
            after: Arc::clone(&after),
        });
        if std::mem::take(&mut self.arbiter_mut(index).unknown_next) {
            facts.push(Fact::AnswerLost { arbiter: index });
            return false;
        }
        self.take_applied(index, after);
        true
    }

    /// Applies the store's changes one after another.
    fn catch_up(&mut self, index: ArbiterIndex) {
        let mut record = Record::clone(&self.arbiters[usize::from(index.0)].applied);
        for change in &self.store.changes {
            // What a wrong protocol has written against the record is taken from the store below.
            if change.expects == record.revision() && record.apply(change).is_err() {
                break;
            }
        }
        let behind = record.revision() < self.committed().revision();
        let record = if behind { self.store.shared() } else { Arc::new(record) };
        self.take_applied(index, record);
    }

    fn take_applied(&mut self, index: ArbiterIndex, record: Arc<Record>) {
        let arbiter = self.arbiter_mut(index);
        arbiter.unpublished |= arbiter.applied.revision() < record.revision();
        arbiter.applied = record;
        let known = self.arbiters.iter().map(|arbiter| arbiter.applied.revision()).min();
        if let Some(known) = known {
            Arc::make_mut(&mut self.store).forget_until(known);
        }
    }

    /// The arbiter dies with what it had not published, and comes back from the record: it settles
    /// what is committed, and publishes.
    pub(super) fn restart_arbiter(&mut self, index: ArbiterIndex, facts: &mut Vec<Fact>) {
        let committed = self.store.shared();
        self.take_applied(index, committed);
        self.arbiter_mut(index).unpublished = true;
        facts.push(Fact::Restarted { arbiter: index });
        let settled = self.protocol().settle(self.committed(), &self.oracle.suspects);
        if let Some(change) = settled.map(Arc::new)
            && !self.commit(index, &change, None, facts)
        {
            self.catch_up(index);
        }
    }

    /// The arbiter takes the oldest statement of a host.
    pub(super) fn deliver(&mut self, from: Who, to: ArbiterIndex, facts: &mut Vec<Fact>) {
        let front = self.link(from).statements.front().cloned();
        let statement = front.expect("enabled only with a statement");
        self.move_on_link(from, Move::Heard);
        let seq = statement.seq;
        let host = statement.host.clone();
        let known = &self.arbiters[usize::from(to.0)].applied;
        let taken = self.protocol().take(known, Arc::unwrap_or_clone(statement));
        let input = Arc::new(Input::Statement(taken));
        let answer = self.fold(to, input, facts);
        // A repeat of what is folded already means that the host waits for the news (Dr1).
        let process = self.process(from);
        if answer == Err(Refusal::Outdated { seen: seq })
            && process.lives()
            && *process.host.id() == host
            && self.link(from).views.is_empty()
        {
            let record = &self.arbiters[usize::from(to.0)].applied;
            let view = record.view_for(process.host.id(), process.host.version());
            self.send_view(from, Arc::new(view), facts);
        }
    }

    /// What a wrong protocol adds before it publishes.
    pub(super) fn settle_late(&mut self, index: ArbiterIndex, facts: &mut Vec<Fact>) {
        let known = &self.arbiters[usize::from(index.0)].applied;
        let late = self.protocol().before_publication(known, &self.oracle.suspects);
        if let Some(change) = late.map(Arc::new)
            && !self.commit(index, &change, None, facts)
        {
            self.catch_up(index);
        }
    }

    fn note_revocation(&mut self, input: Option<&Arc<Input>>, before: &Record) {
        let Some(Input::Revoke { grant, .. }) = input.map(|input| &**input) else {
            return;
        };
        if before.hold().is_some_and(|hold| hold.grant == *grant && hold.is_started()) {
            Arc::make_mut(&mut self.history).revoked.insert(*grant);
        }
    }
}
