//! One event, one atomic step.

use std::sync::Arc;

use handover_core::{BuildId, Work};

use super::touched::Move;
use super::{
    Arbiter, ArbiterIndex, Direction, Event, Fact, Life, Link, Process, StepKind, Target, Who,
    Wire, World,
};

/// Why an event cannot happen in this world.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotEnabled(pub String);

impl World {
    /// Makes an event happen, and says what it brought about.
    ///
    /// # Errors
    /// If it cannot happen here; then nothing is changed.
    pub fn apply(&mut self, event: &Event, facts: &mut Vec<Fact>) -> Result<(), NotEnabled> {
        self.permits(event)?;
        match event {
            Event::Ask(who) | Event::Reask(who) => self.with_host(*who, facts, |host| host.ask()),
            Event::Watch(who) => self.with_host(*who, facts, |host| host.watch()),
            Event::StandDown { who, after: false } => {
                self.with_host(*who, facts, |host| host.stand_down());
            }
            Event::StandDown { who, after: true } => {
                self.with_host(*who, facts, |host| host.stand_down_after());
            }
            Event::Deliver { from, to } => self.deliver(*from, *to, facts),
            Event::Publish(arbiter) => self.publish(*arbiter, facts),
            Event::Read(who) => self.read(*who, facts),
            Event::Repeat(wire) => self.repeat(*wire, facts),
            Event::Plan { who, chunks } => {
                let plan = chunks.clone().unwrap_or_else(|| self.setup().chunks.clone());
                self.plan(*who, plan, facts);
            }
            Event::Step { who, step } => self.take_step(*who, step, facts),
            Event::SignOff { who, chunk, failed } => self.sign_off(*who, chunk, *failed, facts),
            Event::BuildEnds { who, work, failed } => {
                self.end_build(*who, work, failed.as_ref(), facts);
            }
            Event::BuildStops { who, work } => self.stop_build(*who, work, facts),
            Event::Submit { who, build, parent, drains } => {
                self.submit(*who, build, parent.as_ref(), *drains, facts);
            }
            Event::CancelBuild { who, build } => self.cancel_build(*who, build, facts),
            Event::Drain { who, term, end, at_deadline } => {
                self.drain(*who, (*term, *end, *at_deadline), facts);
            }
            Event::Undrain(who) => {
                let refused = self.with_host(*who, facts, |host| host.undrain().err());
                decline(*who, refused, facts);
            }
            Event::Interrupt(who) => {
                let refused = self.with_host(*who, facts, |host| host.interrupt().err());
                decline(*who, refused, facts);
            }
            Event::Deadline(who) => {
                let refused = self.with_host(*who, facts, |host| host.deadline().err());
                decline(*who, refused, facts);
            }
            Event::Gone(_)
            | Event::Lapse(_)
            | Event::Cancel { .. }
            | Event::Revoke { .. }
            | Event::Retry { .. } => {
                let input = self.input_of(event).expect("these tell the arbiter something");
                self.tell(input, facts);
            }
            Event::Crash(who) => self.crash(*who, facts),
            Event::Boot { name, version } | Event::Overlap { name, version } => {
                self.boot(name, version.as_ref(), facts);
            }
            Event::Reuse(who) => self.reuse(*who, facts),
            Event::LoseDisk(who) => self.lose_disk(*who),
            Event::ArbiterCrash(arbiter) => self.restart_arbiter(*arbiter, facts),
            Event::Stall(_)
            | Event::Flow(_)
            | Event::Lose(_)
            | Event::Double(_)
            | Event::Overtake(_)
            | Event::Delay(_)
            | Event::Cut(_)
            | Event::Stale { .. }
            | Event::Slow { .. }
            | Event::Pause(_)
            | Event::Resume(_)
            | Event::Suspect(_)
            | Event::Trust(_)
            | Event::Hang(_)
            | Event::Unsigned { .. }
            | Event::Conflict(_)
            | Event::UnknownCommit(_)
            | Event::Heal => self.set_fault(event),
        }
        Ok(())
    }

    /// Faults that only change what can happen next.
    fn set_fault(&mut self, event: &Event) {
        match event {
            Event::Stall(target) => self.set_stalled(*target, true),
            Event::Flow(target) => self.set_stalled(*target, false),
            Event::Lose(wire) => self.disturb(*wire, Disturbance::Lose),
            Event::Double(wire) => self.disturb(*wire, Disturbance::Double),
            Event::Overtake(wire) => self.disturb(*wire, Disturbance::Overtake),
            Event::Delay(wire) => self.disturb(*wire, Disturbance::Delay),
            Event::Cut(who) => self.cut(*who),
            Event::Stale { who, behind } => self.process_mut(*who).stale = *behind,
            Event::Slow { who, factor } => self.process_mut(*who).slow = *factor,
            Event::Pause(who) => self.process_mut(*who).life = Life::Paused,
            Event::Resume(who) => self.process_mut(*who).life = Life::Up,
            Event::Suspect(who) => self.suspect(*who, true),
            Event::Trust(who) => self.suspect(*who, false),
            Event::Hang(who) => {
                if let Some((_, build)) = self.process_mut(*who).granted_build_mut() {
                    build.hangs = true;
                }
            }
            Event::Unsigned { who, chunk } => {
                if let Some((_, build)) = self.process_mut(*who).granted_build_mut() {
                    build.unsigned.insert(chunk.clone());
                }
            }
            Event::Conflict(arbiter) => self.arbiter_mut(*arbiter).conflict_next = true,
            Event::UnknownCommit(arbiter) => self.arbiter_mut(*arbiter).unknown_next = true,
            Event::Heal => self.heal(),
            Event::Ask(_)
            | Event::Watch(_)
            | Event::StandDown { .. }
            | Event::Deliver { .. }
            | Event::Publish(_)
            | Event::Read(_)
            | Event::Repeat(_)
            | Event::Plan { .. }
            | Event::Step { .. }
            | Event::SignOff { .. }
            | Event::BuildEnds { .. }
            | Event::BuildStops { .. }
            | Event::Submit { .. }
            | Event::CancelBuild { .. }
            | Event::Drain { .. }
            | Event::Undrain(_)
            | Event::Deadline(_)
            | Event::Interrupt(_)
            | Event::Crash(_)
            | Event::Gone(_)
            | Event::Boot { .. }
            | Event::Overlap { .. }
            | Event::Reuse(_)
            | Event::LoseDisk(_)
            | Event::Reask(_)
            | Event::ArbiterCrash(_)
            | Event::Lapse(_)
            | Event::Cancel { .. }
            | Event::Revoke { .. }
            | Event::Retry { .. } => unreachable!("applied by `apply`"),
        }
    }

    fn plan(
        &mut self,
        who: Who,
        plan: std::collections::BTreeSet<handover_core::Chunk>,
        facts: &mut Vec<Fact>,
    ) {
        let process = self.process_mut(who);
        let at = process
            .orders
            .iter()
            .position(|order| matches!(order, handover_core::Effect::MakePlan { .. }));
        let order = process.orders.remove(at.expect("enabled only with the order"));
        if let handover_core::Effect::MakePlan { grant } = order {
            self.with_host(who, facts, |host| {
                host.handle_plan(grant, plan).expect("the order is void once the offer has gone");
            });
        }
    }

    fn take_step(&mut self, who: Who, step: &super::Step, facts: &mut Vec<Fact>) {
        if self.process(who).order(step).is_some() {
            self.step(who, step, facts);
            return;
        }
        let wrote = Some("declared");
        facts.push(Fact::Performed { who, kind: StepKind::StoreDrain, work: None, wrote });
        let protocol = self.protocol();
        let process = self.process_mut(who);
        protocol.perform_late(process);
        process.forget_debts();
        self.with_host(who, facts, |_| ());
    }

    fn cancel_build(&mut self, who: Who, build: &BuildId, facts: &mut Vec<Fact>) {
        let refused = self.with_host(who, facts, |host| host.cancel(build).err());
        decline(who, refused, facts);
    }

    fn set_stalled(&mut self, target: Target, stalled: bool) {
        match target {
            Target::Arbiter(arbiter) => self.arbiter_mut(arbiter).stalled = stalled,
            Target::Wire(Wire { who, direction: Direction::ToRecord }) => {
                self.link_mut(who).statements_stalled = stalled;
            }
            Target::Wire(Wire { who, direction: Direction::FromRecord }) => {
                self.link_mut(who).views_stalled = stalled;
            }
        }
    }

    fn cut(&mut self, who: Who) {
        let link = self.link_mut(who);
        link.cut = true;
        link.statements.clear();
        link.views.clear();
    }

    fn disturb(&mut self, wire: Wire, disturbance: Disturbance) {
        let link = self.link_mut(wire.who);
        match wire.direction {
            Direction::ToRecord => disturbance.apply(&mut link.statements),
            Direction::FromRecord => disturbance.apply(&mut link.views),
        }
    }

    pub(super) fn process_mut(&mut self, who: Who) -> &mut Process {
        self.touched.processes.insert(who);
        Arc::make_mut(&mut self.actors[usize::from(who.0)].process)
    }

    pub(crate) fn link_mut(&mut self, who: Who) -> &mut Link {
        self.touched.links.insert(who);
        self.touched.whole_links.insert(who);
        Arc::make_mut(&mut self.actors[usize::from(who.0)].link)
    }

    /// What happens to a link with most steps: noted, so that whoever [follows](World::follow) need
    /// not copy the link.
    pub(super) fn move_on_link(&mut self, who: Who, change: Move) {
        let link = &mut self.actors[usize::from(who.0)].link;
        self.touched.links.insert(who);
        match Arc::get_mut(link) {
            Some(link) => {
                self.touched.note(who, change.clone());
                link.make(change);
            }
            // A world that shares it may have been left behind just now, and knows of no move
            // before.
            None => {
                self.touched.whole_links.insert(who);
                Arc::make_mut(link).make(change);
            }
        }
    }

    pub(super) fn arbiter_mut(&mut self, index: ArbiterIndex) -> &mut Arbiter {
        &mut self.arbiters[usize::from(index.0)]
    }
}

#[derive(Clone, Copy, Debug)]
enum Disturbance {
    Lose,
    Double,
    Overtake,
    Delay,
}

impl Disturbance {
    fn apply<T: Clone>(self, queue: &mut std::collections::VecDeque<T>) {
        match self {
            Self::Lose => {
                queue.pop_front();
            }
            Self::Double => {
                if let Some(front) = queue.front().cloned() {
                    queue.push_front(front);
                }
            }
            Self::Overtake => {
                if let Some(newest) = queue.pop_back() {
                    queue.push_front(newest);
                }
            }
            Self::Delay => queue.swap(0, 1),
        }
    }
}

fn decline(who: Who, refused: Option<impl std::fmt::Display>, facts: &mut Vec<Fact>) {
    if let Some(refusal) = refused {
        facts.push(Fact::Declined { who, why: refusal.to_string() });
    }
}

/// The build of a grant, or a local one, as an error message names it.
pub(super) fn absent(work: &Work) -> NotEnabled {
    NotEnabled(format!("no build {work} runs there"))
}
