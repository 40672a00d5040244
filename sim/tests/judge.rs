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
use handover_sim::check::Property;
use handover_sim::judge::{Breach, JournalError, Report, Verdict, judge};
use proptest::prelude::*;
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

/// Writes one file, and judges it alone.
fn judged_text(text: impl AsRef<[u8]>) -> Result<Report, JournalError> {
    let folder = folder();
    let path = folder.path().join("one.journal");
    fs::write(&path, text).expect("the folder is there");
    judge(&[path])
}

/// The lines of each process, one after another.
fn lines(folder: &Path) -> Vec<String> {
    let texts = files(folder).into_iter().map(|file| fs::read_to_string(file).expect("it is text"));
    texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

fn text(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn lines_that_come_twice_or_in_another_order_of_files_change_nothing() {
    let folder = folder();
    rollout(folder.path(), 3, 7);
    let mut files = files(folder.path());
    let first = judge(&files).expect("it can be read");
    files.reverse();
    files.extend(files.clone());
    let again = judge(&files).expect("it can be read");
    assert_eq!(again.records, first.records);
    assert_eq!(again.lines, 2 * first.lines);
}

#[test]
fn records_that_are_mixed_are_judged_apart() {
    let (one, other) = (folder(), folder());
    rollout(one.path(), 3, 7);
    rollout(other.path(), 4, 8);
    let mut mixed = files(one.path());
    mixed.extend(files(other.path()));
    let report = judge(&mixed).expect("it can be read");
    assert_eq!(report.records.len(), 2, "{report:#?}");
    assert_eq!(report.verdict(), Verdict::Holds, "{report:#?}");
}

#[test]
fn a_journal_that_lacks_a_line_is_never_broken() {
    let folder = folder();
    rollout(folder.path(), 3, 7);
    let lines = lines(folder.path());
    let mut unknown = 0;
    for at in 0..lines.len() {
        let without = [&lines[..at], &lines[at + 1..]].concat();
        let report = judged_text(text(&without)).expect("each line is whole");
        assert_ne!(report.verdict(), Verdict::Broken, "without line {}: {report:#?}", at + 1);
        unknown += usize::from(report.verdict() == Verdict::Unknown);
        let report = judged_text(text(&lines[..at])).expect("each line is whole");
        assert_ne!(report.verdict(), Verdict::Broken, "the first {at} lines: {report:#?}");
        let report = judged_text(text(&lines[at..])).expect("each line is whole");
        assert_ne!(report.verdict(), Verdict::Broken, "from line {} on: {report:#?}", at + 1);
    }
    assert!(unknown > lines.len() / 2, "{unknown} of {}", lines.len());
}

#[test]
fn a_last_line_that_was_cut_short_is_tolerated_and_another_is_an_error_with_its_place() {
    let folder = folder();
    rollout(folder.path(), 3, 7);
    let lines = lines(folder.path());
    let whole = text(&lines);
    let cut = judged_text(&whole[..whole.len() - 9]).expect("only its end is missing");
    assert_eq!(cut.cut.len(), 1);
    assert_ne!(cut.verdict(), Verdict::Broken, "{cut:#?}");
    let broken = format!("{}\n{}\n{}\n", lines[0], &lines[1][..9], lines[2]);
    let error = judged_text(broken).expect_err("its second line is none").to_string();
    assert!(error.contains("one.journal:2: no line of a journal"), "{error}");
    let newer = whole.replacen("\"format\":1", "\"format\":2", 1);
    let error = judged_text(newer).expect_err("it is newer").to_string();
    assert!(error.contains("one.journal:1: a journal of the format 2"), "{error}");
}

#[test]
fn a_view_that_was_never_committed_breaks_the_gates_truth() {
    let folder = folder();
    rollout(folder.path(), 3, 7);
    let mut lines = lines(folder.path());
    // What c has read first, as if its version were approved.
    let forged = lines
        .iter_mut()
        .find(|line| line.contains("\"host\":\"c.1\",\"seq\"") && line.contains("\"View\""));
    let forged = forged.expect("it has read a view");
    let approved =
        "\"verdict\":{\"ruling\":\"Approved\",\"grant\":1,\"host\":\"c.1\",\"signed_off\":{}}";
    assert!(forged.contains("\"verdict\":null"), "{forged}");
    *forged = forged.replacen("\"verdict\":null", approved, 1);
    let report = judged_text(text(&lines)).expect("it can be read");
    let findings = &report.records[0].findings;
    let gate = findings.iter().any(|it| it.breach == Breach::Property(Property::GateTruth));
    assert!(gate, "{report:#?}");
}

proptest! {
    #[test]
    fn bytes_of_any_kind_are_refused_or_judged(bytes: Vec<u8>) {
        let _ = judged_text(bytes);
    }
}
