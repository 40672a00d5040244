//! The seeds, run on several threads.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::shard::Shard;
use super::tally::Tally;
use super::{Plan, Settings, Strategy};
use crate::variants::Protocol;

/// What is run.
#[derive(Clone, Debug)]
pub struct Swarm {
    /// The bounds of each schedule.
    pub settings: Settings,
    /// How each schedule is picked.
    pub strategy: Strategy,
    /// What the actors follow.
    pub protocol: &'static dyn Protocol,
    /// The seeds of all shards.
    pub seeds: Range<u64>,
    /// The share that is run.
    pub shard: Shard,
}

/// What a run has come to.
#[derive(Clone, Debug)]
pub struct Ran {
    /// Of the seeds of the share, in their order, so many were run: the tally's schedules.
    pub tally: Tally,
    /// All seeds of the share were run.
    pub is_complete: bool,
    /// What the strategy made of the seeds.
    pub plan: Plan,
}

impl Swarm {
    /// Runs the seeds of the share in their order, on so many threads, until `goes_on` says no; it
    /// is asked before each seed, and told how many were run and how many of them failed. A seed
    /// that was begun is run to its end, so which seeds were run is told by their number alone, and
    /// what they come to depends on nothing else.
    pub fn run(&self, jobs: usize, goes_on: impl Fn(u64, u64) -> bool + Sync) -> Ran {
        let (next, broken) = (AtomicU64::new(0), AtomicU64::new(0));
        let stopped = AtomicBool::new(false);
        let plan = Plan::new(&self.settings, self.strategy, self.protocol);
        let all = Mutex::new(Tally::default());
        let work = || {
            let mut tally = Tally::default();
            while !stopped.load(Ordering::Relaxed) {
                if !goes_on(next.load(Ordering::Relaxed), broken.load(Ordering::Relaxed)) {
                    stopped.store(true, Ordering::Relaxed);
                    break;
                }
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(seed) = self.shard.seed(&self.seeds, number) else {
                    break;
                };
                let one = Tally::of_seed(seed, &plan);
                broken.fetch_add(one.broken, Ordering::Relaxed);
                tally.merge(one);
            }
            let mut all = all.lock().expect("no thread panics while it holds the lock");
            all.merge(tally);
        };
        std::thread::scope(|scope| {
            for _ in 1..jobs {
                scope.spawn(work);
            }
            work();
        });
        let tally = all.into_inner().expect("no thread panics while it holds the lock");
        let is_complete = tally.schedules == self.shard.len(&self.seeds);
        Ran { tally, is_complete, plan }
    }
}
