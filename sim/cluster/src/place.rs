//! A place where processes of one name live: a node of the simulated network, and a disk.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use handover_core::{BuildId, HostId, Ledger, Version};
use handover_node::{Driver, DriverError, Ended, Node, Options, Parts};
use handover_sim::draw::Draw;
use handover_sim::world::{News, Who};
use madsim::net::Endpoint;
use madsim::runtime::NodeHandle;
use madsim::time::sleep;

use crate::bell::lock;
use crate::clock::Skewed;
use crate::disk::Book;
use crate::faults::Faults;
use crate::judge::{Failure, Judge, Speaker};
use crate::oracle::{self, NetMembership, Oracle};
use crate::pace::{Pace, Paced};
use crate::shells::{OldCopy, Shell, ShellMembership, ShellStore, Silent};
use crate::store::NetStore;
use crate::work::{Shop, Worker};

/// What all places of a cluster share.
#[derive(Clone)]
pub(crate) struct Common {
    pub(crate) judge: Judge,
    pub(crate) faults: Faults,
    pub(crate) shop: Arc<Mutex<Shop>>,
    pub(crate) shell: Shell,
    pub(crate) store: SocketAddr,
    pub(crate) oracle: SocketAddr,
    pub(crate) known: Oracle,
    /// The hosts look into the store only so often.
    pub(crate) polls: Option<Duration>,
    /// Where whoever starts the processes lives.
    pub(crate) supervisor: NodeHandle,
    /// How long an offer to another stands before who asks lets it lapse.
    pub(crate) offer_patience: Arc<Mutex<Duration>>,
    /// Builds whose success owes a drain.
    pub(crate) deployments: Arc<Mutex<BTreeSet<BuildId>>>,
    /// How many have refused a record that was restored; none where it was not.
    pub(crate) refused: Arc<Mutex<Option<usize>>>,
}

/// A place; a clone is the same.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) common: Common,
    pub(crate) name: String,
    /// What boots there next.
    pub(crate) version: Arc<Mutex<Version>>,
    pub(crate) asks: Arc<Mutex<bool>>,
    pub(crate) pace: Arc<Mutex<Pace>>,
    pub(crate) clock: Skewed,
    pub(crate) ledger: Arc<Mutex<Option<Ledger>>>,
    /// Nothing is written there any more, until the next process gets another one.
    pub(crate) disk_is_dead: Arc<Mutex<bool>>,
    pub(crate) draw: Arc<Mutex<Draw>>,
    pub(crate) lives: Arc<Mutex<Life>>,
}

/// The process of a place that lives.
#[derive(Default)]
pub(crate) struct Life {
    pub(crate) node: Option<Node>,
    pub(crate) speaker: Speaker,
}

impl Place {
    /// The handle of what runs there.
    pub(crate) fn node(&self) -> Option<Node> {
        lock(&self.lives).node.clone()
    }

    /// Its process in the world that follows.
    pub(crate) fn who(&self) -> Option<Who> {
        *lock(&lock(&self.lives).speaker)
    }

    /// Does a process live there that has spoken?
    pub(crate) fn lives(&self) -> bool {
        self.node().is_some() && self.who().is_some()
    }

    pub(crate) fn id(&self) -> Option<HostId> {
        let who = self.who()?;
        self.common.judge.look(|world| Some(world.process(who).host.id().clone()))
    }

    /// One process after another, each when the one before has ended to be started again.
    pub(crate) async fn run(self) {
        loop {
            let (node, driver, speaker) = self.boot().await;
            let gate = node.gate();
            *lock(&self.lives) = Life { node: Some(node), speaker: Arc::clone(&speaker) };
            let ended = self.carry(driver, |judge| {
                if let Some(who) = *lock(&speaker) {
                    judge.shows(who, gate.is_open());
                }
            });
            let ended = ended.await;
            self.is_over();
            match ended {
                // Who is told to end because of his disk is started again on another one.
                Ok(Ended::Restart | Ended::Shutdown) | Err(DriverError::LedgerLost { .. }) => {}
                Ok(Ended::Stop) => return,
                Err(DriverError::Restored { .. }) if lock(&self.common.refused).is_some() => {
                    if let Some(refused) = &mut *lock(&self.common.refused) {
                        *refused += 1;
                    }
                    return;
                }
                Err(error) if self.common.shell == Shell::Current => {
                    let why = format!("{} cannot go on: {error}", self.name);
                    self.common.judge.fail(Failure::unmet(why));
                    return;
                }
                // The node has seen through its shell, and is started again as it asks.
                Err(_) => self.common.judge.hear_of(&speaker, News::Crashed),
            }
        }
    }

    /// Whoever started the process sees its end, late, whether it could say so or not (Dr2).
    fn is_over(&self) {
        let id = self.id();
        lock(&self.lives).node = None;
        if let Some(id) = id {
            let after = Duration::from_millis(lock(&self.draw).below(15_000));
            let late = oracle::say_late(self.common.known.clone(), id, after);
            // The supervisor is no process of this place, and outlives them.
            self.common.supervisor.spawn(late);
        }
    }

    async fn boot(&self) -> (Node, Driver, Speaker) {
        loop {
            *lock(&self.disk_is_dead) = false;
            let speaker = Speaker::default();
            let endpoint = Endpoint::bind("0.0.0.0:0").await;
            let endpoint = Arc::new(endpoint.expect("there are ports that nobody has"));
            let booted = Node::boot(self.options(&speaker), self.parts(endpoint, &speaker)).await;
            match booted {
                Ok((node, driver)) => return (node, driver, speaker),
                Err(_) => sleep(Duration::from_millis(100)).await,
            }
        }
    }

    fn options(&self, speaker: &Speaker) -> Options {
        let version = lock(&self.version).clone();
        let options = Options::new(self.name.as_str(), version.as_str())
            .seed(lock(&self.draw).below(u64::MAX))
            .offer_patience(*lock(&self.common.offer_patience))
            .journal(self.common.judge.journal(Arc::clone(speaker)));
        if *lock(&self.asks) { options } else { options.watch_only() }
    }

    fn parts(
        &self,
        endpoint: Arc<Endpoint>,
        speaker: &Speaker,
    ) -> Parts<ShellStore, ShellMembership, Skewed, Book, Worker> {
        let common = &self.common;
        let patience = Duration::from_millis(lock(&self.draw).between(100, 800));
        let lag = Duration::from_millis(lock(&self.draw).below(3_000));
        let store = NetStore {
            endpoint: endpoint.clone(),
            address: common.store,
            speaker: Arc::clone(speaker),
            patience,
            polls: common.polls,
        };
        let store = ShellStore {
            shell: common.shell,
            name: self.name.as_str().into(),
            inner: Arc::new(store),
            lag,
            copy: Arc::new(Mutex::new(OldCopy::default())),
            silent: Mutex::new(Silent::default()),
        };
        let inner = NetMembership { endpoint, address: common.oracle, patience };
        Parts {
            store: Arc::new(store),
            membership: Arc::new(ShellMembership { shell: common.shell, inner }),
            clock: Arc::new(self.clock.clone()),
            ledger: Arc::new(Book {
                kept: Arc::clone(&self.ledger),
                is_dead: Arc::clone(&self.disk_is_dead),
                judge: common.judge.clone(),
                speaker: Arc::clone(speaker),
                faults: common.faults.clone(),
                draw: Arc::clone(&self.draw),
                deployments: Arc::clone(&common.deployments),
            }),
            builder: Arc::new(Worker {
                shop: Arc::clone(&common.shop),
                judge: common.judge.clone(),
                speaker: Arc::clone(speaker),
                draw: Arc::clone(&self.draw),
            }),
        }
    }

    /// Runs the driver at this place's pace, and looks after each of its steps.
    async fn carry(
        &self,
        mut driver: Driver,
        looks: impl Fn(&Judge),
    ) -> Result<Ended, DriverError> {
        let judge = self.common.judge.clone();
        let seed = lock(&self.draw).below(u64::MAX);
        let draw = Draw::new(seed, handover_sim::draw::Concern::Delays);
        let steps = async move {
            let mut run = Box::pin(driver.run());
            std::future::poll_fn(|context| {
                let polled = run.as_mut().poll(context);
                looks(&judge);
                polled
            })
            .await
        };
        Paced::new(steps, Arc::clone(&self.pace), draw).await
    }
}
