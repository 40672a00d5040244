//! One host with its book and its builds, driven by random numbers.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use handover_core::executor::{
    Acknowledgement, AtDeadline, BuildState, DrainRequest, End, EndAction, Executor,
    ExecutorEffect, Ledger, Progress, Settings, Stage, Term, Work,
};
use handover_core::{BuildId, GrantId, Reason, Version};

/// How often each interesting case has come.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) passed_as_child: Cell<u32>,
    pub(crate) parked: Cell<u32>,
    pub(crate) woken_by_undrain: Cell<u32>,
    pub(crate) cut_by_crash: Cell<u32>,
    pub(crate) interrupted: Cell<u32>,
    pub(crate) drained: Cell<u32>,
    pub(crate) released: Cell<u32>,
    pub(crate) declared: Cell<u32>,
    pub(crate) derived_at_boot: Cell<u32>,
    pub(crate) over_at_boot: Cell<u32>,
    pub(crate) candidate_turns: Cell<u32>,
    pub(crate) granted_ended: Cell<u32>,
    pub(crate) parent_waited: Cell<u32>,
}

pub(crate) fn count(cell: &Cell<u32>) {
    cell.set(cell.get() + 1);
}

/// One host with its book, its running builds, and what a careful observer remembers.
pub(crate) struct World<'a> {
    pub(crate) seen: &'a Seen,
    pub(crate) settings: Settings,
    pub(crate) version: Version,
    pub(crate) executor: Executor,
    pub(crate) book: Ledger,
    pub(crate) out: Vec<ExecutorEffect>,
    pub(crate) runs: BTreeSet<Work>,
    pub(crate) artifacts: BTreeSet<Work>,
    /// The steps of the release path that were performed, since the work was admitted.
    pub(crate) steps: BTreeMap<Work, String>,
    pub(crate) places: BTreeMap<BuildId, u64>,
    pub(crate) draining: bool,
    pub(crate) builds: u32,
    pub(crate) grants: u64,
}

impl<'a> World<'a> {
    pub(crate) fn new(seen: &'a Seen, slots: u32, pinned: bool) -> Self {
        let settings = Settings::new(slots, pinned);
        let version = Version::from("v1");
        World {
            seen,
            settings,
            version: version.clone(),
            executor: Executor::new(settings, version),
            book: Ledger::default(),
            out: Vec::new(),
            runs: BTreeSet::new(),
            artifacts: BTreeSet::new(),
            steps: BTreeMap::new(),
            places: BTreeMap::new(),
            draining: false,
            builds: 0,
            grants: 0,
        }
    }

    pub(crate) fn act(&mut self, (kind, a, b): (u8, u8, u8)) {
        match kind % 40 {
            0..=3 => self.submit(a, b),
            4 => self.cancel(a),
            5 => self.drain(a, b),
            6 => self.undrain(),
            7 => self.deadline(),
            8..=11 => self.end(a, b),
            12 | 13 => self.host(a),
            14 if b < 80 => self.crash(a, b),
            14..=25 => self.poll(),
            _ => self.acknowledge(a, b),
        }
        self.check();
    }

    fn submit(&mut self, a: u8, b: u8) {
        let build = BuildId::from(format!("x{}", self.builds).as_str());
        let parent = (a < 90).then(|| pick(&self.builds_in(Stage::is_under_way), b)).flatten();
        let drains = (a > 150).then(|| request(b, b));
        if self.executor.submit(build.clone(), parent, drains).is_ok() {
            self.builds += 1;
            let entry = self.executor.entry(&Work::Local(build.clone())).expect("just submitted");
            self.places.insert(build, entry.place);
        }
    }

    fn builds_in(&self, wanted: impl Fn(Stage) -> bool) -> Vec<BuildId> {
        let stage = |build: &BuildId| self.executor.stage(&Work::Local(build.clone()));
        let builds = self.places.keys().cloned();
        builds.filter(|build| stage(build).is_some_and(&wanted)).collect()
    }

    fn cancel(&mut self, a: u8) {
        if let Some(build) = pick(&self.builds_in(|_| true), a) {
            let _ = self.executor.cancel(&build);
        }
    }

    fn drain(&mut self, a: u8, b: u8) {
        let before = self.executor.active_drain().cloned();
        match self.executor.drain(request(a, b)) {
            Ok(drain) => {
                if let Some(before) = before {
                    assert_eq!(drain.id, before.id, "a stronger request keeps the id");
                    assert!(drain.end > before.end, "only a stronger request is taken");
                }
                self.draining = true;
            }
            Err(refusal) => assert_eq!(Some(*refusal.active), before, "the answer is the active"),
        }
    }

    fn undrain(&mut self) {
        let parked = self.executor.queue().iter().filter(|queued| queued.parked).count();
        if self.executor.undrain().is_ok() {
            self.draining = false;
            let seen = &self.seen.woken_by_undrain;
            seen.set(seen.get() + u32::try_from(parked).expect("a short queue"));
            let still = self.executor.queue().into_iter().find(|queued| queued.parked);
            assert_eq!(still, None, "an undrain wakes all that is parked");
        }
    }

    fn deadline(&mut self) {
        match self.executor.deadline() {
            Ok(AtDeadline::Undrain) => self.draining = false,
            Ok(AtDeadline::Interrupt | AtDeadline::Report) | Err(_) => {}
        }
    }

    /// Something that runs ends by itself, or stops if it was told to.
    fn end(&mut self, a: u8, b: u8) {
        let runs: Vec<Work> = self.runs.iter().cloned().collect();
        let Some(work) = pick(&runs, a) else { return };
        let told = self.executor.stage(&work) == Some(Stage::AwaitingStop);
        let word = if told && !b.is_multiple_of(4) {
            self.executor.stopped(&work)
        } else if b.is_multiple_of(3) {
            self.executor.ended(&work, End::Failed(Reason::from("broke")))
        } else {
            self.executor.ended(&work, End::Succeeded)
        };
        word.expect("what runs may end at any time");
        self.runs.remove(&work);
    }

    fn host(&mut self, a: u8) {
        match a % 8 {
            0 | 1 => self.executor.enqueue_candidate(),
            2 if a > 128 => self.executor.dequeue_candidate(),
            3 if a > 128 => {
                let _ = self.executor.release_reservation();
            }
            4 => {
                let reserved = self.executor.reserve().is_ok();
                assert!(!self.draining || !reserved, "nothing is reserved behind a drain");
            }
            5 => {
                if let Some(work) = self.runs.iter().find(|work| work.is_granted()).cloned() {
                    self.executor.stop(&work);
                }
            }
            _ => {
                let had = self.executor.has_reservation();
                self.grants += 1;
                let started = self.executor.start_reserved(GrantId(self.grants)).is_ok();
                assert_eq!(started, had && !self.draining, "the gate is read again at the start");
                assert!(!self.executor.has_reservation(), "a start uses the reservation up");
            }
        }
    }

    fn poll(&mut self) {
        let Some(effect) = self.executor.poll_effect() else {
            return;
        };
        if let ExecutorEffect::Drained { .. } = effect {
            self.judge_drained();
        }
        if let ExecutorEffect::Remove { work } = &effect {
            let children = self.children_in_flight(work);
            assert!(children.is_empty(), "{work} leaves before {children:?} that is on its slot");
        }
        self.out.push(effect);
    }

    fn acknowledge(&mut self, a: u8, b: u8) {
        if self.out.is_empty() {
            return;
        }
        let effect = self.out.remove(usize::from(a) % self.out.len());
        match b % 12 {
            0 => self.answer(&effect, Acknowledgement::Failed),
            1 => self.answer(&effect, Acknowledgement::Unknown),
            2 => {
                self.perform(&effect);
                self.answer(&effect, Acknowledgement::Unknown);
            }
            _ => {
                self.perform(&effect);
                self.answer(&effect, Acknowledgement::Done);
            }
        }
    }

    /// What the world does with an effect, idempotently.
    fn perform(&mut self, effect: &ExecutorEffect) {
        match effect {
            ExecutorEffect::StoreEntry { .. } | ExecutorEffect::StoreDrain { .. } => {
                self.book.write(effect)
            }
            // A stop also of what has not come to run, so that `stopped` follows. What has ended in
            // the meantime is left alone.
            ExecutorEffect::Start { work } | ExecutorEffect::Stop { work } => {
                if self.executor.is_running(work) {
                    self.runs.insert(work.clone());
                }
            }
            ExecutorEffect::StoreArtifacts { work } => {
                self.artifacts.insert(work.clone());
            }
            ExecutorEffect::Wake(_)
            | ExecutorEffect::Remove { .. }
            | ExecutorEffect::Release { .. }
            | ExecutorEffect::Drained { .. } => {}
        }
    }

    fn answer(&mut self, effect: &ExecutorEffect, outcome: Acknowledgement) {
        let declaring = self.declaring(effect);
        let waited = self.parent_waits(effect);
        let progress = self.executor.acknowledge(effect, outcome);
        if progress == Some(Progress::Refused) {
            return;
        }
        if outcome == Acknowledgement::Done {
            self.note_step(effect, declaring);
            if waited {
                count(&self.seen.parent_waited);
            }
        }
        match progress {
            Some(Progress::CandidateTurn) => {
                count(&self.seen.candidate_turns);
                assert!(!self.draining, "the candidate passes an open gate only");
            }
            Some(Progress::Recorded { work }) => {
                let state = self.book.entries.get(&work).map(|entry| &entry.state);
                let ended = state.is_some_and(BuildState::is_terminal);
                assert!(ended, "{work} is said to be recorded");
                if work.is_granted() {
                    count(&self.seen.granted_ended);
                }
            }
            Some(Progress::Started { .. } | Progress::Refused) | None => {}
        }
    }

    fn parent_waits(&self, effect: &ExecutorEffect) -> bool {
        let ExecutorEffect::Release { work } = effect else {
            return false;
        };
        let entry = self.executor.entry(work);
        let parent = entry.and_then(|entry| entry.parent.clone()).map(Work::Local);
        parent.is_some_and(|parent| self.executor.stage(&parent) == Some(Stage::Removing))
    }

    fn declaring(&self, effect: &ExecutorEffect) -> Option<Work> {
        let ExecutorEffect::StoreDrain { drain: Some(drain) } = effect else {
            return None;
        };
        let work = Work::Local(drain.by.clone()?);
        let declaring = matches!(self.executor.stage(&work), Some(Stage::Declaring { .. }));
        declaring.then_some(work)
    }

    /// All memory is lost; each write that was out has reached the book or not.
    fn crash(&mut self, a: u8, b: u8) {
        for (n, effect) in std::mem::take(&mut self.out).into_iter().enumerate() {
            if a.rotate_right(u32::try_from(n % 8).expect("below 8")) & 1 == 1 {
                self.perform(&effect);
            }
        }
        self.runs.clear();
        self.steps.clear();
        if b.is_multiple_of(4) {
            let other = if self.version.as_str() == "v1" { "v2" } else { "v1" };
            self.version = Version::from(other);
        }
        let recover = |book: &Ledger| {
            Executor::recover(self.settings, self.version.clone(), book.clone())
                .expect("our own book can be read")
        };
        self.executor = recover(&self.book);
        assert_eq!(recover(&self.book), self.executor, "a boot depends on the book alone");
        self.draining = self.expected_drain();
        self.judge_recovered_queue();
        // What was submitted and never written is not known to anybody now.
        let book = &self.book;
        self.places.retain(|build, _| book.entries.contains_key(&Work::Local(build.clone())));
    }

    /// With faults off all comes to rest: nothing is stuck, and no slot is lost.
    pub(crate) fn settle(&mut self) {
        for out in std::mem::take(&mut self.out) {
            self.answer(&out, Acknowledgement::Failed);
        }
        let mut rested = false;
        for _ in 0..1000 {
            self.undrain();
            self.executor.dequeue_candidate();
            self.executor.release_reservation();
            while let Some(effect) = self.executor.poll_effect() {
                self.out.push(effect);
            }
            rested = self.out.is_empty() && self.runs.is_empty();
            if rested {
                break;
            }
            for effect in std::mem::take(&mut self.out) {
                self.perform(&effect);
                self.answer(&effect, Acknowledgement::Done);
                self.check();
            }
            self.end(0, 1);
        }
        assert!(rested, "with faults off all comes to rest");
        assert_eq!(self.executor.queue(), [], "all that was queued has run");
        assert_eq!(self.executor.current().count(), 0, "nothing stays in flight");
        assert_eq!(self.executor.slots_free(), self.executor.slots(), "no slot is lost");
        let open = self.book.entries.iter().find(|(_, entry)| !entry.state.is_terminal());
        assert_eq!(open, None, "each build has an end in the book");
        self.judge_standing_rule();
    }
}

fn pick<T: Clone>(from: &[T], at: u8) -> Option<T> {
    from.get(usize::from(at).checked_rem(from.len())?).cloned()
}

fn request(a: u8, b: u8) -> DrainRequest {
    DrainRequest {
        reason: Reason::from("random"),
        term: [Term::UntilUndrained, Term::ThisVersion, Term::ThisProcess][usize::from(a % 3)],
        end: [EndAction::Nothing, EndAction::Restart, EndAction::Stop][usize::from(b) % 3],
        at_deadline: [AtDeadline::Interrupt, AtDeadline::Undrain, AtDeadline::Report]
            [usize::from(a / 3) % 3],
        since: u64::from(b),
    }
}
