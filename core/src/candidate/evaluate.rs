//! The candidate's transitions: one at a time, on the newest view, until none applies.

use alloc::collections::BTreeMap;

use super::{Alarm, Candidate, CandidateEffect, Phase, Wish};
use crate::mark::mark;
use crate::{GrantId, Incarnation, Standing};

impl Candidate {
    pub(super) fn evaluate(&mut self) {
        while self.evaluate_once() {}
    }

    /// One transition on the newest view; says whether there was one.
    fn evaluate_once(&mut self) -> bool {
        let Some(view) = &self.view else { return false };
        if let Phase::Expelled { .. } = self.phase {
            return false;
        }
        if let Some(seen) = view.acknowledged.filter(|seen| *seen > self.seq) {
            mark!(St3ForeignWord);
            let alarm = Alarm::ForeignWord { seen, own: self.seq };
            self.effects.push_back(CandidateEffect::Alarm(alarm));
            return self.expel();
        }
        if view.gone {
            mark!(Ca0Gone);
            return self.expel();
        }
        match self.phase {
            Phase::Asking => self.evaluate_asking(None),
            Phase::Planning { grant } => self.evaluate_asking(Some(grant)),
            Phase::Accepted { grant } => self.evaluate_accepted(grant),
            Phase::Building { grant } => self.evaluate_building(grant),
            Phase::Finished { .. } => self.evaluate_finished(),
            Phase::Idle | Phase::Cancelling { .. } | Phase::StoodDown | Phase::Expelled { .. } => {
                false
            }
        }
    }

    /// Ca2. An offer counts only in a view that acknowledges the present asking: an older one
    /// may answer an asking that was taken back since.
    fn evaluate_asking(&mut self, planning: Option<GrantId>) -> bool {
        let view = self.view.as_ref().expect("evaluated on a view");
        if view.is_approved() {
            mark!(Ca2Approved);
            self.say_stood_down();
            return true;
        }
        let offer = view
            .hold_of(&self.host)
            .filter(|hold| !hold.is_started() && view.acknowledged == Some(self.seq))
            .map(|hold| hold.grant);
        if offer == planning {
            return false;
        }
        match offer {
            Some(grant) => {
                mark!(Ca2Offered);
                self.phase = Phase::Planning { grant };
                self.effects.push_back(CandidateEffect::MakePlan { grant });
            }
            None => {
                mark!(Ca2OfferGone);
                self.phase = Phase::Asking;
            }
        }
        true
    }

    /// Ca3. Work begins one step after the record shows the acceptance.
    fn evaluate_accepted(&mut self, grant: GrantId) -> bool {
        let view = self.view.as_ref().expect("evaluated on a view");
        if view.is_approved() {
            mark!(Ca3Approved);
            self.say_stood_down();
            return true;
        }
        match view.hold_of(&self.host).filter(|hold| hold.grant == grant) {
            Some(hold) if hold.is_cancelling() => {
                mark!(Ca3Cancelling);
                self.say_asking();
            }
            Some(hold) if hold.is_started() => {
                mark!(Ca3Started);
                self.say(Standing::Building { grant, signed_off: BTreeMap::new() });
                self.phase = Phase::Building { grant };
                self.effects.push_back(CandidateEffect::StartBuild { grant });
            }
            Some(_) => {
                mark!(Ca3Waits);
                return false;
            }
            None => {
                mark!(Ca3Withdrawn);
                self.say_asking();
            }
        }
        true
    }

    /// Ca4: what is built is no longer wanted.
    fn evaluate_building(&mut self, grant: GrantId) -> bool {
        let view = self.view.as_ref().expect("evaluated on a view");
        let hold = view.hold_of(&self.host).filter(|hold| hold.grant == grant);
        if hold.is_some_and(|hold| !hold.is_cancelling()) {
            return false;
        }
        mark!(Ca4Cancels);
        self.cancel(grant);
        true
    }

    /// Ca5: a report is held until it is acknowledged, else it could be overtaken and lost.
    fn evaluate_finished(&mut self) -> bool {
        if !self.is_acknowledged() {
            mark!(Ca5Holds);
            return false;
        }
        let approved = self.view.as_ref().is_some_and(|view| view.is_approved());
        if approved || self.wish == Wish::StandDown {
            mark!(Ca5StandsDown);
            self.say_stood_down();
        } else {
            mark!(Ca5AsksAgain);
            self.say_asking();
        }
        true
    }

    pub(super) fn cancel(&mut self, grant: GrantId) {
        self.phase = Phase::Cancelling { grant };
        self.effects.push_back(CandidateEffect::CancelBuild { grant });
    }

    /// Ca0.
    pub(super) fn expel(&mut self) -> bool {
        match self.phase {
            Phase::Expelled { .. } => return false,
            Phase::Building { grant } => {
                mark!(Ca0StopsFirst);
                self.effects.push_back(CandidateEffect::CancelBuild { grant });
            }
            Phase::Idle
            | Phase::Asking
            | Phase::Planning { .. }
            | Phase::Accepted { .. }
            | Phase::Cancelling { .. }
            | Phase::Finished { .. }
            | Phase::StoodDown => {}
        }
        self.phase = Phase::Expelled { running: self.running() };
        if self.running().is_none() {
            self.order_return();
        }
        true
    }

    pub(super) fn order_return(&mut self) {
        let above = self.floor();
        self.effects.push_back(CandidateEffect::Return { above });
    }

    pub(super) fn floor(&self) -> Incarnation {
        let seen = self.view.as_ref().and_then(|view| view.name_floor);
        seen.unwrap_or_default().max(self.host.incarnation)
    }

    pub(super) fn say_asking(&mut self) {
        self.say(Standing::Asking { priority: self.priority });
        self.phase = Phase::Asking;
    }

    pub(super) fn say_stood_down(&mut self) {
        self.say(Standing::StoodDown);
        self.phase = Phase::StoodDown;
    }

    pub(super) fn say(&mut self, standing: Standing) {
        self.seq = self.seq.next();
        self.standing = Some(standing);
    }
}
