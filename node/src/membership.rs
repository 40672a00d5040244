//! Who lives, and under which number a process may speak.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use futures_core::Stream;
use handover_core::{HostId, Incarnation, Name};

/// What is known of processes, and who one is.
///
/// `Gone` is knowledge, never an estimate: it takes a job away and may let a second build begin. A
/// time-out, a missed heartbeat and an expired lease are `Suspect`.
///
/// # On SQLite, several processes on one machine
/// A table `name, incarnation` is the counter; a file that each process keeps locked tells who
/// lives, since the kernel frees the lock when the process ends, and only then.
/// [`next_incarnation`](Self::next_incarnation) is one transaction. [`join`](Self::join) takes the
/// lock of the name, waiting for the process before, so that it answers
/// [`Predecessors::Ended`]. [`watch`](Self::watch) tries the locks of the names that it sees:
/// a lock that could be taken means `Gone`.
///
/// # On etcd, a fleet
/// The counter is a key under a compare-and-set. [`join`](Self::join) puts a key under a lease, and
/// answers [`Predecessors::Unknown`]. [`watch`](Self::watch) reads these keys: a lease that has
/// expired is `Suspect`; `Gone` comes from what knows ends, which is [`leave`](Self::leave), a
/// supervisor that reaped the process, or the orchestrator that deleted its pod.
pub trait Membership: Send + Sync + 'static {
    /// The number of a new life of this name: above `above` and above each that was ever given for
    /// it. It is durable before it is answered (Dr4), so that a crash wastes it and nothing more.
    ///
    /// `above` is the highest number of this name that the record knows: 0 where it knows none, and
    /// where it could not be read. It is no counter, since a life that has not spoken is not in it.
    /// Where the counter itself was lost, answer only above a number that is not 0, and only once
    /// nobody of this name lives and nothing of it is on its way.
    fn next_incarnation(
        &self,
        name: &Name,
        above: Incarnation,
    ) -> impl Future<Output = Result<Incarnation, MembershipError>> + Send;

    /// This host lives from here on. Called before it says anything.
    fn join(
        &self,
        host: &HostId,
    ) -> impl Future<Output = Result<Predecessors, MembershipError>> + Send;

    /// This host has said its last word and ends in order: it is `Gone` for all others.
    fn leave(&self, host: &HostId) -> impl Future<Output = Result<(), MembershipError>> + Send;

    /// What is known of all processes, then what changes. It may repeat, and where it ends it is
    /// watched again: so it begins with the whole.
    fn watch(&self) -> impl Future<Output = Result<Sightings, MembershipError>> + Send;
}

/// What membership says of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Liveness {
    /// It lives, as far as anybody can tell.
    Alive,
    /// Nothing was heard of it for a while. Orders an election, and nothing else.
    Suspect,
    /// It has ended, and this is known.
    Gone,
}

/// What is known of the earlier lives of a name when the next one joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Predecessors {
    /// All have ended: joining took what each of them held as long as it lived.
    Ended,
    /// One may still run.
    Unknown,
}

/// The stream of a watch.
pub struct Sightings(Pin<Box<dyn Stream<Item = (HostId, Liveness)> + Send>>);

impl Sightings {
    /// Of any stream; it lives as long as the watch does.
    pub fn new(stream: impl Stream<Item = (HostId, Liveness)> + Send + 'static) -> Self {
        Self(Box::pin(stream))
    }

    /// The stream, to be polled or wrapped.
    pub fn as_stream(&mut self) -> Pin<&mut (dyn Stream<Item = (HostId, Liveness)> + Send)> {
        self.0.as_mut()
    }
}

impl fmt::Debug for Sightings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sightings")
    }
}

/// Why membership could not answer; trying again may help.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("membership is unavailable: {why}")]
pub struct MembershipError {
    /// What went wrong.
    pub why: String,
}

impl MembershipError {
    pub(crate) fn late() -> Self {
        Self { why: "no answer in time".to_owned() }
    }
}
