//! A cluster: places, a store, an oracle, and what a scene does to them.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use handover_core::Phase;
use handover_node::Node;
use handover_sim::check::Property;
use handover_sim::draw::{Concern, Draw};
use handover_sim::world::{News, Who, World};
use madsim::net::NetSim;
use madsim::runtime::{Handle, NodeHandle};
use madsim::task::NodeId;
use madsim::time::{TimeHandle, sleep, timeout};

use crate::bell::lock;
use crate::clock::Skewed;
use crate::faults::{Chances, Faults};
use crate::judge::{Failure, Judge, PLACES_MAX, name_of};
use crate::oracle::{self, Oracle, Seen};
use crate::pace::Pace;
use crate::place::{Common, Life, Place};
use crate::shells::Shell;
use crate::store::{self, Disk};
use crate::work::Shop;

/// How long a run may go on without coming to what a scene waits for.
const LIMIT: Duration = Duration::from_secs(900);

/// A cluster under a seed.
pub(crate) struct Cluster {
    pub(crate) judge: Judge,
    pub(crate) common: Common,
    pub(crate) oracle: Oracle,
    pub(crate) draw: Mutex<Draw>,
    places: Vec<(Place, NodeId)>,
    store: NodeHandle,
    disk: Disk,
    seed: u64,
}

fn kill(place: &Place, node: NodeId) {
    if let (Some(who), Some(id)) = (place.who(), place.id())
        && place.node().is_some()
    {
        place.common.judge.hear(News::Crashed(who));
        let after = Duration::from_millis(lock(&place.draw).below(15_000));
        let late = oracle::say_late(place.common.known.clone(), id, after);
        place.common.supervisor.spawn(late);
    }
    *lock(&place.lives) = Life::default();
    Handle::current().kill(node);
}

fn address(last: usize) -> SocketAddr {
    let (high, low) = (last / 250, last % 250 + 1);
    format!("10.0.{high}.{low}:1").parse().expect("it is an address")
}

impl Cluster {
    /// A store and an oracle, and nobody who lives yet.
    pub(crate) fn new(seed: u64, shell: Shell, judge: Judge) -> Self {
        let (store, oracle) = (address(0), address(1));
        let faults = Faults::default();
        let known = Oracle::default();
        let told = known.clone();
        let node = Handle::current().create_node().name("oracle").ip(oracle.ip()).build();
        node.spawn(oracle::serve(oracle, told));
        let common = Common {
            judge: judge.clone(),
            faults: faults.clone(),
            shop: Arc::new(Mutex::new(Shop::default())),
            shell,
            store,
            oracle,
            known: known.clone(),
            polls: None,
            supervisor: node,
            offer_patience: Arc::new(Mutex::new(Duration::from_secs(10))),
            deployments: Arc::default(),
            refused: Arc::default(),
        };
        let kept = Disk::new(40);
        let on_disk = kept.clone();
        let draw = Arc::new(Mutex::new(Draw::new(seed, Concern::Faults)));
        let (disk, judged) = (kept, judge.clone());
        let store = Handle::current()
            .create_node()
            .name("store")
            .ip(store.ip())
            .init(move || {
                let (disk, judge, faults) = (disk.clone(), judged.clone(), faults.clone());
                store::serve(address(0), disk, judge, faults, Arc::clone(&draw))
            })
            .build();
        let draw = Mutex::new(Draw::new(seed, Concern::Workload));
        let places = Vec::new();
        Self { judge, common, oracle: known, draw, places, store, disk: on_disk, seed }
    }

    /// A new place, and the first process there.
    pub(crate) fn add(&mut self, version: &str) -> usize {
        let index = self.places.len();
        assert!(index < PLACES_MAX, "a cluster has at most {PLACES_MAX} places");
        let mut draw = Draw::new(self.seed ^ ((index as u64 + 1) << 48), Concern::Delays);
        let clock = Skewed {
            zero: Duration::from_millis(draw.below(100_000)),
            rate: u32::try_from(draw.between(950, 1_050)).expect("it is small"),
            jumped: Arc::default(),
        };
        let place = Place {
            common: self.common.clone(),
            name: name_of(index),
            version: Arc::new(Mutex::new(version.into())),
            asks: Arc::new(Mutex::new(true)),
            pace: Arc::new(Mutex::new(Pace::Quick)),
            clock,
            ledger: Arc::default(),
            disk_is_dead: Arc::default(),
            draw: Arc::new(Mutex::new(draw)),
            lives: Arc::new(Mutex::new(Life::default())),
        };
        let runs = place.clone();
        let node = Handle::current()
            .create_node()
            .name(&place.name)
            .ip(address(index + 2).ip())
            .init(move || runs.clone().run())
            .build();
        self.places.push((place, node.id()));
        index
    }

    pub(crate) fn places(&self) -> impl Iterator<Item = usize> + use<> {
        0..self.places.len()
    }

    pub(crate) fn place(&self, index: usize) -> &Place {
        &self.places[index].0
    }

    /// The handle of what runs there, once it has said its first word to the judge.
    pub(crate) async fn node(&self, index: usize) -> Result<Node, Failure> {
        let place = self.place(index);
        self.until("it is up", |_| place.node().is_some() && place.who().is_some()).await?;
        Ok(place.node().expect("it was just seen"))
    }

    pub(crate) fn below(&self, bound: u64) -> u64 {
        lock(&self.draw).below(bound)
    }

    pub(crate) fn chance(&self, per_mille: u64) -> bool {
        lock(&self.draw).chance(per_mille)
    }

    pub(crate) fn pick(&self) -> usize {
        usize::try_from(self.below(self.places.len() as u64)).expect("it is an index")
    }

    /// Lets a drawn time pass, up to this.
    pub(crate) async fn wait(&self, most: Duration) -> Result<(), Failure> {
        let most = u64::try_from(most.as_micros()).expect("it is short").max(1);
        sleep(Duration::from_micros(self.below(most))).await;
        self.judge.failure().map_or(Ok(()), Err)
    }

    /// Waits until this holds.
    pub(crate) async fn until(
        &self,
        what: &str,
        holds: impl Fn(&World) -> bool,
    ) -> Result<(), Failure> {
        match timeout(LIMIT, self.judge.until(holds)).await {
            Ok(ended) => ended,
            Err(_) => Err(self.stuck(&format!("{what}: never"))),
        }
    }

    /// It has not come to this; what is stuck is said, if something is.
    fn stuck(&self, unmet: &str) -> Failure {
        let stuck = self.judge.look(World::stuck);
        if stuck.is_empty() {
            return Failure::unmet(unmet);
        }
        let stuck: Vec<String> = stuck.into_iter().map(|stuck| stuck.0).collect();
        Failure { property: Some(Property::NoWedge), why: stuck.join("; ") }
    }

    /// Somebody builds under a grant; who.
    pub(crate) async fn builder(&self) -> Result<usize, Failure> {
        self.holder_in("somebody builds", |phase| matches!(phase, Phase::Building { .. })).await
    }

    /// A living host comes into such a phase; where.
    pub(crate) async fn holder_in(
        &self,
        what: &str,
        wanted: impl Fn(Phase) -> bool,
    ) -> Result<usize, Failure> {
        let found = |world: &World| {
            let mut living = world.processes().filter(|(_, process)| process.lives());
            living.find(|(_, process)| wanted(process.phase())).map(|(who, _)| who)
        };
        self.until(what, |world| found(world).is_some()).await?;
        let who = self.judge.look(found).expect("it was just seen");
        Ok(self.place_of(who))
    }

    fn place_of(&self, who: Who) -> usize {
        let mut places = self.places.iter();
        let at = places.position(|(place, _)| place.who() == Some(who));
        at.expect("each process lives at a place")
    }

    /// The process dies with all that it had in memory. Membership learns of it, late.
    pub(crate) fn crash(&self, index: usize) {
        let (place, node) = &self.places[index];
        kill(place, *node);
    }

    /// The first host that comes into such a phase dies in that very step; where.
    pub(crate) async fn crash_in(
        &self,
        what: &str,
        phase: impl Fn(Phase) -> bool + Send + 'static,
    ) -> Result<usize, Failure> {
        let places = self.places.clone();
        let dead = Arc::new(Mutex::new(None));
        let dies = Arc::clone(&dead);
        self.judge.trap(phase, move |who| {
            let at = places.iter().position(|(place, _)| place.who() == Some(who));
            let at = at.expect("each process lives at a place");
            let (place, node) = &places[at];
            kill(place, *node);
            *lock(&dies) = Some(at);
        });
        self.until(what, |_| lock(&dead).is_some()).await?;
        let at = lock(&dead).expect("it was just seen");
        Ok(at)
    }

    /// The next process of a place starts. The last one has to be dead.
    pub(crate) fn boot(&self, index: usize, version: &str) {
        let (place, node) = &self.places[index];
        *lock(&place.version) = version.into();
        Handle::current().kill(*node);
        Handle::current().restart(*node);
    }

    /// The next process of a place starts, of the version that is meant to run there.
    pub(crate) fn boot_again(&self, index: usize) {
        let version = lock(&self.place(index).version).clone();
        self.boot(index, version.as_str());
    }

    /// The disk of a place is lost. A process that lives there finds that it cannot write any more,
    /// and somebody ends it after a while; the next one begins with an empty book.
    pub(crate) fn lose_disk(&self, index: usize) {
        let place = self.place(index);
        let lives = place.node().filter(|_| place.lives());
        let of = self.judge.look(|world| world.newest(&place.name.as_str().into()));
        let Some(of) = of else { return };
        *lock(&place.ledger) = None;
        self.judge.hear(News::DiskLost(of));
        let Some(node) = lives else { return };
        *lock(&place.disk_is_dead) = true;
        let (until, between) = (self.below(20_000), self.below(5_000));
        self.common.supervisor.spawn(async move {
            sleep(Duration::from_millis(until)).await;
            node.shutdown();
            sleep(Duration::from_millis(between)).await;
            node.shutdown();
        });
    }

    /// The counter of a place's incarnations is lost, at a place where nobody lives. The record has
    /// to know the last of them: no number is used again.
    pub(crate) fn lose_counter(&self, index: usize) {
        let name = self.place(index).name.as_str().into();
        let record = self.judge.record();
        let spoke = record.lives(&name).map(|(host, _)| host.incarnation).max();
        let known = spoke.max(record.to_parts().gone.get(&name).copied());
        self.oracle.lose_counter(&name, known);
    }

    /// Membership says that a process has ended, although it lives.
    pub(crate) fn say_wrongly(&self, index: usize, seen: Seen) {
        if let Some(id) = self.place(index).id() {
            self.oracle.say(id, seen);
        }
    }

    pub(crate) fn freeze(&self, index: usize) {
        Handle::current().pause(self.places[index].1);
    }

    pub(crate) fn thaw(&self, index: usize) {
        Handle::current().resume(self.places[index].1);
    }

    pub(crate) fn set_pace(&self, index: usize, pace: Pace) {
        *lock(&self.place(index).pace) = pace;
    }

    /// Nothing goes between this place and the store.
    pub(crate) fn cut(&self, index: usize) {
        let (here, store) = (self.places[index].1, self.store.id());
        NetSim::current().clog_link(here, store);
        NetSim::current().clog_link(store, here);
    }

    pub(crate) fn mend(&self, index: usize) {
        let (here, store) = (self.places[index].1, self.store.id());
        NetSim::current().unclog_link(here, store);
        NetSim::current().unclog_link(store, here);
    }

    /// The store's process dies, and comes back with what was committed.
    pub(crate) async fn restart_store(&self) -> Result<(), Failure> {
        Handle::current().kill(self.store.id());
        self.wait(Duration::from_secs(2)).await?;
        Handle::current().restart(self.store.id());
        Ok(())
    }

    pub(crate) fn back_up(&self) {
        self.disk.back_up();
    }

    /// The store is restored from the backup, and each host sees that and ends.
    pub(crate) async fn restore(&self) -> Result<(), Failure> {
        *lock(&self.common.refused) = Some(0);
        self.disk.restore();
        let all = self.places.len();
        let ends = TimeHandle::current().elapsed() + LIMIT;
        while *lock(&self.common.refused) != Some(all) {
            if TimeHandle::current().elapsed() > ends {
                return Err(Failure::unmet("somebody goes on with a record that was restored"));
            }
            self.pause(Duration::from_millis(250)).await?;
        }
        Ok(())
    }

    pub(crate) fn set_faults(&self, chances: Chances) {
        self.common.faults.set(chances);
        let loss = u32::try_from(chances.loss).expect("it is at most a thousand");
        NetSim::current().update_config(|config| {
            config.packet_loss_rate = f64::from(loss) / 1_000.0;
        });
    }

    /// The weather of a run: which faults are on and how often, how far the network is, who is slow.
    pub(crate) fn draw_weather(&self) {
        let chances = Chances::drawn(&mut lock(&self.draw));
        self.set_faults(chances);
        let from = Duration::from_micros(self.below(2_000));
        let to = from + Duration::from_micros(1 + self.below(50_000));
        NetSim::current().update_config(|config| config.send_latency = from..to);
        for place in self.places() {
            let pace = match self.below(4) {
                0 => Pace::Slow(Duration::from_millis(1 + self.below(100))),
                1 => Pace::Turns(1 + self.below(30)),
                _ => Pace::Quick,
            };
            self.set_pace(place, pace);
        }
    }

    /// All faults end; who is slow stays slow.
    pub(crate) fn heal(&self) {
        self.set_faults(Chances::default());
        for place in self.places() {
            self.mend(place);
            self.thaw(place);
        }
    }

    /// Heals, and demands that the rollout comes to its end and stays there.
    pub(crate) async fn rest(&self) -> Result<(), Failure> {
        self.heal();
        let ends = TimeHandle::current().elapsed() + LIMIT;
        while !self.judge.look(World::is_converged) {
            if TimeHandle::current().elapsed() > ends {
                return Err(self.stuck("it does not come to its end"));
            }
            self.pause(Duration::from_millis(250)).await?;
        }
        self.pause(Duration::from_secs(30)).await?;
        if self.judge.look(World::is_converged) {
            return Ok(());
        }
        Err(self.stuck("it had come to its end, and has gone on"))
    }

    async fn pause(&self, time: Duration) -> Result<(), Failure> {
        sleep(time).await;
        self.judge.failure().map_or(Ok(()), Err)
    }

    /// Each place has an open gate, and what runs there is this version.
    pub(crate) fn expect_served(&self, version: &str) -> Result<(), Failure> {
        for index in self.places() {
            let place = self.place(index);
            let served = place.node().is_some_and(|node| node.gate().is_open());
            let runs = place.who().is_some_and(|who| {
                self.judge.look(|world| world.process(who).host.version().as_str() == version)
            });
            if !(served && runs) {
                let name = &place.name;
                return Err(Failure::unmet(format!("{name} does not serve {version} at rest")));
            }
        }
        Ok(())
    }
}
