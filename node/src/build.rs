//! What the user brings: how a version is prepared.

use std::collections::BTreeSet;
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use futures_core::future::BoxFuture;
use handover_core::{Chunk, GrantId, HostId, Reason, SignOff, Version, Work};

use crate::machine::{Machine, Over};
use crate::shared::Shared;

/// How versions, and what is submitted on this host, are built.
///
/// A closure `Fn(Build) -> impl Future<Output = Result<(), BuildError>>` is a builder whose plan has
/// no chunks.
pub trait Builder: Send + Sync + 'static {
    /// The chunks that a build of `version` will sign off. An approval needs each of them clean; a
    /// plan without chunks is approved by the end of the build alone. Quick: nothing has been
    /// accepted yet, and an offer that is not answered may lapse. One that is not made when the next
    /// offer comes is dropped.
    ///
    /// # Errors
    /// If this host cannot make one: it declines, and the job goes to the next.
    fn plan(
        &self,
        version: &Version,
        grant: GrantId,
    ) -> impl Future<Output = Result<BTreeSet<Chunk>, BuildError>> + Send {
        let _ = (version, grant);
        async { Ok(BTreeSet::new()) }
    }

    /// Builds, and stores what it made, under [`Build::grant`]: an operator may have revoked that
    /// grant and two builds may run, so only the artifacts of the verdict's grant are served.
    ///
    /// It runs inside [`Driver::run`](crate::Driver::run) unless a
    /// [spawner](crate::Options::spawner) is set: then it must not block its thread.
    ///
    /// # Errors
    /// [`BuildError::Stopped`] if it heeded [`Build::cancelled`]; else why it failed. A panic is a
    /// failure, and so is a build whose task is dropped: it is never silence.
    fn build(&self, build: Build) -> impl Future<Output = Result<(), BuildError>> + Send;

    /// A step of its own between the end of the work and its record, for what is to be published
    /// only then. It is repeated until it succeeds, and meanwhile the build is in flight: what may
    /// fail for good belongs into [`build`](Self::build), where it fails the build.
    ///
    /// # Errors
    /// If it has to be tried again.
    fn store_artifacts(&self, work: &Work) -> impl Future<Output = Result<(), BuildError>> + Send {
        let _ = work;
        async { Ok(()) }
    }
}

impl<F, B> Builder for F
where
    F: Fn(Build) -> B + Send + Sync + 'static,
    B: Future<Output = Result<(), BuildError>> + Send,
{
    fn build(&self, build: Build) -> impl Future<Output = Result<(), BuildError>> + Send {
        self(build)
    }
}

/// How a build did not come to a good end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// It was told to stop, and has stopped: nothing of it runs any more.
    #[error("it was stopped")]
    Stopped,
    /// It failed.
    #[error("{0}")]
    Failed(Reason),
}

impl From<&str> for BuildError {
    fn from(reason: &str) -> Self {
        Self::Failed(reason.into())
    }
}

impl From<String> for BuildError {
    fn from(reason: String) -> Self {
        Self::Failed(Reason::new(reason))
    }
}

impl From<Reason> for BuildError {
    fn from(reason: Reason) -> Self {
        Self::Failed(reason)
    }
}

/// One run of a build: what it is about, and its ways to speak and to listen. A clone is the same
/// run.
#[derive(Clone)]
pub struct Build {
    pub(crate) shared: Arc<Shared<Machine>>,
    pub(crate) work: Work,
    pub(crate) host: HostId,
    pub(crate) version: Version,
}

impl Build {
    /// What is built: the version, under a grant of the record; or a build that was submitted here.
    #[must_use]
    pub fn work(&self) -> &Work {
        &self.work
    }

    /// The number of the hand-over, and the name under which its artifacts are stored. `None` for
    /// a build that was submitted on this host.
    #[must_use]
    pub fn grant(&self) -> Option<GrantId> {
        match self.work {
            Work::Granted(grant) => Some(grant),
            Work::Local(_) => None,
        }
    }

    /// What this host runs, which is what a grant is about.
    #[must_use]
    pub fn version(&self) -> &Version {
        &self.version
    }

    /// The host that it began on.
    #[must_use]
    pub fn host(&self) -> &HostId {
        &self.host
    }

    /// Says how a chunk is. A later word on the same chunk counts. Of a build that was submitted
    /// here, and of one that is over, it changes nothing.
    pub fn sign_off(&self, chunk: impl Into<Chunk>, sign_off: SignOff) {
        if let Work::Granted(grant) = self.work {
            let chunk = chunk.into();
            self.shared.update(|machine| machine.sign_off(grant, chunk, sign_off));
        }
    }

    /// Has it been told to stop?
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.shared.read(|machine| machine.is_cancelled(&self.work))
    }

    /// Ends once it is told to stop. Cancel safe: it only looks.
    pub async fn cancelled(&self) {
        self.shared.until(|machine| machine.is_cancelled(&self.work).then_some(())).await;
    }

    /// Runs this future, and drops it when the build is told to stop. Only for work that ends with
    /// its future: a process or a thread that it started would run on.
    ///
    /// Cancel safe if the future is: dropping it drops that.
    ///
    /// # Errors
    /// [`BuildError::Stopped`], to be returned as it is.
    pub async fn until_cancelled<T>(&self, work: impl Future<Output = T>) -> Result<T, BuildError> {
        let mut work = pin!(work);
        let mut cancelled = pin!(self.cancelled());
        poll_fn(|context| {
            if cancelled.as_mut().poll(context).is_ready() {
                return Poll::Ready(Err(BuildError::Stopped));
            }
            work.as_mut().poll(context).map(Ok)
        })
        .await
    }
}

impl fmt::Debug for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Build").field("work", &self.work).field("host", &self.host).finish()
    }
}

/// Says how a build was over, whatever became of its future.
struct Witness {
    shared: Arc<Shared<Machine>>,
    work: Work,
    over: Option<Over>,
}

impl Drop for Witness {
    fn drop(&mut self) {
        let over = self.over.take().unwrap_or(Over::Dropped);
        self.shared.update(|machine| machine.build_is_over(&self.work, over));
    }
}

/// Runs a build to its end, which reaches the machine also by a panic and by a drop, be it before
/// the first poll.
pub(crate) fn run(
    build: Build,
    future: impl Future<Output = Result<(), BuildError>> + Send + 'static,
) -> BoxFuture<'static, ()> {
    let witness = Witness { shared: build.shared, work: build.work, over: None };
    let mut future = Box::pin(future);
    Box::pin(async move {
        // The whole of it, not the one field: dropped unpolled, it has to speak too.
        let mut witness = witness;
        let over = poll_fn(|context| {
            let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)));
            match polled {
                Ok(Poll::Pending) => Poll::Pending,
                Ok(Poll::Ready(result)) => Poll::Ready(Over::Returned(result)),
                Err(panic) => Poll::Ready(Over::Panicked(message(&*panic))),
            }
        })
        .await;
        // Nothing of it runs any more, so it goes before anybody is told.
        drop(future);
        witness.over = Some(over);
    })
}

/// A panic of the user's code is a failure, and no end of the node.
pub(crate) fn caught<T>(
    future: BoxFuture<'static, Result<T, BuildError>>,
) -> impl Future<Output = Result<T, BuildError>> + Send {
    let mut future = future;
    poll_fn(move |context| {
        catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))).unwrap_or_else(|panic| {
            Poll::Ready(Err(BuildError::from(format!("panicked: {}", message(&*panic)))))
        })
    })
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "without a message".to_owned())
}
