//! Who lives: a node of its own that hands out incarnations and tells of ends, late, and wrongly
//! where a scene says so.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use handover_core::{HostId, Incarnation, Name};
use handover_node::{Liveness, Membership, MembershipError, Predecessors, Sightings};
use madsim::net::Endpoint;
use madsim::net::rpc::{Deserialize, Request, Serialize};
use madsim::time::{sleep, timeout};

use crate::bell::{Bell, lock};
use crate::wire;

const PATIENCE: Duration = Duration::from_secs(4);

/// What membership knows; a clone is the same.
#[derive(Clone, Default)]
pub(crate) struct Oracle {
    inner: Arc<Mutex<Known>>,
    bell: Bell,
}

#[derive(Default)]
struct Known {
    used: BTreeMap<Name, Incarnation>,
    /// Names whose numbers are lost: only the record can tell which were used.
    lost: BTreeSet<Name>,
    log: Vec<(HostId, Seen)>,
}

/// A liveness that can be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Seen {
    Alive,
    Suspect,
    Gone,
}

impl Oracle {
    /// What a supervisor says.
    pub(crate) fn say(&self, host: HostId, seen: Seen) {
        lock(&self.inner).log.push((host, seen));
        self.bell.ring();
    }

    /// The counter of this name is lost, if the record knows the number that was given last.
    pub(crate) fn lose_counter(&self, name: &Name, known: Option<Incarnation>) {
        let mut oracle = lock(&self.inner);
        if oracle.used.get(name).copied() <= known && oracle.used.remove(name).is_some() {
            oracle.lost.insert(name.clone());
        }
    }

    /// The next number of a name; none where its numbers are lost, and who asks has not read in the
    /// record which were used.
    fn next(&self, name: Name, above: Incarnation) -> Option<Incarnation> {
        let mut known = lock(&self.inner);
        if known.lost.contains(&name) && above == Incarnation(0) {
            return None;
        }
        known.lost.remove(&name);
        let used = known.used.entry(name).or_default();
        *used = (*used).max(above).next();
        Some(*used)
    }

    fn since(&self, from: usize) -> Option<Vec<(HostId, Seen)>> {
        let known = lock(&self.inner);
        known.log.get(from..).filter(|log| !log.is_empty()).map(<[_]>::to_vec)
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Next {
    name: Name,
    above: Incarnation,
}

impl Request for Next {
    type Response = Option<Incarnation>;
    const ID: u64 = 11;
}

#[derive(Debug, Serialize, Deserialize)]
struct Say {
    host: HostId,
    seen: Seen,
}

impl Request for Say {
    type Response = ();
    const ID: u64 = 12;
}

#[derive(Debug, Serialize, Deserialize)]
struct Since {
    from: usize,
}

impl Request for Since {
    type Response = Vec<(HostId, Seen)>;
    const ID: u64 = 13;
}

/// The oracle's process.
pub(crate) async fn serve(address: SocketAddr, oracle: Oracle) {
    let endpoint = Endpoint::bind(address).await.expect("nobody else has this address");
    let known = oracle.clone();
    endpoint.add_rpc_handler(move |Next { name, above }: Next| {
        let next = known.next(name, above);
        async move { next }
    });
    let known = oracle.clone();
    endpoint.add_rpc_handler(move |Say { host, seen }: Say| {
        known.say(host, seen);
        async {}
    });
    endpoint.add_rpc_handler(move |Since { from }: Since| {
        let known = oracle.clone();
        async move {
            let found = timeout(PATIENCE, known.bell.until(|| known.since(from))).await;
            found.unwrap_or_default()
        }
    });
    std::future::pending::<()>().await;
}

/// The oracle as one process reaches it.
pub(crate) struct NetMembership {
    pub(crate) endpoint: Arc<Endpoint>,
    pub(crate) address: SocketAddr,
    pub(crate) patience: Duration,
}

fn unavailable(error: &std::io::Error) -> MembershipError {
    MembershipError { why: error.to_string() }
}

impl NetMembership {
    async fn say(&self, host: &HostId, seen: Seen) -> Result<(), MembershipError> {
        let request = Say { host: host.clone(), seen };
        let asked = wire::ask(Arc::clone(&self.endpoint), self.address, request, self.patience);
        asked.await.map_err(|error| unavailable(&error))
    }
}

impl Membership for NetMembership {
    async fn next_incarnation(
        &self,
        name: &Name,
        above: Incarnation,
    ) -> Result<Incarnation, MembershipError> {
        let request = Next { name: name.clone(), above };
        let asked = wire::ask(Arc::clone(&self.endpoint), self.address, request, self.patience);
        let why = || format!("the counter of {name} is lost, and the record was not read");
        let next = asked.await.map_err(|error| unavailable(&error))?;
        next.ok_or_else(|| MembershipError { why: why() })
    }

    async fn join(&self, host: &HostId) -> Result<Predecessors, MembershipError> {
        self.say(host, Seen::Alive).await?;
        Ok(Predecessors::Unknown)
    }

    async fn leave(&self, host: &HostId) -> Result<(), MembershipError> {
        self.say(host, Seen::Gone).await
    }

    async fn watch(&self) -> Result<Sightings, MembershipError> {
        let (endpoint, address, patience) = (self.endpoint.clone(), self.address, self.patience);
        Ok(Sightings::new(Watch {
            endpoint,
            address,
            patience,
            read: Vec::new(),
            next: 0,
            asked: None,
        }))
    }
}

type Asked = Pin<Box<dyn Future<Output = std::io::Result<Vec<(HostId, Seen)>>> + Send>>;

struct Watch {
    endpoint: Arc<Endpoint>,
    address: SocketAddr,
    patience: Duration,
    read: Vec<(HostId, Seen)>,
    next: usize,
    asked: Option<Asked>,
}

impl Stream for Watch {
    type Item = (HostId, Liveness);

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            if let Some((host, seen)) = this.read.get(this.next).cloned() {
                this.next += 1;
                let liveness = match seen {
                    Seen::Alive => Liveness::Alive,
                    Seen::Suspect => Liveness::Suspect,
                    Seen::Gone => Liveness::Gone,
                };
                return Poll::Ready(Some((host, liveness)));
            }
            let asked = this.asked.get_or_insert_with(|| {
                let (endpoint, address) = (this.endpoint.clone(), this.address);
                let (patience, from) = (PATIENCE + this.patience, this.next);
                Box::pin(
                    async move { wire::ask(endpoint, address, Since { from }, patience).await },
                )
            });
            match asked.as_mut().poll(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(more)) => {
                    this.asked = None;
                    this.read.extend(more);
                }
                // It ends, and is watched again from the beginning.
                Poll::Ready(Err(_)) => return Poll::Ready(None),
            }
        }
    }
}

/// Says of a process that it has ended, some time after it has.
pub(crate) async fn say_late(oracle: Oracle, host: HostId, after: Duration) {
    sleep(after).await;
    oracle.say(host, Seen::Gone);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_is_lost_gives_no_number_again() {
        let (oracle, name) = (Oracle::default(), Name::from("a"));
        let next = |above| oracle.next(name.clone(), Incarnation(above));
        assert_eq!(next(0), Some(Incarnation(1)));
        oracle.lose_counter(&name, None);
        assert_eq!(
            next(0),
            Some(Incarnation(2)),
            "the record does not know the last, so it is kept"
        );
        oracle.lose_counter(&name, Some(Incarnation(2)));
        assert_eq!(next(0), None, "who has not read the record gets none");
        assert_eq!(next(2), Some(Incarnation(3)));
        assert_eq!(next(0), Some(Incarnation(4)));
    }
}
