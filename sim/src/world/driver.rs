//! The driver's part (Dr1 to Dr5), one atomic step at a time.

use std::collections::BTreeSet;
use std::sync::Arc;

use handover_core::{
    Acknowledgement, BuildState, Candidate, Chunk, Effect, End, EndAction, Executor,
    ExecutorEffect, Host, HostId, Incarnation, Ledger, Reason, Settings, SignOff, Waiter, Work,
};

use super::{Fact, Life, Place, Process, RealEnd, RunningBuild, Step, StepKind, Who, World};
use crate::variants::Protocol;

impl Step {
    /// The step that carries an order out; none where it is answered by an event of its own.
    #[must_use]
    pub fn of(effect: &Effect) -> Option<Self> {
        let (kind, work) = match effect {
            Effect::MakePlan { .. } | Effect::Alarm(_) => return None,
            Effect::Return { .. } => (StepKind::Return, None),
            Effect::Executor(effect) => match effect {
                ExecutorEffect::Wake(Waiter::Candidate) => (StepKind::Wake, None),
                ExecutorEffect::Wake(Waiter::Build(build)) => {
                    (StepKind::Wake, Some(Work::Local(build.clone())))
                }
                ExecutorEffect::StoreEntry { work, .. } => {
                    (StepKind::StoreEntry, Some(work.clone()))
                }
                ExecutorEffect::Start { work } => (StepKind::Start, Some(work.clone())),
                ExecutorEffect::Stop { work } => (StepKind::Stop, Some(work.clone())),
                ExecutorEffect::StoreArtifacts { work } => {
                    (StepKind::StoreArtifacts, Some(work.clone()))
                }
                ExecutorEffect::StoreDrain { .. } => (StepKind::StoreDrain, None),
                ExecutorEffect::Remove { work } => (StepKind::Remove, Some(work.clone())),
                ExecutorEffect::Release { work } => (StepKind::Release, Some(work.clone())),
                ExecutorEffect::Drained { .. } => (StepKind::Drained, None),
            },
        };
        Some(Self { kind, work })
    }
}

impl World {
    /// Gives the host an input, and takes up all that follows: its new word, its orders.
    pub(super) fn with_host<T>(
        &mut self,
        who: Who,
        facts: &mut Vec<Fact>,
        input: impl FnOnce(&mut Host) -> T,
    ) -> T {
        let protocol = self.protocol();
        let process = self.process_mut(who);
        let (phase, gate) = (process.phase(), process.host.gate());
        let answer = input(&mut process.host);
        protocol.moved(process, phase);
        while let Some(effect) = process.host.poll_effect() {
            if let Effect::Alarm(alarm) = &effect {
                facts.push(Fact::Alarm { who, text: format!("{alarm:?}") });
                continue;
            }
            if !protocol.heeds(&effect) {
                continue;
            }
            facts.push(Fact::Ordered { who, effect: Box::new(effect.clone()) });
            process.orders.push(effect);
        }
        process.end_early(protocol);
        process.forget_void_orders();
        if process.phase() != phase {
            facts.push(Fact::Moved { who, from: phase, to: process.phase() });
        }
        let now = process.host.gate();
        if std::mem::discriminant(&now) != std::mem::discriminant(&gate) {
            facts.push(Fact::Gate { who, gate: now });
        }
        self.say(who, phase, facts);
        answer
    }

    /// Starts a process at a place.
    pub(super) fn start_process(
        &mut self,
        place: &Place,
        version: &handover_core::Version,
        incarnation: Option<Incarnation>,
        ledger: Option<Ledger>,
    ) -> Who {
        let used = self.oracle.used.get(&place.name).copied().unwrap_or_default();
        let floor = self.committed().gone(&place.name).unwrap_or_default().max(used);
        let incarnation = incarnation.unwrap_or_else(|| floor.next());
        let used = used.max(incarnation);
        Arc::make_mut(&mut self.oracle).used.insert(place.name.clone(), used);
        let id = HostId { name: place.name.clone(), incarnation };
        let candidate = Candidate::new(id, version.clone(), place.priority);
        let settings = Settings::new(place.slots, place.pinned);
        let ledger = ledger.map(|ledger| self.protocol().recover(ledger));
        let executor = match &ledger {
            Some(ledger) => Executor::recover(settings, version.clone(), ledger.clone())
                .expect("core takes what this executor wrote and a protocol left of it"),
            None => Executor::new(settings, version.clone()),
        };
        let host = Host::new(candidate, executor);
        let process = Process::new(place.name.clone(), host, ledger.unwrap_or_default());
        let who = self.enter(process);
        self.find_published(who);
        who
    }

    /// Carries an order out, and says so.
    pub(super) fn step(&mut self, who: Who, step: &Step, facts: &mut Vec<Fact>) {
        let process = self.process_mut(who);
        let at = process.orders.iter().position(|order| Step::of(order).as_ref() == Some(step));
        let effect = process.orders.remove(at.expect("enabled only with the order"));
        let (kind, work) = (step.kind, step.work.clone());
        facts.push(Fact::Performed { who, kind, work, wrote: what_it_writes(&effect) });
        match &effect {
            Effect::Executor(order) => self.perform(who, order, facts),
            Effect::Return { .. } => self.come_back(who, facts),
            Effect::MakePlan { .. } | Effect::Alarm(_) => {}
        }
    }

    fn perform(&mut self, who: Who, order: &ExecutorEffect, facts: &mut Vec<Fact>) {
        let protocol = self.protocol();
        let process = self.process_mut(who);
        match order {
            ExecutorEffect::StoreEntry { .. } | ExecutorEffect::StoreDrain { .. } => {
                Arc::make_mut(&mut process.ledger).write(order);
            }
            ExecutorEffect::Start { work } => self.run_build(who, work, facts),
            ExecutorEffect::Stop { work } => {
                if let Some(build) = Arc::make_mut(&mut process.builds).get_mut(work) {
                    build.stopping = true;
                }
            }
            ExecutorEffect::StoreArtifacts { work } => {
                Arc::make_mut(&mut process.artifacts).insert(work.clone());
            }
            ExecutorEffect::Drained { end, .. } => {
                if !protocol.is_drained(&process.host) {
                    // It was, when the order was given; since then it has spoken, or has work again.
                    self.answer(who, order, Acknowledgement::Failed, facts);
                    return;
                }
                if *end != EndAction::Nothing {
                    process.life = Life::Exited;
                    process.orders.clear();
                    facts.push(Fact::Exited { who });
                    return;
                }
            }
            ExecutorEffect::Wake(_)
            | ExecutorEffect::Remove { .. }
            | ExecutorEffect::Release { .. } => {}
        }
        self.answer(who, order, Acknowledgement::Done, facts);
        let process = self.process_mut(who);
        let put_off = process.put_off.len();
        protocol.performed(process, order);
        if process.put_off.len() > put_off {
            facts.push(Fact::PutOff { who });
        }
        if let Some(statement) = protocol.says_on_top(self.process(who), order) {
            self.send(who, Arc::new(statement), facts);
        }
        self.note_debt(who, order);
        self.stop_what_never_ran(who, order, facts);
        // What a wrong protocol has told the host on top.
        self.with_host(who, facts, |_| ());
    }

    /// Dr3.
    fn answer(
        &mut self,
        who: Who,
        order: &ExecutorEffect,
        outcome: Acknowledgement,
        facts: &mut Vec<Fact>,
    ) {
        let effect = Effect::Executor(order.clone());
        self.with_host(who, facts, |host| host.acknowledge(&effect, outcome));
    }

    /// A build that was told to stop although nothing of it runs has stopped.
    fn stop_what_never_ran(&mut self, who: Who, order: &ExecutorEffect, facts: &mut Vec<Fact>) {
        let ExecutorEffect::Stop { work } = order else {
            return;
        };
        if !self.process(who).builds.contains_key(work) {
            self.with_host(who, facts, |host| {
                // It may have ended in the meantime; then the word is refused and void.
                let _ = host.handle_build_stop(work);
            });
        }
    }

    /// A deployment owes its drain from its recorded success until the declaration.
    pub(super) fn note_debt(&mut self, who: Who, order: &ExecutorEffect) {
        let process = self.process_mut(who);
        let executor = process.host.executor();
        if let ExecutorEffect::StoreEntry { work: Work::Local(build), entry: Some(entry) } = order
            && entry.drains.is_some()
            && entry.state == BuildState::Succeeded
            && !executor.settings().pinned()
        {
            Arc::make_mut(&mut process.owes_drain).insert(build.clone());
        }
        if process.host.executor().is_draining() {
            process.forget_debts();
        }
    }

    fn run_build(&mut self, who: Who, work: &Work, facts: &mut Vec<Fact>) {
        let process = self.process_mut(who);
        let plan = match work {
            Work::Granted(grant) => process.planned(*grant),
            Work::Local(_) => BTreeSet::new(),
        };
        if process.ended.contains_key(work) {
            Arc::make_mut(&mut process.ended).remove(work);
        }
        Arc::make_mut(&mut process.workspaces).insert(work.clone());
        let build = RunningBuild { plan, ..RunningBuild::default() };
        Arc::make_mut(&mut process.builds).insert(work.clone(), build);
        facts.push(Fact::BuildRuns { who, work: work.clone() });
    }

    /// A build ends by itself.
    pub(super) fn end_build(
        &mut self,
        who: Who,
        work: &Work,
        failed: Option<&Reason>,
        facts: &mut Vec<Fact>,
    ) {
        let id = self.process(who).host.id().clone();
        let clean = failed.is_none();
        let process = self.process_mut(who);
        let builds = Arc::make_mut(&mut process.builds);
        let build = builds.remove(work).expect("enabled only while it runs");
        Arc::make_mut(&mut process.ended).insert(work.clone(), clean);
        if let Work::Granted(grant) = work {
            let is_clean = |(chunk, sign_off): (&Chunk, &SignOff)| {
                (*sign_off == SignOff::Clean).then(|| chunk.clone())
            };
            let signed_off = build.signed_off.iter().filter_map(is_clean).collect();
            let end = RealEnd { host: id, clean, plan: build.plan, signed_off };
            Arc::make_mut(&mut self.history).ended.insert(*grant, end);
        }
        facts.push(Fact::BuildEnded { who, work: work.clone(), clean });
        let end = failed.map_or(End::Succeeded, |reason| End::Failed(reason.clone()));
        self.with_host(who, facts, |host| {
            // A build of an earlier life of the candidate is nobody's any more.
            let _ = host.handle_build_end(work, end);
        });
    }

    /// A build that was told to stop has really stopped.
    pub(super) fn stop_build(&mut self, who: Who, work: &Work, facts: &mut Vec<Fact>) {
        Arc::make_mut(&mut self.process_mut(who).builds).remove(work);
        facts.push(Fact::BuildStopped { who, work: work.clone() });
        self.with_host(who, facts, |host| {
            let _ = host.handle_build_stop(work);
        });
    }

    /// A chunk of the build under a grant is done.
    pub(super) fn sign_off(
        &mut self,
        who: Who,
        chunk: &Chunk,
        failed: bool,
        facts: &mut Vec<Fact>,
    ) {
        let process = self.process_mut(who);
        let Some((grant, build)) = process.granted_build_mut() else {
            return;
        };
        let sign_off = if failed { SignOff::Failed("bad chunk".into()) } else { SignOff::Clean };
        build.signed_off.insert(chunk.clone(), sign_off.clone());
        self.with_host(who, facts, |host| {
            let _ = host.handle_sign_off(grant, chunk.clone(), sign_off);
        });
    }

    /// Ca0, Dr4: the same process under a number that was never used.
    fn come_back(&mut self, who: Who, facts: &mut Vec<Fact>) {
        let process = self.process(who);
        let before = process.host.id().clone();
        let floor = process.host.candidate().view().and_then(|view| view.name_floor);
        let used = self.oracle.used.get(&before.name).copied();
        let incarnation = used.max(floor).unwrap_or_default().next();
        Arc::make_mut(&mut self.oracle).used.insert(before.name.clone(), incarnation);
        let process = self.process_mut(who);
        process.said = handover_core::Seq(0);
        process.muted = handover_core::Seq(0);
        let at = facts.len();
        self.with_host(who, facts, |host| {
            host.come_back(incarnation).expect("the number is above all that were used");
        });
        let id = self.process(who).host.id().clone();
        facts.insert(at, Fact::CameBack { who, before, id });
        self.find_published(who);
    }

    /// The process dies with all that it had in memory; its disk and its messages stay.
    pub(super) fn crash(&mut self, who: Who, facts: &mut Vec<Fact>) {
        let process = self.process_mut(who);
        process.life = Life::Crashed;
        process.orders.clear();
        process.put_off.clear();
        process.builds = Arc::default();
        let link = self.link_mut(who);
        link.views.clear();
        facts.push(Fact::Crashed { who });
    }
}

/// The state of the row, or whether there is a drain now.
pub(super) fn what_it_writes(effect: &Effect) -> Option<&'static str> {
    let Effect::Executor(order) = effect else { return None };
    if let ExecutorEffect::StoreEntry { entry, .. } = order {
        return Some(match entry.as_ref().map(|entry| &entry.state) {
            None => "dropped",
            Some(BuildState::Pending) => "pending",
            Some(BuildState::Admitted) => "admitted",
            Some(BuildState::Succeeded) => "succeeded",
            Some(BuildState::Failed(_)) => "failed",
            Some(BuildState::Cancelled) => "cancelled",
        });
    }
    let ExecutorEffect::StoreDrain { drain } = order else { return None };
    Some(if drain.is_some() { "declared" } else { "cleared" })
}

impl Process {
    /// The build under a grant that runs.
    pub(super) fn granted_build_mut(
        &mut self,
    ) -> Option<(handover_core::GrantId, &mut RunningBuild)> {
        Arc::make_mut(&mut self.builds).iter_mut().find_map(|(work, build)| match work {
            Work::Granted(grant) => Some((*grant, build)),
            Work::Local(_) => None,
        })
    }

    fn planned(&self, grant: handover_core::GrantId) -> BTreeSet<Chunk> {
        let hold = self.host.candidate().view().and_then(|view| view.hold.as_ref());
        match hold.filter(|hold| hold.grant == grant).map(|hold| &hold.stage) {
            Some(handover_core::Stage::Started { plan }) => plan.clone(),
            Some(handover_core::Stage::Offered) | None => BTreeSet::new(),
        }
    }

    /// A wrong protocol takes the host for drained before it is.
    fn end_early(&mut self, protocol: &dyn Protocol) {
        let early = protocol.is_drained(&self.host) && !self.host.is_drained();
        let ordered =
            |order: &Effect| matches!(order, Effect::Executor(ExecutorEffect::Drained { .. }));
        if let Some(drain) = self.host.executor().active_drain()
            && early
            && drain.end != EndAction::Nothing
            && !self.orders.iter().any(ordered)
        {
            let (end, drain) = (drain.end, drain.id.clone());
            self.orders.push(Effect::Executor(ExecutorEffect::Drained { end, drain }));
        }
    }

    /// An order for a plan is void once the candidate plans for another offer, or for none.
    fn forget_void_orders(&mut self) {
        let phase = self.phase();
        self.orders.retain(|order| match order {
            Effect::MakePlan { grant } => phase == handover_core::Phase::Planning { grant: *grant },
            Effect::Return { .. } | Effect::Alarm(_) | Effect::Executor(_) => true,
        });
    }
}
