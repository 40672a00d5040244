//! How candidate and executor are moved together, in the step of the input.

use super::{Host, Order};
use crate::candidate::{CandidateEffect, Phase, Wish};
use crate::executor::{StartRefusal, Work};
use crate::mark::mark;
use crate::{GrantId, Outcome};

impl Host {
    /// Moves candidate and executor together until nothing changes.
    pub(super) fn reconcile(&mut self) {
        // All four each time, in this order.
        while [
            self.carry_out_candidate(),
            self.tell_of_drain(),
            self.settle_reservation(),
            self.ask_again(),
        ]
        .contains(&true)
        {}
    }

    /// The candidate's orders, in this same step.
    fn carry_out_candidate(&mut self) -> bool {
        let mut changed = false;
        while let Some(effect) = self.candidate.poll_effect() {
            changed = true;
            match effect {
                CandidateEffect::MakePlan { grant } => self.plan = Some(Order::new(grant)),
                CandidateEffect::StartBuild { grant } => self.start(grant),
                CandidateEffect::CancelBuild { grant } => {
                    self.executor.stop(&Work::Granted(grant));
                }
                CandidateEffect::Return { above } => self.comeback = Some(Order::new(above)),
                CandidateEffect::Alarm(alarm) => self.alarms.push_back(alarm),
            }
        }
        changed
    }

    /// Ho2. The gate is read again; a drain that is in force by now wins.
    fn start(&mut self, grant: GrantId) {
        if let Err(refusal) = self.executor.start_reserved(grant) {
            if refusal == StartRefusal::Closed {
                mark!(Ho2Closed);
                self.candidate.stand_down_after();
            }
            let never_begun = self.candidate.handle_build_end(grant, Outcome::Abandoned);
            debug_assert!(never_begun.is_ok(), "the candidate has just ordered this build");
        }
    }

    /// Ho3: the candidate follows the drain, in the step that declares or ends it.
    fn tell_of_drain(&mut self) -> bool {
        let draining = self.executor.is_draining();
        if draining == self.told_of_drain {
            return false;
        }
        self.told_of_drain = draining;
        if draining {
            mark!(Ho3Told);
            if self.candidate.phase() != Phase::Idle {
                self.candidate.stand_down_after();
            }
        } else if self.wanted && !self.candidate.gate().is_open() {
            mark!(Ho3AsksAgain);
            self.candidate.ask();
        }
        true
    }

    /// Ho3: a job that is wanted is asked for, however the wish to stand down came about.
    fn ask_again(&mut self) -> bool {
        let rests = match self.candidate.phase() {
            Phase::Idle | Phase::StoodDown => true,
            Phase::Asking
            | Phase::Planning { .. }
            | Phase::Accepted { .. }
            | Phase::Building { .. }
            | Phase::Cancelling { .. }
            | Phase::Finished { .. }
            | Phase::Expelled { .. } => false,
        };
        let asks = rests
            && self.wanted
            && self.candidate.wish() == Wish::StandDown
            && !self.executor.is_draining()
            && !self.queued
            && !self.candidate.gate().is_open();
        if asks {
            self.candidate.ask();
        }
        asks
    }

    /// Ho1, Ho5: a reservation lasts exactly as long as what it was made for.
    fn settle_reservation(&mut self) -> bool {
        let mut changed = false;
        let phase = self.candidate.phase();
        let asking = self.reserved_for == Some(self.candidate.seq());
        let (needed, planned) = match phase {
            Phase::Accepted { .. } => (true, false),
            Phase::Planning { .. } => (asking, true),
            Phase::Asking => (asking && !self.candidate.is_acknowledged(), false),
            Phase::Idle
            | Phase::Building { .. }
            | Phase::Cancelling { .. }
            | Phase::Finished { .. }
            | Phase::StoodDown
            | Phase::Expelled { .. } => (false, false),
        };
        if !planned {
            self.plan = None;
        }
        if !needed && self.executor.release_reservation() {
            mark!(Ho5Released);
            changed = true;
        }
        if !(needed && asking) {
            self.reserved_for = None;
        }
        if planned && !needed && self.executor.slots_free() == 0 {
            self.wait_for_slot();
            changed = true;
        }
        // Not `phase`: an offer may just have been declined.
        let waits = self.candidate.phase() == Phase::StoodDown
            && self.wanted
            && !self.executor.is_draining()
            && !self.candidate.gate().is_open();
        if self.queued && !waits {
            self.queued = false;
            self.executor.dequeue_candidate();
            changed = true;
        }
        changed
    }

    /// Ho1: declines, and stands in the queue like a build.
    pub(super) fn wait_for_slot(&mut self) {
        mark!(Ho1Declined);
        self.candidate.decline();
        self.queued = true;
        self.plan = None;
        self.executor.enqueue_candidate();
    }

    /// Ho1: its turn has come, and a slot is reserved: it asks in the same step.
    pub(super) fn take_turn(&mut self) {
        mark!(Ho1Turn);
        self.queued = false;
        self.candidate.ask();
        self.reserved_for = Some(self.candidate.seq());
    }

    pub(super) fn note_end(&mut self, work: &Work, outcome: Outcome) {
        match work {
            Work::Granted(grant) => self.ended = Some((*grant, outcome)),
            Work::Local(_) => {}
        }
    }

    /// The status is durable: now it is said (Ex3).
    pub(super) fn report(&mut self, work: &Work) {
        let Work::Granted(grant) = work else { return };
        let ended = self.ended.take().filter(|(ended, _)| ended == grant);
        // Work that was stopped before it had begun ends without the driver's word.
        let outcome = ended.map_or(Outcome::Abandoned, |(_, outcome)| outcome);
        let known = self.candidate.handle_build_end(*grant, outcome);
        debug_assert!(known.is_ok(), "granted work runs only for the candidate");
    }

    pub(super) fn hand_out_plan_again(&mut self, grant: GrantId) {
        if let Some(order) = &mut self.plan
            && order.about == grant
        {
            order.handed_out = false;
        }
    }
}
