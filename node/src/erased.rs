//! The user's parts behind one type each, with futures that own what they need: so that the driver
//! can keep them over a dropped `run`, and is compiled once.

use std::sync::Arc;

use futures_core::future::BoxFuture;
use handover_core::journal::CommitAnswer;
use handover_core::{
    Change, Chunk, ExecutorEffect, GrantId, HostId, Incarnation, Name, RecordParts, Revision,
    Version, Work,
};
use std::collections::BTreeSet;
use std::time::Duration;

use crate::{
    Build, BuildError, Builder, Changes, Clock, LedgerStore, LedgerStoreError, Membership,
    MembershipError, Predecessors, RecordStore, Sightings, StoreError,
};

pub(crate) trait AnyStore: Send + Sync {
    fn load(self: Arc<Self>) -> BoxFuture<'static, Result<RecordParts, StoreError>>;
    fn commit(self: Arc<Self>, change: Arc<Change>) -> BoxFuture<'static, CommitAnswer>;
    fn watch(self: Arc<Self>, after: Revision) -> BoxFuture<'static, Result<Changes, StoreError>>;
}

impl<S: RecordStore> AnyStore for S {
    fn load(self: Arc<Self>) -> BoxFuture<'static, Result<RecordParts, StoreError>> {
        Box::pin(async move { RecordStore::load(&*self).await })
    }

    fn commit(self: Arc<Self>, change: Arc<Change>) -> BoxFuture<'static, CommitAnswer> {
        Box::pin(async move { RecordStore::commit(&*self, &change).await })
    }

    fn watch(self: Arc<Self>, after: Revision) -> BoxFuture<'static, Result<Changes, StoreError>> {
        Box::pin(async move { RecordStore::watch(&*self, after).await })
    }
}

/// A new identity, under which the process may speak.
pub(crate) struct Joined {
    pub(crate) host: HostId,
    pub(crate) predecessors: Predecessors,
}

pub(crate) trait AnyMembership: Send + Sync {
    fn join_anew(
        self: Arc<Self>,
        name: Name,
        above: Incarnation,
    ) -> BoxFuture<'static, Result<Joined, MembershipError>>;
    fn leave(self: Arc<Self>, host: HostId) -> BoxFuture<'static, Result<(), MembershipError>>;
    fn watch(self: Arc<Self>) -> BoxFuture<'static, Result<Sightings, MembershipError>>;
}

impl<M: Membership> AnyMembership for M {
    fn join_anew(
        self: Arc<Self>,
        name: Name,
        above: Incarnation,
    ) -> BoxFuture<'static, Result<Joined, MembershipError>> {
        Box::pin(async move {
            let incarnation = self.next_incarnation(&name, above).await?;
            if incarnation <= above {
                let why = format!("the number {incarnation} of {name} is not above {above}");
                return Err(MembershipError { why });
            }
            let host = HostId { name, incarnation };
            let predecessors = self.join(&host).await?;
            Ok(Joined { host, predecessors })
        })
    }

    fn leave(self: Arc<Self>, host: HostId) -> BoxFuture<'static, Result<(), MembershipError>> {
        Box::pin(async move { Membership::leave(&*self, &host).await })
    }

    fn watch(self: Arc<Self>) -> BoxFuture<'static, Result<Sightings, MembershipError>> {
        Box::pin(async move { Membership::watch(&*self).await })
    }
}

pub(crate) trait AnyClock: Send + Sync {
    fn now(&self) -> Duration;
    fn sleep(self: Arc<Self>, duration: Duration) -> BoxFuture<'static, ()>;
}

impl<C: Clock> AnyClock for C {
    fn now(&self) -> Duration {
        Clock::now(self)
    }

    fn sleep(self: Arc<Self>, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(async move { Clock::sleep(&*self, duration).await })
    }
}

pub(crate) trait AnyLedger: Send + Sync {
    fn write(
        self: Arc<Self>,
        effect: ExecutorEffect,
    ) -> BoxFuture<'static, Result<(), LedgerStoreError>>;
}

impl<L: LedgerStore> AnyLedger for L {
    fn write(
        self: Arc<Self>,
        effect: ExecutorEffect,
    ) -> BoxFuture<'static, Result<(), LedgerStoreError>> {
        Box::pin(async move { LedgerStore::write(&*self, &effect).await })
    }
}

pub(crate) trait AnyBuilder: Send + Sync {
    fn plan(
        self: Arc<Self>,
        version: Version,
        grant: GrantId,
    ) -> BoxFuture<'static, Result<BTreeSet<Chunk>, BuildError>>;
    fn build(self: Arc<Self>, build: Build) -> BoxFuture<'static, ()>;
    fn store_artifacts(self: Arc<Self>, work: Work) -> BoxFuture<'static, Result<(), BuildError>>;
}

impl<B: Builder> AnyBuilder for B {
    fn plan(
        self: Arc<Self>,
        version: Version,
        grant: GrantId,
    ) -> BoxFuture<'static, Result<BTreeSet<Chunk>, BuildError>> {
        Box::pin(async move { Builder::plan(&*self, &version, grant).await })
    }

    fn build(self: Arc<Self>, build: Build) -> BoxFuture<'static, ()> {
        let of = build.clone();
        crate::build::run(build, async move { Builder::build(&*self, of).await })
    }

    fn store_artifacts(self: Arc<Self>, work: Work) -> BoxFuture<'static, Result<(), BuildError>> {
        Box::pin(async move { Builder::store_artifacts(&*self, &work).await })
    }
}
