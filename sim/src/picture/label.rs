//! A few words for a step, beside the lane on which it happens.

use handover_core::{Gate, Hold, Record, Work};

use super::build::Lanes;
use super::model::{Label, Tone};
use crate::check::Transition;
use crate::explain::{fault_words, news_of, word_for};
use crate::world::{Event, Fact, Lost, StepKind, Who, World};

/// What is to be said of a step; none where it says nothing new.
pub(super) fn label(step: &Transition<'_>, lanes: &Lanes) -> Option<Label> {
    let words = words(step, lanes);
    let Some((who, alarm)) = alarm(step) else {
        return words.map(|(lane, text, tone)| Label { lane, text, tone });
    };
    let lane = lanes.host(step.after, who);
    let more = words.filter(|(at, ..)| *at == lane).map(|(_, text, _)| format!(", {text}"));
    let text = format!("alarm: {alarm}{}", more.unwrap_or_default());
    Some(Label { lane, text, tone: Tone::Fault })
}

/// Who raises an alarm, and of which kind.
fn alarm<'a>(step: &Transition<'a>) -> Option<(Who, &'a str)> {
    step.facts.iter().find_map(|fact| {
        let Fact::Alarm { who, text } = fact else { return None };
        Some((*who, text.split([' ', '(']).next().unwrap_or(text)))
    })
}

fn words(step: &Transition<'_>, lanes: &Lanes) -> Option<(usize, String, Tone)> {
    let (before, after) = (step.before, step.after);
    let host = |who| lanes.host(after, who);
    if let Some(found) = decision(step, lanes) {
        return Some(found);
    }
    if let Event::Read(who) = step.event {
        let text = read(step)?;
        let tone = if opens(step) { Tone::Good } else { Tone::Plain };
        return Some((host(*who), text, tone));
    }
    if let Event::Heal = step.event {
        return None;
    }
    if let Some(text) = fault_words(before, step.event) {
        let place = crate::explain::place_of(before, step.event);
        let lane = place.map_or(1, |name| lanes.place(&name));
        return Some((lane, text, Tone::Fault));
    }
    if let Event::Boot { name, .. } | Event::Overlap { name, .. } = step.event {
        let booted = after.newest(name).map(|who| after.process(who));
        let version = booted.map(|process| process.host.version().to_string());
        let text = format!("boots {}", version.unwrap_or_default());
        return Some((lanes.place(name), text, Tone::Plain));
    }
    let who = step.event.who()?;
    let said = said(step);
    let own = own_words(step);
    let text = match (own, said) {
        (Some(own), Some(said)) => format!("{own}: {said}"),
        (own, said) => own.or(said)?,
    };
    Some((host(who), text, Tone::Plain))
}

/// What the record decides.
fn decision(step: &Transition<'_>, lanes: &Lanes) -> Option<(usize, String, Tone)> {
    let (lane, text, tone) = decided(step, lanes)?;
    let Event::Gone(who) = step.event else {
        return text.map(|text| (lane, text, tone));
    };
    let gone = format!("{} is gone", step.after.label(*who));
    Some((lane, text.map_or_else(|| gone.clone(), |text| format!("{gone}: {text}")), tone))
}

fn decided(step: &Transition<'_>, lanes: &Lanes) -> Option<(usize, Option<String>, Tone)> {
    let (mut decides, mut tone, mut parts) = (None, Tone::Plain, Vec::new());
    for fact in step.facts {
        let arbiter = if let Fact::Committed { arbiter, before, after, remark, .. } = fact {
            let (text, how) = committed(step.after, before, after);
            tone = tone.max(how);
            parts.extend(text);
            parts.extend(remark.as_ref().map(|remark| format!("answers {}", remark.name())));
            arbiter
        } else if let Fact::Refused { arbiter, refusal, .. } = fact {
            parts.push(format!("refused: {}", refusal.name()));
            arbiter
        } else if let Fact::Conflicted { arbiter, .. } = fact {
            parts.push("loses the compare-and-set".to_owned());
            arbiter
        } else if let Fact::AnswerLost { arbiter } = fact {
            parts.push("the answer is lost".to_owned());
            arbiter
        } else {
            continue;
        };
        decides.get_or_insert_with(|| lanes.arbiter(*arbiter));
    }
    let text = (!parts.is_empty()).then(|| parts.join(", "));
    decides.map(|lane| (lane, text, tone))
}

fn committed(world: &World, before: &Record, after: &Record) -> (Option<String>, Tone) {
    let mut news = Vec::new();
    let mut tone = Tone::Plain;
    for (version, verdict) in after.verdicts() {
        if before.verdict(version) != Some(verdict) {
            let is_good = verdict.is_approved();
            tone = if is_good { Tone::Good } else { tone };
            news.push(format!("{version} {}", if is_good { "approved" } else { "failed" }));
        }
    }
    let stage = |record: &Record| {
        record.hold().map(|hold| (hold.grant, hold.is_started(), hold.is_cancelling()))
    };
    if stage(before) != stage(after) {
        news.push(after.hold().map_or_else(|| "nobody holds".to_owned(), |hold| held(world, hold)));
    }
    ((!news.is_empty()).then(|| news.join(", ")), tone)
}

fn held(world: &World, hold: &Hold) -> String {
    let host = world.host_label(&hold.host);
    if hold.is_cancelling() {
        format!("cancels {}", hold.grant)
    } else if hold.is_started() {
        format!("{host} holds {}", hold.grant)
    } else {
        format!("offer {} to {host}", hold.grant)
    }
}

fn opens(step: &Transition<'_>) -> bool {
    step.facts.iter().any(|fact| matches!(fact, Fact::Gate { gate: Gate::Open, .. }))
}

/// What a host learns, and what it then says.
fn read(step: &Transition<'_>) -> Option<String> {
    let view = step.facts.iter().find_map(|fact| {
        let Fact::Read { who, view, refused } = fact else { return None };
        Some((who, view, refused))
    });
    let (who, view, refused) = view?;
    if let Some(refusal) = refused {
        return Some(format!("refuses the view: {refusal}"));
    }
    let mut parts = Vec::new();
    let known = step.before.process(*who);
    let news = news_of(known, view);
    if !news.is_empty() {
        parts.push(news);
    }
    if opens(step) {
        parts.push("gate open".to_owned());
    }
    parts.extend(said(step));
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// What the host says of itself in this step, one word after the other.
fn said(step: &Transition<'_>) -> Option<String> {
    let mut said: Vec<(&str, bool)> = Vec::new();
    for fact in step.facts {
        if let Fact::Said { statement, .. } = fact {
            said.push((word_for(&statement.standing), true));
        }
        if let (Fact::Lost { what: Lost::Unsaid(_), .. }, Some((_, is_sent))) =
            (fact, said.last_mut())
        {
            *is_sent = false;
        }
    }
    let words = said.chunk_by(|one, other| one.1 == other.1).map(|words| {
        let to = if words[0].1 { "" } else { ", to nobody" };
        let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        format!("{}{to}", words.join(", then "))
    });
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| format!("says {}", words.join("; ")))
}

/// What a host's own step is called; none where it is of no interest by itself.
fn own_words(step: &Transition<'_>) -> Option<String> {
    let event = step.event;
    if let Event::SignOff { chunk, failed, .. } = event {
        return Some(if *failed {
            format!("{chunk} fails")
        } else {
            format!("{chunk} signed off")
        });
    }
    if let Event::BuildEnds { work, failed, .. } = event {
        let how = if failed.is_some() { "fails" } else { "ends" };
        return Some(format!("{work} {how}"));
    }
    if let Event::BuildStops { work, .. } = event {
        return Some(format!("{work} stops"));
    }
    if let Event::Submit { build, .. } = event {
        return Some(format!("{build} submitted"));
    }
    if let Event::Drain { .. } = event {
        return Some("drain".to_owned());
    }
    if let Event::Step { step: taken, .. } = event {
        let work = taken.work.as_ref().map(|work| format!(" {}", Work::to_string(work)));
        let work = work.unwrap_or_default();
        return match taken.kind {
            StepKind::Wake => Some(format!("wakes{work}")),
            StepKind::Start => Some(format!("starts{work}")),
            StepKind::Stop => Some(format!("stops{work}")),
            StepKind::StoreDrain if is_put_off(step) => Some("drain put off".to_owned()),
            StepKind::StoreDrain => wrote(step).map(|wrote| format!("drain {wrote}")),
            StepKind::Release => Some(format!("releases slot of{work}")),
            StepKind::Drained => Some("drained".to_owned()),
            StepKind::Return => Some("comes back".to_owned()),
            StepKind::StoreEntry => wrote(step).map(|wrote| format!("{}: {wrote}", work.trim())),
            StepKind::StoreArtifacts | StepKind::Remove => None,
        };
    }
    None
}

fn is_put_off(step: &Transition<'_>) -> bool {
    step.facts.iter().any(|fact| matches!(fact, Fact::PutOff { .. }))
}

fn wrote(step: &Transition<'_>) -> Option<&'static str> {
    step.facts.iter().find_map(|fact| {
        let Fact::Performed { wrote, .. } = fact else { return None };
        *wrote
    })
}
