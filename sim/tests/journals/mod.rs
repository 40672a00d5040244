//! Journals for tests: of the production shell, and made by hand.
#![allow(dead_code, reason = "each test target uses a part")]

#[path = "../../../node/tests/common/mod.rs"]
pub(crate) mod common;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use common::World;
use common::faulty::FaultyStore;
use common::shop::Shop;
use handover_node::core::journal::{CommitAnswer, HostInput, JournalEntry, JournalLine};
use handover_node::core::{
    Candidate, Executor, Host, HostId, Input, Priority, Record, RecordId, Revision, Settings,
    SignOff,
};
use handover_node::{
    Build, BuildError, Builder, FileJournal, Liveness, MemoryLedger, MemoryStore, Options,
};
use tempfile::TempDir;

pub(crate) fn signing() -> impl Builder {
    |build: Build| async move {
        build.sign_off("base", SignOff::Clean);
        Ok::<_, BuildError>(())
    }
}

pub(crate) fn options(folder: &Path, name: &str, version: &str) -> Options {
    let path = folder.join(format!("{name}.journal"));
    let journal = FileJournal::create(path, 1 << 14, 1000).expect("the folder is there");
    Options::new(name, version).rewatch(Duration::from_secs(2)).journal(journal)
}

/// A rollout over a faulty store, with a crash, a boot and a stand-down, journalled to a folder.
pub(crate) fn rollout(folder: &Path, seed: u64, record: u128) {
    rollout_on(folder, seed, record, [(); 2].map(|()| Arc::new(MemoryLedger::new())));
}

/// The same, and the process that boots finds the book of the one that has died.
pub(crate) fn rollout_on_one_disk(folder: &Path, seed: u64, record: u128) {
    let book = Arc::new(MemoryLedger::new());
    rollout_on(folder, seed, record, [Arc::clone(&book), book]);
}

fn rollout_on(folder: &Path, seed: u64, record: u128, [first, second]: [Arc<MemoryLedger>; 2]) {
    let mut world = World::new(seed);
    let shop = Shop::on(FaultyStore::new(MemoryStore::new(RecordId(record)), seed));
    let a = shop.start_with(&mut world, options(folder, "a", "v1"), signing(), first);
    let b = shop.start(&mut world, options(folder, "b", "v1"), signing());
    let c = shop.start(&mut world, options(folder, "c", "v2"), signing());
    world.run_for(Duration::from_millis(300 * seed));
    world.kill(a.task);
    shop.membership.say(a.node.id(), Liveness::Gone);
    let a = shop.start_with(&mut world, options(folder, "a", "v2"), signing(), second);
    world.run_until("all are open", || [&a, &b, &c].iter().all(|node| node.is_open()));
    b.node.stand_down();
    shop.store.set_faults(false);
    world.run_for(Duration::from_secs(60));
}

pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("it is there");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("it is there").path()).collect();
    files.sort();
    files
}

pub(crate) fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder for tests")
}

/// The lines of all files, one after another.
pub(crate) fn lines(folder: &Path) -> Vec<String> {
    let texts = files(folder).into_iter().map(|file| fs::read_to_string(file).expect("it is text"));
    texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

pub(crate) fn text(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

pub(crate) fn parsed(line: &str) -> JournalLine {
    serde_json::from_str(line).expect("a node has written it")
}

/// The journal of one host that asks and stands down, again and again: so many lines at least.
pub(crate) fn long_journal(lines: u64) -> String {
    let id = HostId::new("a", 1);
    let settings = Settings::new(1, false);
    let candidate = Candidate::new(id.clone(), "v1".into(), Priority(0));
    let mut writer = LongJournal {
        host: Host::new(candidate, Executor::new(settings, "v1".into())),
        record: Record::new(RecordId(7)),
        follows: None,
        number: 0,
        text: String::new(),
    };
    let (version, priority) = ("v1".into(), Priority(0));
    writer.put(JournalEntry::Boot { version, priority, settings, ledger: None });
    writer.follows = Some(RecordId(7));
    writer.put(JournalEntry::Loaded(Box::new(writer.record.to_parts())));
    writer.read();
    let mut proposal = 0;
    while writer.number < lines {
        let asks = proposal % 2 == 0;
        writer.give(if asks { HostInput::Ask } else { HostInput::StandDown });
        writer.commit(proposal);
        writer.read();
        proposal += 1;
    }
    writer.text
}

struct LongJournal {
    host: Host,
    record: Record,
    follows: Option<RecordId>,
    number: u64,
    text: String,
}

impl LongJournal {
    fn put(&mut self, entry: JournalEntry) {
        let candidate = self.host.candidate();
        let line = JournalLine {
            format: JournalLine::FORMAT,
            boot: self.host.id().clone(),
            record: self.follows,
            number: self.number,
            host: self.host.id().clone(),
            seq: candidate.seq(),
            revision: candidate.view().map_or(Revision(0), |view| view.revision),
            entry,
        };
        let line = serde_json::to_string(&line).expect("a line is plain data");
        writeln!(self.text, "{line}").expect("a string takes all");
        self.number += 1;
    }

    fn give(&mut self, input: HostInput) {
        self.host.replay(input.clone());
        while self.host.poll_effect().is_some() {}
        self.put(JournalEntry::Input(input));
    }

    fn read(&mut self) {
        let view = self.record.view_for(self.host.id(), self.host.version());
        self.give(HostInput::View(Box::new(view)));
    }

    fn commit(&mut self, proposal: u64) {
        let statement = self.host.statement().expect("it has just spoken");
        let (input, suspects) = (Input::Statement(statement), BTreeSet::new());
        let change = self.record.fold(&input, &suspects).expect("its word is new");
        let revision = change.revision;
        self.record.apply(&change).expect("nobody else writes");
        let inputs = vec![input];
        self.put(JournalEntry::Proposed { proposal, change, inputs, suspects });
        let answer = CommitAnswer::Committed;
        self.put(JournalEntry::Answered { proposal, revision, answer });
    }
}
