//! The canonical form: what parses to the same again, with defaults left out and columns aligned.
//!
//! A text near the limit of a line's length may grow beyond it by the alignment.

use std::fmt::{self, Display, Formatter};

use super::{
    Arbiter, BuildOutcome, CancelThen, Command, Content, DeadlineOutcome, EndAction, Ending, Fact,
    Grant, Header, HoldFact, HostNumber, HostRef, HostVersion, Link, Scenario, Target, Term, Work,
};

impl Display for Scenario {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "# {}", self.title())?;
        let variants = self.setup().endings.iter().map(|(variant, _)| variant.chars().count());
        let variant_width = variants.max().unwrap_or(0);
        for line in self.lines() {
            let text = match line.content() {
                Content::Prose(text) => text.clone(),
                Content::Comment(text) if text.is_empty() => "#".to_owned(),
                Content::Comment(text) => format!("# {text}"),
                Content::Header(Header::Under { variant, ending }) => {
                    format!("under   {variant:variant_width$}  {ending}")
                }
                Content::Header(header) => header.to_string(),
                Content::Command(command) => command.to_string(),
                Content::Blank => String::new(),
            };
            match line.comment() {
                Some(comment) => writeln!(f, "{text:<30} # {comment}")?,
                None => writeln!(f, "{text}")?,
            }
        }
        Ok(())
    }
}

impl Display for Header {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hosts(hosts) => write!(f, "hosts   {}", join(hosts, "  ")),
            Self::Idle(hosts) => write!(f, "idle    {}", join(hosts, "  ")),
            Self::Chunks(chunks) => write!(f, "chunks  {}", join(chunks, "  ")),
            Self::Slots(slots) => write!(f, "slots   {}", join(slots, "  ")),
            Self::Priority(priorities) => write!(f, "priority {}", join(priorities, "  ")),
            Self::Arbiters(arbiters) => write!(f, "arbiters {arbiters}"),
            Self::Pinned(names) => write!(f, "pinned  {}", join(names, "  ")),
            Self::SingleSteps => write!(f, "steps  single"),
            Self::Under { variant, ending } => write!(f, "under   {variant}  {ending}"),
        }
    }
}

impl Command {
    /// The word that the command begins with.
    #[must_use]
    pub const fn verb(&self) -> &'static str {
        match self {
            Self::Ask { .. } => "ask",
            Self::Watch { .. } => "watch",
            Self::StandDown { .. } => "stand-down",
            Self::Deliver { .. } => "deliver",
            Self::Publish { .. } => "publish",
            Self::Repeat { .. } => "repeat",
            Self::Stall { .. } => "stall",
            Self::Flow { .. } => "flow",
            Self::Plan { .. } => "plan",
            Self::SignOff { .. } => "sign-off",
            Self::BuildEnds { .. } => "build-ends",
            Self::BuildStops { .. } => "build-stops",
            Self::Submit { .. } => "submit",
            Self::Drain { .. } => "drain",
            Self::Undrain { .. } => "undrain",
            Self::Deadline { .. } => "deadline",
            Self::Interrupt { .. } => "interrupt",
            Self::Step { .. } => "step",
            Self::Lose { .. } => "lose",
            Self::Double { .. } => "double",
            Self::Overtake { .. } => "overtake",
            Self::Delay { .. } => "delay",
            Self::Cut { .. } => "cut",
            Self::Stale { .. } => "stale",
            Self::Slow { .. } => "slow",
            Self::Pause { .. } => "pause",
            Self::Resume { .. } => "resume",
            Self::Crash { .. } => "crash",
            Self::Gone { .. } => "gone",
            Self::Boot { .. } => "boot",
            Self::Overlap { .. } => "overlap",
            Self::Reuse { .. } => "reuse",
            Self::LoseDisk { .. } => "lose-disk",
            Self::Suspect { .. } => "suspect",
            Self::Trust { .. } => "trust",
            Self::Reask { .. } => "reask",
            Self::Fail { .. } => "fail",
            Self::Hang { .. } => "hang",
            Self::Unsigned { .. } => "unsigned",
            Self::ArbiterCrash { .. } => "arbiter",
            Self::Conflict { .. } => "conflict",
            Self::UnknownCommit { .. } => "unknown",
            Self::Lapse { .. } => "lapse",
            Self::CancelGrant { .. } | Self::CancelBuild { .. } => "cancel",
            Self::Revoke { .. } => "revoke",
            Self::Retry { .. } => "retry",
            Self::Heal => "heal",
            Self::Rest => "rest",
            Self::Expect { .. } => "expect",
            Self::Check { .. } => "check",
        }
    }
}

impl Display for Command {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.verb())?;
        match self {
            Self::Ask { host }
            | Self::Watch { host }
            | Self::Undrain { host }
            | Self::Deadline { host }
            | Self::Interrupt { host }
            | Self::Cut { host }
            | Self::Pause { host }
            | Self::Resume { host }
            | Self::Crash { host }
            | Self::Gone { host }
            | Self::Reuse { host }
            | Self::LoseDisk { host }
            | Self::Suspect { host }
            | Self::Trust { host }
            | Self::Reask { host }
            | Self::Hang { host } => write!(f, " {host}"),
            Self::Deliver { link }
            | Self::Repeat { link }
            | Self::Lose { link }
            | Self::Double { link }
            | Self::Overtake { link }
            | Self::Delay { link } => write!(f, " {link}"),
            Self::Stall { target } | Self::Flow { target } => write!(f, " {target}"),
            Self::Publish { arbiter }
            | Self::ArbiterCrash { arbiter }
            | Self::Conflict { arbiter }
            | Self::UnknownCommit { arbiter } => write_unless(f, " ", arbiter, &Arbiter::First),
            Self::StandDown { host, after } => write!(f, " {host}{}", if_set(*after, " after")),
            Self::Plan { host, chunks: words } | Self::Step { host, words } => {
                write!(f, " {host}")?;
                words.iter().try_for_each(|word| write!(f, " {word}"))
            }
            Self::SignOff { host, chunk, failed } => {
                write!(f, " {host} {chunk}{}", if_set(*failed, " failed"))
            }
            Self::Unsigned { host, chunk } => write!(f, " {host} {chunk}"),
            Self::BuildEnds { host, work, outcome } => {
                write!(f, " {host}")?;
                write_some(f, " of ", work.as_ref())?;
                write!(f, "{outcome}")
            }
            Self::BuildStops { host, work } => {
                write!(f, " {host}")?;
                write_some(f, " of ", work.as_ref())
            }
            Self::Submit { host, build, parent, drains } => {
                write!(f, " {host} {build}")?;
                write_some(f, " parent ", parent.as_ref())?;
                f.write_str(if_set(drains.is_some(), " drains"))?;
                write_unless(f, " ", &drains.unwrap_or(EndAction::Nothing), &EndAction::Nothing)
            }
            Self::Drain { host, term, then, at_deadline } => {
                write!(f, " {host}")?;
                write_unless(f, " ", term, &Term::UntilUndrained)?;
                write_unless(f, " then ", then, &EndAction::Nothing)?;
                write_unless(f, " at-deadline ", at_deadline, &DeadlineOutcome::Report)
            }
            Self::Stale { host, behind: number } | Self::Slow { host, factor: number } => {
                write!(f, " {host} {number}")
            }
            Self::Boot { name, version } | Self::Overlap { name, version } => {
                write!(f, " {name}")?;
                write_some(f, ":", version.as_ref())
            }
            Self::Fail { host, reason } => {
                write!(f, " {host}")?;
                write_some(f, " ", reason.as_ref())
            }
            Self::Lapse { grant } => write!(f, " {grant}"),
            Self::CancelGrant { grant, then, reason } => {
                write!(f, " {grant}")?;
                // With a reason the word is needed: the reason itself might begin with it.
                if *then != CancelThen::Block || reason.is_some() {
                    write!(f, " {then}")?;
                }
                write_some(f, " ", reason.as_ref())
            }
            Self::CancelBuild { host, build } => write!(f, " {host} {build}"),
            Self::Revoke { grant, reason } => {
                write!(f, " {grant}")?;
                write_some(f, " ", reason.as_ref())
            }
            Self::Retry { version, grant } => write!(f, " {version} {grant}"),
            Self::Heal | Self::Rest => Ok(()),
            Self::Expect { under, fact } => {
                write_some(f, " under ", under.as_ref())?;
                write!(f, " {fact}")
            }
            Self::Check { property } => write_some(f, " ", property.as_ref()),
        }
    }
}

impl Display for Fact {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hold(hold) => write!(f, "hold {hold}"),
            Self::Gate { host, gate } => write!(f, "gate {host} {gate}"),
            Self::Verdict { version, verdict } => write!(f, "verdict {version} {verdict}"),
            Self::Line { host, standing: None } => write!(f, "line {host} none"),
            Self::Line { host, standing: Some(standing) } => write!(f, "line {host} {standing}"),
            Self::Host { host, state } => write!(f, "host {host} {state}"),
            Self::Said { host, standing, grant } => {
                write!(f, "said {host} {standing}")?;
                write_some(f, " ", grant.as_ref())
            }
            Self::Refused { refusal } => write!(f, "refused {refusal}"),
            Self::Answered { remark } => write!(f, "answered {remark}"),
            Self::Building { host, yes } => write!(f, "building {host} {}", yes_no(*yes)),
            Self::Builders { count } => write!(f, "builders {count}"),
            Self::Build { host, build, state, attempts } => {
                write!(f, "build {host} {build} {state}")?;
                write_some(f, " attempts ", attempts.as_ref())
            }
            Self::Workspace { host, build, yes } => {
                write!(f, "workspace {host} {build} {}", yes_no(*yes))
            }
            Self::Draining { host, yes, then } => {
                write!(f, "draining {host} {}", yes_no(*yes))?;
                write_some(f, " then ", then.as_ref())
            }
            Self::Drained { host, yes } => write!(f, "drained {host} {}", yes_no(*yes)),
            Self::FreeSlots { host, count } => write!(f, "free-slots {host} {count}"),
            Self::Queue { host, builds } if builds.is_empty() => write!(f, "queue {host} none"),
            Self::Queue { host, builds } => write!(f, "queue {host} {}", builds.join(" ")),
            Self::Offers { count } => write!(f, "offers {count}"),
            Self::Converged => f.write_str("converged"),
            Self::Stuck => f.write_str("stuck"),
        }
    }
}

impl Display for HoldFact {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Offered { host, grant } => write!(f, "Offered({host}, {grant})"),
            Self::Started { host, grant, cancelling } => {
                write!(f, "Started({host}, {grant}){}", if_set(*cancelling, " cancelling"))
            }
        }
    }
}

impl Display for HostRef {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        write_some(f, ".", self.incarnation.as_ref())
    }
}

impl Display for Arbiter {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::First => "record",
            Self::Second => "record2",
        })
    }
}

impl Display for Grant {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "g{}", self.0)
    }
}

impl Display for Link {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::ToRecord(host, arbiter) => write!(f, "{host} -> {arbiter}"),
            Self::FromRecord(arbiter, host) => write!(f, "{arbiter} -> {host}"),
        }
    }
}

impl Display for Target {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Link(link) => write!(f, "{link}"),
            Self::Arbiter(arbiter) => write!(f, "{arbiter}"),
        }
    }
}

impl Display for Work {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Build(build) => f.write_str(build),
            Self::Grant(grant) => write!(f, "{grant}"),
        }
    }
}

/// As it continues a command: nothing for a clean end, else ` failed` and the reason.
impl Display for BuildOutcome {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clean => Ok(()),
            Self::Failed(reason) => {
                f.write_str(" failed")?;
                write_some(f, " ", reason.as_ref())
            }
        }
    }
}

impl Display for HostVersion {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.name, self.version)
    }
}

impl Display for HostNumber {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.number)
    }
}

impl Display for Ending {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Holds => f.write_str("holds"),
            Self::Breaks(property) => write!(f, "breaks {property}"),
        }
    }
}

fn join<T: Display>(list: &[T], between: &str) -> String {
    let words: Vec<String> = list.iter().map(T::to_string).collect();
    words.join(between)
}

const fn if_set(set: bool, text: &str) -> &str {
    if set { text } else { "" }
}

const fn yes_no(yes: bool) -> &'static str {
    if yes { "yes" } else { "no" }
}

fn write_some<T: Display>(f: &mut Formatter<'_>, before: &str, value: Option<T>) -> fmt::Result {
    match value {
        Some(value) => write!(f, "{before}{value}"),
        None => Ok(()),
    }
}

fn write_unless<T: Display + PartialEq>(
    f: &mut Formatter<'_>,
    before: &str,
    value: &T,
    default: &T,
) -> fmt::Result {
    write_some(f, before, (value != default).then_some(value))
}
