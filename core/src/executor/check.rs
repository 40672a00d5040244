//! The executor's own invariants.

use alloc::collections::BTreeSet;

use super::{Announced, BuildState, CandidateWait, Executor, Stage, Task, Work};

impl Executor {
    /// Asserts what always holds between two calls.
    ///
    /// # Panics
    /// On a defect of the executor, or on hand-made parts that contradict themselves.
    pub fn check(&self) {
        self.check_slots();
        self.check_queue();
        self.check_drain();
        for (work, task) in &self.state.tasks {
            self.check_task_slot(work, task);
            self.check_task_state(work, task);
        }
    }

    fn check_slots(&self) {
        let held = self.slots_held();
        assert_eq!(
            self.state.free + held,
            self.slots(),
            "slots are neither lost nor made: {} are free and {held} are held",
            self.state.free
        );
    }

    fn check_queue(&self) {
        let mut places = BTreeSet::new();
        let mut waits_unparked = false;
        for (work, task) in &self.state.tasks {
            assert!(
                places.insert(task.entry.place),
                "{work} has a place of its own, or the order of the queue is lost"
            );
            waits_unparked |=
                task.stage == (Stage::Waiting { parked: false }) && !self.waits_for_parent(task);
            assert!(
                task.stage != (Stage::Waiting { parked: true }) || self.is_draining(),
                "{work} is not parked under an open gate, where nothing would wake it"
            );
        }
        match self.state.candidate {
            CandidateWait::Absent => {}
            CandidateWait::Waiting { place, parked } => {
                assert!(places.insert(place), "the candidate has a place of its own");
                assert!(!parked || self.is_draining(), "the candidate parks under a drain only");
                waits_unparked |= !parked;
            }
            CandidateWait::Handed { place, .. } => {
                assert!(places.insert(place), "the candidate has a place of its own");
            }
        }
        if let Some(last) = places.last() {
            assert!(*last < self.state.ledger.next_place, "the next place is behind all others");
        }
        assert!(
            self.state.free == 0 || !waits_unparked || self.first_enqueuing().is_some(),
            "a free slot goes at once to whoever waits for one, but never past an earlier place"
        );
        assert!(
            !self.state.reserved || self.state.candidate == CandidateWait::Absent,
            "the candidate does not wait for what it has"
        );
    }

    fn check_drain(&self) {
        if self.state.announced != Announced::No {
            assert!(self.is_drained(), "the end of a drain is said only while it is drained");
        }
        let by = self.state.drain_write.as_ref().and_then(|write| write.by.clone());
        for (work, task) in &self.state.tasks {
            if let Stage::Declaring { .. } = task.stage {
                assert_eq!(
                    task.handed_out,
                    by.clone().map(Work::Local).as_ref() == Some(work),
                    "the write of a declaration is out exactly while {work} waits for it"
                );
            }
        }
    }

    fn check_task_slot(&self, work: &Work, task: &Task) {
        if task.own_slot {
            assert!(task.stage.needs_slot(), "{work} holds a slot only where it needs one");
        } else if task.stage.needs_slot() {
            let parent = task.entry.parent.clone().map(Work::Local);
            let parent = parent.and_then(|parent| self.state.tasks.get(&parent));
            assert!(
                parent.is_some_and(|parent| parent.stage.is_current()),
                "{work} is on the slot of a parent that is in flight"
            );
        }
    }

    fn check_task_state(&self, work: &Work, task: &Task) {
        let recorded = self.state.ledger.entries.get(work);
        let state = recorded.map(|entry| &entry.state);
        match task.stage {
            Stage::Retiring => {
                let ended = task.entry.state.is_terminal() || work.is_granted();
                assert!(ended, "{work} is retired only once it is over");
            }
            Stage::Enqueuing | Stage::Waiting { .. } | Stage::Handed | Stage::Admitting => {
                let due = task.stage == Stage::Admitting;
                let expected = if due { BuildState::Admitted } else { BuildState::Pending };
                assert_eq!(task.entry.state, expected, "{work} is pending until it is counted");
                assert!(!task.begun, "nothing of {work} has begun before its admission is durable");
            }
            Stage::Starting
            | Stage::Running
            | Stage::Stopping
            | Stage::AwaitingStop
            | Stage::StoringArtifacts => {
                let durable = state == Some(&BuildState::Admitted);
                assert!(durable, "a crash now would find {work} in the book as admitted");
            }
            Stage::Recording => {
                assert!(
                    task.entry.state != BuildState::Admitted,
                    "what is recorded of {work} is its end"
                );
            }
            Stage::Declaring { .. } | Stage::Removing | Stage::Releasing => {
                assert_eq!(
                    recorded,
                    Some(&task.entry),
                    "{work} leaves the current set with its end recorded"
                );
            }
        }
        if task.handed_out {
            assert!(
                task.effect(work).is_some() || matches!(task.stage, Stage::Declaring { .. }),
                "a step of {work} is out only in a stage that has one"
            );
        }
    }
}
