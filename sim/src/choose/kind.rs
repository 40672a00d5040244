//! What kind of event an event is, and whom it is about.

use crate::world::{Direction, Event, Target, Who, Wire};

/// An event without its particulars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Kind {
    /// Its verb in a scenario.
    pub(crate) verb: &'static str,
    /// Which way, or which step.
    pub(crate) detail: &'static str,
    /// Whom it is about; none where it is about the record, an operator's order, or a place.
    pub(crate) who: Option<Who>,
}

impl Kind {
    pub(crate) fn of(event: &Event) -> Self {
        let about = |verb, who: &Who| Self { verb, detail: "", who: Some(*who) };
        let on = |verb, wire: &Wire| Self { verb, detail: way(wire), who: Some(wire.who) };
        let at = |verb, target: &Target| match target {
            Target::Wire(wire) => on(verb, wire),
            Target::Arbiter(_) => Self { verb, detail: "record", who: None },
        };
        let ends = |verb, failed: bool, who: &Who| Self {
            detail: if failed { "failed" } else { "" },
            ..about(verb, who)
        };
        let other = |verb| Self { verb, detail: "", who: None };
        match event {
            Event::Ask(who) => about("ask", who),
            Event::Watch(who) => about("watch", who),
            Event::StandDown { who, after: false } => about("stand-down", who),
            Event::StandDown { who, after: true } => {
                Self { detail: "after", ..about("stand-down", who) }
            }
            Event::Deliver { from, .. } => Self { detail: "-> record", ..about("deliver", from) },
            Event::Read(who) => Self { detail: "record ->", ..about("deliver", who) },
            Event::Repeat(wire) => on("repeat", wire),
            Event::Plan { who, .. } => about("plan", who),
            Event::Step { who, step } => Self { detail: step.kind.word(), ..about("step", who) },
            Event::SignOff { who, failed, .. } => ends("sign-off", *failed, who),
            Event::BuildEnds { who, failed, .. } => ends("build-ends", failed.is_some(), who),
            Event::BuildStops { who, .. } => about("build-stops", who),
            Event::Submit { who, .. } => about("submit", who),
            Event::CancelBuild { who, .. } => Self { detail: "build", ..about("cancel", who) },
            Event::Drain { who, .. } => about("drain", who),
            Event::Undrain(who) => about("undrain", who),
            Event::Deadline(who) => about("deadline", who),
            Event::Interrupt(who) => about("interrupt", who),
            Event::Stall(target) => at("stall", target),
            Event::Flow(target) => at("flow", target),
            Event::Lose(wire) => on("lose", wire),
            Event::Double(wire) => on("double", wire),
            Event::Overtake(wire) => on("overtake", wire),
            Event::Delay(wire) => on("delay", wire),
            Event::Cut(who) => about("cut", who),
            Event::Stale { who, .. } => about("stale", who),
            Event::Slow { who, .. } => about("slow", who),
            Event::Pause(who) => about("pause", who),
            Event::Resume(who) => about("resume", who),
            Event::Crash(who) => about("crash", who),
            Event::Gone(who) => about("gone", who),
            Event::Boot { .. } => other("boot"),
            Event::Overlap { .. } => other("overlap"),
            Event::Reuse(who) => about("reuse", who),
            Event::LoseDisk(who) => about("lose-disk", who),
            Event::Suspect(who) => about("suspect", who),
            Event::Trust(who) => about("trust", who),
            Event::Reask(who) => about("reask", who),
            Event::Hang(who) => about("hang", who),
            Event::Unsigned { who, .. } => about("unsigned", who),
            Event::Publish(_) => other("publish"),
            Event::ArbiterCrash(_) => other("arbiter"),
            Event::Conflict(_) => other("conflict"),
            Event::UnknownCommit(_) => other("unknown"),
            Event::Lapse(_) => other("lapse"),
            Event::Cancel { .. } => other("cancel"),
            Event::Revoke { .. } => other("revoke"),
            Event::Retry { .. } => other("retry"),
            Event::Heal => other("heal"),
        }
    }
}

/// `deliver -> record`, `step wake`, `crash`.
impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.verb)?;
        if self.detail.is_empty() { Ok(()) } else { write!(f, " {}", self.detail) }
    }
}

fn way(wire: &Wire) -> &'static str {
    match wire.direction {
        Direction::ToRecord => "-> record",
        Direction::FromRecord => "record ->",
    }
}
