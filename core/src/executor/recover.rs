//! What a boot makes of the book (Ex5, Ex7).

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::{
    BuildState, Drain, Entry, Executor, ExecutorParts, Ledger, LedgerError, Settings, Stage, Task,
    Term, Work,
};
use crate::ids::{BuildId, Version};
use crate::mark::mark;
use crate::shared::Shared;

impl Executor {
    /// Goes on from the book after a crash or a restart. A standing rule, not an event: the writes
    /// that follow are effects, and recovering the book that they leave asks for none.
    ///
    /// - An admitted local build is pending again in its place, and its admission is taken back.
    /// - Admitted work under a grant is dropped: the record hands it out anew.
    /// - A drain for [`Term::ThisVersion`] stays in force for the version that declared it, and is
    ///   over for another; one for [`Term::ThisProcess`] is over.
    /// - A success that still has a drain to declare declares it, in force at once: a crash between
    ///   the status and the declaration starts nothing under the outgoing version.
    /// - The boot is the restart that a drain in force may ask for; what is left to do once drained
    ///   is then nothing. A stop stays.
    ///
    /// # Errors
    /// The book has a later format, two builds in one place, a build before its parent, or numbers
    /// that no executor has given out.
    pub fn recover(
        settings: Settings,
        version: Version,
        ledger: Ledger,
    ) -> Result<Self, LedgerError> {
        if ledger.format > Ledger::FORMAT {
            return Err(LedgerError::NewerFormat { found: ledger.format });
        }
        let mut state = ExecutorParts::new(settings, version, ledger);
        state.recover_numbers()?;
        state.recover_drain();
        state.recover_entries();
        state.booted_into = state.drain.is_some();
        let mut executor = Self { state: Shared::new(state) };
        executor.hand_out_slots();
        Ok(executor)
    }
}

impl ExecutorParts {
    fn recover_numbers(&mut self) -> Result<(), LedgerError> {
        let mut places = BTreeSet::new();
        for (work, entry) in &self.ledger.entries {
            if !places.insert(entry.place) {
                return Err(LedgerError::PlaceTwice { place: entry.place });
            }
            // A parent was submitted first: so nothing waits for itself in a circle.
            let parent = entry.parent.clone().map(Work::Local);
            let parent = parent.and_then(|parent| self.ledger.entries.get(&parent));
            if let Work::Local(build) = work
                && parent.is_some_and(|parent| parent.place >= entry.place)
            {
                return Err(LedgerError::BeforeParent { build: build.clone() });
            }
        }
        let last_place = places.last().copied().unwrap_or(0);
        let last_drain = self.ledger.drain.as_ref().map_or(0, Drain::number);
        let numbers = [self.ledger.next_place, self.ledger.next_drain, last_place, last_drain];
        if numbers.iter().any(|number| *number > Ledger::NUMBER_MAX) {
            return Err(LedgerError::Exhausted);
        }
        self.ledger.next_place = self.ledger.next_place.max(last_place + 1);
        self.ledger.next_drain = self.ledger.next_drain.max(last_drain + 1);
        Ok(())
    }

    fn recover_drain(&mut self) {
        let Some(drain) = self.ledger.drain.clone() else {
            return;
        };
        if lasts(drain.term, &drain.version, &self.version) {
            mark!(Ex7Lasts);
            self.enforce(drain);
        } else {
            mark!(Ex7Over);
            self.drain_due = true;
        }
    }

    fn recover_entries(&mut self) {
        let rows: Vec<(Work, Entry)> =
            self.ledger.entries.iter().map(|(work, entry)| (work.clone(), entry.clone())).collect();
        for (work, mut entry) in rows {
            let stage = match (&entry.state, &work) {
                (BuildState::Pending, Work::Local(_)) => {
                    mark!(Ex5Pending);
                    Stage::Waiting { parked: false }
                }
                (BuildState::Admitted, Work::Local(_)) => {
                    mark!(Ex5Requeued);
                    entry.state = BuildState::Pending;
                    entry.attempts = entry.attempts.saturating_sub(1);
                    Stage::Enqueuing
                }
                (BuildState::Pending | BuildState::Admitted, Work::Granted(_)) => {
                    mark!(Ex5Dropped);
                    Stage::Retiring
                }
                (BuildState::Succeeded, Work::Local(build)) if entry.drains.is_some() => {
                    self.recover_declaration(build, &entry);
                    entry.drains = None;
                    Stage::Retiring
                }
                (BuildState::Succeeded | BuildState::Failed(_) | BuildState::Cancelled, _) => {
                    mark!(Ex5Ended);
                    continue;
                }
            };
            self.tasks.insert(work, Task::new(entry, stage));
        }
    }

    /// A recorded success whose drain was not declared. That nothing is left to declare is written
    /// only after the drain itself.
    fn recover_declaration(&mut self, build: &BuildId, entry: &Entry) {
        let Some(request) = &entry.drains else { return };
        let version = entry.admitted_by.as_ref();
        let lasts = version.is_some_and(|version| lasts(request.term, version, &self.version));
        if self.settings.pinned() || !lasts {
            mark!(Ex7NotOwed);
            return;
        }
        mark!(Ex7Owed);
        let drain = if let Some(active) = &self.drain {
            let mut joined = active.clone();
            joined.join(build, request);
            joined
        } else {
            let number = self.ledger.take_drain_number();
            Drain::declare(number, self.version.clone(), Some(build.clone()), request)
        };
        self.enforce(drain);
        self.drain_due = true;
    }
}

fn lasts(term: Term, declared_by: &Version, now: &Version) -> bool {
    match term {
        Term::ThisProcess => false,
        Term::ThisVersion => declared_by == now,
        Term::UntilUndrained => true,
    }
}
