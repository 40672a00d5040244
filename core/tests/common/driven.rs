//! A host with its executor, `b`, and the record that it speaks to. Orders are carried out one by
//! one, and only when a test says so.

use handover_core::{
    Acknowledgement, BuildId, Candidate, Effect, End, Executor, ExecutorEffect, GrantId, Host,
    Priority, Settings, Work,
};

use super::arbiter::{Arbiter, chunks, host};

pub(crate) struct Driven {
    pub(crate) arbiter: Arbiter,
    pub(crate) host: Host,
}

impl Driven {
    pub(crate) fn with_slots(slots: u32) -> Self {
        let candidate = Candidate::new(host("b"), "v1".into(), Priority(0));
        let executor = Executor::new(Settings::new(slots, false), "v1".into());
        Self { arbiter: Arbiter::new(), host: Host::new(candidate, executor) }
    }

    /// It asks and has seen the offer; a plan is wanted.
    pub(crate) fn offered(slots: u32) -> Self {
        let mut driven = Self::with_slots(slots);
        driven.host.ask();
        driven.exchange();
        assert_eq!(driven.phase(), "planning(g1)");
        driven
    }

    /// It has accepted; the record does not know yet.
    pub(crate) fn accepted(slots: u32) -> Self {
        let mut driven = Self::offered(slots);
        driven.plan(1);
        assert_eq!(driven.phase(), "accepted(g1)");
        driven
    }

    /// Its build runs.
    pub(crate) fn building(slots: u32) -> Self {
        let mut driven = Self::accepted(slots);
        driven.exchange();
        driven.carry_out();
        assert_eq!(driven.phase(), "building(g1)");
        driven.speak();
        driven
    }

    /// A local build that runs, and takes a slot.
    pub(crate) fn run_local(&mut self, build: &str) -> Work {
        self.host.submit(BuildId::from(build), None, None).expect("the id is new");
        self.carry_out();
        Work::Local(build.into())
    }

    pub(crate) fn plan(&mut self, grant: u64) {
        self.host.handle_plan(GrantId(grant), chunks(&[])).expect("a plan is wanted");
        self.host.check();
    }

    /// Carries out all orders but plans and returns, which a test answers itself. Names them.
    pub(crate) fn carry_out(&mut self) -> Vec<String> {
        let mut names = Vec::new();
        while let Some(effect) = self.host.poll_effect() {
            names.push(name_of(&effect));
            self.host.check();
            match effect {
                Effect::MakePlan { .. } | Effect::Return { .. } | Effect::Alarm(_) => {}
                Effect::Executor(_) => self.host.acknowledge(&effect, Acknowledgement::Done),
            }
            self.host.check();
        }
        names
    }

    pub(crate) fn ends(&mut self, work: &Work, end: End) {
        self.host.handle_build_end(work, end).expect("it runs");
        self.host.check();
    }

    pub(crate) fn speak(&mut self) {
        let word = self.host.statement().expect("it has a word to say");
        let answer = self.arbiter.fold(&handover_core::Input::Statement(word));
        assert_eq!(answer, Ok(None));
    }

    pub(crate) fn look(&mut self) {
        let view = self.arbiter.record.view_for(self.host.id(), self.host.version());
        self.host.handle_view(view).expect("the view is newer than the one held");
        self.host.check();
    }

    pub(crate) fn exchange(&mut self) {
        self.speak();
        self.look();
    }

    pub(crate) fn phase(&self) -> String {
        self.host.candidate().phase().to_string()
    }

    /// Its present word as text, without the number.
    pub(crate) fn word(&self) -> String {
        let statement = self.host.statement();
        statement.map_or_else(|| "nothing".into(), |it| it.standing.to_string())
    }

    pub(crate) fn slots_free(&self) -> u32 {
        self.host.executor().slots_free()
    }
}

fn name_of(effect: &Effect) -> String {
    match effect {
        Effect::MakePlan { grant } => format!("plan {grant}"),
        Effect::Return { above } => format!("return above {above}"),
        Effect::Alarm(alarm) => format!("alarm {alarm:?}"),
        Effect::Executor(effect) => match effect {
            ExecutorEffect::Wake(_) => "wake".into(),
            ExecutorEffect::StoreEntry { entry: Some(entry), .. } => {
                format!("store {:?}", entry.state).to_lowercase()
            }
            ExecutorEffect::StoreEntry { entry: None, .. } => "forget".into(),
            ExecutorEffect::Start { .. } => "start".into(),
            ExecutorEffect::Stop { .. } => "stop".into(),
            ExecutorEffect::StoreArtifacts { .. } => "artifacts".into(),
            ExecutorEffect::StoreDrain { .. } => "store drain".into(),
            ExecutorEffect::Remove { .. } => "remove".into(),
            ExecutorEffect::Release { .. } => "release".into(),
            ExecutorEffect::Drained { .. } => "drained".into(),
        },
    }
}
