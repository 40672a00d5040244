//! Has the rollout come to its end, and if not, what is stuck and why?

use handover_core::{Gate, Phase, Work};

use super::{Process, Who, World};

/// What is still stuck, in words.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stuck(pub String);

impl World {
    /// All that keeps this world from being converged; nothing if it is. Converged: no hold,
    /// nothing in flight that matters, each dead host known to be gone, each living host that
    /// wants the job and is not drained is served, or blocked by a failure that it has seen, no
    /// build parked under an open gate, and nobody drained who is to end.
    #[must_use]
    pub fn stuck(&self) -> Vec<Stuck> {
        let mut stuck = Vec::new();
        self.examine_hold(&mut stuck);
        for (who, process) in self.processes() {
            if process.lives() {
                self.examine_host(who, process, &mut stuck);
                self.examine_builds(who, process, &mut stuck);
            } else if self.committed().line(process.host.id()).is_some()
                && !self.is_lived(process.host.id())
            {
                stuck.push(Stuck(format!(
                    "{} has ended, and the record still counts on it",
                    self.label(who)
                )));
            }
        }
        stuck
    }

    /// Is nothing stuck?
    #[must_use]
    pub fn is_converged(&self) -> bool {
        self.committed().hold().is_none() && self.stuck().is_empty()
    }

    fn examine_hold(&self, stuck: &mut Vec<Stuck>) {
        let Some(hold) = self.committed().hold() else {
            return;
        };
        let holder = self.by_id(&hold.host).map(|who| self.process(who));
        let does = match holder {
            Some(process) if process.lives() => match process.phase() {
                Phase::Building { .. } | Phase::Cancelling { .. } => "builds",
                Phase::Idle
                | Phase::Asking
                | Phase::Planning { .. }
                | Phase::Accepted { .. }
                | Phase::Finished { .. }
                | Phase::StoodDown
                | Phase::Expelled { .. } => "is alive and idle",
            },
            Some(_) | None => "has ended",
        };
        let name = self.host_label(&hold.host);
        stuck.push(Stuck(format!("the record holds {}, and {name} {does}", self.hold_label(hold))));
    }

    fn examine_host(&self, who: Who, process: &Process, stuck: &mut Vec<Stuck>) {
        let host = &process.host;
        let label = self.label(who);
        let gate = host.gate();
        if let Phase::Expelled { .. } = process.phase() {
            stuck.push(Stuck(format!("{label} was declared gone and has not come back")));
        }
        if process.ends_when_drained() && host.is_drained() {
            stuck.push(Stuck(format!("{label} is drained, and does not end as its drain says")));
        }
        let verdict = self.committed().verdict(host.version());
        let unseen = match (&gate, verdict) {
            (Gate::Open, _) | (_, None) => false,
            (Gate::Blocked { .. }, Some(verdict)) => verdict.is_approved(),
            (Gate::Waiting { .. } | Gate::Unknown { .. }, Some(_)) => true,
        };
        if unseen {
            stuck.push(Stuck(format!("{label} has not seen the verdict on {}", host.version())));
        }
        let wants = host.wants_job() && !host.executor().is_draining();
        let waits = match gate {
            Gate::Open | Gate::Blocked { .. } => false,
            Gate::Waiting { .. } | Gate::Unknown { .. } => true,
        };
        if wants && waits && verdict.is_none() {
            let version = host.version();
            stuck.push(Stuck(format!(
                "{label} waits for an approval of {version} that nobody is going to earn"
            )));
        }
    }

    fn examine_builds(&self, who: Who, process: &Process, stuck: &mut Vec<Stuck>) {
        let executor = process.host.executor();
        for (work, _) in executor.current() {
            let label = self.label(who);
            stuck.push(Stuck(format!("{work} on {label} is in flight and does not end")));
        }
        for queued in executor.queue() {
            let build = match &queued.waiter {
                handover_core::Waiter::Build(build) => Work::Local(build.clone()).to_string(),
                handover_core::Waiter::Candidate => "the candidate".into(),
            };
            if !executor.is_draining() {
                stuck.push(Stuck(format!(
                    "{build} waits on {} though no drain is in force",
                    self.label(who)
                )));
            }
        }
    }
}
