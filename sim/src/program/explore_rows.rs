//! `explore --table`: the configurations that come with the program, one row each.

use std::collections::BTreeMap;

use handover_sim::choose::FaultKind;
use handover_sim::explore::{Bounds, Exploration, ROWS, Row, Verdict};
use handover_sim::suite::Judgement;

use super::cli::Explore;
use super::explore::{Explored, search};
use super::{interrupt, json, print};

/// Explores row after row; each is printed when it is done. One that takes too much is left for the
/// next; after a Ctrl-C the rest is not begun.
pub(super) fn explore(asked: &Explore) -> Judgement {
    let names = asked.table.as_deref().unwrap_or_default();
    let named = |row: &&Row| names.is_empty() || names.iter().any(|name| name == row.name);
    interrupt::listen();
    let mut judgement = Judgement::AsExpected;
    let mut all = Vec::new();
    let mut seen = Seen::default();
    if !asked.json {
        judgement = judgement.max(print(&head()));
    }
    for row in ROWS.iter().filter(named) {
        if interrupt::is_interrupted() {
            judgement = judgement.max(Judgement::Unknown);
            seen.not_begun.push(row.name);
            continue;
        }
        let bounds = Bounds {
            states_max: asked.max_states.unwrap_or(usize::MAX),
            liveness: !asked.safety_only,
            ..row.bounds()
        };
        let (found, ended_by) = search(&bounds, asked, &format!("{}  ", row.name));
        let explored = Explored { bounds, found, ended_by, paths: BTreeMap::new() };
        judgement = judgement.max(explored.judgement());
        let is_seen = explored.found.coverage.frontier == 0;
        if is_seen { &mut seen.to_the_end } else { &mut seen.in_part }.push(row.name);
        if asked.json {
            all.push((row.name, explored));
        } else {
            judgement = judgement.max(print(&line(row, &explored)));
        }
    }
    if asked.json {
        return judgement.max(print(&json::explore_rows(&all)));
    }
    judgement.max(print(&seen.line()))
}

/// Which rows were seen, to their end or not.
#[derive(Default)]
struct Seen {
    to_the_end: Vec<&'static str>,
    in_part: Vec<&'static str>,
    not_begun: Vec<&'static str>,
}

impl Seen {
    /// `3 rows seen to their end; in part: P12; not begun: P13 P14`
    fn line(&self) -> String {
        let mut line = format!("\n{} rows seen to their end", self.to_the_end.len());
        for (how, names) in [("in part", &self.in_part), ("not begun", &self.not_begun)] {
            if !names.is_empty() {
                line += &format!("; {how}: {}", names.join(" "));
            }
        }
        line + "\n"
    }
}

fn head() -> String {
    format!(
        "{:4} {:14} {:>6} {:>4} {:>6} {:>10} {:>11} {:>5}  {:20} faults\n",
        "row", "hosts", "chunks", "late", "builds", "states", "transitions", "depth", "verdict"
    )
}

fn line(row: &Row, explored: &Explored) -> String {
    let Explored { bounds, found, .. } = explored;
    let hosts: Vec<String> =
        bounds.hosts.iter().map(|version| format!("v{}", version + 1)).collect();
    let word = |kind: &FaultKind| {
        let either = bounds.cancels_as_revokes && *kind == FaultKind::Revoke;
        if either { "stop".to_owned() } else { kind.to_string() }
    };
    let faults = bounds.faults.iter().map(|(kind, times)| format!("{}={times}", word(kind)));
    let faults: Vec<String> = faults.collect();
    let coverage = &found.coverage;
    format!(
        "{:4} {:14} {:>6} {:>4} {:>6} {:>10} {:>11} {:>5}  {:20} {}\n",
        row.name,
        hosts.join(" "),
        bounds.chunks,
        bounds.late,
        bounds.local_builds.1,
        coverage.states,
        coverage.transitions,
        coverage.depth,
        verdict(found),
        faults.join(","),
    )
}

/// All hold; or what is broken first, in how many steps; or how many states were not explored.
fn verdict(found: &Exploration) -> String {
    if let Some(broken) = found.broken().first() {
        return format!("{} broken in {}", broken.violation.property, broken.steps);
    }
    if found.holds() {
        return "all hold".to_owned();
    }
    let decided = |(_, verdict): &(_, Verdict)| matches!(verdict, Verdict::Holds);
    if found.verdicts.iter().any(decided) {
        return "safety holds".to_owned();
    }
    format!("unknown, {} left", found.coverage.frontier)
}
