//! What is built on the hosts of a cluster, and how that goes.

use std::collections::BTreeSet;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use handover_core::{Chunk, GrantId, SignOff, Version, Work};
use handover_node::{Build, BuildError, Builder};
use handover_sim::draw::Draw;
use handover_sim::world::News;
use madsim::time::sleep;

use crate::bell::lock;
use crate::judge::{Judge, Running, Speaker};

/// What builds are like; a scene changes it while it runs.
#[derive(Clone, Debug)]
pub(crate) struct Shop {
    /// The plan of each build under a grant.
    pub(crate) chunks: BTreeSet<Chunk>,
    /// How long a chunk takes, from and to; a build without chunks takes as long as one.
    pub(crate) takes: (Duration, Duration),
    /// Versions whose builds fail.
    pub(crate) fails: BTreeSet<Version>,
    /// Versions whose builds never end by themselves.
    pub(crate) hangs: BTreeSet<Version>,
    /// What a build that is told to stop needs for it, at most.
    pub(crate) stopping: Duration,
}

impl Default for Shop {
    fn default() -> Self {
        Self {
            chunks: ["assets".into(), "schema".into()].into(),
            takes: (Duration::from_millis(20), Duration::from_millis(400)),
            fails: BTreeSet::new(),
            hangs: BTreeSet::new(),
            stopping: Duration::from_millis(50),
        }
    }
}

/// The builds of one process.
pub(crate) struct Worker {
    pub(crate) shop: Arc<Mutex<Shop>>,
    pub(crate) judge: Judge,
    pub(crate) speaker: Speaker,
    pub(crate) draw: Arc<Mutex<Draw>>,
}

impl Worker {
    fn drawn(&self, (from, to): (Duration, Duration)) -> Duration {
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let (from, to) = (millis(from), millis(to));
        Duration::from_millis(lock(&self.draw).between(from, to.max(from)))
    }

    /// Works for this long; false where it was told to stop before.
    async fn works(&self, build: &Build, time: Duration) -> bool {
        let mut worked = pin!(sleep(time));
        let mut told = pin!(build.cancelled());
        poll_fn(|context| {
            if told.as_mut().poll(context).is_ready() {
                return Poll::Ready(false);
            }
            worked.as_mut().poll(context).map(|()| true)
        })
        .await
    }

    async fn run(&self, build: &Build, plan: &BTreeSet<Chunk>) -> Result<(), BuildError> {
        let shop = lock(&self.shop).clone();
        let hangs = build.grant().is_some() && shop.hangs.contains(build.version());
        for chunk in plan {
            if !self.works(build, self.drawn(shop.takes)).await {
                return self.stops(&shop).await;
            }
            let (work, chunk) = (build.work().clone(), chunk.clone());
            let signed = chunk.clone();
            self.judge
                .hear_of(&self.speaker, |who| News::Signed(who, work, signed, SignOff::Clean));
            build.sign_off(chunk, SignOff::Clean);
        }
        let rest = if hangs { Duration::from_secs(86_400) } else { self.drawn(shop.takes) };
        if (hangs || plan.is_empty()) && !self.works(build, rest).await {
            return self.stops(&shop).await;
        }
        if build.grant().is_some() && shop.fails.contains(build.version()) {
            return Err("it does not compile".into());
        }
        Ok(())
    }

    async fn stops(&self, shop: &Shop) -> Result<(), BuildError> {
        sleep(self.drawn((Duration::ZERO, shop.stopping))).await;
        Err(BuildError::Stopped)
    }
}

impl Builder for Worker {
    async fn plan(&self, _: &Version, _: GrantId) -> Result<BTreeSet<Chunk>, BuildError> {
        Ok(lock(&self.shop).chunks.clone())
    }

    async fn build(&self, build: Build) -> Result<(), BuildError> {
        let plan = match build.work() {
            Work::Granted(_) => lock(&self.shop).chunks.clone(),
            Work::Local(_) => BTreeSet::new(),
        };
        let running =
            Running::begin(&self.judge, &self.speaker, build.work().clone(), plan.clone());
        let ended = self.run(&build, &plan).await;
        match &ended {
            Ok(()) => running.ends(true),
            Err(BuildError::Failed(_)) => running.ends(false),
            Err(BuildError::Stopped) => drop(running),
        }
        ended
    }

    async fn store_artifacts(&self, work: &Work) -> Result<(), BuildError> {
        if lock(&self.draw).chance(100) {
            return Err("the disk is busy".into());
        }
        self.judge.hear_of(&self.speaker, |who| News::Stored(who, work.clone()));
        Ok(())
    }
}
