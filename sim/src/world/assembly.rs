//! A world taken apart and put together again, with some of its processes.

use std::sync::Arc;

use handover_core::Record;
use serde::{Deserialize, Serialize};

use super::cast::{Actor, Cast, Ground};
use super::touched::Touched;
use super::{Arbiter, History, Link, Oracle, Process, Store, World};

/// What is of no single process: the record and its one arbiter, membership, what really happened.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Common {
    pub(crate) record: Arc<Record>,
    /// The arbiter has committed what it has not published.
    pub(crate) unpublished: bool,
    pub(crate) oracle: Arc<Oracle>,
    pub(crate) history: Arc<History>,
}

/// A process and its link.
pub(crate) type Member = (Arc<Process>, Arc<Link>);

impl World {
    /// What is of no single process, where there is one arbiter, which is not behind.
    pub(crate) fn common(&self) -> Common {
        Common {
            record: self.store.shared(),
            unpublished: self.arbiters[0].unpublished,
            oracle: Arc::clone(&self.oracle),
            history: Arc::clone(&self.history),
        }
    }

    /// Its processes, each with its link.
    pub(crate) fn members(&self) -> impl Iterator<Item = Member> {
        self.actors.iter().map(|actor| (Arc::clone(&actor.process), Arc::clone(&actor.link)))
    }

    /// The world of these parts, with one arbiter.
    pub(crate) fn assemble(
        ground: &Arc<Ground>,
        common: &Common,
        members: impl Iterator<Item = Member>,
    ) -> Self {
        let Common { record, unpublished, oracle, history } = common;
        let actors: Vec<Actor> = members.map(|(process, link)| Actor { process, link }).collect();
        let arbiter = Arbiter { unpublished: *unpublished, ..Arbiter::new(Arc::clone(record)) };
        Self {
            cast: Arc::new(Cast::of(ground, &actors)),
            ground: Arc::clone(ground),
            store: Arc::new(Store::new(Arc::clone(record))),
            arbiters: vec![arbiter],
            actors,
            oracle: Arc::clone(oracle),
            history: Arc::clone(history),
            touched: Touched::default(),
        }
    }
}
