//! One candidate, `b`, and the record that it speaks to; nothing arrives unless a test says so.

use handover_core::{
    Candidate, CandidateEffect, GrantId, Outcome, Phase, Priority, Refusal, Remark, SignOff, View,
};

use super::arbiter::{Arbiter, chunks, host};

pub(crate) struct Pair {
    pub(crate) arbiter: Arbiter,
    pub(crate) candidate: Candidate,
}

impl Pair {
    pub(crate) fn idle() -> Self {
        let candidate = Candidate::new(host("b"), "v1".into(), Priority(0));
        let arbiter = Arbiter::new();
        Self { arbiter, candidate }
    }

    /// It asks, and the record knows.
    pub(crate) fn asking() -> Self {
        let mut pair = Self::idle();
        pair.candidate.ask();
        pair.speak();
        pair
    }

    /// It has seen the offer and been asked for a plan.
    pub(crate) fn planning() -> Self {
        let mut pair = Self::asking();
        pair.look();
        let grant = GrantId(1);
        assert_eq!(pair.effects(), [CandidateEffect::MakePlan { grant }]);
        pair
    }

    /// It has said that it takes the offer; the record does not know yet.
    pub(crate) fn accepted(plan: &[&str]) -> Self {
        let mut pair = Self::planning();
        pair.plan(1, plan);
        assert_eq!(pair.phase(), "accepted(g1)");
        pair
    }

    /// It builds, and the record knows.
    pub(crate) fn building(plan: &[&str]) -> Self {
        let mut pair = Self::accepted(plan);
        pair.exchange();
        let grant = GrantId(1);
        assert_eq!(pair.effects(), [CandidateEffect::StartBuild { grant }]);
        pair.speak();
        pair
    }

    /// It has been told to stop building; the build has not stopped yet.
    pub(crate) fn cancelling(plan: &[&str]) -> Self {
        let mut pair = Self::building(plan);
        pair.candidate.stand_down();
        let grant = GrantId(1);
        assert_eq!(pair.effects(), [CandidateEffect::CancelBuild { grant }]);
        pair
    }

    /// Its present word reaches the record.
    pub(crate) fn speak(&mut self) {
        assert_eq!(self.try_speak(), Ok(None), "the record believes it");
    }

    pub(crate) fn try_speak(&mut self) -> Result<Option<Remark>, Refusal> {
        let statement = self.candidate.statement().expect("it has a word to say");
        self.arbiter.fold(&handover_core::Input::Statement(statement))
    }

    /// The newest view reaches the candidate.
    pub(crate) fn look(&mut self) {
        let view = self.view();
        self.read(view);
    }

    pub(crate) fn read(&mut self, view: View) {
        self.candidate.handle_view(view).expect("the view is newer than the one held");
        self.candidate.check();
    }

    pub(crate) fn exchange(&mut self) {
        self.speak();
        self.look();
    }

    pub(crate) fn view(&self) -> View {
        let (host, version) = (self.candidate.host(), self.candidate.version());
        self.arbiter.record.view_for(host, version)
    }

    pub(crate) fn plan(&mut self, grant: u64, plan: &[&str]) {
        self.candidate.handle_plan(GrantId(grant), chunks(plan)).expect("a plan is wanted");
        self.candidate.check();
    }

    pub(crate) fn sign_off(&mut self, chunk: &str) {
        self.candidate
            .handle_sign_off(GrantId(1), chunk.into(), SignOff::Clean)
            .expect("it builds");
    }

    pub(crate) fn ends(&mut self, outcome: Outcome) {
        self.candidate.handle_build_end(GrantId(1), outcome).expect("it builds");
        self.candidate.check();
    }

    pub(crate) fn effects(&mut self) -> Vec<CandidateEffect> {
        std::iter::from_fn(|| self.candidate.poll_effect()).collect()
    }

    pub(crate) fn phase(&self) -> String {
        self.candidate.phase().to_string()
    }

    /// Its present word as text, without the number.
    pub(crate) fn word(&self) -> String {
        let statement = self.candidate.statement();
        statement.map_or_else(|| "nothing".into(), |it| it.standing.to_string())
    }

    pub(crate) fn is_expelled(&self) -> bool {
        matches!(self.candidate.phase(), Phase::Expelled { .. })
    }
}
