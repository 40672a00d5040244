//! The table of a check: a line a theme, then whatever is not as it should be.

use std::fmt::Write as _;

use handover_sim::suite::FileReport;

use super::check::Checked;
use super::counts::{Counts, digest, themes};
use super::replay_command;
use super::swarm::{self, Results};

pub(super) fn table(checked: &Checked) -> String {
    let mut rows = vec![HEADINGS.map(str::to_owned)];
    for (theme, files) in themes(&checked.suite) {
        rows.push(row(theme, Counts::of(files)));
    }
    rows.push(row("all", Counts::of(&checked.suite.files)));
    let mut text = aligned(&rows);
    text.push('\n');
    searched(&mut text, checked);
    let _ = writeln!(text, "digest    {}", digest(checked));
    failures(&mut text, checked);
    text
}

const HEADINGS: [&str; 7] =
    ["theme", "files", "protocols", "holds", "breaks as expected", "not as expected", "steps"];

fn row(name: &str, counts: Counts) -> [String; 7] {
    [
        name.to_owned(),
        counts.files.to_string(),
        counts.runs.to_string(),
        counts.holds.to_string(),
        counts.breaks_as_expected.to_string(),
        (counts.not_as_expected + counts.unreadable).to_string(),
        counts.steps.to_string(),
    ]
}

/// The first column to the left, all others to the right.
fn aligned(rows: &[[String; 7]]) -> String {
    let width = |column: usize| {
        let widths = rows.iter().map(|row| row[column].chars().count());
        widths.max().unwrap_or(0)
    };
    let mut text = String::new();
    for row in rows {
        let first = width(0);
        let _ = write!(text, "{:first$}", row[0]);
        for (column, cell) in row.iter().enumerate().skip(1) {
            let width = width(column);
            let _ = write!(text, "  {cell:>width$}");
        }
        text.push('\n');
    }
    text
}

/// What was looked at beyond the files.
fn searched(text: &mut String, checked: &Checked) {
    if let Some(explored) = &checked.explored {
        let coverage = &explored.found.coverage;
        let broken = match explored.found.broken().len() {
            0 if explored.found.holds() => "all properties hold".to_owned(),
            0 => "unknown".to_owned(),
            broken => format!("{broken} broken"),
        };
        let _ = writeln!(
            text,
            "explored  {}: {} states, {} transitions, {broken}",
            explored.bounds, coverage.states, coverage.transitions
        );
    }
    let Some(walks) = &checked.walks else {
        text.push_str("walks     none\n");
        return;
    };
    let results = &walks.results;
    let Results { schedules, broken, transitions, settings, .. } = results;
    let _ = writeln!(
        text,
        "walks     {schedules} through rolling updates of up to {} hosts and {} versions, with \
         faults: {} hold, {broken} do not, {transitions} steps",
        settings.hosts,
        settings.versions,
        schedules - broken,
    );
    if results.interrupted {
        text.push_str("          interrupted: the walks that are left were not walked\n");
    }
}

fn failures(text: &mut String, checked: &Checked) {
    for file in &checked.suite.files {
        if file.runs.is_err() {
            unreadable(text, file);
            continue;
        }
        for problem in file.problems() {
            let _ = writeln!(text, "\n{problem}");
            if let Some(protocol) = problem.protocol {
                let command = replay_command(&problem.path, protocol);
                let _ = writeln!(text, "  replay    {command}");
            }
        }
    }
    for broken in checked.explored.iter().flat_map(|explored| explored.broken()) {
        let _ = writeln!(text, "\n{broken}");
    }
    if let Some(walks) = &checked.walks {
        text.push_str(&swarm::failures(&walks.results));
    }
}

/// The first mistake in short; stderr has told all, with the lines and what would be valid.
fn unreadable(text: &mut String, file: &FileReport) {
    let problems = file.problems();
    let Some(first) = problems.first() else {
        return;
    };
    let _ = writeln!(text, "\n{} cannot be read\n  found     {}", first.place(), first.found);
    if problems.len() > 1 {
        let _ = writeln!(text, "  and {} more, see stderr", problems.len() - 1);
    }
}
