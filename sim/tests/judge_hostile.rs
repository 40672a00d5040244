//! Journals that no node has written: whatever they say, they are judged or refused.

#[path = "../../core/tests/common/property.rs"]
mod property;

mod journals;

use std::collections::BTreeMap;
use std::fs;
use std::sync::LazyLock;

use handover_node::core::HostId;
use handover_sim::judge::{JournalError, Report, Verdict, judge};
use journals::{folder, lines, parsed, rollout, text};
use property::property;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// A rollout's lines, those of each file behind one another.
static LINES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let folder = folder();
    rollout(folder.path(), 3, 7);
    lines(folder.path())
});

fn judged(text: impl AsRef<[u8]>) -> Result<Report, JournalError> {
    let folder = folder();
    let path = folder.path().join("one.journal");
    fs::write(&path, text).expect("the folder is there");
    judge(&[path])
}

/// What somebody does to a journal.
#[derive(Clone, Debug)]
enum Mutation {
    /// Another number stands for one of a line's.
    Number(Index, Index, u64),
    Swap(Index, Index),
    Drop(Index),
    Double(Index, Index),
    Cut(Index, Index),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let extreme = select(vec![
        0,
        1,
        u64::from(u32::MAX),
        u64::MAX / 2 - 1,
        u64::MAX / 2,
        u64::MAX / 2 + 1,
        u64::MAX - 1,
        u64::MAX,
    ]);
    prop_oneof![
        6 => (any::<Index>(), any::<Index>(), extreme)
            .prop_map(|(line, number, to)| Mutation::Number(line, number, to)),
        1 => any::<(Index, Index)>().prop_map(|(one, other)| Mutation::Swap(one, other)),
        1 => any::<Index>().prop_map(Mutation::Drop),
        1 => any::<(Index, Index)>().prop_map(|(from, to)| Mutation::Double(from, to)),
        1 => any::<(Index, Index)>().prop_map(|(line, at)| Mutation::Cut(line, at)),
    ]
}

fn mutate(lines: &mut Vec<String>, mutation: &Mutation) {
    if lines.is_empty() {
        return;
    }
    match mutation {
        Mutation::Number(line, number, to) => {
            let line = line.get_mut(lines);
            let numbers = numbers(line);
            let (from, end) = *number.get(&numbers);
            line.replace_range(from..end, &to.to_string());
        }
        Mutation::Swap(one, other) => {
            let (one, other) = (one.index(lines.len()), other.index(lines.len()));
            lines.swap(one, other);
        }
        Mutation::Drop(line) => drop(lines.remove(line.index(lines.len()))),
        Mutation::Double(from, to) => {
            let line = from.get(lines).clone();
            lines.insert(to.index(lines.len()), line);
        }
        Mutation::Cut(line, at) => {
            let line = line.get_mut(lines);
            line.truncate(at.index(line.len() + 1));
        }
    }
}

/// Where the numbers of a line are, those in the names of hosts included; a line has one at least.
fn numbers(line: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut from = None;
    for (at, byte) in line.bytes().enumerate().chain([(line.len(), b' ')]) {
        match (byte.is_ascii_digit(), from) {
            (true, None) => from = Some(at),
            (false, Some(begin)) => {
                found.push((begin, at));
                from = None;
            }
            (true, Some(_)) | (false, None) => {}
        }
    }
    if found.is_empty() { vec![(0, 0)] } else { found }
}

#[test]
fn a_journal_that_somebody_has_changed_is_judged_or_refused_with_its_place() {
    let mutations = vec(mutation(), 1..4);
    let floors = [("error", 50), ("broken", 100), ("unknown", 50), ("holds", 10)];
    property(1_000, &mutations, &floors, |mutations, tally| {
        let mut lines = LINES.clone();
        for mutation in &mutations {
            mutate(&mut lines, mutation);
        }
        match judged(text(&lines)) {
            Ok(report) => tally.saw(match report.verdict() {
                Verdict::Holds => "holds",
                Verdict::Unknown => "unknown",
                Verdict::Broken => "broken",
            }),
            Err(error) => {
                let error = error.to_string();
                assert!(error.contains("one.journal:"), "it has no place: {error}");
                tally.saw("error");
            }
        }
    });
}

#[test]
fn each_number_of_a_journal_may_be_the_largest() {
    let mut verdicts = BTreeMap::new();
    for at in 0..LINES.len() {
        for (from, end) in numbers(&LINES[at]) {
            let mut lines = LINES.clone();
            lines[at].replace_range(from..end, &u64::MAX.to_string());
            let judged = judged(text(&lines)).map(|report| report.verdict());
            *verdicts.entry(judged.ok()).or_insert(0) += 1;
        }
    }
    assert!(verdicts[&Some(Verdict::Broken)] > 100, "{verdicts:?}");
    assert!(verdicts[&None] > 100, "{verdicts:?}");
}

#[test]
fn journals_whose_tails_are_cut_anywhere_are_never_broken() {
    let mut processes: BTreeMap<HostId, String> = BTreeMap::new();
    for line in LINES.iter() {
        let process = processes.entry(parsed(line).boot).or_default();
        process.push_str(line);
        process.push('\n');
    }
    let processes: Vec<_> = processes.into_values().collect();
    let cuts =
        vec(prop_oneof![1 => Just(None), 3 => any::<Index>().prop_map(Some)], processes.len());
    property(300, &cuts, &[("unknown", 200), ("cut", 200)], |cuts, tally| {
        let folder = folder();
        let mut paths = Vec::new();
        for (number, (process, cut)) in processes.iter().zip(&cuts).enumerate() {
            let kept = cut.map_or(process.len(), |cut| cut.index(process.len() + 1));
            let path = folder.path().join(format!("{number}.journal"));
            fs::write(&path, &process.as_bytes()[..kept]).expect("there is room");
            paths.push(path);
        }
        let report = judge(&paths).expect("only tails are missing");
        assert_ne!(report.verdict(), Verdict::Broken, "{report:#?}");
        tally.saw_if(report.verdict() == Verdict::Unknown, "unknown");
        tally.saw_if(!report.cut.is_empty(), "cut");
    });
}
