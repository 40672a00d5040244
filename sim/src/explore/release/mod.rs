//! The executor's half: in which order a deployment releases what it holds, and what has to be one
//! step.
//!
//! A deployment on one host has ended, other builds wait for its slot or run beside it, and the
//! driver carries its release out in an order that it is given (Ex3): each order but one breaks
//! something. The executor is the core's; a wrong order is made by moving the deployment to the
//! stage that is next, so that the core hands out that stage's effect. All interleavings are
//! visited, breadth first, with a drain and an undrain by an operator, a deployment that turns out
//! to have failed, and a crash with recovery.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

use handover_core::executor::{ExecutorParts, Stage, Task};
use handover_core::{
    Acknowledgement, AtDeadline, BuildId, BuildState, DrainRequest, End, EndAction, Entry,
    Executor, ExecutorEffect, Ledger, Settings, Term, Version, Waiter, Work,
};
use xxhash_rust::xxh3::xxh3_128;

use super::index::Index;

/// A step of a deployment's release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Release {
    /// Its artifacts are stored.
    Artifacts,
    /// Its end is recorded.
    Status,
    /// Its drain is declared.
    Declare,
    /// It leaves the current set.
    Remove,
    /// It gives its slot back.
    Slot,
    /// It waits until the host is drained.
    Wait,
}

/// In this order.
pub type Order = [Release; 6];

/// The order of Ex3.
pub const RIGHT: Order = [
    Release::Artifacts,
    Release::Status,
    Release::Declare,
    Release::Remove,
    Release::Slot,
    Release::Wait,
];

impl Release {
    /// One letter in tables.
    #[must_use]
    pub fn letter(self) -> char {
        match self {
            Self::Artifacts => 'A',
            Self::Status => 'T',
            Self::Declare => 'F',
            Self::Remove => 'R',
            Self::Slot => 'S',
            Self::Wait => 'W',
        }
    }
}

/// All 120 orders in which the wait is last.
#[must_use]
pub fn orders() -> Vec<Order> {
    let mut all = vec![RIGHT];
    for at in 0..4 {
        let swapped = |order: Order, other: usize| {
            let mut order = order;
            order.swap(at, other);
            order
        };
        all = all
            .into_iter()
            .flat_map(|order| (at..5).map(move |other| swapped(order, other)))
            .collect();
    }
    all.sort_unstable();
    all
}

/// What is one step, and what is two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steps {
    /// As the core has it: reading the gate and being counted, or parked, is one step.
    OfTheCore,
    /// Counted first; uncounted where the gate is then read closed.
    CountedThenGateRead,
    /// The gate is read, then the build is counted.
    GateReadThenCounted,
    /// The gate is read closed, then the slot given back, then the build parked.
    ClosedThenBackThenParked,
    /// An undrain wakes what is parked, then clears the drain.
    WokenThenCleared,
    /// An undrain wakes nobody.
    ClearedOnly,
    /// A build that is parked keeps its slot.
    ParkedWithSlot,
    /// A build is recorded as admitted before it reads the gate.
    AdmittedThenGateRead,
    /// A build's workspace is prepared before it is recorded as admitted.
    WorkspaceThenAdmitted,
    /// A boot does not derive again the drain that a success owes.
    DrainNotDerived,
}

impl Steps {
    /// All of them, the right ones first.
    pub const ALL: &[Self] = &[
        Self::OfTheCore,
        Self::CountedThenGateRead,
        Self::GateReadThenCounted,
        Self::ClosedThenBackThenParked,
        Self::WokenThenCleared,
        Self::ClearedOnly,
        Self::ParkedWithSlot,
        Self::AdmittedThenGateRead,
        Self::WorkspaceThenAdmitted,
        Self::DrainNotDerived,
    ];

    /// So many of them, the first ones, break nothing.
    pub const RIGHT: usize = 2;

    /// In a few words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::OfTheCore => "gate read and counted, or parked, in one step",
            Self::CountedThenGateRead => "counted, then the gate is read",
            Self::GateReadThenCounted => "the gate is read, then counted",
            Self::ClosedThenBackThenParked => "read closed, then the slot back, then parked",
            Self::WokenThenCleared => "undrain: wake, then clear",
            Self::ClearedOnly => "undrain: clear only",
            Self::ParkedWithSlot => "a parked build keeps its slot",
            Self::AdmittedThenGateRead => "recorded as admitted before the gate is read",
            Self::WorkspaceThenAdmitted => "recorded as admitted after the workspace",
            Self::DrainNotDerived => "drain not derived again after a crash",
        }
    }
}

/// What a release has to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Demand {
    /// Nothing is admitted on the deployment's slot before its drain is declared, nor afterwards.
    NothingPasses,
    /// When the host says that it is drained, all that was begun has its end and its artifacts.
    WaitIsTrue,
    /// No crash finds a success without artifacts, which nobody would repeat.
    SuccessHasArtifacts,
    /// Never more builds are counted or run than there are slots.
    WithinSlots,
    /// The wait comes to an end: nobody waits for itself.
    WaitEnds,
    /// After an undrain what is parked runs.
    ParkedRuns,
    /// A crash queues again what was begun and has not ended, and nothing else.
    RecoveryExact,
    /// After a crash nothing starts under the outgoing version once the success is recorded.
    DrainSurvives,
    /// The drain is declared only for a recorded success.
    DeclaredOnSuccess,
    /// At no moment the success is recorded, nothing is counted, and no drain is declared.
    NeverLooksIdle,
}

impl Demand {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::NothingPasses,
        Self::WaitIsTrue,
        Self::SuccessHasArtifacts,
        Self::WithinSlots,
        Self::WaitEnds,
        Self::ParkedRuns,
        Self::RecoveryExact,
        Self::DrainSurvives,
        Self::DeclaredOnSuccess,
        Self::NeverLooksIdle,
    ];
}

impl fmt::Display for Demand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{self:?}"))
    }
}

/// A setting of the search.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// In this order the deployment is released.
    pub order: Order,
    /// What is one step.
    pub steps: Steps,
    /// One slot, for which the others wait; or two, and one of the others runs.
    pub slots: u32,
    /// The wait counts slots that are held, too.
    pub counts_slots: bool,
    /// A crash may happen.
    pub crashes: bool,
    /// Other builds than the deployment, 1 or 2.
    pub others: usize,
}

/// What a search has found.
#[derive(Clone, Debug, Default)]
pub struct Released {
    /// Different states.
    pub states: usize,
    /// What is broken, and in how many steps at least.
    pub broken: BTreeMap<Demand, usize>,
}

/// Visits all states of a case.
///
/// # Panics
/// Never: each step that is taken was found possible.
#[must_use]
pub fn search(case: &Case) -> Released {
    let first = Node::first(case);
    let mut known = Index::new();
    known.find_or_insert(first.key(), 0);
    let mut found = Released { states: 1, broken: BTreeMap::new() };
    let mut open = VecDeque::from([(first, 0)]);
    while let Some((node, depth)) = open.pop_front() {
        let mut broken = Vec::new();
        let choices = node.choices(case, &mut broken);
        found.note(&broken, depth);
        for choice in choices {
            let mut next = node.clone();
            let mut broken = Vec::new();
            next.take(case, choice, &mut broken);
            next.judge(case, &mut broken);
            found.note(&broken, depth + 1);
            if !next.over && known.find_or_insert(next.key(), 0).is_none() {
                found.states += 1;
                open.push_back((next, depth + 1));
            }
        }
    }
    found
}

impl Released {
    fn note(&mut self, broken: &[Demand], depth: usize) {
        for demand in broken {
            self.broken.entry(*demand).or_insert(depth);
        }
    }
}

#[derive(Clone, Debug)]
enum Choice {
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

/// A step that has begun, and what it has read.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
enum Half {
    GateOpen(Work),
    GateClosed(Work),
    SlotBack(Work),
    Counted(Work),
    Prepared(ExecutorEffect),
    Recorded(Work),
    Woken,
}

#[derive(Clone, Debug, serde::Serialize)]
struct Node {
    executor: Executor,
    orders: Vec<ExecutorEffect>,
    disk: Ledger,
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
    undrained: bool,
    half: Option<Half>,
    /// The process has ended.
    over: bool,
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
    fn first(case: &Case) -> Self {
        let settings = Settings::new(case.slots, false);
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

    fn key(&self) -> u128 {
        let bytes = postcard::to_allocvec(self).expect("whatever is known can be encoded");
        xxh3_128(&bytes).max(1)
    }

    fn poll(&mut self) {
        while let Some(effect) = self.executor.poll_effect() {
            self.orders.push(effect);
        }
    }

    fn with_parts(&mut self, change: impl FnOnce(&mut ExecutorParts)) {
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
    fn carry_out(&mut self, effect: &ExecutorEffect) {
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

    fn is_draining(&self) -> bool {
        self.executor.is_draining()
    }

    fn is_idle(&self, case: &Case) -> bool {
        let slots = !case.counts_slots || self.executor.slots_held() == 0;
        self.executor.current().next().is_none() && slots
    }

    /// What can be next; a state in which nothing but a fault can be is judged here.
    fn choices(&self, case: &Case, broken: &mut Vec<Demand>) -> Vec<Choice> {
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
            if *step == Release::Status && !self.declared {
                all.push(Choice::Release { failed: true });
            }
        }
        if all.is_empty() {
            self.judge_end(case, broken);
        }
        if self.is_draining() && !self.undrained {
            all.push(Choice::Undrain);
        }
        if !self.is_draining() && !self.drained {
            all.push(Choice::Drain);
        }
        if case.crashes && !self.crashed {
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

    fn take(&mut self, case: &Case, choice: Choice, broken: &mut Vec<Demand>) {
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

    /// A build that was handed a slot reads the gate.
    fn wake(&mut self, case: &Case, work: &Work, effect: ExecutorEffect, broken: &mut Vec<Demand>) {
        let halved = self.half.is_some();
        match case.steps {
            Steps::CountedThenGateRead if !halved => {
                self.admit(&effect);
                // Its row is written once the gate is read.
                self.with_task(work, |task| task.handed_out = true);
                self.half = Some(Half::Counted(work.clone()));
                return;
            }
            Steps::GateReadThenCounted if !halved && !self.is_draining() => {
                self.half = Some(Half::GateOpen(work.clone()));
                return;
            }
            Steps::ClosedThenBackThenParked if !halved && self.is_draining() => {
                self.half = Some(Half::GateClosed(work.clone()));
                return;
            }
            Steps::AdmittedThenGateRead if !halved => {
                let entry = self.disk.entries.get_mut(work).expect("it was submitted");
                entry.state = BuildState::Admitted;
                entry.attempts += 1;
                self.half = Some(Half::Recorded(work.clone()));
                return;
            }
            Steps::ParkedWithSlot if self.is_draining() => {
                return self.with_task(work, |task| task.stage = Stage::Waiting { parked: true });
            }
            Steps::OfTheCore
            | Steps::CountedThenGateRead
            | Steps::GateReadThenCounted
            | Steps::ClosedThenBackThenParked
            | Steps::WokenThenCleared
            | Steps::ClearedOnly
            | Steps::ParkedWithSlot
            | Steps::AdmittedThenGateRead
            | Steps::WorkspaceThenAdmitted
            | Steps::DrainNotDerived => {}
        }
        let open = !self.is_draining();
        self.carry_out(&effect);
        if open {
            self.judge_admission(case, broken);
        }
    }

    /// Admits whatever the gate says.
    fn admit(&mut self, effect: &ExecutorEffect) {
        let mut drain = None;
        self.with_parts(|parts| drain = parts.drain.take());
        self.carry_out(effect);
        self.with_parts(|parts| parts.drain = drain);
    }

    fn with_task(&mut self, work: &Work, change: impl FnOnce(&mut Task)) {
        self.with_parts(|parts| {
            let task = parts.tasks.get_mut(work).expect("it is unfinished");
            task.handed_out = false;
            change(task);
        });
    }

    fn second(&mut self, case: &Case, half: Half, broken: &mut Vec<Demand>) {
        let wakes = |work: &Work| match work {
            Work::Local(build) => ExecutorEffect::Wake(Waiter::Build(build.clone())),
            Work::Granted(_) => unreachable!("all builds are local"),
        };
        match half {
            Half::GateOpen(work) => {
                self.admit(&wakes(&work));
                self.judge_admission(case, broken);
                if self.is_draining() {
                    broken.push(Demand::NothingPasses);
                }
            }
            Half::GateClosed(work) => {
                self.with_parts(|parts| {
                    let task = parts.tasks.get_mut(&work).expect("it is unfinished");
                    task.own_slot = false;
                    parts.free += 1;
                    hand_slots_out(parts);
                });
                self.half = Some(Half::SlotBack(work));
            }
            Half::SlotBack(work) => {
                self.with_task(&work, |task| task.stage = Stage::Waiting { parked: true });
            }
            Half::Counted(work) => {
                if self.is_draining() {
                    self.with_parts(|parts| {
                        let task = parts.tasks.get_mut(&work).expect("it is unfinished");
                        task.stage = Stage::Waiting { parked: true };
                        task.handed_out = false;
                        task.own_slot = false;
                        task.entry.state = BuildState::Pending;
                        task.entry.attempts -= 1;
                        parts.free += 1;
                        hand_slots_out(parts);
                    });
                } else {
                    self.with_task(&work, |_| ());
                    self.judge_admission(case, broken);
                }
            }
            Half::Prepared(effect) => self.carry_out(&effect),
            Half::Recorded(work) => {
                let open = !self.is_draining();
                self.carry_out(&wakes(&work));
                if open {
                    self.judge_admission(case, broken);
                }
            }
            Half::Woken => self.with_parts(|parts| {
                parts.drain = None;
                parts.drain_due = true;
            }),
        }
    }

    fn undrain(&mut self, case: &Case) {
        self.undrained = true;
        match case.steps {
            Steps::WokenThenCleared => {
                self.with_parts(|parts| {
                    for task in parts.tasks.values_mut() {
                        if task.stage == (Stage::Waiting { parked: true }) {
                            task.stage = Stage::Waiting { parked: false };
                        }
                    }
                    hand_slots_out(parts);
                });
                self.half = Some(Half::Woken);
            }
            Steps::ClearedOnly => self.with_parts(|parts| {
                parts.drain = None;
                parts.drain_due = true;
            }),
            Steps::OfTheCore
            | Steps::CountedThenGateRead
            | Steps::GateReadThenCounted
            | Steps::ClosedThenBackThenParked
            | Steps::ParkedWithSlot
            | Steps::AdmittedThenGateRead
            | Steps::WorkspaceThenAdmitted
            | Steps::DrainNotDerived => self.executor.undrain().expect("a drain is in force"),
        }
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
    fn judge_admission(&self, case: &Case, broken: &mut Vec<Demand>) {
        let owes = !self.failed && !self.declared;
        if self.released.is_some() && self.is_done(case, Release::Slot) && owes {
            broken.push(Demand::NothingPasses);
        }
        let row = &self.disk.entries[&deployment()];
        if self.owed_at_crash && row.drains.is_some() && !self.undrained {
            broken.push(Demand::DrainSurvives);
        }
    }

    fn judge(&self, case: &Case, broken: &mut Vec<Demand>) {
        let succeeded = self.disk.entries[&deployment()].state == BuildState::Succeeded;
        if succeeded && !self.artifacts.contains(&deployment()) {
            broken.push(Demand::SuccessHasArtifacts);
        }
        let counted = self.executor.current().map(|(work, _)| work);
        let at_once: BTreeSet<&Work> = counted.chain(&self.running).collect();
        if at_once.len() > case.slots as usize {
            broken.push(Demand::WithinSlots);
        }
        let owes = self.released.is_some() && !self.declared;
        let idle = self.executor.current().next().is_none();
        if succeeded && owes && idle && !self.is_draining() {
            broken.push(Demand::NeverLooksIdle);
        }
    }
}

/// What the core does after each acknowledgement.
fn hand_slots_out(parts: &mut ExecutorParts) {
    while parts.free > 0 {
        let waiting =
            parts.tasks.values_mut().filter(|task| task.stage == Stage::Waiting { parked: false });
        let Some(first) = waiting.min_by_key(|task| task.entry.place) else { return };
        first.stage = Stage::Handed;
        first.handed_out = false;
        first.own_slot = true;
        parts.free -= 1;
    }
}
