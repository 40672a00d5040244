//! `explore --table`: the configurations that come with the program, one row each.

use std::collections::BTreeMap;

use handover_sim::explore::{Bounds, Exploration, ROWS, Row, Verdict};
use handover_sim::suite::Judgement;

use super::cli::Explore;
use super::explore::{Explored, search};
use super::{interrupt, json, print};

/// Explores row after row; each is printed when it is done. After a Ctrl-C the rest is not begun.
pub(super) fn explore(asked: &Explore) -> Judgement {
    let names = asked.table.as_deref().unwrap_or_default();
    let named = |row: &&Row| names.is_empty() || names.iter().any(|name| name == row.name);
    interrupt::listen();
    let mut judgement = Judgement::AsExpected;
    let mut all = Vec::new();
    if !asked.json {
        judgement = judgement.max(print(&head()));
    }
    for row in ROWS.iter().filter(named) {
        if interrupt::is_interrupted() {
            judgement = judgement.max(Judgement::Unknown);
            break;
        }
        let bounds = Bounds {
            states_max: asked.max_states.unwrap_or(usize::MAX),
            liveness: !asked.safety_only,
            ..row.bounds()
        };
        let found = search(&bounds, asked, &format!("{}  ", row.name));
        let explored = Explored { bounds, found, paths: BTreeMap::new() };
        judgement = judgement.max(explored.judgement());
        if asked.json {
            all.push((row.name, explored));
        } else {
            judgement = judgement.max(print(&line(row, &explored)));
        }
    }
    if asked.json {
        judgement = judgement.max(print(&json::explore_rows(&all)));
    }
    judgement
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
    let faults: Vec<String> =
        bounds.faults.iter().map(|(kind, times)| format!("{kind}={times}")).collect();
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
