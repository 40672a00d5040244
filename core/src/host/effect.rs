//! Orders to the driver, and how they went.

use super::Host;
use crate::candidate::Alarm;
use crate::executor::{Acknowledgement, ExecutorEffect, Progress};
use crate::mark::mark;
use crate::{GrantId, Incarnation};

/// An order of which the answer is awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub(super) struct Order<T> {
    pub(super) about: T,
    pub(super) handed_out: bool,
}

/// An order to the driver. One effect is one atomic step, and each is acknowledged (Dr3).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub enum Effect {
    /// Say which chunks this build will sign off: answered by [`Host::handle_plan`].
    MakePlan {
        /// The offer.
        grant: GrantId,
    },
    /// Come back under a new incarnation (Dr4): answered by [`Host::come_back`].
    Return {
        /// The new incarnation is above this one.
        above: Incarnation,
    },
    /// Something that no correct world does: tell somebody.
    Alarm(Alarm),
    /// The executor's: builds, the ledger, the drain.
    Executor(ExecutorEffect),
}

impl Host {
    /// How an effect went (Dr3). A plan and a return are answered by their own inputs; of them only
    /// a failure is acknowledged here. What failed, or may have, is handed out again.
    ///
    /// It answers nothing: what follows is in the effects and in the levels. The word on an effect
    /// that is not out any more (a drain was replaced while its write was under way) changes
    /// nothing.
    pub fn acknowledge(&mut self, effect: &Effect, outcome: Acknowledgement) {
        match effect {
            Effect::MakePlan { grant } => {
                if outcome != Acknowledgement::Done {
                    self.hand_out_plan_again(*grant);
                }
            }
            Effect::Return { .. } => {
                if let (Some(order), true) = (&mut self.comeback, outcome != Acknowledgement::Done)
                {
                    order.handed_out = false;
                }
            }
            Effect::Alarm(_) => {}
            Effect::Executor(effect) => match self.executor.acknowledge(effect, outcome) {
                Some(Progress::CandidateTurn) => self.take_turn(),
                Some(Progress::Recorded { work }) => self.report(&work),
                Some(Progress::Started { .. } | Progress::Refused) | None => {}
            },
        }
        self.reconcile();
    }

    /// The next order. Hand out until `None` after each input. Orders about different builds are
    /// independent; of one build there is never more than one out.
    #[must_use = "an order that is not carried out blocks the rollout"]
    pub fn poll_effect(&mut self) -> Option<Effect> {
        if let Some(alarm) = self.alarms.pop_front() {
            return Some(Effect::Alarm(alarm));
        }
        if let Some(grant) = Order::poll(&mut self.plan) {
            return Some(Effect::MakePlan { grant });
        }
        while let Some(effect) = self.executor.poll_effect() {
            if let ExecutorEffect::Drained { .. } = effect {
                self.drained = Some(effect);
            } else {
                return Some(Effect::Executor(effect));
            }
        }
        if self.drained.as_ref().is_some_and(|effect| !self.still_ends(effect)) {
            self.drained = None;
        }
        if self.is_drained()
            && let Some(effect) = self.drained.take()
        {
            mark!(Ho4Drained);
            return Some(Effect::Executor(effect));
        }
        Order::poll(&mut self.comeback).map(|above| Effect::Return { above })
    }

    /// An order to end is void once its drain is over, or was replaced by another. While it is in
    /// force nothing starts, so what it has drained stays drained.
    fn still_ends(&self, effect: &ExecutorEffect) -> bool {
        let ExecutorEffect::Drained { drain, .. } = effect else { return false };
        self.executor.active_drain().is_some_and(|active| active.id == *drain)
    }
}

impl<T: Copy> Order<T> {
    pub(super) fn new(about: T) -> Self {
        Self { about, handed_out: false }
    }

    fn poll(order: &mut Option<Self>) -> Option<T> {
        let order = order.as_mut().filter(|order| !order.handed_out)?;
        order.handed_out = true;
        Some(order.about)
    }
}
