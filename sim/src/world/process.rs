//! A process: a host of the core, and what its driver knows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use handover_core::{
    BuildId, Chunk, Effect, EndAction, ExecutorEffect, Host, Ledger, Name, Phase, Seq, SignOff,
    View, Work,
};
use serde::{Deserialize, Serialize};

use super::touched::catch_up;

/// A host of the core, and what its driver knows.
#[derive(Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Process {
    /// The place where it lives.
    pub name: Name,
    /// The production state machine.
    pub host: Host,
    /// Whether it lives.
    pub life: Life,
    /// The disk: what has been written of the ledger.
    pub ledger: Arc<Ledger>,
    /// Orders of the core that have not been carried out, oldest first.
    pub orders: Vec<Effect>,
    /// What really runs.
    pub builds: Arc<BTreeMap<Work, RunningBuild>>,
    /// How the builds ended by themselves: well, or not.
    pub ended: Arc<BTreeMap<Work, bool>>,
    /// The workspaces that were prepared.
    pub workspaces: Arc<BTreeSet<Work>>,
    /// The artifacts that were stored.
    pub artifacts: Arc<BTreeSet<Work>>,
    /// The newest of its words that was put on the link, or kept back by a wrong protocol.
    pub said: Seq,
    /// A wrong protocol never sends words up to this one.
    pub muted: Seq,
    /// Orders that a wrong protocol has put off; a start that it has not been given yet.
    pub put_off: Vec<ExecutorEffect>,
    /// Deployments whose success is recorded and whose drain is not declared yet.
    pub owes_drain: Arc<BTreeSet<BuildId>>,
    /// The newest view that has truly reached it.
    pub shown: Option<Arc<View>>,
    /// It reads views that are this many behind.
    pub stale: u32,
    /// The factor on its every step, in virtual time.
    pub slow: u32,
}

/// Whether a process lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Life {
    /// It lives.
    Up,
    /// It lives and does nothing.
    Paused,
    /// It died with all that it had in memory.
    Crashed,
    /// It ended because it was drained.
    Exited,
}

/// A build's process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RunningBuild {
    /// The chunks that it is to sign off.
    pub plan: BTreeSet<Chunk>,
    /// What it has signed off.
    pub signed_off: BTreeMap<Chunk, SignOff>,
    /// It was told to stop.
    pub stopping: bool,
    /// It never ends by itself.
    pub hangs: bool,
    /// It will not sign these chunks off.
    pub unsigned: BTreeSet<Chunk>,
}

impl RunningBuild {
    /// The chunks that it is yet to sign off.
    pub fn unfinished(&self) -> impl Iterator<Item = &Chunk> {
        let open = |chunk: &&Chunk| {
            !self.signed_off.contains_key(*chunk) && !self.unsigned.contains(*chunk)
        };
        self.plan.iter().filter(open)
    }
}

/// By hand for `clone_from`: where one process goes on and its copy follows step by step, what has
/// stayed the same is left alone.
impl Clone for Process {
    fn clone(&self) -> Self {
        Self {
            name: self.name.clone(),
            host: self.host.clone(),
            life: self.life,
            ledger: Arc::clone(&self.ledger),
            orders: self.orders.clone(),
            builds: Arc::clone(&self.builds),
            ended: Arc::clone(&self.ended),
            workspaces: Arc::clone(&self.workspaces),
            artifacts: Arc::clone(&self.artifacts),
            said: self.said,
            muted: self.muted,
            put_off: self.put_off.clone(),
            owes_drain: Arc::clone(&self.owes_drain),
            shown: self.shown.clone(),
            stale: self.stale,
            slow: self.slow,
        }
    }

    fn clone_from(&mut self, source: &Self) {
        let Self {
            name,
            host,
            life,
            ledger,
            orders,
            builds,
            ended,
            workspaces,
            artifacts,
            said,
            muted,
            put_off,
            owes_drain,
            shown,
            stale,
            slow,
        } = source;
        catch_up_unless_equal(&mut self.name, name);
        self.host.clone_from(host);
        self.life = *life;
        catch_up(&mut self.ledger, ledger);
        catch_up_unless_equal(&mut self.orders, orders);
        catch_up(&mut self.builds, builds);
        catch_up(&mut self.ended, ended);
        catch_up(&mut self.workspaces, workspaces);
        catch_up(&mut self.artifacts, artifacts);
        self.said = *said;
        self.muted = *muted;
        catch_up_unless_equal(&mut self.put_off, put_off);
        catch_up(&mut self.owes_drain, owes_drain);
        match (&mut self.shown, shown) {
            (Some(here), Some(there)) => catch_up(here, there),
            (None, None) => {}
            (here, there) => here.clone_from(there),
        }
        self.stale = *stale;
        self.slow = *slow;
    }
}

fn catch_up_unless_equal<T: Clone + PartialEq>(here: &mut T, there: &T) {
    if here != there {
        here.clone_from(there);
    }
}

impl Process {
    pub(super) fn new(name: Name, host: Host, ledger: Ledger) -> Self {
        Self {
            name,
            host,
            life: Life::Up,
            ledger: Arc::new(ledger),
            orders: Vec::new(),
            builds: Arc::default(),
            ended: Arc::default(),
            workspaces: Arc::default(),
            artifacts: Arc::default(),
            said: Seq(0),
            muted: Seq(0),
            put_off: Vec::new(),
            owes_drain: Arc::default(),
            shown: None,
            stale: 0,
            slow: 1,
        }
    }

    /// Does it live, paused or not?
    #[must_use]
    pub fn lives(&self) -> bool {
        match self.life {
            Life::Up | Life::Paused => true,
            Life::Crashed | Life::Exited => false,
        }
    }

    /// Is a drain in force that ends it once it is drained? One that it booted into and that was to
    /// start it again has done so.
    #[must_use]
    pub fn ends_when_drained(&self) -> bool {
        let parts = self.host.executor().parts();
        parts.drain.as_ref().is_some_and(|drain| match drain.end {
            EndAction::Nothing => false,
            EndAction::Restart => !parts.booted_into,
            EndAction::Stop => true,
        })
    }

    /// Whatever drains were owed are declared, or void.
    pub(super) fn forget_debts(&mut self) {
        if !self.owes_drain.is_empty() {
            Arc::make_mut(&mut self.owes_drain).clear();
        }
    }

    /// Does it act?
    #[must_use]
    pub fn acts(&self) -> bool {
        self.life == Life::Up
    }

    /// What its candidate is in.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.host.candidate().phase()
    }

    /// The builds under a grant that it runs, by its own account, in truth, or before its order.
    pub fn granted_builds(&self) -> impl Iterator<Item = handover_core::GrantId> {
        let counted = self.host.candidate().running().filter(|_| self.lives());
        let early = self.put_off.iter().filter_map(|order| {
            if let ExecutorEffect::Start { work } = order { Some(work) } else { None }
        });
        let real = self.builds.keys().chain(early).filter_map(|work| match work {
            Work::Granted(grant) => Some(*grant),
            Work::Local(_) => None,
        });
        real.filter(move |grant| Some(*grant) != counted).chain(counted)
    }
}
