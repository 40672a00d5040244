//! `replay`: scenarios, and the story of each run.

use handover_sim::picture::{self, Picture};
use handover_sim::scenario::{self, CURRENT, Ended, Scenario};
use handover_sim::suite::{Judged, Judgement, Suite};
use handover_sim::variants::{self, Protocol};

use super::cli::{Form, Replay};
use super::files::{refuse_missing, refuse_output, write};
use super::{complain, complain_of_unreadable, json, print, replay_command};

/// An error is what was refused before the work started.
pub(super) fn replay(asked: &Replay) -> Result<Judgement, Judgement> {
    refuse_missing(&asked.paths)?;
    let suite = Suite::load(&asked.paths);
    refuse_output(asked.out.as_deref(), &suite)?;
    complain_of_unreadable(&suite);
    let form = if asked.json { Form::Json } else { asked.form };
    let mut judgement = Judgement::AsExpected;
    let mut texts = Vec::new();
    let mut pictures: Vec<Picture> = Vec::new();
    let mut failing = Vec::new();
    for (path, scenario) in suite.files() {
        let Ok(scenario) = scenario else {
            judgement = judgement.max(Judgement::Unreadable);
            continue;
        };
        for protocol in protocols(scenario, asked.protocol.as_deref()) {
            let command = replay_command(path, protocol.name());
            let picture = (form != Form::Text)
                .then(|| Picture::of(scenario, protocol).with_replay(command.clone()));
            let run = picture
                .as_ref()
                .map_or_else(|| scenario::run(scenario, protocol), |picture| picture.run().clone());
            let judged = Judged::new(path, scenario, run);
            judgement = judgement.max(judged.judgement());
            failing.extend(summary(&judged));
            texts.push(match (form, &picture) {
                (Form::Text, _) => format!("{}{}\n", judged.run.trace, ending(&judged)),
                (Form::Json, Some(picture)) => json::replay(path, &judged, picture, command),
                (Form::Json | Form::Mermaid | Form::Svg | Form::Html, _) => String::new(),
            });
            pictures.extend(picture);
        }
    }
    if texts.is_empty() {
        return Err(judgement);
    }
    let text = match form {
        Form::Text => texts.join("\n"),
        Form::Json => texts.concat(),
        Form::Mermaid => picture::mermaid(&pictures),
        Form::Svg => picture::svg(&pictures),
        Form::Html => picture::html(&pictures),
    };
    let written = match &asked.out {
        Some(out) => write(out, &text),
        None => print(&text),
    };
    for line in failing {
        complain(&line);
    }
    Ok(judgement.max(written))
}

/// What a person has to look at after pages of traces: the first problem of a run in a line.
fn summary(judged: &Judged) -> Option<String> {
    let (first, more) = judged.problems.split_first()?;
    let place = first.place();
    let (protocol, expected, found) = (judged.run.protocol, &first.expected, &first.found);
    let mut text = format!("{place} under {protocol}: expected {expected}, found {found}");
    if !more.is_empty() {
        text = format!("{text} (and {} more)", more.len());
    }
    Some(text)
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

/// The ending of a run in a line, with all that makes it less than that ending.
fn ending(judged: &Judged) -> String {
    let run = &judged.run;
    let mut text = if run.is_stale() { format!("stale under {CURRENT}") } else { ended(judged) };
    if let Some(lines) = lines(run.failures.iter().map(|failure| failure.line)) {
        let what = if run.failures.len() == 1 { "an expectation is" } else { "expectations are" };
        text = format!("{text}, but {what} false: {lines}");
    }
    if let Some(lines) = lines(run.stale.iter().map(|stale| stale.line)) {
        let what = if run.stale.len() == 1 { "a command" } else { "commands" };
        text = format!("{text}; {what} cannot happen: {lines}");
    }
    text
}

fn ended(judged: &Judged) -> String {
    let run = &judged.run;
    let ended = match &run.ended {
        Ended::Holds => "holds".to_owned(),
        Ended::Breaks { violation, .. } => format!("breaks {}", violation.property),
    };
    let is_expected = run.expected.is_some_and(|expected| expected.to_string() == ended);
    match run.expected {
        Some(_) if is_expected && judged.holds() => ended,
        Some(_) if is_expected => format!("{ended} as expected"),
        Some(expected) => format!("{ended}, expected {expected}"),
        None => format!("{ended}; the head says nothing of {}", run.protocol),
    }
}

/// `line 6`, `lines 6, 8`; none if there is none.
fn lines(numbers: impl Iterator<Item = usize>) -> Option<String> {
    let numbers: Vec<String> = numbers.map(|number| number.to_string()).collect();
    match numbers.as_slice() {
        [] => None,
        [one] => Some(format!("line {one}")),
        [..] => Some(format!("lines {}", numbers.join(", "))),
    }
}
