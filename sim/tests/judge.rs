//! Journals of the production shell, whole, cut and mixed, and of a shell that does it wrong.

#[path = "../../node/tests/common/mod.rs"]
mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use common::World;
use common::faulty::FaultyStore;
use common::shop::Shop;
use handover_node::core::{RecordId, SignOff};
use handover_node::{Build, BuildError, Builder, FileJournal, Liveness, MemoryStore, Options};
use handover_sim::judge::{Report, Verdict, judge};
use tempfile::TempDir;

fn signing() -> impl Builder {
    |build: Build| async move {
        build.sign_off("base", SignOff::Clean);
        Ok::<_, BuildError>(())
    }
}

fn options(folder: &Path, name: &str, version: &str) -> Options {
    let path = folder.join(format!("{name}.journal"));
    let journal = FileJournal::create(path, 1 << 14, 1000).expect("the folder is there");
    Options::new(name, version).rewatch(Duration::from_secs(2)).journal(journal)
}

/// A rollout over a faulty store, with a crash, a boot and a stand-down, journalled to a folder.
fn rollout(folder: &Path, seed: u64, record: u128) {
    let mut world = World::new(seed);
    let shop = Shop::on(FaultyStore::new(MemoryStore::new(RecordId(record)), seed));
    let a = shop.start(&mut world, options(folder, "a", "v1"), signing());
    let b = shop.start(&mut world, options(folder, "b", "v1"), signing());
    let c = shop.start(&mut world, options(folder, "c", "v2"), signing());
    world.run_for(Duration::from_millis(300 * seed));
    world.kill(a.task);
    shop.membership.say(a.node.id(), Liveness::Gone);
    let a = shop.start(&mut world, options(folder, "a", "v2"), signing());
    world.run_until("all are open", || [&a, &b, &c].iter().all(|node| node.is_open()));
    b.node.stand_down();
    shop.store.set_faults(false);
    world.run_for(Duration::from_secs(60));
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("it is there");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("it is there").path()).collect();
    files.sort();
    files
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder for tests")
}

fn judged(folder: &Path) -> Report {
    judge(&files(folder)).expect("it can be read")
}

#[test]
fn the_journals_of_the_shell_hold() {
    let mut commits = 0;
    for seed in 0..40 {
        let folder = folder();
        rollout(folder.path(), seed, 7);
        let report = judged(folder.path());
        assert_eq!(report.verdict(), Verdict::Holds, "seed {seed}: {report:#?}");
        commits += report.records[0].commits;
    }
    assert!(commits > 300, "{commits} commits");
}
