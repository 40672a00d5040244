//! Many seeds.

use std::ops::Range;
use std::time::Duration;

use crate::run::{Outcome, Plan, run};

/// What many runs came to.
#[derive(Clone, Debug, Default)]
pub struct Sweep {
    /// How many were run.
    pub runs: u64,
    /// Those that failed, by their seeds.
    pub failures: Vec<Outcome>,
    /// How long they were together, in simulated time.
    pub time: Duration,
    /// How many steps were judged.
    pub steps: u64,
    /// How many changes were committed.
    pub commits: u64,
}

/// Runs each seed, so many at a time, and calls `seen` in the order of the seeds. It goes on after
/// a failure unless `seen` says otherwise.
pub fn sweep(
    plan: Plan,
    seeds: Range<u64>,
    jobs: usize,
    mut seen: impl FnMut(&Outcome) -> bool,
) -> Sweep {
    let mut sweep = Sweep::default();
    let jobs = jobs.max(1) as u64;
    let mut first = seeds.start;
    while first < seeds.end {
        let last = (first + jobs * BATCH).min(seeds.end);
        for outcome in batch(plan, first..last, jobs) {
            let goes_on = seen(&outcome);
            sweep.add(outcome);
            if !goes_on {
                return sweep;
            }
        }
        first = last;
    }
    sweep
}

/// How many seeds a job takes at a time.
const BATCH: u64 = 8;

fn batch(plan: Plan, seeds: Range<u64>, jobs: u64) -> Vec<Outcome> {
    let share = |job: u64| seeds.clone().filter(move |seed| seed % jobs == job);
    let mut outcomes: Vec<Outcome> = std::thread::scope(|scope| {
        let started: Vec<_> = (0..jobs)
            .map(|job| {
                let seeds = share(job);
                scope.spawn(move || seeds.map(|seed| run(plan, seed)).collect::<Vec<_>>())
            })
            .collect();
        let joined = started.into_iter();
        joined.flat_map(|job| job.join().expect("a run reports its own panic")).collect()
    });
    outcomes.sort_by_key(|outcome| outcome.seed);
    outcomes
}

impl Sweep {
    fn add(&mut self, outcome: Outcome) {
        self.runs += 1;
        self.time += outcome.time;
        self.steps += outcome.steps;
        self.commits += outcome.commits;
        if outcome.failure.is_some() {
            self.failures.push(outcome);
        }
    }
}

/// The seeds that a test runs: so many from 0, or as `MADSIM_TEST_SEED` (the first) and
/// `MADSIM_TEST_NUM` (how many) say, as users of madsim expect. The first alone is that one.
///
/// # Panics
/// If a variable is not a number.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "these variables are the interface of madsim's users"
)]
pub fn seeds_of_environment(count: u64) -> Range<u64> {
    let number = |name: &str| {
        let text = std::env::var(name).ok()?;
        Some(text.parse::<u64>().unwrap_or_else(|_| panic!("{name}={text} is not a number")))
    };
    seeds(number("MADSIM_TEST_SEED"), number("MADSIM_TEST_NUM"), count)
}

fn seeds(first: Option<u64>, count: Option<u64>, otherwise: u64) -> Range<u64> {
    let default = if first.is_some() { 1 } else { otherwise };
    let first = first.unwrap_or_default();
    first..first.saturating_add(count.unwrap_or(default))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seeds_are_those_that_a_user_of_madsim_expects() {
        assert_eq!(seeds(None, None, 100), 0..100);
        assert_eq!(seeds(Some(7), None, 100), 7..8);
        assert_eq!(seeds(Some(7), Some(3), 100), 7..10);
        assert_eq!(seeds(None, Some(3), 100), 0..3);
    }
}
