//! Candidates, a record and what is on its way between them, for random walks.
//!
//! Not the simulator: no stores, no slots, no time. Only what makes a record and its candidates
//! meet each other's late, doubled and lost words.

use std::collections::{BTreeSet, VecDeque};

use handover_core::{
    Candidate, CandidateEffect, Change, Chunk, GrantId, HostId, Incarnation, Input, Outcome, Phase,
    Priority, Reason, Record, RecordId, Refusal, SignOff, Statement, Then, Version,
};

use super::arbiter::chunks;
use super::walk::Step;

/// One fold, whether it was believed or refused.
pub(crate) struct Fold {
    pub(crate) before: Record,
    pub(crate) input: Input,
    pub(crate) suspects: BTreeSet<HostId>,
    pub(crate) answer: Result<Change, Refusal>,
    pub(crate) after: Record,
}

pub(crate) struct Cluster {
    pub(crate) record: Record,
    pub(crate) members: Vec<Member>,
    /// Grants that an operator has revoked while they were started.
    pub(crate) revoked: BTreeSet<GrantId>,
    suspects: BTreeSet<HostId>,
    /// The record as it was at each revision, for late views.
    history: Vec<Record>,
    inputs: Vec<Input>,
    folds: Vec<Fold>,
}

/// A place where processes live, and the one that does.
pub(crate) struct Member {
    pub(crate) candidate: Candidate,
    pub(crate) crashed: bool,
    /// What it has said and has not arrived, oldest first.
    pub(crate) in_flight: VecDeque<Statement>,
    pub(crate) build: Option<Build>,
    pub(crate) alarms: u32,
    words: Vec<Statement>,
    plan_wanted: Option<GrantId>,
    return_wanted: bool,
}

pub(crate) struct Build {
    pub(crate) grant: GrantId,
    to_do: VecDeque<Chunk>,
    stop: bool,
}

/// The odd ones are built in chunks.
const VERSIONS: [&str; 4] = ["v1", "v2", "v3", "v4"];

/// What a host can do next.
#[derive(Clone, Copy)]
enum Move {
    WordArrives,
    ViewArrives,
    Plan,
    BuildGoesOn,
    BuildStops,
    ComeBack,
    ReportGone,
    Boot,
    Ask,
    Repeat,
}

impl Cluster {
    /// Two hosts of `v1` and one of `v2`.
    pub(crate) fn new() -> Self {
        let record = Record::new(RecordId(5));
        let members = [("a", "v1"), ("b", "v1"), ("c", "v2")];
        let member = |(name, version): &(&str, &str)| {
            let candidate = Candidate::new(HostId::new(*name, 1), (*version).into(), Priority(0));
            Member::new(candidate)
        };
        Self {
            history: vec![record.clone()],
            record,
            members: members.iter().map(member).collect(),
            revoked: BTreeSet::new(),
            suspects: BTreeSet::new(),
            inputs: Vec::new(),
            folds: Vec::new(),
        }
    }

    /// Takes one step, and answers with the folds that it caused: none or one.
    pub(crate) fn step(&mut self, step: Step) -> Vec<Fold> {
        match step {
            Step::Advance { host, choice } => {
                let moves = self.moves(host);
                if let Some(next) = choose(&moves, choice) {
                    self.make(host, *next);
                }
            }
            Step::LateWord { host, word } => {
                if let Some(word) = choose(&self.members[host].words, word).cloned() {
                    self.fold(Input::Statement(word));
                }
            }
            Step::LateView { host, revision } => self.show(host, revision % self.history.len()),
            Step::Lose { host } => self.members[host].in_flight.clear(),
            Step::Repeat { host } => self.members[host].repeat(),
            Step::Crash { host } => self.members[host].crash(),
            Step::Expel { host } => self.report_gone(host),
            Step::Suspect { host } => {
                let host = self.members[host].candidate.host().clone();
                if !self.suspects.remove(&host) {
                    self.suspects.insert(host);
                }
            }
            Step::Ask { host } => self.wish(host, Candidate::ask),
            Step::StandDown { host, after_build } if after_build => {
                self.wish(host, Candidate::stand_down_after);
            }
            Step::StandDown { host, .. } => self.wish(host, Candidate::stand_down),
            Step::Decline { host } => self.wish(host, Candidate::decline),
            Step::BuildFails { host, silently } => {
                let outcome = match silently {
                    true => Outcome::Clean,
                    false => Outcome::Failed("no disk".into()),
                };
                self.members[host].build_ends(outcome);
            }
            Step::Lapse | Step::Cancel { .. } | Step::Revoke | Step::Retry { .. } => {
                self.operate(step);
            }
            Step::Replay { input } => {
                if let Some(input) = choose(&self.inputs, input).cloned() {
                    self.fold(input);
                }
            }
        }
        for member in &self.members {
            member.candidate.check();
        }
        std::mem::take(&mut self.folds)
    }

    /// No more faults: everything that can happen happens in turn, until nothing can. Says whether
    /// that came to an end.
    pub(crate) fn calm(&mut self) -> bool {
        for _ in 0..400 {
            let mut at_rest = true;
            for host in 0..self.members.len() {
                if let Some(next) = self.moves(host).first() {
                    at_rest = false;
                    self.make(host, *next);
                }
            }
            self.folds.clear();
            if at_rest {
                return true;
            }
        }
        false
    }

    /// The record as it was at each revision.
    pub(crate) fn history(&self) -> &[Record] {
        &self.history
    }

    /// One of the versions that come about.
    fn version(number: usize) -> Version {
        Version::new(VERSIONS[number % VERSIONS.len()])
    }

    fn moves(&self, host: usize) -> Vec<Move> {
        let member = &self.members[host];
        if member.crashed {
            return match self.record.is_gone(member.candidate.host()) {
                true => vec![Move::Boot],
                false => vec![Move::ReportGone],
            };
        }
        let mut moves = Vec::new();
        if member.return_wanted {
            moves.push(Move::ComeBack);
        }
        if member.plan_wanted.is_some() {
            moves.push(Move::Plan);
        }
        if !member.in_flight.is_empty() {
            moves.push(Move::WordArrives);
        }
        let seen = member.candidate.view().map(|view| view.revision);
        if seen.is_none_or(|seen| seen < self.record.revision()) {
            moves.push(Move::ViewArrives);
        }
        if let Some(build) = &member.build {
            moves.push(if build.stop { Move::BuildStops } else { Move::BuildGoesOn });
        }
        if member.candidate.phase() == Phase::Idle {
            moves.push(Move::Ask);
        }
        if member.in_flight.is_empty() && !member.candidate.is_acknowledged() {
            moves.push(Move::Repeat);
        }
        moves
    }

    fn make(&mut self, host: usize, next: Move) {
        let floor = self.floor(host);
        let member = &mut self.members[host];
        match next {
            Move::WordArrives => {
                if let Some(word) = member.in_flight.pop_front() {
                    self.fold(Input::Statement(word));
                }
            }
            Move::ViewArrives => self.show(host, self.history.len() - 1),
            Move::Plan => member.plan(),
            Move::BuildGoesOn => member.build_goes_on(),
            Move::BuildStops => member.build_ends(Outcome::Abandoned),
            Move::ComeBack => {
                member.return_wanted = false;
                let back = member.candidate.come_back(floor.next());
                assert_eq!(back, Ok(()), "the number is above all that were used");
                member.settle();
            }
            Move::ReportGone => self.report_gone(host),
            Move::Boot => member.boot(floor.next()),
            Move::Ask => self.wish(host, Candidate::ask),
            Move::Repeat => member.repeat(),
        }
    }

    fn floor(&self, host: usize) -> Incarnation {
        let host = self.members[host].candidate.host();
        let gone = self.record.gone(&host.name);
        host.incarnation.max(gone.unwrap_or_default())
    }

    fn wish(&mut self, host: usize, wish: impl FnOnce(&mut Candidate)) {
        let member = &mut self.members[host];
        if !member.crashed {
            wish(&mut member.candidate);
            member.settle();
        }
    }

    fn show(&mut self, host: usize, revision: usize) {
        let member = &mut self.members[host];
        if member.crashed {
            return;
        }
        let (id, version) = (member.candidate.host(), member.candidate.version());
        let view = self.history[revision].view_for(id, version);
        // An old view is refused, and then nothing changes: a property of its own.
        drop(member.candidate.handle_view(view));
        member.settle();
    }

    fn report_gone(&mut self, host: usize) {
        let gone = self.members[host].candidate.host().clone();
        self.fold(Input::Gone(gone));
    }

    fn operate(&mut self, step: Step) {
        let grant = self.record.hold().map(|hold| hold.grant);
        let reason = Reason::new("by hand");
        let input = match (step, grant) {
            (Step::Lapse, Some(grant)) => Input::Lapse { grant },
            (Step::Cancel { again }, Some(grant)) => {
                Input::Cancel { grant, reason, then: if again { Then::Again } else { Then::Block } }
            }
            (Step::Revoke, Some(grant)) => Input::Revoke { grant, reason },
            (Step::Retry { version }, _) => {
                let version = Self::version(version);
                let Some(verdict) = self.record.verdict(&version) else {
                    return;
                };
                let grant = verdict.grant;
                Input::Retry { version, grant }
            }
            _ => return,
        };
        self.fold(input);
    }

    fn fold(&mut self, input: Input) {
        let before = self.record.clone();
        let answer = before.fold(&input, &self.suspects);
        if let Ok(change) = &answer {
            self.record.apply(change).expect("it was folded on this record");
            self.history.push(self.record.clone());
            let started = before.hold().filter(|hold| hold.is_started());
            if let (Input::Revoke { .. }, Some(hold)) = (&input, started) {
                self.revoked.insert(hold.grant);
            }
        }
        self.inputs.push(input.clone());
        self.folds.push(Fold {
            before,
            input,
            suspects: self.suspects.clone(),
            answer,
            after: self.record.clone(),
        });
    }
}

impl Member {
    fn new(candidate: Candidate) -> Self {
        Self {
            candidate,
            crashed: false,
            in_flight: VecDeque::new(),
            build: None,
            alarms: 0,
            words: Vec::new(),
            plan_wanted: None,
            return_wanted: false,
        }
    }

    /// What follows from an input: orders are taken, a new word is sent.
    fn settle(&mut self) {
        while let Some(effect) = self.candidate.poll_effect() {
            match effect {
                CandidateEffect::MakePlan { grant } => self.plan_wanted = Some(grant),
                CandidateEffect::StartBuild { grant } => {
                    let to_do = self.chunks().into_iter().collect();
                    self.build = Some(Build { grant, to_do, stop: false });
                }
                CandidateEffect::CancelBuild { grant } => {
                    let build = self.build.as_mut().filter(|build| build.grant == grant);
                    build.expect("only a running build is cancelled").stop = true;
                }
                CandidateEffect::Return { .. } => self.return_wanted = true,
                CandidateEffect::Alarm(_) => self.alarms += 1,
            }
        }
        let word = self.candidate.statement();
        if let Some(word) = word.filter(|word| self.words.last() != Some(word)) {
            self.words.push(word.clone());
            self.in_flight.push_back(word);
        }
    }

    fn chunks(&self) -> BTreeSet<Chunk> {
        match self.candidate.version().as_str() {
            "v1" | "v3" => chunks(&["x", "y"]),
            _ => BTreeSet::new(),
        }
    }

    fn plan(&mut self) {
        let grant = self.plan_wanted.take().expect("a plan is wanted");
        let plan = self.chunks();
        // Refused where the offer has gone in the meantime.
        drop(self.candidate.handle_plan(grant, plan));
        self.settle();
    }

    fn repeat(&mut self) {
        if !self.crashed {
            self.in_flight.extend(self.candidate.statement());
        }
    }

    fn build_goes_on(&mut self) {
        let build = self.build.as_mut().expect("a build runs");
        let Some(chunk) = build.to_do.pop_front() else {
            return self.build_ends(Outcome::Clean);
        };
        self.candidate.handle_sign_off(build.grant, chunk, SignOff::Clean).expect("its build runs");
        self.settle();
    }

    fn build_ends(&mut self, outcome: Outcome) {
        if let Some(build) = self.build.take() {
            self.candidate.handle_build_end(build.grant, outcome).expect("its build runs");
            self.settle();
        }
    }

    fn crash(&mut self) {
        self.crashed = true;
        self.build = None;
        self.plan_wanted = None;
        self.return_wanted = false;
    }

    /// It comes back, every other time with the next version. What the earlier life has said may
    /// still arrive.
    fn boot(&mut self, incarnation: Incarnation) {
        let name = self.candidate.host().name.clone();
        let host = HostId { name, incarnation };
        let old = self.candidate.version().as_str();
        let old = VERSIONS.iter().position(|it| *it == old).unwrap_or(0);
        let version = Cluster::version(old + incarnation.0 as usize % 2);
        self.candidate = Candidate::new(host, version, Priority(0));
        self.crashed = false;
    }
}

fn choose<T>(from: &[T], choice: usize) -> Option<&T> {
    (!from.is_empty()).then(|| &from[choice % from.len()])
}
