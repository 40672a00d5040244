//! The record's store: a node of its own that answers over the network, and what goes wrong there.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_core::Stream;
use handover_core::journal::CommitAnswer;
use handover_core::{Change, Record, RecordParts, Revision};
use handover_node::{Changes, RecordStore, StoreError};
use handover_sim::draw::Draw;
use handover_sim::world::Who;
use madsim::net::Endpoint;
use madsim::net::rpc::{Deserialize, Request, Serialize};
use madsim::time::{sleep, timeout};

use crate::bell::{Bell, lock};
use crate::faults::Faults;
use crate::judge::{Judge, RECORD, Speaker};
use crate::wire;

/// So many requests of a kind are taken at once: one task takes one message in a millisecond.
const TAKERS: u64 = 4;

/// Longer than anybody waits for an answer.
const NEVER: Duration = Duration::from_secs(3_600);

/// What is on the store's disk, and outlives its process.
#[derive(Clone)]
pub(crate) struct Disk {
    inner: Arc<Mutex<Kept>>,
    /// Rung at each commit.
    bell: Bell,
}

struct Kept {
    record: Record,
    changes: VecDeque<Arc<Change>>,
    /// How many changes are kept.
    most: usize,
    /// What somebody keeps elsewhere.
    backup: Option<Record>,
}

impl Disk {
    pub(crate) fn new(most: usize) -> Self {
        let record = Record::new(RECORD);
        let kept = Kept { record, changes: VecDeque::new(), most, backup: None };
        Self { inner: Arc::new(Mutex::new(kept)), bell: Bell::default() }
    }

    fn commit(&self, change: &Arc<Change>) -> Result<(), Revision> {
        let mut kept = lock(&self.inner);
        if kept.record.apply(change).is_err() {
            return Err(kept.record.revision());
        }
        kept.changes.push_back(Arc::clone(change));
        if kept.changes.len() > kept.most {
            kept.changes.pop_front();
        }
        drop(kept);
        self.bell.ring();
        Ok(())
    }

    pub(crate) fn back_up(&self) {
        let mut kept = lock(&self.inner);
        kept.backup = Some(kept.record.clone());
    }

    /// The record is what it was when it was backed up.
    pub(crate) fn restore(&self) {
        let mut kept = lock(&self.inner);
        if let Some(backup) = kept.backup.clone() {
            kept.record = backup;
            kept.changes.clear();
        }
        drop(kept);
        self.bell.ring();
    }

    fn revision(&self) -> Revision {
        lock(&self.inner).record.revision()
    }

    /// The changes above a revision; none yet where there are none.
    fn above(&self, after: Revision) -> Option<Answer> {
        let kept = lock(&self.inner);
        let found = kept.record.revision();
        if found < after {
            return Some(Answer::Behind(found));
        }
        if found == after {
            return None;
        }
        let first = kept.changes.front().map_or(found, |change| change.expects);
        if first > after {
            return Some(Answer::Compacted);
        }
        let above = kept.changes.iter().filter(|change| change.revision > after);
        Some(Answer::Changes(above.cloned().collect()))
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Load;

impl Request for Load {
    type Response = RecordParts;
    const ID: u64 = 1;
}

#[derive(Debug, Serialize, Deserialize)]
struct Commit {
    from: u16,
    change: Arc<Change>,
}

impl Request for Commit {
    type Response = CommitAnswer;
    const ID: u64 = 2;
}

/// What is new above a revision: answered when there is something, or after a while.
#[derive(Debug, Serialize, Deserialize)]
struct Above {
    after: Revision,
    /// Else it is answered at once.
    waits: bool,
}

impl Request for Above {
    type Response = Answer;
    const ID: u64 = 3;
}

#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    Changes(Vec<Arc<Change>>),
    Compacted,
    Behind(Revision),
    /// The watch is over.
    Ends,
}

/// The store's process: to be run on its node, again after each of its deaths.
pub(crate) async fn serve(
    address: SocketAddr,
    disk: Disk,
    judge: Judge,
    faults: Faults,
    seed: Arc<Mutex<Draw>>,
) {
    let endpoint = loop {
        match Endpoint::bind(address).await {
            Ok(endpoint) => break endpoint,
            Err(_) => sleep(Duration::from_millis(10)).await,
        }
    };
    for _ in 0..TAKERS {
        let kept = disk.clone();
        endpoint.add_rpc_handler(move |_: Load| {
            let parts = lock(&kept.inner).record.to_parts();
            async move { parts }
        });
        let all = (disk.clone(), judge.clone(), faults.clone(), Arc::clone(&seed));
        endpoint.add_rpc_handler(move |request: Commit| commit(all.clone(), request));
        let all = (disk.clone(), faults.clone(), Arc::clone(&seed));
        endpoint.add_rpc_handler(move |request: Above| above(all.clone(), request));
    }
    std::future::pending::<()>().await;
}

async fn commit(
    (disk, judge, faults, draw): (Disk, Judge, Faults, Arc<Mutex<Draw>>),
    Commit { from, change }: Commit,
) -> CommitAnswer {
    let wait = |most| lock(&draw).below(most);
    let per_mille = |chance| lock(&draw).chance(chance);
    let now = faults.read();
    if per_mille(now.conflict) {
        return CommitAnswer::Conflict { found: disk.revision() };
    }
    if per_mille(now.slow_commit) {
        // It may die here, and then nothing is committed.
        sleep(Duration::from_millis(wait(200))).await;
    }
    let committed = disk.commit(&change);
    if committed.is_ok() {
        judge.committed(Who(from), &change);
    }
    if per_mille(now.slow_commit) {
        // Or here, and then nobody is told.
        sleep(Duration::from_millis(wait(200))).await;
    }
    if per_mille(now.lost_reply) {
        sleep(NEVER).await;
    }
    match committed {
        Ok(()) => CommitAnswer::Committed,
        Err(found) => CommitAnswer::Conflict { found },
    }
}

async fn above(
    (disk, faults, draw): (Disk, Faults, Arc<Mutex<Draw>>),
    Above { after, waits }: Above,
) -> Answer {
    let per_mille = |chance| lock(&draw).chance(chance);
    let now = faults.read();
    if per_mille(now.watch_ends) {
        return Answer::Ends;
    }
    let from = if per_mille(now.repeat) { Revision(after.0.saturating_sub(2)) } else { after };
    let patience = if waits { PATIENCE } else { Duration::ZERO };
    let found = timeout(patience, disk.bell.until(|| disk.above(from))).await;
    if per_mille(now.lag) {
        let lag = lock(&draw).below(2_000);
        sleep(Duration::from_millis(lag)).await;
    }
    match found {
        Err(_) => Answer::Changes(Vec::new()),
        Ok(Answer::Changes(mut changes)) => {
            if changes.len() > 1 && per_mille(now.skip) {
                let at = lock(&draw).below(changes.len() as u64);
                changes.remove(usize::try_from(at).expect("an index of a vector"));
            }
            Answer::Changes(changes)
        }
        Ok(answer) => answer,
    }
}

/// How long a watch waits for something new before it asks again.
const PATIENCE: Duration = Duration::from_secs(4);

/// The store as one process reaches it.
pub(crate) struct NetStore {
    pub(crate) endpoint: Arc<Endpoint>,
    pub(crate) address: SocketAddr,
    pub(crate) speaker: Speaker,
    /// How long it waits for an answer.
    pub(crate) patience: Duration,
    /// It looks only so often; else it hears of each change.
    pub(crate) polls: Option<Duration>,
}

fn unavailable(error: &std::io::Error) -> StoreError {
    StoreError::Unavailable { why: error.to_string() }
}

impl RecordStore for NetStore {
    async fn load(&self) -> Result<RecordParts, StoreError> {
        let asked = wire::ask(Arc::clone(&self.endpoint), self.address, Load, self.patience);
        asked.await.map_err(|error| unavailable(&error))
    }

    async fn commit(&self, change: &Change) -> CommitAnswer {
        let Some(from) = *lock(&self.speaker) else {
            // The run had failed before this host spoke, and nothing more is heard.
            return CommitAnswer::Unknown { why: "the run is over".into() };
        };
        let request = Commit { from: from.0, change: Arc::new(change.clone()) };
        match wire::ask(Arc::clone(&self.endpoint), self.address, request, self.patience).await {
            Ok(answer) => answer,
            Err(error) => CommitAnswer::Unknown { why: error.to_string().as_str().into() },
        }
    }

    async fn watch(&self, after: Revision) -> Result<Changes, StoreError> {
        let (endpoint, address) = (self.endpoint.clone(), self.address);
        let asked =
            ask(endpoint.clone(), address, (after, self.polls.is_none()), self.patience).await?;
        let watch = Watch {
            endpoint,
            address,
            patience: self.patience,
            polls: self.polls,
            after,
            read: VecDeque::new(),
            asked: None,
        };
        Ok(Changes::new(watch.holding(asked)))
    }
}

async fn ask(
    endpoint: Arc<Endpoint>,
    address: SocketAddr,
    (after, waits): (Revision, bool),
    patience: Duration,
) -> Result<Option<VecDeque<Arc<Change>>>, StoreError> {
    let asked = wire::ask(endpoint, address, Above { after, waits }, PATIENCE + patience);
    match asked.await.map_err(|error| unavailable(&error))? {
        Answer::Changes(changes) => Ok(Some(changes.into())),
        Answer::Compacted => Err(StoreError::Compacted),
        Answer::Behind(found) => Err(StoreError::Behind { found }),
        Answer::Ends => Ok(None),
    }
}

type Asked = std::pin::Pin<
    Box<dyn Future<Output = Result<Option<VecDeque<Arc<Change>>>, StoreError>> + Send>,
>;

/// Asks for what is new, again and again.
struct Watch {
    endpoint: Arc<Endpoint>,
    address: SocketAddr,
    patience: Duration,
    polls: Option<Duration>,
    after: Revision,
    read: VecDeque<Arc<Change>>,
    asked: Option<Asked>,
}

impl Watch {
    fn holding(mut self, first: Option<VecDeque<Arc<Change>>>) -> Self {
        match first {
            Some(read) => self.read = read,
            None => self.asked = Some(Box::pin(std::future::ready(Ok(None)))),
        }
        self
    }
}

impl Stream for Watch {
    type Item = Result<Arc<Change>, StoreError>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        use std::task::Poll;
        let this = &mut *self;
        loop {
            if let Some(change) = this.read.pop_front() {
                this.after = this.after.max(change.revision);
                return Poll::Ready(Some(Ok(change)));
            }
            let from = (this.after, this.polls.is_none());
            let asked = this.asked.get_or_insert_with(|| {
                let asked = ask(this.endpoint.clone(), this.address, from, this.patience);
                let polls = this.polls;
                Box::pin(async move {
                    if let Some(pause) = polls {
                        sleep(pause).await;
                    }
                    asked.await
                })
            });
            match asked.as_mut().poll(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(Some(read))) => {
                    this.asked = None;
                    this.read = read;
                }
                Poll::Ready(Ok(None)) => return Poll::Ready(None),
                Poll::Ready(Err(error)) => return Poll::Ready(Some(Err(error))),
            }
        }
    }
}
