//! `replay`: scenarios, and the story of each run.

use handover_sim::scenario::{self, CURRENT, Ended, Scenario};
use handover_sim::suite::{Judged, Judgement, Suite};
use handover_sim::variants::{self, Protocol};

use super::cli::{Form, Replay};
use super::{complain_of_unreadable, json, print, write};

pub(super) fn replay(asked: &Replay) -> Judgement {
    let suite = Suite::load(&asked.files);
    complain_of_unreadable(&suite);
    let form = if asked.json { Form::Json } else { asked.form };
    let mut judgement = Judgement::AsExpected;
    let mut texts = Vec::new();
    for (path, scenario) in suite.files() {
        let Ok(scenario) = scenario else {
            judgement = judgement.max(Judgement::Unreadable);
            continue;
        };
        for protocol in protocols(scenario, asked.protocol.as_deref()) {
            let judged = Judged::new(path, scenario, scenario::run(scenario, protocol));
            judgement = judgement.max(judged.judgement());
            texts.push(match form {
                Form::Text => format!("{}{}\n", judged.run.trace, ending(&judged)),
                Form::Json => json::replay(path, &judged),
            });
        }
    }
    let text = match form {
        Form::Text => texts.join("\n"),
        Form::Json => texts.concat(),
    };
    let written = match &asked.out {
        Some(out) => write(out, &text),
        None => print(&text),
    };
    judgement.max(written)
}

/// The protocol that is asked for, or all of the head.
fn protocols(scenario: &Scenario, asked: Option<&str>) -> Vec<&'static dyn Protocol> {
    let of_head = scenario.setup().endings.iter().map(|(name, _)| name.as_str());
    let names: Vec<&str> = asked.map_or_else(|| of_head.collect(), |name| vec![name]);
    let protocols = names.into_iter().map(|name| {
        variants::by_name(name).expect("the parser and the arguments know only these names")
    });
    protocols.collect()
}

/// The ending of a run in a line.
fn ending(judged: &Judged) -> String {
    let run = &judged.run;
    if let Some(stale) = run.stale.first().filter(|_| run.is_stale()) {
        return format!("stale: line {} cannot happen under {CURRENT}", stale.line);
    }
    let ended = match &run.ended {
        Ended::Holds => "holds".to_owned(),
        Ended::Breaks { violation, .. } => format!("breaks {}", violation.property),
    };
    let is_expected = run.expected.is_some_and(|expected| expected.to_string() == ended);
    let mut text = match run.expected {
        Some(_) if is_expected && judged.holds() => ended,
        Some(_) if is_expected => format!("{ended} as expected"),
        Some(expected) => format!("{ended}, expected {expected}"),
        None => format!("{ended}; the head says nothing of {}", run.protocol),
    };
    if !run.failures.is_empty() {
        let lines = run.failures.iter().map(|failure| failure.line.to_string());
        let lines: Vec<String> = lines.collect();
        text = format!("{text}; false expectations in lines {}", lines.join(", "));
    }
    text
}
