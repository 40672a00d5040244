//! What this node has to say to the record: folded, committed by compare-and-set, and folded again
//! until it is known (Ar9, Dr1, Dr2, Dr5). No leader and no mailbox: each node folds its own.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::future::BoxFuture;
use handover_core::journal::{CommitAnswer, JournalEntry};
use handover_core::{Batch, Change, HostId, Input, Phase, Record, Refusal, Remark, Revision};

use super::Driver;

/// On whose behalf an input is folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// The host's present word.
    Statement(handover_core::Seq),
    /// Membership's.
    Gone(HostId),
    /// An offer that nobody takes.
    Lapse,
    /// An operator's.
    Request(u64),
}

/// The commit that is under way; there is one at a time.
pub(super) struct InFlight {
    proposal: u64,
    change: Arc<Change>,
    causes: Vec<(Cause, Option<Remark>)>,
    answer: BoxFuture<'static, CommitAnswer>,
}

/// A change of which nobody knows whether it is committed.
pub(super) struct Doubtful {
    proposal: u64,
    pub(super) change: Arc<Change>,
    causes: Vec<(Cause, Option<Remark>)>,
}

impl Driver {
    /// When something may be folded, if that is later.
    pub(super) fn fold_due(&self) -> Option<Duration> {
        Some(self.fold_at)
    }

    /// Folds all that is to be said as one batch, and sends the change off.
    pub(super) fn fold(&mut self, now: Duration) -> bool {
        if self.commit.is_some() || now < self.fold_at || self.unreadable.is_some() {
            return false;
        }
        self.note_offer(now);
        let Some(record) = &self.record else { return false };
        if record.revision() < self.known {
            return false;
        }
        let suspects = &self.members.suspects;
        let said = self.to_be_said(record, now);
        if said.is_empty() {
            // What a record that was read whole leaves to settle, any process may commit.
            let unsettled = if self.last.is_none() { record.settle(suspects) } else { None };
            let Some(change) = unsettled else { return false };
            self.send_off(change, Vec::new(), Vec::new());
            return true;
        }
        let Batch { change, answers } = record.fold_all(said.iter().map(|(_, it)| it), suspects);
        let (mut inputs, mut causes) = (Vec::new(), Vec::new());
        for ((cause, input), answer) in said.into_iter().zip(answers) {
            match answer {
                Ok(remark) => {
                    inputs.push(input);
                    causes.push((cause, remark));
                }
                Err(refusal) => self.refuse(now, &cause, input, refusal),
            }
        }
        if let Some(change) = change {
            self.send_off(change, inputs, causes);
        }
        true
    }

    /// All that is to be said now, of who has ended first: his successor speaks only then.
    fn to_be_said(&self, record: &Record, now: Duration) -> Vec<(Cause, Input)> {
        let gone = self.members.gone_due(record, now);
        let mut said: Vec<_> =
            gone.into_iter().map(|host| (Cause::Gone(host.clone()), Input::Gone(host))).collect();
        self.shared.read(|machine| {
            for (number, request) in &machine.requests {
                let open = request.refused_at.is_none_or(|at| at < self.loads);
                if open && request.answer.is_none() {
                    said.push((Cause::Request(*number), request.input.clone()));
                }
            }
            if let Some((grant, _)) = self.offer.filter(|(_, at)| *at <= now) {
                said.push((Cause::Lapse, Input::Lapse { grant }));
            }
            let statement = machine.host().unacknowledged().filter(|statement| {
                self.refused != Some((statement.seq, record.revision(), self.loads))
            });
            if let Some(statement) = statement {
                said.push((Cause::Statement(statement.seq), Input::Statement(statement)));
            }
        });
        said
    }

    /// Dr5: an offer to another that this host would take.
    fn note_offer(&mut self, now: Duration) {
        let asks = self.shared.read(|machine| match machine.host().candidate().phase() {
            Phase::Asking => Some(machine.host().id().clone()),
            Phase::Idle
            | Phase::Planning { .. }
            | Phase::Accepted { .. }
            | Phase::Building { .. }
            | Phase::Cancelling { .. }
            | Phase::Finished { .. }
            | Phase::StoodDown
            | Phase::Expelled { .. } => None,
        });
        let hold = self.record.as_ref().and_then(Record::hold);
        let offered = hold
            .filter(|hold| !hold.is_started())
            .filter(|hold| asks.as_ref().is_some_and(|host| *host != hold.host));
        let offered = offered.map(|hold| hold.grant);
        if self.offer.map(|(grant, _)| grant) != offered {
            let spread = self.jitter.below(self.options.spread);
            let at = now.saturating_add(self.options.offer_patience).saturating_add(spread);
            self.offer = offered.map(|grant| (grant, at));
        }
    }

    fn send_off(
        &mut self,
        change: Change,
        inputs: Vec<Input>,
        causes: Vec<(Cause, Option<Remark>)>,
    ) {
        let (expects, revision) = (change.expects, change.revision);
        tracing::debug!(?causes, %expects, %revision, "commits");
        let suspects = self.members.suspects.clone();
        if self.doubtful.is_empty() {
            self.told.clear();
        }
        let proposal = self.proposals;
        self.proposals += 1;
        let noted = JournalEntry::Proposed { proposal, change: change.clone(), inputs, suspects };
        self.shared.quietly(|machine| machine.note(noted));
        let change = Arc::new(change);
        let answer = self.within(Arc::clone(&self.store).commit(Arc::clone(&change)));
        let answer = Box::pin(async move {
            let late = || CommitAnswer::Unknown { why: "no answer in time".into() };
            answer.await.unwrap_or_else(late)
        });
        self.commit = Some(InFlight { proposal, change, causes, answer });
    }

    /// A refusal counts only on the newest record (Ar9): who is refused makes sure of that.
    fn refuse(&mut self, now: Duration, cause: &Cause, input: Input, refusal: Refusal) {
        let on = self.record.as_ref().map_or(Revision(0), Record::revision);
        tracing::debug!(?cause, %refusal, %on, "refused");
        let noted = JournalEntry::Refused { input, refusal: refusal.clone(), on };
        self.shared.quietly(|machine| machine.note(noted));
        match cause {
            Cause::Gone(host) => self.members.is_known_gone(host),
            Cause::Lapse => {
                let at = now.saturating_add(self.options.offer_patience);
                self.offer = self.offer.map(|(grant, _)| (grant, at));
            }
            Cause::Statement(seq) => {
                let again = self.refused.is_some_and(|(before, at, _)| (before, at) == (*seq, on));
                if again && refusal.is_alarm() {
                    tracing::error!(%seq, %refusal, %on, "no correct host says this");
                }
                self.refused = Some((*seq, on, self.loads));
                let wait = self.commit_backoff.next(&mut self.jitter);
                self.reload_at(now.saturating_add(wait));
            }
            Cause::Request(number) => {
                let loads = self.loads;
                let counts = self.shared.update(|machine| {
                    let Some(request) = machine.requests.get_mut(number) else { return true };
                    let counts = request.refused_at.is_some();
                    if counts {
                        request.answer = Some(Err(refusal));
                    }
                    request.refused_at = Some(loads);
                    counts
                });
                if !counts {
                    self.reload_at(now);
                }
            }
        }
    }

    pub(super) fn poll_commit(&mut self, context: &mut Context<'_>) -> bool {
        let Some(commit) = &mut self.commit else { return false };
        let Poll::Ready(answer) = commit.answer.as_mut().poll(context) else { return false };
        let InFlight { proposal, change, causes, .. } =
            self.commit.take().expect("it was polled in this step");
        let now = self.clock.now();
        let entry =
            JournalEntry::Answered { proposal, revision: change.revision, answer: answer.clone() };
        self.shared.quietly(|machine| machine.note(entry));
        match answer {
            CommitAnswer::Committed => {
                tracing::debug!(revision = %change.revision, "committed");
                self.commit_backoff.reset();
                self.doubtful.retain(|doubtful| doubtful.change != change);
                self.told.insert(change.revision);
                self.is_committed(causes);
                self.take_change(&change, now);
            }
            CommitAnswer::Conflict { found } => {
                tracing::debug!(expects = %change.expects, %found, "conflict");
                if found <= change.expects {
                    // Not behind, and yet not the same: only the whole tells.
                    self.reload_at(now);
                }
                self.known = self.known.max(found);
                self.fold_at = now.saturating_add(self.commit_backoff.next(&mut self.jitter));
            }
            CommitAnswer::Unknown { why } => {
                tracing::warn!(revision = %change.revision, %why, "commit unknown");
                doubt(&mut self.doubtful, Doubtful { proposal, change, causes });
                if let Some(last) = self.last.clone() {
                    // The watch may have been faster.
                    self.settle_doubts(&last);
                }
                self.fold_at = now.saturating_add(self.commit_backoff.next(&mut self.jitter));
            }
        }
        true
    }

    /// Whoever waits for these inputs is answered.
    fn is_committed(&mut self, causes: Vec<(Cause, Option<Remark>)>) {
        for (cause, remark) in causes {
            let Cause::Request(number) = cause else { continue };
            self.shared.update(|machine| {
                if let Some(request) = machine.requests.get_mut(&number) {
                    request.answer = Some(Ok(remark));
                }
            });
        }
    }

    /// A change was read, perhaps not for the first time: where one of those that nobody had
    /// answered would stand, there is that one, or another.
    pub(super) fn settle_doubts(&mut self, read: &Arc<Change>) {
        let place = read.expects..read.revision;
        let (settled, open): (Vec<_>, Vec<_>) = std::mem::take(&mut self.doubtful)
            .into_iter()
            .partition(|doubtful| place.contains(&doubtful.change.expects));
        self.doubtful = open;
        // The same may have been sent off twice; it was committed once.
        let committed = settled.into_iter().find(|doubtful| doubtful.change == *read);
        let Some(doubtful) = committed else { return };
        let (proposal, revision) = (doubtful.proposal, read.revision);
        if self.told.insert(revision) {
            tracing::info!(%revision, "committed, though the answer was lost");
            let answer = CommitAnswer::Committed;
            let entry = JournalEntry::Answered { proposal, revision, answer };
            self.shared.quietly(|machine| machine.note(entry));
        }
        self.is_committed(doubtful.causes);
    }
}

/// The same change is one doubt, however often it was sent off: a store that never answers does not
/// fill the memory.
fn doubt(known: &mut Vec<Doubtful>, doubtful: Doubtful) {
    match known.iter_mut().find(|known| known.change == doubtful.change) {
        Some(same) => {
            for cause in doubtful.causes {
                if !same.causes.contains(&cause) {
                    same.causes.push(cause);
                }
            }
        }
        None => known.push(doubtful),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use handover_core::{RecordId, Seq, Standing, Statement};

    use super::*;

    fn doubtful(proposal: u64, host: &str, cause: Cause) -> Doubtful {
        let statement = Statement {
            host: HostId::new(host, 1),
            version: "v1".into(),
            seq: Seq(1),
            standing: Standing::StoodDown,
        };
        let record = Record::new(RecordId(1));
        let folded = record.fold(&Input::Statement(statement), &BTreeSet::new());
        let change = Arc::new(folded.expect("it is the first word"));
        Doubtful { proposal, change, causes: vec![(cause, None)] }
    }

    #[test]
    fn a_change_that_is_sent_off_again_and_again_is_one_doubt_for_all_who_wait_for_it() {
        let mut known = Vec::new();
        for proposal in 0..1_000 {
            doubt(&mut known, doubtful(proposal, "a", Cause::Statement(Seq(1))));
        }
        doubt(&mut known, doubtful(1_000, "a", Cause::Request(3)));
        doubt(&mut known, doubtful(1_001, "b", Cause::Statement(Seq(1))));
        let kept: Vec<_> = known.iter().map(|doubtful| doubtful.proposal).collect();
        assert_eq!(kept, [0, 1_001]);
        assert_eq!(known[0].causes.len(), 2, "each of them is answered");
    }
}
