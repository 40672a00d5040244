//! Which of the changes that were proposed on a state of the record was committed.

use std::ops::Bound;

use handover_core::journal::{JournalEntry, JournalLine};
use handover_core::{Host, Input, Record, Revision};

use super::fold::{Proposed, follows};
use super::index::{Answer, Proposal};
use super::line::{JournalError, Place};
use super::merge::{Merge, change};
use super::player::Player;
use super::reading::Reading;
use super::{Breach, Finding};
use crate::check::{Property, Violation};

/// So many ways from one revision to one that was read are looked at.
const TRIES_MAX: u32 = 1_000;

/// Where changes that nobody was answered have led.
struct Led {
    proof: Proof,
    to: Record,
}

/// What speaks for it: the more, the higher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Proof {
    /// Somebody has read it.
    is_read: bool,
    /// What was committed on it is what its inputs fold to there.
    goes_on: bool,
}

impl Merge {
    /// The change that was committed on this record: of those that nobody was answered the one that
    /// others have seen. Several, where nothing that was read next tells which; none, if it is
    /// missing.
    pub(super) fn choose(
        &mut self,
        record: &Record,
    ) -> Result<Vec<(Place, JournalLine)>, JournalError> {
        let at = record.revision();
        let Some(proposals) = self.group.proposals.remove(&at) else { return Ok(Vec::new()) };
        let mut committed: Option<(Place, JournalLine)> = None;
        for Proposal { spot, .. } in proposals.iter().filter(|it| it.answer == Answer::Committed) {
            let (place, line) = spot.read()?;
            match &committed {
                None => committed = Some((place, line)),
                Some((first, known)) if change(known) != change(&line) => {
                    let why = format!("{at} was changed twice, here and at {first}");
                    let violation = Violation::new(Property::GrantsIncrease, why);
                    self.break_property(violation, &place);
                }
                Some(_) => {}
            }
        }
        if let Some(committed) = committed {
            return Ok(vec![committed]);
        }
        let later = (Bound::Excluded(at), Bound::Unbounded);
        let Some(next) = self.group.known.range(later).next().copied() else {
            return Ok(Vec::new());
        };
        let mut tries = TRIES_MAX;
        let mut best: Vec<(Led, Place, JournalLine)> = Vec::new();
        for proposal in proposals.iter().filter(|proposal| proposal.answer == Answer::Open) {
            let (place, line) = proposal.spot.read()?;
            let Some(led) = self.lead(record, &line, next, &mut tries)? else { continue };
            let proof = best.first().map(|(known, ..)| known.proof);
            if proof.is_none_or(|proof| led.proof > proof) {
                best = vec![(led, place, line)];
            } else if proof == Some(led.proof) && best.iter().all(|(known, ..)| known.to != led.to)
            {
                best.push((led, place, line));
            }
        }
        if best.is_empty() {
            return Ok(self.choose_denied(record, &proposals, next)?.into_iter().collect());
        }
        Ok(best.into_iter().map(|(_, place, line)| (place, line)).collect())
    }

    /// One of several changes was committed, and what was read next does not say which: the one
    /// under which all that follows is as it should be. Where each leads astray, it is missing.
    pub(super) fn try_each(
        &mut self,
        record: Record,
        candidates: &[(Place, JournalLine)],
    ) -> Result<(), JournalError> {
        let mut best: Option<Self> = None;
        for (place, line) in candidates.iter().filter(|_| self.forks_left > 0) {
            let mut fork = self.clone();
            fork.forks_left -= 1;
            fork.commit(&record, place, line)?;
            fork.go_on()?;
            let is_right = fork.findings.len() == self.findings.len();
            let lacks_less = |best: &Self| fork.missing.len() < best.missing.len();
            if is_right && best.as_ref().is_none_or(lacks_less) {
                best = Some(fork);
            }
        }
        match best {
            Some(best) => *self = best,
            None => drop(self.skip(record)?),
        }
        Ok(())
    }

    /// A change that is said to have lost, and was read: nobody else folds its host's own word, and
    /// it is not told that the host had sent it off before.
    fn choose_denied(
        &mut self,
        record: &Record,
        proposals: &[Proposal],
        next: Revision,
    ) -> Result<Option<(Place, JournalLine)>, JournalError> {
        for proposal in proposals.iter().filter(|proposal| proposal.answer == Answer::Conflict) {
            let (place, line) = proposal.spot.read()?;
            let is_whole = |player: &Player| player.host.is_some() && !player.is_lost;
            let mut players = self.players.iter();
            let writer = players.find(|player| *player.stream.boot() == line.boot);
            let is_own = own_word(&line) && writer.is_some_and(is_whole);
            let led = self.lead(record, &line, next, &mut 1)?;
            if !is_own || !led.is_some_and(|led| led.proof.is_read) {
                continue;
            }
            let why = format!(
                "{} is said to have lost, and it was committed: what nobody answered is neither \
                 (Dr3)",
                proposal.revision
            );
            self.find(Finding::new(Breach::Replay, &place, why));
            return Ok(Some((place, line)));
        }
        Ok(None)
    }

    /// Where this change, with others on top of it, leads to what may have been read next.
    fn lead(
        &self,
        record: &Record,
        line: &JournalLine,
        next: Revision,
        tries: &mut u32,
    ) -> Result<Option<Led>, JournalError> {
        let mut after = record.clone();
        let applied = change(line).is_some_and(|change| after.apply(change).is_ok());
        if !applied || after.revision() > next || *tries == 0 {
            return Ok(None);
        }
        *tries -= 1;
        if after.revision() == next {
            let Some(is_read) = self.is_read(&after) else { return Ok(None) };
            let proof = Proof { is_read, goes_on: self.goes_on(&after)? };
            return Ok(Some(Led { proof, to: after }));
        }
        let on_top = self.group.proposals.get(&after.revision()).into_iter().flatten();
        let mut best: Option<Led> = None;
        for proposal in on_top.filter(|proposal| proposal.answer != Answer::Conflict) {
            let (_, line) = proposal.spot.read()?;
            let led = self.lead(&after, &line, next, tries)?;
            if led.as_ref().map(|led| led.proof) > best.as_ref().map(|best| best.proof) {
                best = led;
            }
        }
        Ok(best)
    }

    /// Does what was committed next follow from this?
    fn goes_on(&self, after: &Record) -> Result<bool, JournalError> {
        let next = self.group.proposals.get(&after.revision()).into_iter().flatten();
        for proposal in next.filter(|proposal| proposal.answer == Answer::Committed) {
            let (_, line) = proposal.spot.read()?;
            if let JournalEntry::Proposed { change, inputs, suspects, .. } = &line.entry
                && !follows(after, &Proposed { change, inputs, suspects })
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Is this what is read next? None: somebody has read otherwise.
    fn is_read(&self, after: &Record) -> Option<bool> {
        let waiting =
            self.players.iter().filter_map(|player| Some((player, player.waiting.as_ref()?)));
        let mut read = waiting.filter_map(|(player, (_, line))| {
            let version = player.host.as_ref().map(Host::version);
            Reading::of(&line.entry)?.is_of(after, version)
        });
        read.try_fold(false, |_, alike| alike.then_some(true))
    }
}

/// Does a process propose its own host's word here?
fn own_word(line: &JournalLine) -> bool {
    let JournalEntry::Proposed { inputs, .. } = &line.entry else { return false };
    let is_own = |input: &Input| matches!(input, Input::Statement(said) if said.host == line.host);
    inputs.iter().any(is_own)
}
