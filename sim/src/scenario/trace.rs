//! What a scenario prints: each command with its indented consequences.

use std::fmt;
use std::sync::Arc;

use handover_core::{Gate, Hold, HostId, Input, Record, Remark, View};

use super::token::escaped;
use crate::world::{ArbiterIndex, Fact, Lost, World};

/// The story of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The title of the scenario.
    pub title: String,
    /// The protocol that the actors followed.
    pub protocol: String,
    /// Commands and prose, in order.
    pub entries: Vec<Entry>,
}

/// A line of the scenario and what it brought about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The line in the file; 0: not from the file.
    pub line: usize,
    /// The line itself.
    pub text: String,
    /// What followed, in order.
    pub consequences: Vec<String>,
}

/// Consequences of one line that are told; a livelock has more.
const TOLD_MAX: usize = 300;

impl Entry {
    pub(super) fn say(&mut self, text: String) {
        if self.consequences.len() < TOLD_MAX || text.starts_with("BROKEN") {
            self.consequences.push(text);
        } else if self.consequences.len() == TOLD_MAX {
            self.consequences.push("...".to_owned());
        }
    }
}

/// Control characters of the file are escaped.
impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# {}", escaped(&self.title))?;
        writeln!(f, "protocol {}", self.protocol)?;
        for entry in &self.entries {
            writeln!(f, "{}", escaped(&entry.text))?;
            for consequence in &entry.consequences {
                writeln!(f, "    {}", escaped(consequence))?;
            }
        }
        Ok(())
    }
}

/// Says what a fact means, in the words of the domain; none where it says nothing new.
#[must_use]
pub fn tell(world: &World, fact: &Fact) -> Option<String> {
    let label = |who| world.label(who);
    let text = match fact {
        Fact::Said { who, statement } => format!("{} -> record  {statement}", label(*who)),
        Fact::Lost { who, what: Lost::Unsaid(seq) } => {
            format!("{}  keeps seq={seq} to itself", label(*who))
        }
        Fact::Lost { who, what: Lost::Statement(seq) } => {
            format!("{} -> record  seq={seq} is lost", label(*who))
        }
        Fact::Lost { who, what: Lost::View(revision) } => {
            format!("record -> {}  {revision} is lost", label(*who))
        }
        Fact::Moved { who, from, to } => format!("{}  {from} -> {to}", label(*who)),
        Fact::Gate { who, gate } => format!("{}  gate {}", label(*who), gate_label(world, gate)),
        Fact::Refused { arbiter, input, refusal } => {
            let input = input_label(world, input, true);
            format!("{}  {input}: {refusal}", arbiter_label(*arbiter))
        }
        Fact::Committed { arbiter, input, remark, before, after } => {
            tell_commit(world, *arbiter, input.as_ref(), remark.as_ref(), (before, after))
        }
        Fact::Conflicted { arbiter, found } => format!(
            "{}  loses the compare-and-set, catches up with {found}, folds again",
            arbiter_label(*arbiter)
        ),
        Fact::AnswerLost { arbiter } => format!(
            "{}  does not hear that it has committed, catches up, folds again",
            arbiter_label(*arbiter)
        ),
        Fact::Published { arbiter, revision } => {
            format!("{}  publishes {revision}", arbiter_label(*arbiter))
        }
        Fact::Restarted { arbiter } => {
            format!("{}  restarts from what is committed", arbiter_label(*arbiter))
        }
        Fact::Read { who, view, refused: None } => {
            format!("{}  reads {}: {}", label(*who), view.revision, view_label(world, view))
        }
        Fact::Read { who, view, refused: Some(refusal) } => {
            format!("{}  refuses the view {}: {refusal}", label(*who), view.revision)
        }
        Fact::Ordered { .. } => return None,
        Fact::Performed { who, kind, work, wrote } => {
            let work = work.as_ref().map(|work| format!(" {work}")).unwrap_or_default();
            let wrote = wrote.map(|wrote| format!(": {wrote}")).unwrap_or_default();
            format!("{}  {}{work}{wrote}", label(*who), kind.word())
        }
        Fact::PutOff { who } => format!("{}  puts it off until the slot is released", label(*who)),
        Fact::BuildRuns { who, work } => format!("{}  build {work} runs", label(*who)),
        Fact::BuildEnded { who, work, clean } => {
            let how = if *clean { "clean" } else { "failed" };
            format!("{}  build {work} ends {how}", label(*who))
        }
        Fact::BuildStopped { who, work } => format!("{}  build {work} has stopped", label(*who)),
        Fact::Declined { who, why } => format!("{}  declines: {why}", label(*who)),
        Fact::Booted { who, id } => {
            let version = world.process(*who).host.version();
            format!("{}  is up as {}.{} with {version}", label(*who), id.name, id.incarnation)
        }
        Fact::CameBack { who, before, id } => format!(
            "{}  comes back as {}.{}, after {}.{}",
            label(*who),
            id.name,
            id.incarnation,
            before.name,
            before.incarnation
        ),
        Fact::Crashed { who } => format!("{}  crashes", label(*who)),
        Fact::Exited { who } => format!("{}  is drained and ends", label(*who)),
        Fact::Alarm { who, text } => format!("{}  ALARM {text}", label(*who)),
    };
    Some(text)
}

fn tell_commit(
    world: &World,
    arbiter: ArbiterIndex,
    input: Option<&Arc<Input>>,
    remark: Option<&Remark>,
    (before, after): (&Record, &Record),
) -> String {
    let mut news = Vec::new();
    if before.hold() != after.hold() {
        let (was, is) = (hold_label(world, before.hold()), hold_label(world, after.hold()));
        if was != is {
            news.push(format!("{was} -> {is}"));
        }
    }
    for (version, verdict) in after.verdicts() {
        if before.verdict(version) != Some(verdict) {
            news.push(format!("{version} {verdict}"));
        }
    }
    for (version, _) in before.verdicts() {
        if after.verdict(version).is_none() {
            news.push(format!("{version} has no verdict any more"));
        }
    }
    let what = input.map_or_else(|| "settles".to_owned(), |input| input_label(world, input, false));
    let mut text = format!("{}  {what}", arbiter_label(arbiter));
    if !news.is_empty() {
        text = format!("{text}; {}", news.join("; "));
    }
    if let Some(remark) = remark {
        text = format!("{text}; answers {remark}");
    }
    text
}

fn arbiter_label(index: ArbiterIndex) -> &'static str {
    if index.0 == 0 { "record" } else { "record2" }
}

/// What an arbiter does with an input, and what it would not do: `hears b: Asking seq=1`,
/// `refuses b: Asking seq=1`.
fn input_label(world: &World, input: &Input, refused: bool) -> String {
    let host = |id: &HostId| world.host_label(id);
    let (does, refuses, what) = match input {
        Input::Statement(statement) => {
            ("hears", "refuses", format!("{}: {statement}", host(&statement.host)))
        }
        Input::Gone(id) => ("hears", "refuses", format!("that {} is gone", host(id))),
        Input::Retry { version, grant } => {
            ("retries", "refuses to retry", format!("{version} after {grant}"))
        }
        Input::Lapse { grant } => ("lets", "refuses to let", format!("{grant} lapse")),
        Input::Cancel { grant, reason, .. } => {
            ("cancels", "refuses to cancel", format!("{grant} ({reason})"))
        }
        Input::Revoke { grant, reason } => {
            ("revokes", "refuses to revoke", format!("{grant} ({reason})"))
        }
    };
    format!("{} {what}", if refused { refuses } else { does })
}

/// `waiting for b`, with the name that commands use.
fn gate_label(world: &World, gate: &Gate) -> String {
    if let Gate::Waiting { on: Some(host) } = gate {
        format!("waiting for {}", world.host_label(host))
    } else {
        gate.to_string()
    }
}

fn hold_label(world: &World, hold: Option<&Hold>) -> String {
    hold.map_or_else(|| "nobody holds".to_owned(), |hold| world.hold_label(hold))
}

fn view_label(world: &World, view: &View) -> String {
    let mut text = hold_label(world, view.hold.as_deref());
    if let Some(verdict) = &view.verdict {
        text = format!("{text}, {verdict}");
    }
    if let Some(seq) = view.acknowledged {
        text = format!("{text}, acknowledges seq={seq}");
    }
    if view.gone {
        text = format!("{text}, says that it is gone");
    }
    text
}
