//! Three hosts and two versions in one process: a build, a host that dies while it builds, an
//! operator who cancels, and the end of it all.
//!
//! `cargo run -p handover-node --example rollout`

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use handover_node::core::{GrantId, RecordId, Then, Version};
use handover_node::{
    Build, BuildError, Builder, Clock, Ended, Liveness, MemoryLedger, MemoryMembership,
    MemoryStore, Node, Options, Parts,
};
use tokio::task::JoinHandle;
use tokio::time::Instant;

struct TokioClock(Instant);

impl Clock for TokioClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// What all hosts share.
struct Site {
    store: Arc<MemoryStore>,
    membership: Arc<MemoryMembership>,
    clock: Arc<TokioClock>,
}

/// A process, as far as this one is concerned: its handle, and the task that drives it.
struct Process {
    node: Node,
    driven: JoinHandle<Option<Ended>>,
}

impl Site {
    async fn boot(
        &self,
        name: &str,
        version: &str,
        builder: impl Builder,
    ) -> Result<Process, Box<dyn Error>> {
        let parts = Parts {
            store: Arc::clone(&self.store),
            membership: Arc::clone(&self.membership),
            clock: Arc::clone(&self.clock),
            ledger: Arc::new(MemoryLedger::new()),
            builder: Arc::new(builder),
        };
        // Each build is a task of its own; dropped with its runtime, it would count as failed.
        let options = Options::new(name, version).spawner(|build| drop(tokio::spawn(build)));
        let (node, mut driver) = Node::boot(options, parts).await?;
        let driven = tokio::spawn(async move { driver.run().await.ok() });
        Ok(Process { node, driven })
    }
}

/// Takes as long as it is told to.
fn builder(lasts: Duration) -> impl Builder {
    move |build: Build| async move {
        println!("{} builds {} under {}", build.host(), build.version(), build.work());
        build.until_cancelled(tokio::time::sleep(lasts)).await?;
        Ok::<_, BuildError>(())
    }
}

const AT_ONCE: Duration = Duration::ZERO;
const FOR_EVER: Duration = Duration::from_secs(1_000_000);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let site = Site {
        store: Arc::new(MemoryStore::new(RecordId(1))),
        membership: Arc::new(MemoryMembership::new()),
        clock: Arc::new(TokioClock(Instant::now())),
    };
    let a = site.boot("a", "v1", builder(AT_ONCE)).await?;
    a.node.gate().opened().await?;
    println!("a: {}", a.node.gate().read());

    // b hangs, and an operator has it built by somebody else.
    let b = site.boot("b", "v2", builder(FOR_EVER)).await?;
    let grant = started(&site).await;
    let c = site.boot("c", "v2", builder(FOR_EVER)).await?;
    a.node.cancel(grant, "it hangs", Then::Again).await?;
    while started(&site).await == grant {
        tokio::task::yield_now().await;
    }

    // c hangs too, and dies. That it is silent means nothing; that it is gone does.
    c.driven.abort();
    site.membership.say(c.node.id(), Liveness::Gone);
    let d = site.boot("d", "v2", builder(AT_ONCE)).await?;
    b.node.stand_down();
    d.node.gate().opened().await?;
    b.node.gate().opened().await?;
    let record = site.store.record();
    let verdict = record.verdict(&Version::from("v2")).map(ToString::to_string);
    println!("v2: {}", verdict.unwrap_or_default());

    for process in [a, b, d] {
        process.node.shutdown();
        println!("{} ends: {:?}", process.node.id(), process.driven.await?);
    }
    Ok(())
}

/// Waits until some build has started, and says under which grant.
async fn started(site: &Site) -> GrantId {
    loop {
        if let Some(hold) = site.store.record().hold().filter(|hold| hold.is_started()) {
            return hold.grant;
        }
        tokio::task::yield_now().await;
    }
}
