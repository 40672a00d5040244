//! What has to hold of the executor, judged from outside.

use handover_core::executor::{BuildState, Executor, ExecutorEffect, Stage, Term, Waiter, Work};
use handover_core::{BuildId, Version};

use super::world::{World, count};

impl World<'_> {
    pub(crate) fn judge_drained(&self) {
        count(&self.seen.drained);
        assert!(self.runs.is_empty(), "drained while {:?} runs", self.runs);
        assert!(self.draining, "drained without a drain");
        assert_eq!(self.executor.current().count(), 0, "drained with work in flight");
        assert!(!self.executor.has_reservation(), "drained with a slot reserved");
        let active = self.executor.active_drain();
        let written = active.filter(|drain| drain.term != Term::ThisProcess);
        assert_eq!(self.book.drain.as_ref(), written, "drained unwritten");
        for (work, entry) in &self.book.entries {
            let rewritten = [Some(Stage::Retiring), Some(Stage::Enqueuing)];
            let after_boot = rewritten.contains(&self.executor.stage(work));
            let open = entry.state == BuildState::Admitted && !after_boot;
            assert!(!open, "drained, and the end of {work} is not recorded");
        }
    }

    pub(crate) fn children_in_flight(&self, of: &Work) -> Vec<Work> {
        let tasks = self.executor.clone().into_parts().tasks.into_iter();
        let children = tasks.filter(|(_, task)| {
            let parent = task.entry.parent.clone().map(Work::Local);
            parent.as_ref() == Some(of) && task.stage.is_current() && !task.own_slot
        });
        children.map(|(work, _)| work).collect()
    }

    pub(crate) fn note_step(&mut self, effect: &ExecutorEffect, declaring: Option<Work>) {
        match effect {
            ExecutorEffect::Wake(Waiter::Build(build)) => self.note_wake(build),
            ExecutorEffect::StoreArtifacts { work } => self.step(work, 'A'),
            ExecutorEffect::StoreEntry { work, .. } => {
                let next = self.executor.stage(work);
                if matches!(next, Some(Stage::Removing | Stage::Declaring { .. })) {
                    self.step(work, 'T');
                }
            }
            ExecutorEffect::StoreDrain { .. } => {
                if let Some(work) = declaring {
                    count(&self.seen.declared);
                    self.step(&work, 'F');
                    self.draining = true;
                }
            }
            ExecutorEffect::Remove { work } => self.step(work, 'R'),
            ExecutorEffect::Release { work } => {
                self.step(work, 'S');
                self.note_release(work);
            }
            ExecutorEffect::Wake(Waiter::Candidate)
            | ExecutorEffect::Start { .. }
            | ExecutorEffect::Stop { .. }
            | ExecutorEffect::Drained { .. } => {}
        }
    }

    fn step(&mut self, work: &Work, step: char) {
        self.steps.entry(work.clone()).or_default().push(step);
    }

    fn note_release(&mut self, work: &Work) {
        count(&self.seen.released);
        let steps = self.steps.remove(work).expect("it was just released");
        let entry = &self.book.entries[work];
        let begun = self.artifacts.contains(work);
        let orders: &[&str] = match (&entry.state, begun) {
            (BuildState::Succeeded, true) => &["ATFRS", "ATRS"],
            (BuildState::Succeeded, false) => &[],
            (BuildState::Failed(_), _) => &["ATRS"],
            // Cut short before it had begun, it leaves no artifacts.
            (BuildState::Cancelled | BuildState::Pending | BuildState::Admitted, _) => {
                &["ATRS", "TRS"]
            }
        };
        let state = &entry.state;
        assert!(orders.contains(&steps.as_str()), "{work} ({state:?}) left in the order {steps}");
        let undeclared = state == &BuildState::Succeeded && entry.drains.is_some();
        assert!(!undeclared, "{work} left with a drain to declare");
        if state == &BuildState::Pending {
            count(&self.seen.interrupted);
        }
    }

    fn note_wake(&mut self, build: &BuildId) {
        let work = Work::Local(build.clone());
        assert!(!self.runs.contains(&work), "{work} wakes while it runs");
        if self.executor.stage(&work) != Some(Stage::Admitting) {
            count(&self.seen.parked);
            assert!(self.draining, "only a drain parks {work}");
            return;
        }
        if self.draining {
            let entry = self.executor.entry(&work).expect("it is in flight");
            let parent = entry.parent.clone().map(Work::Local).expect("only children pass a drain");
            let stage = self.executor.stage(&parent);
            assert!(stage.is_some_and(Stage::is_current), "{parent} in flight waits for {work}");
            count(&self.seen.passed_as_child);
        }
    }

    pub(crate) fn judge_recovered_queue(&self) {
        let mut expected = Vec::new();
        for (work, entry) in &self.book.entries {
            let Work::Local(build) = work else { continue };
            let cut = entry.state == BuildState::Admitted;
            if cut || entry.state == BuildState::Pending {
                expected.push((entry.place, Waiter::Build(build.clone())));
            }
            if cut {
                count(&self.seen.cut_by_crash);
            }
        }
        expected.sort();
        let expected: Vec<Waiter> = expected.into_iter().map(|(_, waiter)| waiter).collect();
        let queue: Vec<Waiter> = self.executor.queue().into_iter().map(|q| q.waiter).collect();
        assert_eq!(queue, expected, "what was cut is queued again, once, in its place");
    }

    pub(crate) fn expected_drain(&self) -> bool {
        let lasts = |term, version: &Version| match term {
            Term::ThisProcess => false,
            Term::ThisVersion => *version == self.version,
            Term::UntilUndrained => true,
        };
        let kept = self.book.drain.as_ref();
        let is_kept = kept.is_some_and(|drain| lasts(drain.term, &drain.version));
        let derived = !self.settings.pinned()
            && self.book.entries.values().any(|entry| {
                entry.state == BuildState::Succeeded
                    && entry.drains.as_ref().is_some_and(|request| {
                        lasts(request.term, entry.admitted_by.as_ref().expect("it ran"))
                    })
            });
        if derived && !is_kept {
            count(&self.seen.derived_at_boot);
        }
        if kept.is_some() && !is_kept {
            count(&self.seen.over_at_boot);
        }
        is_kept || derived
    }

    pub(crate) fn check(&self) {
        self.executor.check();
        assert_eq!(self.executor.is_draining(), self.draining, "the gate is as was declared");
        for (build, place) in &self.places {
            let entry = self.executor.entry(&Work::Local(build.clone())).expect("it is known");
            assert_eq!(entry.place, *place, "{build} keeps its place");
            // Neither parking nor an interruption nor a crash costs an attempt.
            let expected = match entry.state {
                BuildState::Pending => 0..=0,
                BuildState::Admitted | BuildState::Succeeded | BuildState::Failed(_) => 1..=1,
                BuildState::Cancelled => 0..=1,
            };
            assert!(expected.contains(&entry.attempts), "{build} in {entry:?}");
        }
        let tasks = self.executor.clone().into_parts().tasks;
        let own = self.runs.iter().filter(|work| tasks.get(work).is_some_and(|task| task.own_slot));
        let own = u32::try_from(own.count()).expect("few");
        assert!(own <= self.executor.slots(), "more builds run than there are slots");
        for work in &self.runs {
            assert!(self.executor.is_running(work), "{work} runs and is not known to");
        }
    }

    /// Recovering a book that has nothing open asks for nothing.
    pub(crate) fn judge_standing_rule(&self) {
        assert_eq!(self.executor.ledger().entries, self.book.entries, "the book is as known");
        assert_eq!(self.executor.ledger().drain, self.book.drain, "the drain is as known");
        let recovered = Executor::recover(self.settings, self.version.clone(), self.book.clone());
        let mut recovered = recovered.expect("our own book can be read");
        assert_eq!(recovered.poll_effect(), None, "recovery is a standing rule");
        assert_eq!(recovered.ledger().entries, self.book.entries, "nothing to recover");
    }
}
