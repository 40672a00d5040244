//! Wrong shells: the node as it ships, with a store or a membership around it that does what a
//! shell must not. What they leave out is a rule of the driver's (Dr1 to Dr5).

use std::collections::{BTreeSet, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use handover_core::journal::CommitAnswer;
use handover_core::{
    Change, GrantId, HoldRow, HostId, Incarnation, Line, Name, Record, RecordParts, Revision, Seq,
    Stage, Standing, Version,
};
use handover_node::{
    Changes, Membership, MembershipError, Predecessors, RecordStore, Sightings, StoreError,
};
use handover_sim::check::Property;
use madsim::time::{TimeHandle, sleep};

use crate::bell::lock;
use crate::oracle::NetMembership;
use crate::store::NetStore;

/// What carries the hosts of a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shell {
    /// The node as it ships.
    #[default]
    Current,
    /// It says that it stands down only if its own copy names it (MeshWeaver#3567).
    SilentStandDown,
    /// It reports only if its own copy shows that it holds the job (MeshWeaver#4708).
    GuardedReport,
    /// Its deployments declare their drain once they have seen that they are over, which is after
    /// their slot was released (Werkator PR 66).
    DrainAfterSlot,
    /// It reports once, and not until the report is acknowledged (against Dr1).
    ReportOnce,
    /// It takes a commit of which it does not know for one that lost to another (against Dr3).
    UnknownIsLost,
    /// It takes a commit of which it does not know for one that was not made, and nothing more
    /// (against Dr3).
    UnknownIsFailed,
    /// It takes a commit of which it does not know for done (against Dr3).
    UnknownIsDone,
    /// It builds as soon as it has accepted, while its acceptance is on its way (against Ar9).
    BuildBeforeCommit,
    /// It numbers its lives by what the record tells, and writes no number down (against Dr4).
    NumbersFromTheRecord,
}

impl Shell {
    /// All, the right one first.
    pub const ALL: [Self; 10] = [
        Self::Current,
        Self::SilentStandDown,
        Self::GuardedReport,
        Self::DrainAfterSlot,
        Self::ReportOnce,
        Self::UnknownIsLost,
        Self::UnknownIsFailed,
        Self::UnknownIsDone,
        Self::BuildBeforeCommit,
        Self::NumbersFromTheRecord,
    ];

    /// Its name in reports and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::SilentStandDown => "silent-stand-down",
            Self::GuardedReport => "guarded-report",
            Self::DrainAfterSlot => "drain-after-slot",
            Self::ReportOnce => "report-once",
            Self::UnknownIsLost => "unknown-is-lost",
            Self::UnknownIsFailed => "unknown-is-failed",
            Self::UnknownIsDone => "unknown-is-done",
            Self::BuildBeforeCommit => "build-before-commit",
            Self::NumbersFromTheRecord => "numbers-from-the-record",
        }
    }

    /// What it breaks; none for the right one, and for one whose mistake the rest makes up for.
    #[must_use]
    pub fn breaks(self) -> &'static [Property] {
        match self {
            Self::Current | Self::UnknownIsFailed => &[],
            Self::SilentStandDown
            | Self::GuardedReport
            | Self::ReportOnce
            | Self::UnknownIsLost => &[Property::NoWedge],
            Self::DrainAfterSlot => &[Property::QuietDrain],
            Self::UnknownIsDone => {
                &[Property::GateTruth, Property::SingleBuilder, Property::NoLostReport]
            }
            Self::BuildBeforeCommit => &[Property::SingleBuilder, Property::NoAlarm],
            Self::NumbersFromTheRecord => &[Property::NoAlarm],
        }
    }
}

/// The store as a shell uses it.
pub(crate) struct ShellStore {
    pub(crate) shell: Shell,
    pub(crate) name: Name,
    pub(crate) inner: Arc<NetStore>,
    /// How old the copy is that a guarded shell asks.
    pub(crate) lag: Duration,
    pub(crate) copy: Arc<Mutex<OldCopy>>,
    pub(crate) silent: Mutex<Silent>,
}

/// What a shell has decided not to say, or not to say again.
#[derive(Debug, Default)]
pub(crate) struct Silent {
    muted: BTreeSet<(HostId, Seq)>,
    asked: BTreeSet<(HostId, Seq)>,
}

/// A copy of the record that is behind.
#[derive(Debug, Default)]
pub(crate) struct OldCopy {
    record: Option<Record>,
    news: VecDeque<(Duration, Arc<Change>)>,
}

impl OldCopy {
    fn hear(&mut self, change: &Arc<Change>, lag: Duration) {
        self.news.push_back((TimeHandle::current().elapsed() + lag, Arc::clone(change)));
    }

    fn shows(&mut self, host: &HostId, grant: GrantId) -> bool {
        let hold = self.read().and_then(Record::hold);
        hold.is_some_and(|hold| hold.host == *host && hold.grant == grant)
    }

    /// Is there a reason to speak: the job, or a verdict?
    fn has_news_for(&mut self, host: &HostId, version: &Version) -> bool {
        self.read().is_some_and(|record| {
            let named = record.hold().is_some_and(|hold| hold.host == *host);
            named || record.verdict(version).is_some()
        })
    }

    fn read(&mut self) -> Option<&Record> {
        let now = TimeHandle::current().elapsed();
        let record = self.record.as_mut()?;
        let old = self.news.iter().take_while(|(at, _)| *at <= now).count();
        for (_, change) in self.news.drain(..old) {
            // A repeat does not fit, and changes nothing.
            let _ = record.apply(&change);
        }
        Some(record)
    }
}

impl ShellStore {
    /// What this change says for the host itself.
    fn word<'a>(&self, change: &'a Change) -> Option<(&'a HostId, &'a Line)> {
        let mut lines = change.lines.iter().filter(|(host, _)| host.name == self.name);
        lines.find_map(|(host, line)| Some((host, line.as_deref()?)))
    }

    /// Does it ask a copy?
    fn copies(&self) -> bool {
        [Shell::SilentStandDown, Shell::GuardedReport].contains(&self.shell)
    }

    /// How old that is.
    fn age(&self) -> Duration {
        if self.shell == Shell::GuardedReport { self.lag } else { Duration::ZERO }
    }

    /// Does the shell keep this to itself?
    fn keeps(&self, change: &Change) -> bool {
        let Some((host, line)) = self.word(change) else { return false };
        let Line { version, seq, standing, .. } = line;
        let word = (host.clone(), *seq);
        let mut silent = lock(&self.silent);
        if silent.muted.contains(&word) {
            return true;
        }
        let first = silent.asked.insert(word.clone());
        let reports =
            if let Standing::Finished { grant, .. } = standing { Some(grant) } else { None };
        let keeps = match self.shell {
            Shell::SilentStandDown => {
                let stands_down = first && *standing == Standing::StoodDown;
                stands_down && !lock(&self.copy).has_news_for(host, version)
            }
            Shell::GuardedReport => {
                first && reports.is_some_and(|grant| !lock(&self.copy).shows(host, *grant))
            }
            Shell::ReportOnce => reports.is_some() && !first,
            Shell::Current
            | Shell::DrainAfterSlot
            | Shell::UnknownIsLost
            | Shell::UnknownIsFailed
            | Shell::UnknownIsDone
            | Shell::BuildBeforeCommit
            | Shell::NumbersFromTheRecord => false,
        };
        if keeps {
            silent.muted.insert(word);
        }
        keeps
    }

    /// Is this the host's own acceptance?
    fn accepts(&self, change: &Change) -> bool {
        let started = change.hold.as_ref().and_then(HoldRow::hold).is_some_and(|hold| {
            matches!(hold.stage, Stage::Started { .. }) && hold.host.name == self.name
        });
        let accepted = self
            .word(change)
            .is_some_and(|(_, line)| matches!(line.standing, Standing::Accepted { .. }));
        started && accepted
    }
}

impl RecordStore for ShellStore {
    async fn load(&self) -> Result<RecordParts, StoreError> {
        let parts = RecordStore::load(&*self.inner).await?;
        if self.copies() {
            let mut copy = lock(&self.copy);
            if copy.record.is_none() {
                copy.record = Record::from_parts(parts.clone()).ok();
            }
        }
        Ok(parts)
    }

    async fn commit(&self, change: &Change) -> CommitAnswer {
        if self.keeps(change) {
            sleep(self.inner.patience).await;
            return CommitAnswer::Unknown { why: "it was never sent".into() };
        }
        if self.shell == Shell::BuildBeforeCommit && self.accepts(change) {
            let (inner, change) = (Arc::clone(&self.inner), change.clone());
            madsim::task::spawn(async move {
                // Whatever comes of it.
                let _ = inner.commit(&change).await;
            });
            return CommitAnswer::Committed;
        }
        let answer = self.inner.commit(change).await;
        if answer == CommitAnswer::Committed && self.copies() {
            lock(&self.copy).hear(&Arc::new(change.clone()), self.age());
        }
        if !matches!(answer, CommitAnswer::Unknown { .. }) {
            return answer;
        }
        match self.shell {
            Shell::UnknownIsLost => CommitAnswer::Conflict { found: change.revision },
            Shell::UnknownIsFailed => CommitAnswer::Conflict { found: change.expects },
            Shell::UnknownIsDone => CommitAnswer::Committed,
            Shell::Current
            | Shell::SilentStandDown
            | Shell::GuardedReport
            | Shell::DrainAfterSlot
            | Shell::ReportOnce
            | Shell::BuildBeforeCommit
            | Shell::NumbersFromTheRecord => answer,
        }
    }

    async fn watch(&self, after: Revision) -> Result<Changes, StoreError> {
        let changes = RecordStore::watch(&*self.inner, after).await?;
        if !self.copies() {
            return Ok(changes);
        }
        let (copy, lag) = (Arc::clone(&self.copy), self.age());
        Ok(Changes::new(Copying { changes: Mutex::new(changes), copy, lag }))
    }
}

/// A watch that also feeds the copy.
struct Copying {
    changes: Mutex<Changes>,
    copy: Arc<Mutex<OldCopy>>,
    lag: Duration,
}

impl Stream for Copying {
    type Item = Result<Arc<Change>, StoreError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let polled = lock(&self.changes).as_stream().poll_next(context);
        if let Poll::Ready(Some(Ok(change))) = &polled {
            lock(&self.copy).hear(change, self.lag);
        }
        polled
    }
}

/// Membership as a shell uses it.
pub(crate) struct ShellMembership {
    pub(crate) shell: Shell,
    pub(crate) inner: NetMembership,
}

impl Membership for ShellMembership {
    async fn next_incarnation(
        &self,
        name: &Name,
        above: Incarnation,
    ) -> Result<Incarnation, MembershipError> {
        if self.shell == Shell::NumbersFromTheRecord {
            return Ok(above.next());
        }
        self.inner.next_incarnation(name, above).await
    }

    async fn join(&self, host: &HostId) -> Result<Predecessors, MembershipError> {
        self.inner.join(host).await
    }

    async fn leave(&self, host: &HostId) -> Result<(), MembershipError> {
        self.inner.leave(host).await
    }

    async fn watch(&self) -> Result<Sightings, MembershipError> {
        self.inner.watch().await
    }
}
