//! Steps that are taken apart, and what comes between their halves.

use handover_core::executor::{ExecutorParts, Stage, Task};
use handover_core::{BuildState, ExecutorEffect, Waiter, Work};

use super::machine::Node;
use super::{Case, Demand, Steps};

/// A step that has begun, and what it has read.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub(super) enum Half {
    GateOpen(Work),
    GateClosed(Work),
    SlotBack(Work),
    Counted(Work),
    Prepared(ExecutorEffect),
    Recorded(Work),
    Woken,
}

impl Node {
    /// A build that was handed a slot reads the gate.
    pub(super) fn wake(
        &mut self,
        case: &Case,
        work: &Work,
        effect: ExecutorEffect,
        broken: &mut Vec<Demand>,
    ) {
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

    pub(super) fn second(&mut self, case: &Case, half: Half, broken: &mut Vec<Demand>) {
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

    pub(super) fn undrain(&mut self, case: &Case) {
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
