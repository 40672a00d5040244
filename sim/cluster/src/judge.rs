//! Watches a cluster: a world that follows it, judged by the checks of the simulator at each step.
//!
//! It reads the journal that each node writes anyway, what the store commits, and what the disks
//! and the builds really do. It changes nothing, so a run is the same with it and without.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Arc, Mutex};

use handover_core::journal::{JournalEntry, JournalLine};
use handover_core::{Change, HostId, Input, Phase, Record, RecordId, Work};
use handover_node::Journal;
use handover_sim::check::{Property, Transition, check};
use handover_sim::digest::Digest;
use handover_sim::scenario::tell;
use handover_sim::variants::Current;
use handover_sim::world::{Fact, News, Place, Setup, Who, World};

use crate::bell::{Bell, lock};

/// The record of each cluster.
pub(crate) const RECORD: RecordId = RecordId(1);

/// The most places that a cluster has.
pub const PLACES_MAX: usize = 64;

/// `h1`, `h2` and so on.
pub(crate) fn name_of(place: usize) -> String {
    format!("h{}", place + 1)
}

/// What a run has done wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The property; none where the run is not one that the core makes, or where a scene's own
    /// expectation is not met.
    pub property: Option<Property>,
    /// In words of the domain.
    pub why: String,
}

impl Failure {
    /// An expectation that is not met.
    pub(crate) fn unmet(why: impl Into<String>) -> Self {
        Self { property: None, why: why.into() }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.property {
            Some(property) => write!(f, "{property}: {}", self.why),
            None => f.write_str(&self.why),
        }
    }
}

/// The process that a part belongs to, once it has spoken.
pub(crate) type Speaker = Arc<Mutex<Option<Who>>>;

/// A clone is the same judge.
#[derive(Clone)]
pub(crate) struct Judge {
    inner: Arc<Mutex<Inner>>,
    bell: Bell,
}

struct Inner {
    /// As it was before the newest step.
    before: World,
    world: World,
    digest: Digest,
    failure: Option<Failure>,
    /// What each process has folded: the cause of its change, until it is committed.
    proposed: BTreeMap<Who, Vec<Proposal>>,
    commits: u64,
    steps: u64,
    /// Kept only where somebody is going to read them.
    told: Option<Told>,
    /// The lines of each process of a name, kept where they are going to be judged.
    journals: Option<Journals>,
    traps: Vec<Trap>,
}

/// By the names of their hosts.
pub(crate) type Journals = BTreeMap<String, Vec<JournalLine>>;

/// What is done to a host at once.
type Deed = Box<dyn FnOnce(Who) + Send>;

/// What is to be done in the very step in which a living host comes into such a phase.
struct Trap {
    wanted: Box<dyn Fn(Phase) -> bool + Send>,
    then: Deed,
}

struct Proposal {
    change: Change,
    inputs: Vec<Input>,
    suspects: BTreeSet<HostId>,
}

/// What is told of a run.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// Each step by its name in the scenario language, its consequences indented below it.
    pub trace: Vec<String>,
    /// The journal of each process.
    pub journals: BTreeMap<String, Vec<String>>,
}

impl Judge {
    pub(crate) fn new(tells: bool, keeps: bool) -> Self {
        let place = |number| Place { up: false, ..Place::new(&name_of(number), "v1") };
        let setup = Setup {
            places: (0..PLACES_MAX).map(place).collect(),
            chunks: BTreeSet::new(),
            arbiters: 1,
            protocol: &Current,
        };
        let world = World::new(setup);
        let inner = Inner {
            before: world.clone(),
            world,
            digest: Digest::new(),
            failure: None,
            proposed: BTreeMap::new(),
            commits: 0,
            steps: 0,
            told: tells.then(Told::default),
            journals: keeps.then(Journals::new),
            traps: Vec::new(),
        };
        Self { inner: Arc::new(Mutex::new(inner)), bell: Bell::default() }
    }

    /// Something has happened.
    pub(crate) fn hear(&self, news: News) {
        let sprung = lock(&self.inner).hear(news);
        for (who, then) in sprung {
            then(who);
        }
        self.bell.ring();
    }

    /// Does something in the very step in which a living host comes into such a phase: before the
    /// host takes another one.
    pub(crate) fn trap(
        &self,
        wanted: impl Fn(Phase) -> bool + Send + 'static,
        then: impl FnOnce(Who) + Send + 'static,
    ) {
        let trap = Trap { wanted: Box::new(wanted), then: Box::new(then) };
        lock(&self.inner).traps.push(trap);
    }

    /// The same of a process that may not have spoken yet, or may be dead: what is left of its
    /// futures is dropped later than it dies.
    pub(crate) fn hear_of(&self, speaker: &Speaker, news: impl FnOnce(Who) -> News) {
        let Some(who) = *lock(speaker) else { return };
        if self.look(|world| world.process(who).lives()) {
            self.hear(news(who));
        }
    }

    /// The store has committed a change of a process.
    pub(crate) fn committed(&self, from: Who, change: &Arc<Change>) {
        let proposal = {
            let mut inner = lock(&self.inner);
            inner.commits += 1;
            let proposed = inner.proposed.entry(from).or_default();
            let at = proposed.iter().position(|proposal| proposal.change == **change);
            at.map(|at| proposed.remove(at))
        };
        let Some(Proposal { inputs, suspects, .. }) = proposal else {
            let revision = change.revision;
            self.fail(Failure::unmet(format!(
                "{revision} was committed, and nobody had folded it"
            )));
            return;
        };
        self.hear(News::Committed { from, change: Arc::clone(change), inputs, suspects });
    }

    /// The gate of a process, as a probe reads it, has to be what the record says.
    pub(crate) fn shows(&self, who: Who, is_open: bool) {
        let wrong = is_open
            && self.look(|world| {
                let verdict = world.committed().verdict(world.process(who).host.version());
                !verdict.is_some_and(|verdict| verdict.is_approved())
            });
        if wrong {
            let label = self.look(|world| world.label(who));
            let why = format!("a probe finds the gate of {label} open, and nothing is approved");
            self.fail(Failure { property: Some(Property::GateTruth), why });
        }
    }

    pub(crate) fn fail(&self, failure: Failure) {
        lock(&self.inner).failure.get_or_insert(failure);
        self.bell.ring();
    }

    pub(crate) fn failure(&self) -> Option<Failure> {
        lock(&self.inner).failure.clone()
    }

    pub(crate) fn look<T>(&self, look: impl FnOnce(&World) -> T) -> T {
        look(&lock(&self.inner).world)
    }

    pub(crate) fn record(&self) -> Record {
        self.look(|world| world.committed().clone())
    }

    pub(crate) fn digest(&self) -> Digest {
        lock(&self.inner).digest
    }

    pub(crate) fn commits(&self) -> u64 {
        lock(&self.inner).commits
    }

    pub(crate) fn steps(&self) -> u64 {
        lock(&self.inner).steps
    }

    pub(crate) fn take_journals(&self) -> Option<Journals> {
        lock(&self.inner).journals.take()
    }

    pub(crate) fn take_told(&self) -> Option<Told> {
        lock(&self.inner).told.take()
    }

    /// Ends once this holds of the world, or the run has failed.
    pub(crate) async fn until(&self, holds: impl Fn(&World) -> bool) -> Result<(), Failure> {
        let look = || {
            let inner = lock(&self.inner);
            match &inner.failure {
                Some(failure) => Some(Err(failure.clone())),
                None => holds(&inner.world).then_some(Ok(())),
            }
        };
        self.bell.until(look).await
    }

    /// Where a process writes its journal.
    pub(crate) fn journal(&self, speaker: Speaker) -> impl Journal {
        Sink { judge: self.clone(), speaker }
    }
}

impl Inner {
    /// Takes a piece of news and judges it; what is to be done about it at once.
    fn hear(&mut self, news: News) -> Vec<(Who, Deed)> {
        if self.failure.is_some() {
            return Vec::new();
        }
        self.steps += 1;
        let mut facts = Vec::new();
        let followed = self.world.hear(news, &mut facts);
        let followed = match followed {
            Ok(followed) => followed,
            Err(astray) => {
                self.failure = Some(Failure::unmet(astray.to_string()));
                return Vec::new();
            }
        };
        let time = madsim::time::TimeHandle::current().elapsed();
        let name = format!("{} {}", time.as_nanos(), followed.name);
        self.digest.step(&name, &self.before, &self.world);
        let (event, after) = (&followed.event, &self.world);
        let step = Transition { before: &self.before, event, facts: &facts, after };
        let judged = check(&step);
        if let Some(told) = &mut self.told {
            told.trace.push(followed.name);
            let consequences = facts.iter().filter_map(|fact| tell(after, fact));
            told.trace.extend(consequences.map(|consequence| format!("    {consequence}")));
        }
        if let Err(violation) = judged {
            if let Some(told) = &mut self.told {
                told.trace.push(format!("    BROKEN {violation}"));
            }
            let why = violation.why;
            self.failure = Some(Failure { property: Some(violation.property), why });
        }
        self.before.follow(&mut self.world);
        self.spring(&facts)
    }

    fn spring(&mut self, facts: &[Fact]) -> Vec<(Who, Deed)> {
        let mut sprung = Vec::new();
        for fact in facts {
            let Fact::Moved { who, to, .. } = fact else { continue };
            while let Some(at) = self.traps.iter().position(|trap| (trap.wanted)(*to)) {
                sprung.push((*who, self.traps.remove(at).then));
            }
        }
        sprung
    }
}

/// Reads the journal of one process.
struct Sink {
    judge: Judge,
    speaker: Speaker,
}

impl Journal for Sink {
    fn write(&mut self, line: &str) -> io::Result<()> {
        let parsed: JournalLine = serde_json::from_str(line)?;
        {
            let mut inner = lock(&self.judge.inner);
            let of = || parsed.host.name.to_string();
            if let Some(told) = &mut inner.told {
                told.journals.entry(of()).or_default().push(line.to_owned());
            }
            if let Some(journals) = &mut inner.journals {
                journals.entry(of()).or_default().push(parsed.clone());
            }
        }
        self.take(parsed);
        Ok(())
    }
}

impl Sink {
    fn take(&mut self, line: JournalLine) {
        if let JournalEntry::Boot { version, priority, settings, ledger } = line.entry {
            let host = line.host;
            let name = host.name.clone();
            self.judge.hear(News::Booted { host, version, priority, settings, ledger });
            *lock(&self.speaker) = self.judge.look(|world| world.newest(&name));
            return;
        }
        let Some(who) = *lock(&self.speaker) else {
            // The run has failed before it booted, and nothing more is heard.
            return;
        };
        if !self.judge.look(|world| world.process(who).lives()) {
            // It was killed in this very step.
            return;
        }
        match line.entry {
            JournalEntry::Input(input) => self.judge.hear(News::Heard(who, input)),
            JournalEntry::Acknowledged { effect, outcome } => {
                self.judge.hear(News::Acknowledged(who, effect, outcome));
            }
            JournalEntry::Proposed { change, inputs, suspects, .. } => {
                let proposal = Proposal { change, inputs, suspects };
                lock(&self.judge.inner).proposed.entry(who).or_default().push(proposal);
            }
            JournalEntry::Refused { input, refusal, .. } => {
                self.judge.hear(News::Refused(who, input, refusal));
            }
            JournalEntry::Ended => self.judge.hear(News::Exited(who)),
            JournalEntry::Boot { .. }
            | JournalEntry::Loaded(_)
            | JournalEntry::Answered { .. }
            | JournalEntry::Lost { .. } => {}
        }
    }
}

/// A build that really runs: from its first poll until nothing of it is left.
pub(crate) struct Running {
    judge: Judge,
    speaker: Speaker,
    work: Work,
    clean: Option<bool>,
}

impl Running {
    pub(crate) fn begin(
        judge: &Judge,
        speaker: &Speaker,
        work: Work,
        plan: BTreeSet<handover_core::Chunk>,
    ) -> Self {
        judge.hear_of(speaker, |who| News::Runs { who, work: work.clone(), plan });
        Self { judge: judge.clone(), speaker: Arc::clone(speaker), work, clean: None }
    }

    /// It has ended by itself.
    pub(crate) fn ends(mut self, clean: bool) {
        self.clean = Some(clean);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let (work, clean) = (self.work.clone(), self.clean);
        self.judge.hear_of(&self.speaker, |who| News::Over { who, work, clean });
    }
}
