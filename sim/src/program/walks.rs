//! What a check looks for beyond its files: a quick exploration, and walks of the default swarm.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::ops::ControlFlow;
use std::path::Path;

use handover_sim::explore::{self, ROWS};
use handover_sim::suite::Judgement;
use handover_sim::swarm::{Settings, Shard, Strategy, Swarm};
use handover_sim::variants::Protocol;

use super::explore::Explored;
use super::files::write;
use super::swarm::{self, Results};
use super::{complain, interrupt};

/// The row of the table that is explored: two hosts, a crash, and some 10,000 states.
const EXPLORED: &str = "P02";

/// What became of the walks.
#[derive(Debug)]
pub(super) struct Walks {
    pub(super) results: Results,
    /// Whether what failed was written.
    pub(super) saved: Judgement,
}

/// Walks the seeds from 0 on by the default swarm; `seen` is told how many were begun. The first
/// failure of each cause goes into a folder. A Ctrl-C ends it with what was found.
pub(super) fn walk(
    count: u64,
    protocol: &'static dyn Protocol,
    folder: &Path,
    seen: impl Fn(u64) + Sync,
) -> Walks {
    let swarm = Swarm {
        settings: Settings::default(),
        strategy: Strategy::Mix,
        protocol,
        seeds: 0..count,
        shard: Shard::WHOLE,
    };
    let ran = swarm.run(jobs(), |begun, _| {
        seen(begun);
        !interrupt::is_interrupted()
    });
    let (results, saved) = swarm::explained(&swarm, ran, folder, jobs());
    Walks { results, saved }
}

/// Explores a small rollout; what it breaks goes into a folder.
pub(super) fn explore(folder: &Path) -> (Explored, Judgement) {
    let row = ROWS.iter().find(|row| row.name == EXPLORED).expect("it is in the table");
    let bounds = row.bounds();
    let found = explore::explore(&bounds, jobs(), |_| ControlFlow::Continue(()));
    let mut explored = Explored { bounds, found, ended_by: None, paths: BTreeMap::new() };
    let mut saved = Judgement::AsExpected;
    for broken in explored.found.broken() {
        let property = broken.violation.property;
        let path = folder.join(format!("explore-{property}.scenario"));
        let text = broken.scenario.to_string();
        let written = write(&path, &text);
        if written == Judgement::AsExpected {
            explored.paths.insert(property, path);
        } else {
            complain(&format!("this is the scenario:\n\n{text}"));
        }
        saved = saved.max(written);
    }
    (explored, saved)
}

/// One thread a core.
fn jobs() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

impl Walks {
    pub(super) fn judgement(&self) -> Judgement {
        self.results.judgement()
    }
}
