//! Hosts with their executors, and a record, for random walks. Words, views, orders and builds take
//! their time; nothing is lost but what a crash takes with it.

use std::collections::BTreeSet;

use handover_core::{
    Acknowledgement, AtDeadline, Candidate, DrainRequest, Effect, End, EndAction, Executor,
    ExecutorEffect, GrantId, Host, HostId, Input, Priority, Reason, Record, RecordId, Refusal,
    Settings, Term, Then, Work,
};

use super::arbiter::chunks;

pub(crate) const SLOTS: u32 = 2;

pub(crate) struct Hosts {
    pub(crate) record: Record,
    pub(crate) places: Vec<Place>,
    /// Grants that an operator has revoked while they were started.
    pub(crate) revoked: BTreeSet<GrantId>,
    builds: u32,
}

pub(crate) struct Place {
    pub(crate) host: Host,
    /// What really runs.
    pub(crate) running: BTreeSet<Work>,
    /// What was told to stop.
    stopping: BTreeSet<Work>,
    /// Orders that were handed out and not acknowledged.
    orders: Vec<Effect>,
    /// Orders among them that were carried out, and whose build has ended since.
    done_before: Vec<Effect>,
    boots: u64,
}

#[derive(Clone, Copy)]
enum Move {
    Speak,
    Look,
    Poll,
    Acknowledge(usize),
    End(usize),
    Stop(usize),
}

impl Hosts {
    /// Two hosts of one version.
    pub(crate) fn new() -> Self {
        let place = |name: &&str| {
            let executor = Executor::new(Settings::new(SLOTS, false), "v1".into());
            Place {
                host: Host::new(candidate(name, 1), executor),
                running: BTreeSet::new(),
                stopping: BTreeSet::new(),
                orders: Vec::new(),
                done_before: Vec::new(),
                boots: 1,
            }
        };
        Self {
            record: Record::new(RecordId(5)),
            places: ["a", "b"].iter().map(place).collect(),
            revoked: BTreeSet::new(),
            builds: 0,
        }
    }

    /// One number is one step; small ones get on, the rest disturb. Names what was done, where it
    /// is of interest.
    pub(crate) fn step(&mut self, draw: u32) -> &'static str {
        let (kind, rest) = (draw % 200, (draw / 200) as usize);
        let (at, choice) = (rest % 2, rest / 2);
        let host = &mut self.places[at].host;
        let done = match kind {
            0..172 => {
                let moves = self.moves(at);
                let next = moves.get(choice % moves.len().max(1)).copied();
                // Builds last, so that something comes between.
                let lasts = |next: &Move| matches!(next, Move::End(_)) && choice / 64 % 4 > 0;
                let next = next.filter(|next| !lasts(next));
                next.map_or("", |next| self.make(at, next, choice))
            }
            172..176 => {
                host.ask();
                "ask"
            }
            176..178 => {
                host.stand_down();
                "stand down"
            }
            178 => {
                host.stand_down_after();
                "stand down"
            }
            179..186 => self.submit(at, choice),
            186..188 => {
                drop(host.drain(request(choice)));
                "drain"
            }
            188..192 => host.undrain().map_or("", |()| "undrain"),
            192 => host.deadline().map_or("", |_| "deadline"),
            193 => {
                let gone = host.id().clone();
                self.fold(&Input::Gone(gone));
                "expel"
            }
            194 => self.crash(at),
            _ => self.operate(kind),
        };
        for place in &self.places {
            place.host.check();
        }
        self.record.check();
        done
    }

    /// No more disturbance: drains are over, and everything happens until nothing can. Says whether
    /// that came to an end.
    pub(crate) fn calm(&mut self) -> bool {
        for _ in 0..1_000 {
            let mut at_rest = true;
            // A deployment that ends only now declares one more.
            for place in &mut self.places {
                at_rest &= place.host.undrain().is_err();
            }
            for at in 0..self.places.len() {
                if let Some(next) = self.moves(at).first() {
                    at_rest = false;
                    self.make(at, *next, 0);
                    self.places[at].host.check();
                }
            }
            if at_rest {
                return true;
            }
        }
        false
    }

    fn moves(&self, at: usize) -> Vec<Move> {
        let place = &self.places[at];
        let mut moves: Vec<Move> = (0..place.orders.len()).map(Move::Acknowledge).collect();
        if place.host.clone().poll_effect().is_some() {
            moves.push(Move::Poll);
        }
        moves.extend((0..place.stopping.len()).map(Move::Stop));
        moves.extend((0..place.running.len()).map(Move::End));
        let seen = place.host.candidate().view().map(|view| view.revision);
        if seen.is_none_or(|seen| seen < self.record.revision()) {
            moves.push(Move::Look);
        }
        let heard = place.host.candidate().is_acknowledged();
        if place.host.statement().is_some() && !heard {
            moves.push(Move::Speak);
        }
        moves
    }

    fn make(&mut self, at: usize, next: Move, choice: usize) -> &'static str {
        let place = &mut self.places[at];
        match next {
            Move::Speak => {
                let word = place.host.statement().expect("it has a word to say");
                self.fold(&Input::Statement(word));
            }
            Move::Look => {
                let view = self.record.view_for(place.host.id(), place.host.version());
                place.host.handle_view(view).expect("the view is newer");
            }
            Move::Poll => place.orders.extend(place.host.poll_effect()),
            Move::Acknowledge(order) => {
                let effect = place.orders.remove(order);
                return place.acknowledge(&effect, choice);
            }
            Move::End(which) => {
                let work = place.running.iter().nth(which).cloned();
                let work = work.expect("the move was offered");
                let end = match choice % 5 {
                    4 => End::Failed("no disk".into()),
                    _ => End::Succeeded,
                };
                place.end(&work, Some(end));
                return "build ended";
            }
            Move::Stop(which) => {
                let work = place.stopping.iter().nth(which).cloned();
                place.end(&work.expect("the move was offered"), None);
                return "build stopped";
            }
        }
        ""
    }

    fn submit(&mut self, at: usize, choice: usize) -> &'static str {
        self.builds += 1;
        let build = format!("build-{}", self.builds);
        let drains = choice.is_multiple_of(8).then(|| request(choice));
        let answer = self.places[at].host.submit(build.as_str().into(), None, drains);
        answer.expect("the id is new");
        "submit"
    }

    /// The process ends without a word, its supervisor says so, and it boots from its ledger.
    fn crash(&mut self, at: usize) -> &'static str {
        let gone = self.places[at].host.id().clone();
        self.fold(&Input::Gone(gone));
        let place = &mut self.places[at];
        place.running.clear();
        place.stopping.clear();
        place.orders.clear();
        place.done_before.clear();
        place.boots += 1;
        let ledger = place.host.executor().ledger().clone();
        let executor = Executor::recover(Settings::new(SLOTS, false), "v1".into(), ledger);
        let executor = executor.expect("its own ledger is sound");
        let candidate = candidate(place.host.id().name.as_str(), place.boots);
        place.host = Host::new(candidate, executor);
        place.host.ask();
        "crash"
    }

    fn operate(&mut self, kind: u32) -> &'static str {
        let reason = Reason::new("by hand");
        let verdict = self.record.verdict(&"v1".into());
        let hold = self.record.hold();
        let input = match (kind, hold, verdict) {
            (195, Some(hold), _) => Input::Lapse { grant: hold.grant },
            (196 | 197, Some(hold), _) => Input::Cancel {
                grant: hold.grant,
                reason,
                then: if kind == 196 { Then::Again } else { Then::Block },
            },
            (198, Some(hold), _) => {
                let grant = hold.grant;
                if hold.is_started() {
                    self.revoked.insert(grant);
                }
                Input::Revoke { grant, reason }
            }
            (199, _, Some(verdict)) => Input::Retry { version: "v1".into(), grant: verdict.grant },
            _ => return "",
        };
        self.fold(&input);
        "operate"
    }

    fn fold(&mut self, input: &Input) {
        match self.record.fold(input, &BTreeSet::new()) {
            Ok(change) => self.record.apply(&change).expect("folded on this record"),
            Err(refusal) => assert_ne!(refusal, Refusal::Impossible, "{input:?}"),
        }
    }
}

impl Place {
    fn acknowledge(&mut self, effect: &Effect, choice: usize) -> &'static str {
        let outcome = match choice % 16 {
            14 => Acknowledgement::Failed,
            15 => Acknowledgement::Unknown,
            _ => Acknowledgement::Done,
        };
        match effect {
            Effect::MakePlan { grant } if outcome == Acknowledgement::Done => {
                // Refused where the offer has gone in the meantime.
                drop(self.host.handle_plan(*grant, chunks(&[])));
            }
            Effect::Return { above } if outcome == Acknowledgement::Done => {
                self.boots = self.boots.max(above.0) + 1;
                let back = self.host.come_back(handover_core::Incarnation(self.boots));
                assert_eq!(back, Ok(()));
            }
            Effect::MakePlan { .. } | Effect::Return { .. } => {
                self.host.acknowledge(effect, outcome);
            }
            Effect::Alarm(alarm) => panic!("{alarm:?}"),
            Effect::Executor(order) => {
                // What may have been done was done here; what was done before is not done again.
                if outcome != Acknowledgement::Failed && !self.was_done_before(effect) {
                    self.perform(order);
                }
                self.host.acknowledge(effect, outcome);
                if let (ExecutorEffect::Drained { .. }, Acknowledgement::Done) = (order, outcome) {
                    return "drained";
                }
            }
        }
        ""
    }

    fn was_done_before(&mut self, effect: &Effect) -> bool {
        let done = self.done_before.iter().position(|done| done == effect);
        done.map(|place| self.done_before.remove(place)).is_some()
    }

    fn perform(&mut self, order: &ExecutorEffect) {
        match order {
            ExecutorEffect::Start { work } => {
                self.running.insert(work.clone());
            }
            ExecutorEffect::Stop { work } => {
                self.stopping.insert(work.clone());
            }
            ExecutorEffect::Wake(_)
            | ExecutorEffect::StoreEntry { .. }
            | ExecutorEffect::StoreArtifacts { .. }
            | ExecutorEffect::StoreDrain { .. }
            | ExecutorEffect::Remove { .. }
            | ExecutorEffect::Release { .. }
            | ExecutorEffect::Drained { .. } => {}
        }
    }

    /// The build ended by itself, or has stopped. Refused where its order was not acknowledged yet:
    /// then the order comes again, and this is said again.
    fn end(&mut self, work: &Work, end: Option<End>) {
        let stopped = end.is_none();
        let answer = match end {
            Some(end) => self.host.handle_build_end(work, end),
            None => self.host.handle_build_stop(work),
        };
        if answer.is_ok() {
            self.running.remove(work);
            let work = work.clone();
            let start = Effect::Executor(ExecutorEffect::Start { work });
            if self.orders.contains(&start) {
                self.done_before.push(start);
            }
        }
        if answer.is_ok() || stopped {
            self.stopping.remove(work);
        }
    }
}

fn candidate(name: &str, incarnation: u64) -> Candidate {
    Candidate::new(HostId::new(name, incarnation), "v1".into(), Priority(0))
}

fn request(choice: usize) -> DrainRequest {
    DrainRequest {
        reason: "by hand".into(),
        term: [Term::ThisVersion, Term::UntilUndrained, Term::ThisProcess][choice % 3],
        end: [EndAction::Nothing, EndAction::Restart, EndAction::Stop][choice % 3],
        at_deadline: [AtDeadline::Interrupt, AtDeadline::Undrain, AtDeadline::Report][choice % 3],
        since: 0,
    }
}
