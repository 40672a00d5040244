//! A few words for a step, beside the lane on which it happens.

use handover_core::{Gate, Hold, Record, Work};

use super::build::Lanes;
use super::model::{Label, Tone};
use crate::check::Transition;
use crate::explain::{fault_words, news_of, word_for};
use crate::world::{Event, Fact, Lost, StepKind, World};

/// What is to be said of a step; none where it says nothing new.
pub(super) fn label(step: &Transition<'_>, lanes: &Lanes) -> Option<Label> {
    let (lane, text, tone) = words(step, lanes)?;
    Some(Label { lane, text, tone })
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
    for fact in step.facts {
        if let Fact::Committed { arbiter, before, after, .. } = fact {
            let (text, tone) = committed(step.after, before, after);
            let lane = lanes.arbiter(*arbiter);
            return Some((lane, text, tone));
        }
        if let Fact::Refused { arbiter, refusal, .. } = fact {
            let text = format!("refused: {}", refusal.name());
            return Some((lanes.arbiter(*arbiter), Some(text), Tone::Plain));
        }
    }
    None
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

/// What the host says of itself in this step.
fn said(step: &Transition<'_>) -> Option<String> {
    let mut said = None;
    for fact in step.facts {
        if let Fact::Said { statement, .. } = fact {
            said = Some(format!("says {}", word_for(&statement.standing)));
        }
        if let Fact::Lost { what: Lost::Unsaid(_), .. } = fact {
            said = said.map(|said| format!("{said}, to nobody"));
        }
    }
    said
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
