//! The executor of the core, a deployment that is released beside it, and what can be next.

use std::collections::BTreeSet;

use handover_core::executor::{ExecutorParts, Stage, Task};
use handover_core::{
    Acknowledgement, AtDeadline, BuildId, BuildState, DrainRequest, End, EndAction, Entry,
    Executor, ExecutorEffect, Ledger, Settings, Term, Version, Waiter, Work,
};
use xxhash_rust::xxh3::xxh3_128;

use super::halves::Half;
use super::{Case, Demand, RIGHT, Release, Steps};

#[derive(Clone, Debug)]
pub(super) enum Choice {
    /// The driver carries out an order of the core.
    Perform(usize),
    /// The second half of a step that is two.
    Second,
    /// A build that runs ends well.
    Ends(Work),
    /// The next step of the deployment's release; it turns out to have failed.
    Release {
        failed: bool,
    },
    Drain,
    Undrain,
    Crash,
    /// Somebody else's wait returns.
    Waited,
}

#[derive(Clone, Debug, serde::Serialize)]
pub(super) struct Node {
    pub(super) executor: Executor,
    orders: Vec<ExecutorEffect>,
    pub(super) disk: Ledger,
    artifacts: BTreeSet<Work>,
    workspaces: BTreeSet<Work>,
    running: BTreeSet<Work>,
    /// Steps of the release that are done; none after a crash, when the core does the rest.
    released: Option<usize>,
    failed: bool,
    declared: bool,
    crashed: bool,
    /// The crash came between the recorded success and the declaration.
    owed_at_crash: bool,
    drained: bool,
    pub(super) undrained: bool,
    pub(super) half: Option<Half>,
    /// The process has ended.
    pub(super) over: bool,
}

fn deployment() -> Work {
    Work::Local(BuildId::new("d"))
}

fn request(reason: &str, term: Term) -> DrainRequest {
    let (end, at_deadline) = (EndAction::Nothing, AtDeadline::Report);
    DrainRequest { reason: reason.into(), term, end, at_deadline, since: 0 }
}

impl Node {
    /// The deployment has just ended.
    pub(super) fn first(case: &Case) -> Self {
        let settings = Settings::new(case.setting.slots, false);
        let mut node = Self {
            executor: Executor::new(settings, Version::new("v1")),
            orders: Vec::new(),
            disk: Ledger::default(),
            artifacts: BTreeSet::new(),
            workspaces: BTreeSet::new(),
            running: BTreeSet::new(),
            released: None,
            failed: false,
            declared: false,
            crashed: false,
            owed_at_crash: false,
            drained: false,
            undrained: false,
            half: None,
            over: false,
        };
        for build in ["d", "b1", "b2"].into_iter().take(1 + case.others) {
            let drains = (build == "d").then(|| request(build, Term::ThisVersion));
            let submitted = node.executor.submit(BuildId::new(build), None, drains);
            submitted.expect("each build is submitted once");
            node.poll();
            while !node.orders.is_empty() {
                let effect = node.orders.remove(0);
                node.carry_out(&effect);
                node.poll();
            }
        }
        node.ends(&deployment());
        node.released = Some(0);
        node.freeze(case);
        node
    }

    pub(super) fn key(&self) -> u128 {
        let bytes = postcard::to_allocvec(self).expect("whatever is known can be encoded");
        xxh3_128(&bytes).max(1)
    }

    fn poll(&mut self) {
        while let Some(effect) = self.executor.poll_effect() {
            self.orders.push(effect);
        }
    }

    pub(super) fn with_parts(&mut self, change: impl FnOnce(&mut ExecutorParts)) {
        let mut parts = self.executor.clone().into_parts();
        change(&mut parts);
        self.executor = Executor::from_parts(parts);
    }

    fn is_done(&self, case: &Case, step: Release) -> bool {
        self.released.is_none_or(|count| case.order[..count].contains(&step))
    }

    /// Between two steps of its release the core waits for the deployment: counted or not, with a
    /// slot or without.
    fn freeze(&mut self, case: &Case) {
        let removed = self.is_done(case, Release::Remove);
        let own_slot = !self.is_done(case, Release::Slot);
        let stage = if removed { Stage::Releasing } else { Stage::StoringArtifacts };
        let drains = (!self.declared).then(|| request("d", Term::ThisVersion));
        let entry = Entry { drains, ..self.disk.entries[&deployment()].clone() };
        let steps = RIGHT.iter().filter(|step| **step != Release::Wait);
        let over = steps.copied().all(|step| self.is_done(case, step));
        self.with_parts(|parts| {
            parts.tasks.remove(&deployment());
            if !over {
                let cut = None;
                let task = Task { entry, stage, handed_out: true, own_slot, begun: true, cut };
                parts.tasks.insert(deployment(), task);
            }
        });
    }

    /// A step of the release: the core hands out the effect of the stage to which the deployment is
    /// moved, and takes its acknowledgement.
    fn release(&mut self, case: &Case, failed: bool, broken: &mut Vec<Demand>) {
        let count = self.released.expect("chosen only while it is released");
        let step = case.order[count];
        self.released = Some(count + 1);
        self.failed |= failed;
        if step == Release::Wait || step == Release::Declare && self.failed {
            return self.freeze(case);
        }
        let success =
            if self.failed { BuildState::Failed("broken".into()) } else { BuildState::Succeeded };
        let succeeded = self.disk.entries[&deployment()].state == BuildState::Succeeded;
        if step == Release::Declare && !succeeded {
            broken.push(Demand::DeclaredOnSuccess);
        }
        self.with_parts(|parts| {
            let number = parts.ledger.next_drain;
            let task = parts.tasks.get_mut(&deployment()).expect("it is released");
            task.handed_out = false;
            task.entry.state = success;
            task.stage = match step {
                Release::Artifacts => Stage::StoringArtifacts,
                Release::Status => Stage::Recording,
                Release::Declare => Stage::Declaring { number },
                Release::Remove => Stage::Removing,
                Release::Slot | Release::Wait => Stage::Releasing,
            };
            if step == Release::Declare {
                parts.ledger.next_drain += 1;
            }
        });
        let effect = self.executor.poll_effect().expect("the deployment has the first place");
        self.declared |= step == Release::Declare;
        self.carry_out(&effect);
        self.freeze(case);
        self.poll();
    }

    /// Writes what an effect says, and acknowledges it.
    pub(super) fn carry_out(&mut self, effect: &ExecutorEffect) {
        match effect {
            ExecutorEffect::StoreEntry { .. } | ExecutorEffect::StoreDrain { .. } => {
                self.disk.write(effect);
            }
            ExecutorEffect::Start { work } => {
                self.workspaces.insert(work.clone());
                self.running.insert(work.clone());
            }
            ExecutorEffect::StoreArtifacts { work } => {
                self.artifacts.insert(work.clone());
            }
            ExecutorEffect::Wake(_)
            | ExecutorEffect::Stop { .. }
            | ExecutorEffect::Remove { .. }
            | ExecutorEffect::Release { .. }
            | ExecutorEffect::Drained { .. } => {}
        }
        self.executor.acknowledge(effect, Acknowledgement::Done);
    }

    fn ends(&mut self, work: &Work) {
        self.running.remove(work);
        self.executor.ended(work, End::Succeeded).expect("it runs");
    }

    pub(super) fn is_draining(&self) -> bool {
        self.executor.is_draining()
    }

    fn is_idle(&self, case: &Case) -> bool {
        let slots = !case.setting.counts_slots || self.executor.slots_held() == 0;
        self.executor.current().next().is_none() && slots
    }

    /// What can be next; a state in which nothing but a fault can be is judged here.
    pub(super) fn choices(&self, case: &Case, broken: &mut Vec<Demand>) -> Vec<Choice> {
        let mut all: Vec<Choice> = (0..self.orders.len()).map(Choice::Perform).collect();
        if self.half.is_some() {
            all.push(Choice::Second);
        }
        all.extend(self.running.iter().cloned().map(Choice::Ends));
        let waits = self.is_draining() && self.is_idle(case);
        if let Some(step) = self.released.and_then(|count| case.order.get(count)) {
            let stores =
                |order: &ExecutorEffect| matches!(order, ExecutorEffect::StoreDrain { .. });
            let can = match step {
                Release::Wait => waits || !self.declared,
                Release::Declare => !self.orders.iter().any(stores),
                Release::Artifacts | Release::Status | Release::Remove | Release::Slot => true,
            };
            if can {
                all.push(Choice::Release { failed: false });
            }
            if case.setting.fails && *step == Release::Status && !self.declared {
                all.push(Choice::Release { failed: true });
            }
        }
        if all.is_empty() {
            self.judge_end(case, broken);
        }
        if case.setting.undrains && self.is_draining() && !self.undrained {
            all.push(Choice::Undrain);
        }
        if !self.is_draining() && !self.drained {
            all.push(Choice::Drain);
        }
        if case.setting.crashes && !self.crashed {
            all.push(Choice::Crash);
        }
        if waits {
            all.push(Choice::Waited);
        }
        all
    }

    fn judge_end(&self, case: &Case, broken: &mut Vec<Demand>) {
        if self.released.is_some_and(|count| count < case.order.len()) && self.is_draining() {
            broken.push(Demand::WaitEnds);
        }
        let waits = !self.executor.queue().is_empty();
        if !self.is_draining() && waits {
            broken.push(Demand::ParkedRuns);
        }
    }

    pub(super) fn take(&mut self, case: &Case, choice: Choice, broken: &mut Vec<Demand>) {
        match choice {
            Choice::Perform(at) => {
                let effect = self.orders.remove(at);
                self.perform(case, effect, broken);
            }
            Choice::Second => {
                let half = self.half.take().expect("chosen only where a step has begun");
                self.second(case, half, broken);
            }
            Choice::Ends(work) => self.ends(&work),
            Choice::Release { failed } => self.release(case, failed, broken),
            Choice::Drain => {
                self.drained = true;
                let drain = self.executor.drain(request("operator", Term::UntilUndrained));
                drain.expect("no drain is in force");
            }
            Choice::Undrain => self.undrain(case),
            Choice::Crash => self.crash(case, broken),
            Choice::Waited => {
                self.over = true;
                let mut entries = self.disk.entries.iter();
                // What a boot found cut has no end, and is cut again by the next boot.
                let cut = |work: &Work| {
                    let stage = self.executor.stage(work);
                    [Some(Stage::Enqueuing), Some(Stage::Retiring)].contains(&stage)
                };
                let begun = |work: &Work| *work == deployment() || self.workspaces.contains(work);
                let recorded = |(work, entry): (&Work, &Entry)| match entry.state {
                    BuildState::Admitted => cut(work) || !begun(work),
                    BuildState::Succeeded => self.artifacts.contains(work),
                    BuildState::Pending | BuildState::Failed(_) | BuildState::Cancelled => true,
                };
                // One that has read the gate open goes on.
                let passes = matches!(self.half, Some(Half::GateOpen(_)));
                if passes || !self.running.is_empty() || !entries.all(recorded) {
                    broken.push(Demand::WaitIsTrue);
                }
            }
        }
        self.poll();
    }

    fn perform(&mut self, case: &Case, effect: ExecutorEffect, broken: &mut Vec<Demand>) {
        if let ExecutorEffect::Wake(Waiter::Build(build)) = &effect {
            let work = Work::Local(build.clone());
            return self.wake(case, &work, effect, broken);
        }
        let admits = matches!(&effect, ExecutorEffect::StoreEntry { entry: Some(entry), .. }
            if entry.state == BuildState::Admitted);
        if case.steps == Steps::WorkspaceThenAdmitted && admits && self.half.is_none() {
            if let ExecutorEffect::StoreEntry { work, .. } = &effect {
                self.workspaces.insert(work.clone());
            }
            self.half = Some(Half::Prepared(effect));
            return;
        }
        self.carry_out(&effect);
    }

    /// The process dies and comes back on its disk.
    fn crash(&mut self, case: &Case, broken: &mut Vec<Demand>) {
        for (work, entry) in self.disk.entries.iter().filter(|(work, _)| **work != deployment()) {
            let recorded = entry.state == BuildState::Admitted;
            let counted = self.executor.stage(work).is_some_and(Stage::is_current);
            let begun = self.workspaces.contains(work);
            if recorded && !counted || begun && entry.state == BuildState::Pending {
                broken.push(Demand::RecoveryExact);
            }
        }
        let row = &self.disk.entries[&deployment()];
        self.owed_at_crash = row.state == BuildState::Succeeded && row.drains.is_some();
        self.crashed = true;
        self.released = None;
        self.half = None;
        self.orders.clear();
        self.running.clear();
        self.workspaces.clear();
        let settings = self.executor.settings();
        let recovered = Executor::recover(settings, Version::new("v1"), self.disk.clone());
        self.executor = recovered.expect("the book was written by this executor");
        if case.steps == Steps::DrainNotDerived && self.disk.drain.is_none() {
            self.with_parts(|parts| {
                parts.drain = None;
                parts.drain_due = false;
                for task in parts.tasks.values_mut() {
                    task.entry.drains = None;
                }
            });
        }
    }

    /// A build has just been let in.
    pub(super) fn judge_admission(&self, case: &Case, broken: &mut Vec<Demand>) {
        let owes = !self.failed && !self.declared;
        if self.released.is_some() && self.is_done(case, Release::Slot) && owes {
            broken.push(Demand::NothingPasses);
        }
        let row = &self.disk.entries[&deployment()];
        if self.owed_at_crash && row.drains.is_some() && !self.undrained {
            broken.push(Demand::DrainSurvives);
        }
    }

    pub(super) fn judge(&self, case: &Case, broken: &mut Vec<Demand>) {
        let succeeded = self.disk.entries[&deployment()].state == BuildState::Succeeded;
        if succeeded && !self.artifacts.contains(&deployment()) {
            broken.push(Demand::SuccessHasArtifacts);
        }
        let counted = self.executor.current().map(|(work, _)| work);
        let at_once: BTreeSet<&Work> = counted.chain(&self.running).collect();
        if at_once.len() > case.setting.slots as usize {
            broken.push(Demand::WithinSlots);
        }
        let owes = self.released.is_some() && !self.declared;
        let idle = self.executor.current().next().is_none();
        if succeeded && owes && idle && !self.is_draining() {
            broken.push(Demand::NeverLooksIdle);
        }
    }
}
