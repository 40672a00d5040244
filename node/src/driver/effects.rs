//! The orders of the core, each carried out and acknowledged (Dr3).

use std::collections::BTreeSet;
use std::sync::Arc;

use handover_core::{
    Acknowledgement, Chunk, Effect, EndAction, ExecutorEffect, GrantId, HostId, Incarnation, Phase,
    Work,
};
use tracing::Instrument;

use super::{Driver, Ended};
use crate::build::Build;
use crate::erased::Joined;
use crate::membership::MembershipError;
use crate::{BuildError, LedgerStoreError};

/// What an order that takes time has come to.
pub(super) enum Arrival {
    Acknowledged(Effect, Acknowledgement),
    Written(Effect, Result<(), LedgerStoreError>),
    Planned(GrantId, Result<BTreeSet<Chunk>, BuildError>),
    Joined(Incarnation, Result<Joined, MembershipError>),
    Left(Result<(), MembershipError>),
}

impl Driver {
    /// Carries out one order. What takes time goes on beside the others; of one build there is
    /// never more than one under way.
    pub(super) fn carry_out(&mut self, effect: Effect) {
        tracing::debug!(?effect, "carries out");
        match &effect {
            Effect::MakePlan { grant } => {
                let grant = *grant;
                self.begin_grant(grant);
                let planned = Arc::clone(&self.builder).plan(self.options.version.clone(), grant);
                let planned = crate::build::caught(planned);
                let planned = async move { Arrival::Planned(grant, planned.await) };
                self.planning = Some(Box::pin(planned));
            }
            Effect::Return { above } => self.join_anew(*above),
            Effect::Alarm(alarm) => {
                tracing::error!(?alarm, "somebody else speaks under this identity");
            }
            Effect::Executor(order) => self.carry_out_executor(&effect, order),
        }
    }

    /// One span a grant, from the offer until this host has no more to do with it.
    fn begin_grant(&mut self, grant: GrantId) {
        if self.grant.as_ref().is_none_or(|(before, _)| *before != grant) {
            let host = self.shared.read(|machine| machine.host().id().clone());
            let version = &self.options.version;
            self.grant = Some((grant, tracing::info_span!("grant", %host, %version, %grant)));
        }
    }

    /// The record has acknowledged the last word about it, or it went before it began.
    pub(super) fn end_grant(&mut self) {
        let Some((grant, _)) = &self.grant else { return };
        let over = self.shared.read(|machine| {
            let about = match machine.host().candidate().phase() {
                Phase::Planning { grant }
                | Phase::Accepted { grant }
                | Phase::Building { grant }
                | Phase::Cancelling { grant }
                | Phase::Finished { grant }
                | Phase::Expelled { running: Some(grant) } => Some(grant),
                Phase::Idle
                | Phase::Asking
                | Phase::StoodDown
                | Phase::Expelled { running: None } => None,
            };
            about != Some(*grant)
        });
        if over {
            self.grant = None;
        }
    }

    fn carry_out_executor(&mut self, effect: &Effect, order: &ExecutorEffect) {
        match order {
            ExecutorEffect::StoreEntry { .. } | ExecutorEffect::StoreDrain { .. } => {
                self.write(effect, order);
            }
            ExecutorEffect::StoreArtifacts { work } => self.store_artifacts(effect, work),
            ExecutorEffect::Start { work } => self.start(effect, work),
            ExecutorEffect::Stop { work } => {
                self.done(effect);
                self.shared.update(|machine| {
                    if !machine.stop_build(work) {
                        machine.build_stopped(work);
                    }
                });
            }
            ExecutorEffect::Wake(_)
            | ExecutorEffect::Remove { .. }
            | ExecutorEffect::Release { .. } => self.done(effect),
            ExecutorEffect::Drained { end, .. } => self.drained(effect, *end),
        }
    }

    fn done(&mut self, effect: &Effect) {
        self.shared.update(|machine| machine.acknowledge(effect, Acknowledgement::Done));
    }

    /// The wait after a failure is part of the write, so that the core hands it out again later.
    fn write(&mut self, effect: &Effect, order: &ExecutorEffect) {
        if self.shared.read(|machine| machine.ledger_lost().is_some()) {
            return self.leave_unwritten(effect, order);
        }
        let effect = effect.clone();
        let write = self.within(Arc::clone(&self.ledger).write(order.clone()));
        let clock = Arc::clone(&self.clock);
        let wait = self.write_backoff.next(&mut self.jitter);
        self.arrivals.push(Box::pin(async move {
            let written = write.await.unwrap_or_else(|| Err(LedgerStoreError::late()));
            if let Err(error) = &written {
                tracing::warn!(?effect, %error, "the ledger was not written");
                if !matches!(error, LedgerStoreError::Lost { .. }) {
                    clock.sleep(wait).await;
                }
            }
            Arrival::Written(effect, written)
        }));
    }

    /// What a ledger that is lost still has to write. A row under a grant holds nothing up: a boot
    /// drops it unread, for the record hands the work out anew (Ex5), so without it the next life
    /// is as after a crash; and the record has to hear that the build is over. Of local builds and
    /// drains nobody else knows: they stay as they are, and no local build starts unwritten.
    fn leave_unwritten(&mut self, effect: &Effect, order: &ExecutorEffect) {
        if let ExecutorEffect::StoreEntry { work: Work::Granted(_), .. } = order {
            self.done(effect);
        }
    }

    /// A ledger that has said that it is lost, or has failed too often in a row, is tried no more.
    fn written(&mut self, effect: &Effect, written: Result<(), LedgerStoreError>) {
        let Err(error) = written else {
            self.write_failures = 0;
            self.write_backoff.reset();
            return self.done(effect);
        };
        self.write_failures = self.write_failures.saturating_add(1);
        let lost = matches!(error, LedgerStoreError::Lost { .. })
            || self.write_failures >= self.options.ledger_tries;
        self.shared.update(|machine| {
            if lost {
                machine.lose_ledger(error.why().into());
            }
            machine.acknowledge(effect, error.outcome());
        });
    }

    fn store_artifacts(&mut self, effect: &Effect, work: &Work) {
        let effect = effect.clone();
        let store = Arc::clone(&self.builder).store_artifacts(work.clone());
        let store = crate::build::caught(store);
        let clock = Arc::clone(&self.clock);
        let wait = self.write_backoff.next(&mut self.jitter);
        self.arrivals.push(Box::pin(async move {
            let outcome = match store.await {
                Ok(()) => Acknowledgement::Done,
                Err(error) => {
                    tracing::warn!(?effect, %error, "artifacts were not stored");
                    clock.sleep(wait).await;
                    Acknowledgement::Failed
                }
            };
            Arrival::Acknowledged(effect, outcome)
        }));
    }

    fn start(&mut self, effect: &Effect, work: &Work) {
        let (host, version) = self.shared.update(|machine| {
            machine.build_starts(work);
            machine.acknowledge(effect, Acknowledgement::Done);
            (machine.host().id().clone(), machine.host().version().clone())
        });
        let span = match &self.grant {
            Some((grant, span)) if *work == Work::Granted(*grant) => {
                tracing::info_span!(parent: span, "build", %host, %version, %work)
            }
            Some(_) | None => tracing::info_span!("build", %host, %version, %work),
        };
        let shared = Arc::clone(&self.shared);
        let build = Build { shared, work: work.clone(), host, version };
        let build = Arc::clone(&self.builder).build(build);
        let build = Box::pin(build.instrument(span));
        match &self.options.spawner {
            Some(spawner) => (spawner.0)(build),
            None => self.builds.push((work.clone(), build)),
        }
    }

    /// Ho4. It is looked at again in the step that ends the process: the host may have been
    /// undrained, or have spoken, since the order was given.
    fn drained(&mut self, effect: &Effect, end: EndAction) {
        if !self.shared.read(|machine| machine.host().is_drained()) {
            self.shared.update(|machine| machine.acknowledge(effect, Acknowledgement::Failed));
            return;
        }
        match end {
            EndAction::Nothing => self.done(effect),
            EndAction::Restart => self.end(Ok(Ended::Restart)),
            EndAction::Stop => self.end(Ok(Ended::Stop)),
        }
    }

    fn join_anew(&mut self, above: Incarnation) {
        let name = self.options.name.clone();
        let joined = self.within(Arc::clone(&self.membership).join_anew(name, above));
        let clock = Arc::clone(&self.clock);
        let wait = self.write_backoff.next(&mut self.jitter);
        self.arrivals.push(Box::pin(async move {
            let joined = joined.await.unwrap_or_else(|| Err(MembershipError::late()));
            if let Err(error) = &joined {
                tracing::warn!(%error, "no new incarnation");
                clock.sleep(wait).await;
            }
            Arrival::Joined(above, joined)
        }));
    }

    pub(super) fn arrived(&mut self, arrival: Arrival) {
        if self.ending.is_some() {
            return self.arrived_at_the_end(arrival);
        }
        match arrival {
            Arrival::Acknowledged(effect, outcome) => {
                if outcome == Acknowledgement::Done {
                    self.write_backoff.reset();
                }
                self.shared.update(|machine| machine.acknowledge(&effect, outcome));
            }
            Arrival::Written(effect, written) => self.written(&effect, written),
            Arrival::Planned(grant, plan) => {
                if plan.is_ok() {
                    self.plan_backoff.reset();
                }
                if self.shared.update(|machine| machine.plan_made(grant, plan)) {
                    let wait = self.plan_backoff.next(&mut self.jitter);
                    self.ask_again = Some(self.clock.now().saturating_add(wait));
                }
            }
            Arrival::Joined(above, Ok(joined)) => self.come_back(above, &joined),
            Arrival::Joined(above, Err(_)) => self.return_failed(above),
            Arrival::Left(left) => self.left(left),
        }
    }

    /// Who has ended hears nothing more. An identity that he had asked for before goes as well.
    fn arrived_at_the_end(&mut self, arrival: Arrival) {
        match arrival {
            Arrival::Left(left) => self.left(left),
            Arrival::Joined(_, Ok(joined)) => self.leave(joined.host),
            Arrival::Joined(_, Err(_))
            | Arrival::Acknowledged(..)
            | Arrival::Written(..)
            | Arrival::Planned(..) => {}
        }
    }

    /// This host is gone for all others: it has said its last word.
    pub(super) fn leave(&mut self, host: HostId) {
        self.leaving += 1;
        let left = self.within(Arc::clone(&self.membership).leave(host));
        self.arrivals.push(Box::pin(async move {
            let left = left.await.unwrap_or_else(|| Err(MembershipError::late()));
            Arrival::Left(left)
        }));
    }

    fn left(&mut self, left: Result<(), MembershipError>) {
        if let Err(error) = left {
            tracing::warn!(%error, "could not leave; its end is seen by other means");
        }
        self.leaving = self.leaving.saturating_sub(1);
        if self.leaving == 0 {
            self.done = self.ending.clone();
        }
    }

    fn come_back(&mut self, above: Incarnation, joined: &Joined) {
        let incarnation = joined.host.incarnation;
        if !self.shared.update(|machine| machine.come_back(incarnation)) {
            self.return_failed(above);
            return;
        }
        self.members.joined(joined);
        self.refused = None;
        self.publish();
    }

    fn return_failed(&mut self, above: Incarnation) {
        let effect = Effect::Return { above };
        self.shared.update(|machine| machine.acknowledge(&effect, Acknowledgement::Failed));
    }
}
