//! `judge`: journals of production hosts, and what they tell.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use handover_sim::judge::{self, Breach, Exported, Judged, Place, Report, Verdict};
use handover_sim::picture::{self, Picture};
use handover_sim::scenario;
use handover_sim::suite::Judgement;
use handover_sim::variants::Current;
use serde_json::json;

use super::cli::{Judge, JudgeForm};
use super::files::{refuse_missing, refuse_output_among, write};
use super::{complain, print};

/// An error is what was refused before the work started.
pub(super) fn judge(asked: &Judge) -> Result<Judgement, Judgement> {
    refuse_missing(&asked.paths)?;
    for output in asked.export.iter().chain(&asked.out) {
        refuse_output_among(output, &asked.paths)?;
    }
    let report = judge::judge(&asked.paths).map_err(|error| {
        complain(&format!("error: {error}"));
        Judgement::Unreadable
    })?;
    let judgement = match report.verdict() {
        Verdict::Holds => Judgement::AsExpected,
        Verdict::Unknown => Judgement::Unknown,
        Verdict::Broken => Judgement::NotAsExpected,
    };
    let text = if asked.json { as_json(&report) } else { as_text(&report) };
    // What is shown has stdout for itself, unless it goes to a file or is text too.
    let shares = asked.out.is_some() || asked.form.is_none_or(|form| form == JudgeForm::Text);
    let printed = if shares {
        print(&text)
    } else {
        complain(text.trim_end());
        Judgement::AsExpected
    };
    Ok(judgement.max(printed).max(tell(asked)))
}

/// What the journals tell, as a scenario and as a picture of it.
fn tell(asked: &Judge) -> Judgement {
    if asked.export.is_none() && asked.form.is_none() {
        return Judgement::AsExpected;
    }
    let exported = match judge::export(&asked.paths) {
        Ok(exported) => exported,
        Err(error) => {
            complain(&format!("error: the journals cannot be told as a scenario: {error}"));
            return Judgement::Unreadable;
        }
    };
    let mut judgement = Judgement::AsExpected;
    if let Some(path) = &asked.export {
        judgement = judgement.max(write(path, &exported.scenario.to_string()));
    }
    if let Some(form) = asked.form {
        let shown = show(&exported, form);
        judgement = judgement.max(match &asked.out {
            Some(out) => write(out, &shown),
            None => print(&shown),
        });
    }
    judgement
}

fn show(exported: &Exported, form: JudgeForm) -> String {
    let picture = || [Picture::of(&exported.scenario, &Current)];
    match form {
        JudgeForm::Text => scenario::run(&exported.scenario, &Current).trace.to_string(),
        JudgeForm::Mermaid => picture::mermaid(&picture()),
        JudgeForm::Svg => picture::svg(&picture()),
        JudgeForm::Html => picture::html(&picture()),
    }
}

fn as_text(report: &Report) -> String {
    let mut text = String::new();
    for judged in &report.records {
        let record = record(judged).map_or_else(|| "no record".into(), |id| format!("record {id}"));
        let Judged { verdict, processes, commits, .. } = judged;
        let lives = if *processes == 1 { "process" } else { "processes" };
        let made = if *commits == 1 { "commit" } else { "commits" };
        let _ = writeln!(text, "{verdict}: {record}, {processes} {lives}, {commits} {made}");
        for finding in &judged.findings {
            let _ = writeln!(text, "  {finding}");
            for line in around(&finding.place) {
                let _ = writeln!(text, "    {line}");
            }
        }
        for missing in &judged.missing {
            let _ = writeln!(text, "  missing: {missing}");
        }
    }
    if report.records.is_empty() {
        let _ = writeln!(text, "unknown: no line");
    }
    for path in &report.cut {
        let _ = writeln!(text, "{}: its last line is cut short", path.display());
    }
    text
}

/// The lines around a place, as far as they are to be had.
fn around(place: &Place) -> Vec<String> {
    let first = place.line.saturating_sub(LINES_AROUND).max(1);
    let lines = || read(&place.path, first, place.line + LINES_AROUND).ok();
    let numbered = (first..).zip(lines().unwrap_or_default());
    let mark = |number| if number == place.line { ">" } else { "|" };
    let shown = numbered.map(|(number, line)| format!("{number} {} {}", mark(number), cut(&line)));
    shown.collect()
}

fn read(path: &Path, first: u64, last: u64) -> std::io::Result<Vec<String>> {
    let (skipped, taken) = (usize::try_from(first - 1), usize::try_from(last + 1 - first));
    let lines = BufReader::new(File::open(path)?).lines();
    lines.skip(skipped.unwrap_or(usize::MAX)).take(taken.unwrap_or(0)).collect()
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(LINE_CHARS_MAX) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line.to_owned(),
    }
}

/// So many lines before a place and behind it are shown.
const LINES_AROUND: u64 = 2;

/// As much of a line is shown.
const LINE_CHARS_MAX: usize = 160;

fn as_json(report: &Report) -> String {
    let records: Vec<_> = report.records.iter().map(record_json).collect();
    let cut: Vec<_> = report.cut.iter().map(|path| path.display().to_string()).collect();
    let verdict = report.verdict().to_string();
    let lines = report.lines;
    format!("{}\n", json!({ "verdict": verdict, "lines": lines, "cut": cut, "records": records }))
}

fn record_json(judged: &Judged) -> serde_json::Value {
    let findings = judged.findings.iter().map(|finding| {
        let property = match finding.breach {
            Breach::Property(property) => Some(property.to_string()),
            Breach::Replay => None,
        };
        json!({
            "property": property,
            "file": finding.place.path.display().to_string(),
            "line": finding.place.line,
            "why": finding.why,
        })
    });
    json!({
        "record": record(judged),
        "verdict": judged.verdict.to_string(),
        "findings": findings.collect::<Vec<_>>(),
        "missing": judged.missing,
        "processes": judged.processes,
        "commits": judged.commits,
    })
}

fn record(judged: &Judged) -> Option<String> {
    judged.record.map(|record| record.to_string())
}
