//! The failures that are kept, reduced and told as scenarios.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Failed, Plan, Ran, Swarm};
use crate::check::{Property, Violation};
use crate::choose::walk_by;
use crate::explain::{Explanation, Failure, Limits, explain};
use crate::scenario::{self, Ended, Scenario};
use crate::variants::names_with;

/// A failure as a scenario.
#[derive(Clone, Debug)]
pub struct Retold {
    /// The scenario.
    pub scenario: Scenario,
    /// The smallest explanation, where one was asked for and found.
    pub explanation: Option<Explanation>,
    /// The text of the scenario was read and run, and breaks the same property.
    pub is_verified: bool,
}

impl Swarm {
    /// Tells each failure that a run has kept, by its seed, on so many threads. `goes_on` is asked
    /// before each, and told how many were begun; once it says no, the rest is not reduced.
    #[must_use]
    pub fn retell_all(
        &self,
        ran: &Ran,
        limits: &Limits,
        jobs: usize,
        goes_on: impl Fn(usize) -> bool + Sync,
    ) -> BTreeMap<u64, Retold> {
        let kept: Vec<(u64, &Failed)> =
            ran.tally.kept.iter().map(|(seed, failed)| (*seed, failed)).collect();
        let next = AtomicUsize::new(0);
        let all = Mutex::new(BTreeMap::new());
        let work = || {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some((seed, failed)) = kept.get(number) else {
                    break;
                };
                let limits = goes_on(number).then_some(limits);
                let retold = self.retell(&ran.plan, *seed, failed, limits);
                let mut all = all.lock().expect("no thread panics while it holds the lock");
                all.insert(*seed, retold);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..jobs.min(kept.len()) {
                scope.spawn(work);
            }
            work();
        });
        all.into_inner().expect("no thread panics while it holds the lock")
    }

    /// Runs a seed that failed again and tells it as a scenario: reduced to what explains it where
    /// there are limits, else, or where the reduction cannot be verified, the whole schedule.
    #[must_use]
    pub fn retell(
        &self,
        plan: &Plan,
        seed: u64,
        failed: &Failed,
        limits: Option<&Limits>,
    ) -> Retold {
        let report = walk_by(seed, plan);
        let property = failed.end.property;
        let explanation = limits.map(|limits| {
            let failure = Failure {
                setup: report.setup.clone(),
                schedule: report.schedule.clone(),
                violation: Violation { property, why: failed.why.clone() },
            };
            explain(&failure, limits)
        });
        if let Some(explanation) = explanation
            && self.breaks(&explanation.scenario, property)
        {
            let scenario = explanation.scenario.clone();
            return Retold { scenario, explanation: Some(explanation), is_verified: true };
        }
        let scenario = report.scenario();
        let is_verified = self.breaks(&scenario, property);
        Retold { scenario, explanation: None, is_verified }
    }

    /// Does the text of a scenario, read and run, break this property?
    fn breaks(&self, scenario: &Scenario, property: Property) -> bool {
        let text = scenario.to_string();
        let read = Scenario::parse("swarm.scenario", &text, &names_with(self.protocol));
        let Ok(read) = read else {
            return false;
        };
        match scenario::run(&read, self.protocol).ended {
            Ended::Breaks { violation, .. } => violation.property == property,
            Ended::Holds => false,
        }
    }
}
