//! Which of the changes that were proposed on a state of the record was committed.

use std::ops::Bound;

use handover_core::journal::{JournalEntry, JournalLine};
use handover_core::{Host, Input, Record, Revision};

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
    /// Somebody has read it.
    is_read: bool,
    to: Record,
}

impl Led {
    fn contradicts(&self, other: &Self) -> bool {
        self.is_read == other.is_read && self.to != other.to
    }
}

impl Merge {
    /// The change that was committed on this record: of those that nobody was answered the one that
    /// others have seen.
    pub(super) fn choose(
        &mut self,
        record: &Record,
    ) -> Result<Option<(Place, JournalLine)>, JournalError> {
        let at = record.revision();
        let Some(proposals) = self.group.proposals.remove(&at) else { return Ok(None) };
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
        if committed.is_some() {
            return Ok(committed);
        }
        let later = (Bound::Excluded(at), Bound::Unbounded);
        let Some(next) = self.group.known.range(later).next().copied() else { return Ok(None) };
        let mut tries = TRIES_MAX;
        let mut best: Option<(Led, Place, JournalLine)> = None;
        for proposal in proposals.iter().filter(|proposal| proposal.answer == Answer::Open) {
            let (place, line) = proposal.spot.read()?;
            let Some(led) = self.lead(record, &line, next, &mut tries)? else { continue };
            let known = best.as_ref();
            if known.is_none_or(|(known, ..)| led.is_read && !known.is_read) {
                best = Some((led, place, line));
            } else if known.is_some_and(|(known, ..)| known.contradicts(&led)) {
                // Nobody tells which of them it was.
                return Ok(None);
            }
        }
        if let Some((_, place, line)) = best {
            return Ok(Some((place, line)));
        }
        self.choose_denied(record, &proposals, next)
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
            if !is_own || !led.is_some_and(|led| led.is_read) {
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
            let is_read = self.is_read(&after);
            return Ok(is_read.map(|is_read| Led { is_read, to: after }));
        }
        let on_top = self.group.proposals.get(&after.revision()).into_iter().flatten();
        let mut best: Option<Led> = None;
        for proposal in on_top.filter(|proposal| proposal.answer != Answer::Conflict) {
            let (_, line) = proposal.spot.read()?;
            let led = self.lead(&after, &line, next, tries)?;
            if led.as_ref().map(|led| led.is_read) > best.as_ref().map(|best| best.is_read) {
                best = led;
            }
        }
        Ok(best)
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
