//! Random inputs, acknowledgements and crashes against the executor's rules (Ex1 to Ex7).
//!
//! The runs are fixed, so that a test can also demand how often its case has to occur in them: a
//! property over cases that never come says nothing.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use handover_core::executor::{
    Acknowledgement, AtDeadline, BuildState, DrainRequest, End, EndAction, Executor,
    ExecutorEffect, Ledger, Progress, Settings, Stage, Term, Waiter, Work,
};
use handover_core::{BuildId, GrantId, Reason, Version};
use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// How often each interesting case has come.
#[derive(Debug, Default)]
struct Seen {
    passed_as_child: Cell<u32>,
    parked: Cell<u32>,
    woken_by_undrain: Cell<u32>,
    cut_by_crash: Cell<u32>,
    interrupted: Cell<u32>,
    drained: Cell<u32>,
    released: Cell<u32>,
    declared: Cell<u32>,
    derived_at_boot: Cell<u32>,
    over_at_boot: Cell<u32>,
    candidate_turns: Cell<u32>,
    granted_ended: Cell<u32>,
    parent_waited: Cell<u32>,
}

fn count(cell: &Cell<u32>) {
    cell.set(cell.get() + 1);
}

/// One host with its book, its running builds, and what a careful observer remembers.
struct World<'a> {
    seen: &'a Seen,
    settings: Settings,
    version: Version,
    executor: Executor,
    book: Ledger,
    out: Vec<ExecutorEffect>,
    runs: BTreeSet<Work>,
    artifacts: BTreeSet<Work>,
    /// The steps of the release path that were performed, since the work was admitted.
    steps: BTreeMap<Work, String>,
    places: BTreeMap<BuildId, u64>,
    draining: bool,
    builds: u32,
    grants: u64,
}

impl<'a> World<'a> {
    fn new(seen: &'a Seen, slots: u32, pinned: bool) -> Self {
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

    fn act(&mut self, (kind, a, b): (u8, u8, u8)) {
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
        let parent = (a < 90)
            .then(|| pick(&self.builds_in(Stage::is_under_way), b))
            .flatten();
        let drains = (a > 150).then(|| request(b, b));
        if self.executor.submit(build.clone(), parent, drains).is_ok() {
            self.builds += 1;
            let entry = self
                .executor
                .entry(&Work::Local(build.clone()))
                .expect("just submitted");
            self.places.insert(build, entry.place);
        }
    }

    fn builds_in(&self, wanted: impl Fn(Stage) -> bool) -> Vec<BuildId> {
        let stage = |build: &BuildId| self.executor.stage(&Work::Local(build.clone()));
        let builds = self.places.keys().cloned();
        builds
            .filter(|build| stage(build).is_some_and(&wanted))
            .collect()
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
        let parked = self
            .executor
            .queue()
            .iter()
            .filter(|queued| queued.parked)
            .count();
        if self.executor.undrain().is_ok() {
            self.draining = false;
            let seen = &self.seen.woken_by_undrain;
            seen.set(seen.get() + u32::try_from(parked).expect("a short queue"));
            let still = self
                .executor
                .queue()
                .into_iter()
                .find(|queued| queued.parked);
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
            self.executor
                .ended(&work, End::Failed(Reason::from("broke")))
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
                assert!(
                    !self.draining || !reserved,
                    "nothing is reserved behind a drain"
                );
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
                assert_eq!(
                    started,
                    had && !self.draining,
                    "the gate is read again at the start"
                );
                assert!(
                    !self.executor.has_reservation(),
                    "a start uses the reservation up"
                );
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
            assert!(
                children.is_empty(),
                "{work} leaves before {children:?} that is on its slot"
            );
        }
        self.out.push(effect);
    }

    fn judge_drained(&self) {
        count(&self.seen.drained);
        assert!(self.runs.is_empty(), "drained while {:?} runs", self.runs);
        assert!(self.draining, "drained without a drain");
        assert_eq!(
            self.executor.current().count(),
            0,
            "drained with work in flight"
        );
        assert!(
            !self.executor.has_reservation(),
            "drained with a slot reserved"
        );
        assert_eq!(
            self.book.drain.as_ref(),
            self.executor.active_drain(),
            "drained unwritten"
        );
        for (work, entry) in &self.book.entries {
            let rewritten = [Some(Stage::Retiring), Some(Stage::Enqueuing)];
            let after_boot = rewritten.contains(&self.executor.stage(work));
            let open = entry.state == BuildState::Admitted && !after_boot;
            assert!(!open, "drained, and the end of {work} is not recorded");
        }
    }

    fn children_in_flight(&self, of: &Work) -> Vec<Work> {
        let tasks = self.executor.clone().into_parts().tasks.into_iter();
        let children = tasks.filter(|(_, task)| {
            let parent = task.entry.parent.clone().map(Work::Local);
            parent.as_ref() == Some(of) && task.stage.is_current() && !task.own_slot
        });
        children.map(|(work, _)| work).collect()
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
        let parent = entry
            .and_then(|entry| entry.parent.clone())
            .map(Work::Local);
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

    fn note_step(&mut self, effect: &ExecutorEffect, declaring: Option<Work>) {
        match effect {
            ExecutorEffect::Wake(Waiter::Build(build)) => self.note_wake(build),
            ExecutorEffect::StoreArtifacts { work } => self.step(work, 'A'),
            ExecutorEffect::StoreEntry { work, .. } => {
                let next = self.executor.stage(work);
                if matches!(next, Some(Stage::Removing | Stage::Declaring { .. })) {
                    self.step(work, 'T');
                }
            }
            ExecutorEffect::StoreDrain { .. } => {
                if let Some(work) = declaring {
                    count(&self.seen.declared);
                    self.step(&work, 'F');
                    self.draining = true;
                }
            }
            ExecutorEffect::Remove { work } => self.step(work, 'R'),
            ExecutorEffect::Release { work } => {
                self.step(work, 'S');
                self.note_release(work);
            }
            ExecutorEffect::Wake(Waiter::Candidate)
            | ExecutorEffect::Start { .. }
            | ExecutorEffect::Stop { .. }
            | ExecutorEffect::Drained { .. } => {}
        }
    }

    fn step(&mut self, work: &Work, step: char) {
        self.steps.entry(work.clone()).or_default().push(step);
    }

    fn note_release(&mut self, work: &Work) {
        count(&self.seen.released);
        let steps = self.steps.remove(work).expect("it was just released");
        let entry = &self.book.entries[work];
        let begun = self.artifacts.contains(work);
        let orders: &[&str] = match (&entry.state, begun) {
            (BuildState::Succeeded, true) => &["ATFRS", "ATRS"],
            (BuildState::Succeeded, false) => &[],
            (BuildState::Failed(_), _) => &["ATRS"],
            // Cut short before it had begun, it leaves no artifacts.
            (BuildState::Cancelled | BuildState::Pending | BuildState::Admitted, _) => {
                &["ATRS", "TRS"]
            }
        };
        let state = &entry.state;
        assert!(
            orders.contains(&steps.as_str()),
            "{work} ({state:?}) left in the order {steps}"
        );
        let undeclared = state == &BuildState::Succeeded && entry.drains.is_some();
        assert!(!undeclared, "{work} left with a drain to declare");
        if state == &BuildState::Pending {
            count(&self.seen.interrupted);
        }
    }

    fn note_wake(&mut self, build: &BuildId) {
        let work = Work::Local(build.clone());
        assert!(!self.runs.contains(&work), "{work} wakes while it runs");
        if self.executor.stage(&work) != Some(Stage::Admitting) {
            count(&self.seen.parked);
            assert!(self.draining, "only a drain parks {work}");
            return;
        }
        if self.draining {
            let entry = self.executor.entry(&work).expect("it is in flight");
            let parent = entry
                .parent
                .clone()
                .map(Work::Local)
                .expect("only children pass a drain");
            let stage = self.executor.stage(&parent);
            assert!(
                stage.is_some_and(Stage::is_current),
                "{parent} in flight waits for {work}"
            );
            count(&self.seen.passed_as_child);
        }
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
            let other = if self.version.as_str() == "v1" {
                "v2"
            } else {
                "v1"
            };
            self.version = Version::from(other);
        }
        let recover = |book: &Ledger| {
            Executor::recover(self.settings, self.version.clone(), book.clone())
                .expect("our own book can be read")
        };
        self.executor = recover(&self.book);
        assert_eq!(
            recover(&self.book),
            self.executor,
            "a boot depends on the book alone"
        );
        self.draining = self.expected_drain();
        self.judge_recovered_queue();
        // What was submitted and never written is not known to anybody now.
        let book = &self.book;
        self.places
            .retain(|build, _| book.entries.contains_key(&Work::Local(build.clone())));
    }

    fn judge_recovered_queue(&self) {
        let mut expected = Vec::new();
        for (work, entry) in &self.book.entries {
            let Work::Local(build) = work else { continue };
            let cut = entry.state == BuildState::Admitted;
            if cut || entry.state == BuildState::Pending {
                expected.push((entry.place, Waiter::Build(build.clone())));
            }
            if cut {
                count(&self.seen.cut_by_crash);
            }
        }
        expected.sort();
        let expected: Vec<Waiter> = expected.into_iter().map(|(_, waiter)| waiter).collect();
        let queue: Vec<Waiter> = self
            .executor
            .queue()
            .into_iter()
            .map(|q| q.waiter)
            .collect();
        assert_eq!(
            queue, expected,
            "what was cut is queued again, once, in its place"
        );
    }

    fn expected_drain(&self) -> bool {
        let lasts = |term, version: &Version| match term {
            Term::ThisVersion => *version == self.version,
            Term::UntilUndrained => true,
        };
        let kept = self.book.drain.as_ref();
        let is_kept = kept.is_some_and(|drain| lasts(drain.term, &drain.version));
        let derived = !self.settings.pinned()
            && self.book.entries.values().any(|entry| {
                entry.state == BuildState::Succeeded
                    && entry.drains.as_ref().is_some_and(|request| {
                        lasts(request.term, entry.admitted_by.as_ref().expect("it ran"))
                    })
            });
        if derived && !is_kept {
            count(&self.seen.derived_at_boot);
        }
        if kept.is_some() && !is_kept {
            count(&self.seen.over_at_boot);
        }
        is_kept || derived
    }

    fn check(&self) {
        self.executor.check();
        assert_eq!(
            self.executor.is_draining(),
            self.draining,
            "the gate is as was declared"
        );
        for (build, place) in &self.places {
            let entry = self
                .executor
                .entry(&Work::Local(build.clone()))
                .expect("it is known");
            assert_eq!(entry.place, *place, "{build} keeps its place");
            // Neither parking nor an interruption nor a crash costs an attempt.
            let expected = match entry.state {
                BuildState::Pending => 0..=0,
                BuildState::Admitted | BuildState::Succeeded | BuildState::Failed(_) => 1..=1,
                BuildState::Cancelled => 0..=1,
            };
            assert!(expected.contains(&entry.attempts), "{build} in {entry:?}");
        }
        let tasks = self.executor.clone().into_parts().tasks;
        let own = self
            .runs
            .iter()
            .filter(|work| tasks.get(work).is_some_and(|task| task.own_slot));
        let own = u32::try_from(own.count()).expect("few");
        assert!(
            own <= self.executor.slots(),
            "more builds run than there are slots"
        );
        for work in &self.runs {
            assert!(
                self.executor.is_running(work),
                "{work} runs and is not known to"
            );
        }
    }

    /// With faults off all comes to rest: nothing is stuck, and no slot is lost.
    fn settle(&mut self) {
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
        assert_eq!(
            self.executor.current().count(),
            0,
            "nothing stays in flight"
        );
        assert_eq!(
            self.executor.slots_free(),
            self.executor.slots(),
            "no slot is lost"
        );
        let open = self
            .book
            .entries
            .iter()
            .find(|(_, entry)| !entry.state.is_terminal());
        assert_eq!(open, None, "each build has an end in the book");
        self.judge_standing_rule();
    }

    /// Recovering a book that has nothing open asks for nothing.
    fn judge_standing_rule(&self) {
        assert_eq!(
            self.executor.ledger().entries,
            self.book.entries,
            "the book is as known"
        );
        assert_eq!(
            self.executor.ledger().drain,
            self.book.drain,
            "the drain is as known"
        );
        let recovered = Executor::recover(self.settings, self.version.clone(), self.book.clone());
        let mut recovered = recovered.expect("our own book can be read");
        assert_eq!(recovered.poll_effect(), None, "recovery is a standing rule");
        assert_eq!(
            recovered.ledger().entries,
            self.book.entries,
            "nothing to recover"
        );
    }
}

fn pick<T: Clone>(from: &[T], at: u8) -> Option<T> {
    from.get(usize::from(at).checked_rem(from.len())?).cloned()
}

fn request(a: u8, b: u8) -> DrainRequest {
    DrainRequest {
        reason: Reason::from("random"),
        term: if a.is_multiple_of(3) {
            Term::UntilUndrained
        } else {
            Term::ThisVersion
        },
        end: [EndAction::Nothing, EndAction::Restart, EndAction::Stop][usize::from(b) % 3],
        at_deadline: [
            AtDeadline::Interrupt,
            AtDeadline::Undrain,
            AtDeadline::Report,
        ][usize::from(a / 3) % 3],
        since: u64::from(b),
    }
}

fn run(slots: u32, pinned: bool, cases: u32) -> Seen {
    let seen = Seen::default();
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let actions = vec((any::<u8>(), any::<u8>(), any::<u8>()), 50..400);
    let result = runner.run(&actions, |actions| {
        let mut world = World::new(&seen, slots, pinned);
        for action in actions {
            world.act(action);
        }
        world.settle();
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
    seen
}

#[track_caller]
fn at_least(floor: u32, cell: &Cell<u32>) {
    assert!(
        cell.get() >= floor,
        "the case came {} times, not {floor}",
        cell.get()
    );
}

#[test]
fn rules_hold_in_random_runs_on_one_slot() {
    let seen = run(1, false, 1000);
    at_least(5000, &seen.released);
    at_least(1000, &seen.parked);
    at_least(800, &seen.woken_by_undrain);
    at_least(300, &seen.cut_by_crash);
    at_least(30, &seen.interrupted);
    at_least(300, &seen.drained);
    at_least(2000, &seen.declared);
    at_least(5, &seen.derived_at_boot);
    at_least(50, &seen.over_at_boot);
    at_least(50, &seen.passed_as_child);
    at_least(200, &seen.parent_waited);
    at_least(100, &seen.candidate_turns);
    at_least(40, &seen.granted_ended);
}

#[test]
fn rules_hold_in_random_runs_on_two_slots() {
    let seen = run(2, false, 1000);
    at_least(5000, &seen.released);
    at_least(1500, &seen.parked);
    at_least(1000, &seen.woken_by_undrain);
    at_least(500, &seen.cut_by_crash);
    at_least(50, &seen.interrupted);
    at_least(200, &seen.drained);
    at_least(2000, &seen.declared);
    at_least(10, &seen.derived_at_boot);
    at_least(50, &seen.over_at_boot);
    at_least(50, &seen.passed_as_child);
    at_least(300, &seen.parent_waited);
    at_least(150, &seen.candidate_turns);
    at_least(50, &seen.granted_ended);
}

#[test]
fn no_build_drains_a_pinned_instance() {
    let seen = run(2, true, 500);
    at_least(3000, &seen.released);
    assert_eq!(seen.declared.get(), 0, "no success declares a drain");
    assert_eq!(seen.derived_at_boot.get(), 0, "nor does a boot");
}
