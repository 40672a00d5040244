//! Journals of the production shell, whole, cut and mixed, and of a shell that does it wrong.

mod journals;

use std::fs;
use std::path::Path;
use std::time::Duration;

use handover_node::core::journal::{HostInput, JournalEntry};
use handover_node::core::{HostId, RecordId};
use handover_node::{Liveness, MemoryStore};
use handover_sim::check::Property;
use handover_sim::judge::{Breach, JournalError, Report, Verdict, judge, judge_lines};
use journals::common::World;
use journals::common::faulty::FaultyStore;
use journals::common::shop::Shop;
use journals::{files, folder, lines, options, parsed, rollout, signing, text};
use proptest::prelude::*;

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
}

#[test]
fn a_journal_of_another_format_is_refused_with_its_place_and_a_remedy() {
    let folder = folder();
    rollout(folder.path(), 3, 7);
    let whole = text(&lines(folder.path()));
    let newer = whole.replacen("\"format\":2", "\"format\":3", 1);
    let error = judged_text(newer).expect_err("it is newer").to_string();
    assert!(error.contains("one.journal:1: a journal of the format 3"), "{error}");
    let newer = whole.replace("\"id\":7,\"format\":1", "\"id\":7,\"format\":9");
    let error = judged_text(newer).expect_err("its record is newer").to_string();
    assert!(error.contains(": a record of the format 9, which is newer"), "{error}");
    // As the format 1 wrote it: without the boot and the record.
    let first = parsed(whole.lines().next().expect("it has lines"));
    let names = format!(
        "\"format\":2,\"boot\":\"{}.{}\",\"record\":null",
        first.boot.name, first.boot.incarnation
    );
    let old = serde_json::to_string(&first).expect("a line is plain data");
    let old = old.replacen(&names, "\"format\":1", 1);
    assert!(old.starts_with("{\"format\":1,\"number\":0"), "{old}");
    let error = judged_text(format!("{old}\n")).expect_err("it is older").to_string();
    let parts =
        ["one.journal:1: a journal of the format 1", "use the handover-sim that comes with"];
    assert!(parts.iter().all(|part| error.contains(part)), "{error}");
}

#[test]
fn a_line_that_contradicts_itself_is_an_error_with_its_place() {
    let folder = folder();
    rollout(folder.path(), 3, 7);
    let lines = lines(folder.path());
    let spoiled = |from: &str, to: &str| {
        let at = lines.iter().position(|line| line.contains(from)).expect("one of them has it");
        let line = lines[at].replacen(from, to, 1);
        judged_text(text(&[&lines[..at], &[line], &lines[at + 1..]].concat()))
    };
    for (from, to, why) in [
        ("\"boot\":\"a.1\"", "\"boot\":\"b.1\"", "a is no life of the process that booted as b"),
        ("\"boot\":\"a.1\"", "\"boot\":\"a.9\"", "is no life of the process that booted as a.9"),
        (
            "\"Loaded\":{\"id\":7",
            "\"Loaded\":{\"id\":8",
            "another record than the one that it names",
        ),
    ] {
        let error = spoiled(from, to).expect_err("no node writes that").to_string();
        assert!(error.contains("one.journal:") && error.contains(why), "{error}");
    }
}

/// A process that goes, and another of its name that is declared gone and comes back.
fn two_lives(folder: &Path) {
    let mut world = World::new(5);
    let shop = Shop::on(FaultyStore::new(MemoryStore::new(RecordId(7)), 5));
    shop.store.set_faults(false);
    let a = shop.start(&mut world, options(folder, "a", "v1"), signing());
    world.run_until("it is open", || a.is_open());
    world.run_for(Duration::from_secs(60));
    world.kill(a.task);
    shop.membership.say(a.node.id(), Liveness::Gone);
    let again = shop.start(&mut world, options(folder, "a", "v2"), signing());
    let b = shop.start(&mut world, options(folder, "b", "v2"), signing());
    let known = || shop.store.inner.record().line(&again.node.id()).is_some();
    world.run_until("its word is known", known);
    shop.membership.say(again.node.id(), Liveness::Gone);
    world.run_until("all are open", || again.is_open() && b.is_open());
    world.run_for(Duration::from_secs(60));
}

#[test]
fn rotated_files_of_two_lives_are_told_apart_though_their_numbers_go_on() {
    let folder = folder();
    two_lives(folder.path());
    let lines = lines(folder.path());
    let of = |boot: HostId| lines.iter().filter(move |line| parsed(line).boot == boot).cloned();
    let first: Vec<_> = of(HostId::new("a", 1)).collect();
    let second: Vec<_> = of(HostId::new("a", 2)).collect();
    let returns = |line: &String| {
        let entry = parsed(line).entry;
        matches!(entry, JournalEntry::Input(HostInput::ComeBack { .. }))
    };
    // The file of the one ends where, in its numbers, that of the other begins; and that begins
    // with a return, as if the one had come back.
    let at = second.iter().position(returns).expect("it was declared gone, and came back");
    let file: Vec<_> = first.iter().cycle().take(at).cloned().enumerate().collect();
    let renumbered = file.into_iter().map(|(number, line)| {
        let mut line = parsed(&line);
        line.number = number as u64;
        serde_json::to_string(&line).expect("a line is plain data")
    });
    let path = |name: &str| folder.path().join(name);
    fs::write(path("x.1"), text(&renumbered.collect::<Vec<_>>())).expect("there is room");
    fs::write(path("x"), text(&second[at..])).expect("there is room");
    let report = judge(&[path("x"), path("x.1")]).expect("each line is whole");
    let judged = &report.records[0];
    assert_eq!(judged.processes, 2, "{report:#?}");
    let gap = format!("lines 0 to {} of a.2 are in no file", at - 1);
    assert!(judged.missing.contains(&gap), "{report:#?}");
}

#[test]
fn lines_that_are_read_already_are_judged_as_their_files() {
    let folder = folder();
    rollout(folder.path(), 3, 7);
    let files = files(folder.path());
    let read: Vec<_> = files
        .iter()
        .map(|file| {
            let text = fs::read_to_string(file).expect("it is text");
            (file.as_path(), text.lines().map(parsed).collect::<Vec<_>>())
        })
        .collect();
    let report = judge_lines(read).expect("a node has written them");
    assert_eq!(report, judge(&files).expect("a node has written them"));
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
