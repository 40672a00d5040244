//! `judge`: journals of production hosts, and what they tell.

use std::fmt::Write as _;

use handover_sim::judge::{self, Breach, Judged, Report, Verdict};
use handover_sim::suite::Judgement;
use serde_json::json;

use super::cli::Judge;
use super::files::refuse_missing;
use super::{complain, print};

/// An error is what was refused before the work started.
pub(super) fn judge(asked: &Judge) -> Result<Judgement, Judgement> {
    refuse_missing(&asked.paths)?;
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
    Ok(judgement.max(print(&text)))
}

fn as_text(report: &Report) -> String {
    let mut text = String::new();
    for judged in &report.records {
        let record = record(judged).map_or_else(|| "no record".into(), |id| format!("record {id}"));
        let Judged { verdict, processes, commits, .. } = judged;
        let _ = writeln!(text, "{verdict}: {record}, {processes} processes, {commits} commits");
        for finding in &judged.findings {
            let _ = writeln!(text, "  {finding}");
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
