//! Effects out, acknowledgements in.
//!
//! The order of the release path (Ex3) is the order of the stages: artifacts stored, status
//! recorded, drain declared, removed, released, and last the word that all is drained.

use super::{
    Acknowledgement, Announced, BuildState, CandidateWait, Cut, Drain, DrainWrite, Executor,
    ExecutorEffect, Progress, Stage, Task, Waiter, Work,
};
use crate::ids::BuildId;
use crate::mark::mark;

impl Executor {
    /// The next step for the driver, `None` when there is none until the next call of another kind.
    ///
    /// The order: the drain's own write, then each work's step in the order of places, the
    /// candidate's among them, and [`ExecutorEffect::Drained`] last. One step of a work is out at a
    /// time.
    #[must_use]
    pub fn poll_effect(&mut self) -> Option<ExecutorEffect> {
        if self.state.drain_due && self.state.drain_write.is_none() {
            let drain = self.state.drain.clone().filter(Drain::is_written);
            self.state.drain_due = false;
            self.state.drain_write = Some(DrainWrite { drain: drain.clone(), by: None });
            return Some(ExecutorEffect::StoreDrain { drain });
        }
        let tasks = self.state.tasks.iter();
        let next = tasks
            .filter(|(work, task)| self.is_due(work, task))
            .min_by_key(|(_, task)| task.entry.place)
            .map(|(work, task)| (work.clone(), task.entry.place));
        if let CandidateWait::Handed { place, handed_out: false } = self.state.candidate
            && next.as_ref().is_none_or(|(_, first)| place < *first)
        {
            self.state.candidate = CandidateWait::Handed { place, handed_out: true };
            return Some(ExecutorEffect::Wake(Waiter::Candidate));
        }
        if let Some((work, _)) = next {
            return Some(self.hand_out(&work));
        }
        self.poll_drained()
    }

    /// Takes the driver's word on an effect. Done moves on; failed and unknown hand it out again.
    /// An effect that is not handed out at present is answered with [`Progress::Refused`].
    pub fn acknowledge(
        &mut self,
        effect: &ExecutorEffect,
        outcome: Acknowledgement,
    ) -> Option<Progress> {
        if !self.is_handed_out(effect) {
            return Some(Progress::Refused);
        }
        let progress = match outcome {
            Acknowledgement::Done => self.done(effect),
            Acknowledgement::Failed | Acknowledgement::Unknown => {
                mark!(Dr3Again);
                self.again(effect);
                None
            }
        };
        self.hand_out_slots();
        progress
    }

    /// Whether the stage of this work has a step that may be handed out now.
    fn is_due(&self, work: &Work, task: &Task) -> bool {
        if task.handed_out {
            return false;
        }
        let drain_is_stored = !self.state.drain_due && self.state.drain_write.is_none();
        match task.stage {
            Stage::Declaring { .. } => drain_is_stored,
            // That a success has nothing left to declare is written after what it declares.
            Stage::Retiring => drain_is_stored || task.entry.state != BuildState::Succeeded,
            Stage::Removing => !self.lends_slot_to_any(work),
            Stage::Waiting { .. } | Stage::Running | Stage::AwaitingStop => false,
            Stage::Enqueuing
            | Stage::Handed
            | Stage::Admitting
            | Stage::Starting
            | Stage::Stopping
            | Stage::StoringArtifacts
            | Stage::Recording
            | Stage::Releasing => true,
        }
    }

    /// Whether a child is on this work's slot, so that it has to stay in flight (Ex6).
    fn lends_slot_to_any(&self, work: &Work) -> bool {
        let Work::Local(build) = work else {
            return false;
        };
        self.state.tasks.values().any(|task| {
            task.entry.parent.as_ref() == Some(build) && task.stage.needs_slot() && !task.own_slot
        })
    }

    fn hand_out(&mut self, work: &Work) -> ExecutorEffect {
        let task = self.state.tasks.get_mut(work).expect("the step of a task was found due");
        task.handed_out = true;
        task.begun |= task.stage == Stage::Starting;
        if let (Stage::Declaring { number }, Work::Local(build)) = (task.stage, work) {
            let drain = Some(self.declaration(number, build));
            let by = Some(build.clone());
            self.state.drain_write = Some(DrainWrite { drain: drain.clone(), by });
            return ExecutorEffect::StoreDrain { drain };
        }
        task.effect(work).expect("a stage that is due has an effect")
    }

    /// The drain with what this build's success declares: its own, or the active one, strengthened
    /// under the same id or left as it is.
    fn declaration(&self, number: u64, build: &BuildId) -> Drain {
        let task = self.state.tasks.get(&Work::Local(build.clone()));
        let request = task.and_then(|task| task.entry.drains.as_ref());
        let request = request.expect("a build that declares has a request until it is declared");
        let version = self.state.version.clone();
        let Some(active) = &self.state.drain else {
            return Drain::declare(number, version, Some(build.clone()), request);
        };
        let mut joined = active.clone();
        joined.join(build, request);
        joined
    }

    /// Last of all: with nothing in flight or on its way out, and the drain durable.
    fn poll_drained(&mut self) -> Option<ExecutorEffect> {
        if !self.is_draining() || self.state.announced != Announced::No {
            return None;
        }
        let busy = self.state.reserved
            || !self.is_written()
            || self.state.tasks.values().any(|task| task.stage >= Stage::Admitting);
        if busy {
            return None;
        }
        self.state.announced = Announced::HandedOut;
        self.drained_effect()
    }

    fn drained_effect(&self) -> Option<ExecutorEffect> {
        let drain = self.state.drain.as_ref()?;
        Some(ExecutorEffect::Drained { end: self.state.end_action(drain), drain: drain.id.clone() })
    }

    fn is_handed_out(&self, effect: &ExecutorEffect) -> bool {
        match effect {
            ExecutorEffect::Wake(Waiter::Candidate) => {
                matches!(self.state.candidate, CandidateWait::Handed { handed_out: true, .. })
            }
            ExecutorEffect::StoreDrain { drain } => {
                self.state.drain_write.as_ref().is_some_and(|write| write.drain == *drain)
            }
            ExecutorEffect::Drained { .. } => {
                self.state.announced == Announced::HandedOut
                    && self.drained_effect().as_ref() == Some(effect)
            }
            ExecutorEffect::Wake(Waiter::Build(build)) => {
                self.is_step_out(&Work::Local(build.clone()), effect)
            }
            ExecutorEffect::StoreEntry { work, .. }
            | ExecutorEffect::Start { work }
            | ExecutorEffect::Stop { work }
            | ExecutorEffect::StoreArtifacts { work }
            | ExecutorEffect::Remove { work }
            | ExecutorEffect::Release { work } => self.is_step_out(work, effect),
        }
    }

    fn is_step_out(&self, work: &Work, effect: &ExecutorEffect) -> bool {
        let task = self.state.tasks.get(work);
        task.is_some_and(|task| task.handed_out && task.effect(work).as_ref() == Some(effect))
    }

    /// The effect was not, or perhaps not, performed: it is due again, unless the work is to be cut
    /// short instead.
    fn again(&mut self, effect: &ExecutorEffect) {
        match effect {
            ExecutorEffect::Wake(Waiter::Candidate) => {
                if let CandidateWait::Handed { handed_out, .. } = &mut self.state.candidate {
                    *handed_out = false;
                }
            }
            ExecutorEffect::StoreDrain { .. } => match self.state.drain_write.take() {
                Some(DrainWrite { by: Some(build), .. }) => self.step_again(&Work::Local(build)),
                Some(DrainWrite { by: None, .. }) | None => self.state.drain_due = true,
            },
            ExecutorEffect::Drained { .. } => self.state.announced = Announced::No,
            ExecutorEffect::Wake(Waiter::Build(build)) => {
                self.step_again(&Work::Local(build.clone()))
            }
            ExecutorEffect::StoreEntry { work, .. }
            | ExecutorEffect::Start { work }
            | ExecutorEffect::Stop { work }
            | ExecutorEffect::StoreArtifacts { work }
            | ExecutorEffect::Remove { work }
            | ExecutorEffect::Release { work } => self.step_again(work),
        }
    }

    fn step_again(&mut self, work: &Work) {
        let task = self.task_mut(work);
        task.handed_out = false;
        task.honour_cut(work);
    }

    fn task_mut(&mut self, work: &Work) -> &mut Task {
        self.state.tasks.get_mut(work).expect("the step of a task was found handed out")
    }

    fn done(&mut self, effect: &ExecutorEffect) -> Option<Progress> {
        match effect {
            ExecutorEffect::Wake(Waiter::Candidate) => self.candidate_woke(),
            ExecutorEffect::Wake(Waiter::Build(build)) => {
                self.woke(&Work::Local(build.clone()));
                None
            }
            ExecutorEffect::StoreEntry { work, .. } => {
                self.state.ledger.write(effect);
                self.entry_stored(work)
            }
            ExecutorEffect::StoreDrain { .. } => {
                self.state.ledger.write(effect);
                self.drain_stored();
                None
            }
            ExecutorEffect::Start { work } => {
                let task = self.task_mut(work);
                task.enter(Stage::Running);
                task.honour_cut(work);
                Some(Progress::Started { work: work.clone() })
            }
            ExecutorEffect::Stop { work } => {
                self.task_mut(work).enter(Stage::AwaitingStop);
                None
            }
            ExecutorEffect::StoreArtifacts { work } => {
                mark!(Ex3Artifacts);
                self.task_mut(work).enter(Stage::Recording);
                None
            }
            ExecutorEffect::Remove { work } => {
                mark!(Ex3Removed);
                self.task_mut(work).enter(Stage::Releasing);
                None
            }
            ExecutorEffect::Release { work } => {
                self.released(work);
                None
            }
            ExecutorEffect::Drained { .. } => {
                mark!(Ex3Drained);
                self.state.announced = Announced::Done;
                None
            }
        }
    }

    /// Ho1: the gate read and the slot reserved, or parked and the slot back, in one step.
    fn candidate_woke(&mut self) -> Option<Progress> {
        let CandidateWait::Handed { place, .. } = self.state.candidate else {
            return None;
        };
        if self.is_draining() {
            mark!(Ex4CandidateParked);
            self.state.free += 1;
            self.state.candidate = CandidateWait::Waiting { place, parked: true };
            return None;
        }
        self.state.candidate = CandidateWait::Absent;
        self.state.reserved = true;
        Some(Progress::CandidateTurn)
    }

    /// Ex4: the gate read and counted, or parked and the slot back, in one step. In-flight work
    /// waits for what is on its slot, so that passes (Ex6).
    fn woke(&mut self, work: &Work) {
        let closed = self.is_draining();
        let version = self.state.version.clone();
        let task = self.task_mut(work);
        if closed && task.own_slot {
            mark!(Ex4Parked);
            task.own_slot = false;
            task.enter(Stage::Waiting { parked: true });
            self.state.free += 1;
        } else {
            if closed {
                mark!(Ex6Passes);
            }
            mark!(Ex4Counted);
            task.admit(&version);
        }
    }

    fn entry_stored(&mut self, work: &Work) -> Option<Progress> {
        let task = self.task_mut(work);
        match task.stage {
            Stage::Enqueuing => {
                task.enter(Stage::Waiting { parked: false });
                task.honour_cut(work);
                None
            }
            Stage::Admitting => {
                task.enter(Stage::Starting);
                task.honour_cut(work);
                None
            }
            Stage::Recording => {
                mark!(Ex3Recorded);
                let ended = task.entry.state.is_terminal();
                let declares =
                    task.entry.state == BuildState::Succeeded && task.entry.drains.is_some();
                task.enter(Stage::Removing);
                if declares {
                    let number = self.state.ledger.take_drain_number();
                    self.task_mut(work).enter(Stage::Declaring { number });
                }
                ended.then(|| Progress::Recorded { work: work.clone() })
            }
            Stage::Retiring => {
                let ended = task.entry.state == BuildState::Cancelled;
                self.state.tasks.remove(work);
                ended.then(|| Progress::Recorded { work: work.clone() })
            }
            Stage::Waiting { .. }
            | Stage::Handed
            | Stage::Starting
            | Stage::Running
            | Stage::Stopping
            | Stage::AwaitingStop
            | Stage::StoringArtifacts
            | Stage::Declaring { .. }
            | Stage::Removing
            | Stage::Releasing => unreachable!("only the four stages above write a row"),
        }
    }

    fn drain_stored(&mut self) {
        let Some(DrainWrite { by: Some(build), .. }) = self.state.drain_write.take() else {
            return;
        };
        let work = Work::Local(build.clone());
        let Stage::Declaring { number } = self.task_mut(&work).stage else {
            return;
        };
        // Made anew: an operator may have drained or undrained while the write was out, and then
        // the drain in force is due to be written in any case.
        let drain = self.declaration(number, &build);
        mark!(Ex3Declared);
        self.state.enforce(drain);
        let task = self.task_mut(&work);
        task.entry.drains = None;
        task.enter(Stage::Removing);
    }

    fn released(&mut self, work: &Work) {
        let task = self.task_mut(work);
        mark!(Ex3Released);
        let had_slot = core::mem::take(&mut task.own_slot);
        if task.entry.state != BuildState::Pending {
            self.state.tasks.remove(work);
        } else if task.cut == Some(Cut::Cancelled) {
            task.entry.state = BuildState::Cancelled;
            task.enter(Stage::Retiring);
        } else {
            mark!(Ex1Interrupted);
            task.cut = None;
            task.begun = false;
            task.enter(Stage::Waiting { parked: false });
        }
        if had_slot {
            self.state.free += 1;
        }
    }
}
