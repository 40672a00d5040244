//! Runs builds in a bounded number of slots on one host, and can be drained (Ex1 to Ex7).
//!
//! A deployment that freed its slot before it declared the drain let a waiting build start under
//! the outgoing version. So the release path is one explicit stage after another, and the effects
//! are derived from the stages: none can be handed out before the former is acknowledged.

mod check;
mod drain;
mod effect;
mod ledger;
#[cfg(feature = "serde")]
mod pairs;
mod poll;
mod recover;
mod reserve;
mod state;
mod task;

pub use drain::{AtDeadline, Drain, DrainRequest, EndAction, Term};
pub use effect::{
    Acknowledgement, CancelRefusal, DrainRefusal, End, ExecutorEffect, NotDraining, NotRunning,
    Progress, ReserveRefusal, StartRefusal, SubmitRefusal, Waiter,
};
pub use ledger::{BuildState, Entry, Ledger, LedgerError, Work};
pub use state::{Announced, CandidateWait, DrainWrite, ExecutorParts, Queued, Settings};
pub use task::{Cut, Stage, Task};

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use crate::ids::{BuildId, Version};
use crate::mark::mark;
use crate::shared::Shared;

/// The slots of one host, who has them, who waits for them, and the drain.
///
/// The methods are of four kinds:
/// - **inputs** by its user: [`submit`](Self::submit), [`cancel`](Self::cancel),
///   [`drain`](Self::drain), [`undrain`](Self::undrain), [`deadline`](Self::deadline);
/// - **the driver's word** on what runs: [`ended`](Self::ended), [`stopped`](Self::stopped);
/// - **outputs**: [`poll_effect`](Self::poll_effect) until `None` after each call of the other
///   kinds, and [`acknowledge`](Self::acknowledge) once for each effect. Acknowledge the effects of
///   one build in the order in which they were handed out;
/// - **getters**.
///
/// A host that also coordinates composes it with a candidate, by [`reserve`](Self::reserve) and its
/// neighbours.
///
/// # Children
/// A build that names a parent in flight runs on the parent's slot and passes a closed gate, since
/// in-flight work waits for it (Ex6). The parent stays in flight until its children on its slot
/// have ended, and a cancel of the parent cancels them. Once the parent has ended, a child that has
/// not been handed its slot yet is a build like any other; while an interrupted parent is pending,
/// the child waits for it.
#[derive(Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct Executor {
    state: Shared<ExecutorParts>,
}

/// By hand for `clone_from`, which leaves alone what is shared already.
impl Clone for Executor {
    fn clone(&self) -> Self {
        Self { state: self.state.clone() }
    }

    fn clone_from(&mut self, source: &Self) {
        self.state.clone_from(&source.state);
    }
}

impl Executor {
    /// An executor with an empty book.
    #[must_use]
    pub fn new(settings: Settings, version: Version) -> Self {
        Self { state: Shared::new(ExecutorParts::new(settings, version, Ledger::default())) }
    }

    /// Takes a build into the queue, as one step: insert if absent. Always allowed in a drain,
    /// which gates starts and not the queue (Ex6). `drains` is what its success declares; a pinned
    /// instance ignores it.
    ///
    /// # Errors
    /// The id is known, or the parent is not in flight.
    pub fn submit(
        &mut self,
        build: BuildId,
        parent: Option<BuildId>,
        drains: Option<DrainRequest>,
    ) -> Result<(), SubmitRefusal> {
        let work = Work::Local(build);
        if self.knows(&work) {
            mark!(Ex6Known);
            return Err(SubmitRefusal::Known);
        }
        if let Some(parent) = &parent
            && !self.lends_slot(parent)
        {
            mark!(Ex6NoParent);
            return Err(SubmitRefusal::ParentNotInFlight);
        }
        let place = self.state.ledger.take_place();
        let entry = Entry {
            state: BuildState::Pending,
            attempts: 0,
            place,
            parent,
            drains,
            admitted_by: None,
        };
        self.state.tasks.insert(work, Task::new(entry, Stage::Enqueuing));
        Ok(())
    }

    /// Cancels a build and its children. Pending, it is cancelled at once; in flight, it is stopped
    /// and is cancelled when it has stopped. An end of its own that comes first stays; a cancel
    /// beats an interruption.
    ///
    /// # Errors
    /// There is nothing to cancel.
    pub fn cancel(&mut self, build: &BuildId) -> Result<(), CancelRefusal> {
        self.cancel_work(&Work::Local(build.clone()))
    }

    /// Drains (Ex7): gates starts at once, and is stored by an effect. A stronger end action
    /// replaces that of the active drain under the same id.
    ///
    /// # Errors
    /// The active drain is as strong or stronger; it is in the refusal.
    pub fn drain(&mut self, request: DrainRequest) -> Result<&Drain, DrainRefusal> {
        let drain = if let Some(active) = &self.state.drain {
            let mut stronger = active.clone();
            if !stronger.strengthen(&request) {
                mark!(Ex7Refused);
                return Err(DrainRefusal { active: Box::new(stronger) });
            }
            mark!(Ex7Strengthened);
            stronger
        } else {
            mark!(Ex7Declared);
            let number = self.state.ledger.take_drain_number();
            Drain::declare(number, self.state.version.clone(), None, &request)
        };
        self.state.drain_due |= drain.is_written();
        Ok(self.state.enforce(drain))
    }

    /// Gives the drain up: clears it, then wakes all that is parked (Ex4). In the other order what
    /// is woken could read the gate closed once more, and park for ever.
    ///
    /// # Errors
    /// No drain is in force.
    pub fn undrain(&mut self) -> Result<(), NotDraining> {
        let Some(drain) = &self.state.drain else {
            mark!(Ex7NotDraining);
            return Err(NotDraining);
        };
        // One that is not written leaves nothing to clear: what an earlier one has left in the book
        // is due to go, or is on its way.
        let is_written = drain.is_written();
        self.state.clear_drain();
        self.state.drain_due |= is_written;
        for task in self.state.tasks.values_mut() {
            if task.stage == (Stage::Waiting { parked: true }) {
                mark!(Ex4Woken);
                task.enter(Stage::Waiting { parked: false });
            }
        }
        if let CandidateWait::Waiting { parked, .. } = &mut self.state.candidate {
            *parked = false;
        }
        self.hand_out_slots();
        Ok(())
    }

    /// The drain's deadline has passed; does what the drain's request named, and answers it.
    /// `Interrupt` stops all that is under way: local builds are pending again in their place at no
    /// cost in attempts, granted ones end as cancelled.
    ///
    /// # Errors
    /// No drain is in force.
    pub fn deadline(&mut self) -> Result<AtDeadline, NotDraining> {
        let outcome = self.state.drain.as_ref().ok_or(NotDraining)?.at_deadline;
        match outcome {
            AtDeadline::Interrupt => {
                mark!(Ex7Interrupts);
                self.interrupt()?;
            }
            AtDeadline::Undrain => {
                mark!(Ex7Undrains);
                self.undrain()?;
            }
            AtDeadline::Report => {
                mark!(Ex7Reports);
            }
        }
        Ok(outcome)
    }

    /// The build ended by itself, even if it had been told to stop.
    ///
    /// # Errors
    /// It was not started, or its end is known already.
    pub fn ended(&mut self, work: &Work, end: End) -> Result<(), NotRunning> {
        let pinned = self.state.settings.pinned();
        let task = self.state.tasks.get_mut(work).ok_or(NotRunning)?;
        if !task.may_run() {
            return Err(NotRunning);
        }
        match end {
            End::Succeeded => {
                if pinned {
                    task.entry.drains = None;
                }
                task.end(BuildState::Succeeded);
            }
            End::Failed(reason) => task.end(BuildState::Failed(reason)),
        }
        self.hand_out_slots();
        Ok(())
    }

    /// The build has really stopped after [`ExecutorEffect::Stop`], without an end of its own.
    ///
    /// # Errors
    /// It was not told to stop, or its end is known already.
    pub fn stopped(&mut self, work: &Work) -> Result<(), NotRunning> {
        let task = self.state.tasks.get_mut(work).ok_or(NotRunning)?;
        if task.stage != Stage::Stopping && task.stage != Stage::AwaitingStop {
            return Err(NotRunning);
        }
        task.end_cut(work);
        self.hand_out_slots();
        Ok(())
    }

    /// Cancels work of either kind with its children.
    fn cancel_work(&mut self, work: &Work) -> Result<(), CancelRefusal> {
        let Some(task) = self.state.tasks.get(work) else {
            return Err(if self.state.ledger.entries.contains_key(work) {
                mark!(Ex1Ended);
                CancelRefusal::Ended
            } else {
                mark!(Ex1NotKnown);
                CancelRefusal::NotKnown
            });
        };
        if task.entry.state.is_terminal() {
            return Err(CancelRefusal::Ended);
        }
        if task.cut == Some(Cut::Cancelled) {
            mark!(Ex1Cancelling);
            return Err(CancelRefusal::Cancelling);
        }
        let mut next = vec![work.clone()];
        while let Some(work) = next.pop() {
            next.extend(self.children(&work));
            self.cut(&work, Cut::Cancelled);
        }
        self.hand_out_slots();
        Ok(())
    }

    /// Stops all that is under way, as a deadline with [`AtDeadline::Interrupt`] does.
    ///
    /// # Errors
    /// No drain is in force: what was interrupted would start again at once.
    pub fn interrupt(&mut self) -> Result<(), NotDraining> {
        if self.state.drain.is_none() {
            return Err(NotDraining);
        }
        let under_way: Vec<Work> = self
            .state
            .tasks
            .iter()
            .filter(|(_, task)| task.stage.is_under_way() && task.cut.is_none())
            .map(|(work, _)| work.clone())
            .collect();
        for work in under_way {
            self.cut(&work, Cut::Interrupted);
        }
        // A child that has not begun would otherwise begin on the slot of what is being stopped.
        for task in self.state.tasks.values_mut() {
            if task.stage == Stage::Handed && !task.own_slot {
                task.enter(Stage::Waiting { parked: false });
            }
        }
        self.hand_out_slots();
        Ok(())
    }

    /// Marks unfinished work as cut short, and acts on it as far as no effect of it is out.
    fn cut(&mut self, work: &Work, cut: Cut) {
        let state = &mut *self.state;
        let Some(task) = state.tasks.get_mut(work) else {
            return;
        };
        if task.entry.state.is_terminal() {
            return;
        }
        task.cut = task.cut.max(Some(cut));
        if task.stage == Stage::Handed {
            // The wake is a step in memory, so one that is out is simply refused later.
            task.handed_out = false;
            if core::mem::take(&mut task.own_slot) {
                state.free += 1;
            }
        }
        task.honour_cut(work);
    }

    fn children(&self, of: &Work) -> Vec<Work> {
        let Work::Local(of) = of else {
            return Vec::new();
        };
        let tasks = self.state.tasks.iter();
        tasks
            .filter(|(_, task)| task.entry.parent.as_ref() == Some(of))
            .map(|(work, _)| work.clone())
            .collect()
    }

    fn knows(&self, work: &Work) -> bool {
        self.state.tasks.contains_key(work) || self.state.ledger.entries.contains_key(work)
    }

    /// Whether this build is under way and not cut short, so that a child may use its slot.
    fn lends_slot(&self, build: &BuildId) -> bool {
        let task = self.state.tasks.get(&Work::Local(build.clone()));
        task.is_some_and(|task| task.stage.is_under_way() && task.cut.is_none())
    }

    /// Whether this child has to wait for its parent, which is unfinished.
    fn waits_for_parent(&self, task: &Task) -> bool {
        let parent = task.entry.parent.clone().map(Work::Local);
        let parent = parent.and_then(|parent| self.state.tasks.get(&parent));
        parent.is_some_and(|parent| !parent.entry.state.is_terminal())
    }

    /// Hands free slots to the first in the queue that are not parked, and lets children in on
    /// their parents' slots.
    fn hand_out_slots(&mut self) {
        let mut waiting: Vec<(u64, Work)> = Vec::new();
        let mut on_parents_slot: Vec<Work> = Vec::new();
        for (work, task) in &self.state.tasks {
            if task.stage != (Stage::Waiting { parked: false }) {
                continue;
            }
            if !self.waits_for_parent(task) {
                waiting.push((task.entry.place, work.clone()));
            } else if task.entry.parent.as_ref().is_some_and(|parent| self.lends_slot(parent)) {
                on_parents_slot.push(work.clone());
            }
        }
        for work in on_parents_slot {
            self.state.hand_slot(&work, false);
        }
        waiting.sort();
        let bar = self.first_enqueuing();
        let in_turn = |place: u64| bar.is_none_or(|bar| place < bar);
        let mut waiting = waiting.into_iter().take_while(|(place, _)| in_turn(*place)).peekable();
        while self.state.free > 0 {
            let first = waiting.peek().map(|(place, _)| *place);
            if let CandidateWait::Waiting { place, parked: false } = self.state.candidate
                && first.is_none_or(|first| place < first)
                && in_turn(place)
            {
                self.state.candidate = CandidateWait::Handed { place, handed_out: false };
            } else if let Some((_, work)) = waiting.next() {
                self.state.hand_slot(&work, true);
            } else {
                break;
            }
            self.state.free -= 1;
        }
    }

    /// The first place that is taken and not yet written down: nobody behind it is handed a slot,
    /// or a build that a crash had cut would be overtaken by a younger one while its row is
    /// rewritten (Ex4, Ex5).
    pub(super) fn first_enqueuing(&self) -> Option<u64> {
        let tasks = self.state.tasks.values();
        let enqueuing =
            tasks.filter(|task| task.stage == Stage::Enqueuing && !self.waits_for_parent(task));
        enqueuing.map(|task| task.entry.place).min()
    }
}
