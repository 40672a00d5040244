//! Commands and events: what a script says is what a world does, under the same name.

use std::collections::BTreeSet;

use handover_core::{self as protocol, BuildId, Chunk, GrantId, Name, Reason, Version, executor};

use super::{
    Arbiter, BuildOutcome, CancelThen, Command, DeadlineOutcome, EndAction, Grant, HostRef, Link,
    Target, Term, Work,
};
use crate::world::Target as WorldTarget;
use crate::world::{ArbiterIndex, Direction, Event, Who, Wire, World};

/// Why a command names no event of this world.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoEvent(pub String);

/// The event that a command names in this world. None: the command is not an event but a question
/// (`expect`, `check`), or many (`rest`).
///
/// # Errors
/// If it names a process or a step that is not there.
pub fn event_of(world: &World, command: &Command) -> Result<Option<Event>, NoEvent> {
    let who = |host: &HostRef| find(world, host);
    let event = match command {
        Command::Ask { host } => Event::Ask(who(host)?),
        Command::Watch { host } => Event::Watch(who(host)?),
        Command::StandDown { host, after } => Event::StandDown { who: who(host)?, after: *after },
        Command::Deliver { link: Link::ToRecord(host, arbiter) } => {
            Event::Deliver { from: who(host)?, to: index(*arbiter) }
        }
        Command::Deliver { link: Link::FromRecord(_, host) } => Event::Read(who(host)?),
        Command::Publish { arbiter } => Event::Publish(index(*arbiter)),
        Command::Repeat { link } => Event::Repeat(wire(world, link)?),
        Command::Stall { target } => Event::Stall(target_of(world, target)?),
        Command::Flow { target } => Event::Flow(target_of(world, target)?),
        Command::Plan { host, chunks } => {
            let plan: BTreeSet<Chunk> = chunks.iter().map(|chunk| chunk.as_str().into()).collect();
            let chunks = (!plan.is_empty()).then_some(plan);
            Event::Plan { who: who(host)?, chunks }
        }
        Command::SignOff { host, chunk, failed } => {
            Event::SignOff { who: who(host)?, chunk: chunk.as_str().into(), failed: *failed }
        }
        Command::BuildEnds { host, work, outcome } => {
            let who = who(host)?;
            let failed = match outcome {
                BuildOutcome::Clean => None,
                BuildOutcome::Failed(reason) => Some(reason_or(reason.as_deref(), "failed")),
            };
            Event::BuildEnds { who, work: work_of(world, who, work.as_ref())?, failed }
        }
        Command::Fail { host, reason } => {
            let who = who(host)?;
            let failed = Some(reason_or(reason.as_deref(), "failed"));
            Event::BuildEnds { who, work: work_of(world, who, None)?, failed }
        }
        Command::BuildStops { host, work } => {
            let who = who(host)?;
            Event::BuildStops { who, work: work_of(world, who, work.as_ref())? }
        }
        Command::Submit { host, build, parent, drains } => Event::Submit {
            who: who(host)?,
            build: build.as_str().into(),
            parent: parent.as_deref().map(BuildId::from),
            drains: drains.map(end_action),
        },
        Command::CancelBuild { host, build } => {
            Event::CancelBuild { who: who(host)?, build: build.as_str().into() }
        }
        Command::Drain { host, term, then, at_deadline } => Event::Drain {
            who: who(host)?,
            term: match term {
                Term::ThisProcess => executor::Term::ThisProcess,
                Term::ThisVersion => executor::Term::ThisVersion,
                Term::UntilUndrained => executor::Term::UntilUndrained,
            },
            end: end_action(*then),
            at_deadline: match at_deadline {
                DeadlineOutcome::Interrupt => protocol::AtDeadline::Interrupt,
                DeadlineOutcome::Undrain => protocol::AtDeadline::Undrain,
                DeadlineOutcome::Report => protocol::AtDeadline::Report,
            },
        },
        Command::Undrain { host } => Event::Undrain(who(host)?),
        Command::Deadline { host } => Event::Deadline(who(host)?),
        Command::Interrupt { host } => Event::Interrupt(who(host)?),
        Command::Step { host, words } => step(world, who(host)?, words)?,
        Command::Lose { .. }
        | Command::Double { .. }
        | Command::Overtake { .. }
        | Command::Delay { .. }
        | Command::Cut { .. }
        | Command::Stale { .. }
        | Command::Slow { .. }
        | Command::Pause { .. }
        | Command::Resume { .. }
        | Command::Crash { .. }
        | Command::Gone { .. }
        | Command::Boot { .. }
        | Command::Overlap { .. }
        | Command::Reuse { .. }
        | Command::LoseDisk { .. }
        | Command::Suspect { .. }
        | Command::Trust { .. }
        | Command::Reask { .. }
        | Command::Hang { .. }
        | Command::Unsigned { .. }
        | Command::ArbiterCrash { .. }
        | Command::Conflict { .. }
        | Command::UnknownCommit { .. }
        | Command::Lapse { .. }
        | Command::CancelGrant { .. }
        | Command::Revoke { .. }
        | Command::Retry { .. }
        | Command::Heal => return fault(world, command),
        Command::Rest | Command::Expect { .. } | Command::Check { .. } => return Ok(None),
    };
    Ok(Some(event))
}

/// The faults by their names, and what operators say.
fn fault(world: &World, command: &Command) -> Result<Option<Event>, NoEvent> {
    let who = |host: &HostRef| find(world, host);
    let event = match command {
        Command::Lose { link } => Event::Lose(wire(world, link)?),
        Command::Double { link } => Event::Double(wire(world, link)?),
        Command::Overtake { link } => Event::Overtake(wire(world, link)?),
        Command::Delay { link } => Event::Delay(wire(world, link)?),
        Command::Cut { host } => Event::Cut(who(host)?),
        Command::Stale { host, behind } => Event::Stale { who: who(host)?, behind: *behind },
        Command::Slow { host, factor } => Event::Slow { who: who(host)?, factor: *factor },
        Command::Pause { host } => Event::Pause(who(host)?),
        Command::Resume { host } => Event::Resume(who(host)?),
        Command::Crash { host } => Event::Crash(who(host)?),
        Command::Gone { host } => Event::Gone(who(host)?),
        Command::Boot { name, version } => {
            Event::Boot { name: name.as_str().into(), version: version_of(version.as_deref()) }
        }
        Command::Overlap { name, version } => {
            Event::Overlap { name: name.as_str().into(), version: version_of(version.as_deref()) }
        }
        Command::Reuse { host } => Event::Reuse(who(host)?),
        Command::LoseDisk { host } => Event::LoseDisk(who(host)?),
        Command::Suspect { host } => Event::Suspect(who(host)?),
        Command::Trust { host } => Event::Trust(who(host)?),
        Command::Reask { host } => Event::Reask(who(host)?),
        Command::Hang { host } => Event::Hang(who(host)?),
        Command::Unsigned { host, chunk } => {
            Event::Unsigned { who: who(host)?, chunk: chunk.as_str().into() }
        }
        Command::ArbiterCrash { arbiter } => Event::ArbiterCrash(index(*arbiter)),
        Command::Conflict { arbiter } => Event::Conflict(index(*arbiter)),
        Command::UnknownCommit { arbiter } => Event::UnknownCommit(index(*arbiter)),
        Command::Lapse { grant } => Event::Lapse(GrantId(grant.0)),
        Command::CancelGrant { grant, then, reason } => Event::Cancel {
            grant: GrantId(grant.0),
            then: match then {
                CancelThen::Again => protocol::Then::Again,
                CancelThen::Block => protocol::Then::Block,
            },
            reason: reason_or(reason.as_deref(), "by the operator"),
        },
        Command::Revoke { grant, reason } => Event::Revoke {
            grant: GrantId(grant.0),
            reason: reason_or(reason.as_deref(), "by the operator"),
        },
        Command::Retry { version, grant } => {
            Event::Retry { version: version.as_str().into(), grant: GrantId(grant.0) }
        }
        Command::Heal => Event::Heal,
        Command::Ask { .. }
        | Command::Watch { .. }
        | Command::StandDown { .. }
        | Command::Deliver { .. }
        | Command::Publish { .. }
        | Command::Repeat { .. }
        | Command::Stall { .. }
        | Command::Flow { .. }
        | Command::Plan { .. }
        | Command::SignOff { .. }
        | Command::BuildEnds { .. }
        | Command::BuildStops { .. }
        | Command::Submit { .. }
        | Command::Drain { .. }
        | Command::Undrain { .. }
        | Command::Deadline { .. }
        | Command::Interrupt { .. }
        | Command::Step { .. }
        | Command::Fail { .. }
        | Command::CancelBuild { .. }
        | Command::Rest
        | Command::Expect { .. }
        | Command::Check { .. } => return Ok(None),
    };
    Ok(Some(event))
}

/// The process that a command means.
pub(super) fn find(world: &World, host: &HostRef) -> Result<Who, NoEvent> {
    world
        .find(&host.name, host.incarnation)
        .ok_or_else(|| NoEvent(format!("no process {host} was ever started; `boot` starts one")))
}

fn step(world: &World, who: Who, words: &[String]) -> Result<Event, NoEvent> {
    let steps = world.steps_of(who);
    let wanted = words.join(" ");
    let found = steps.iter().find(|event| wanted.is_empty() || step_words(event) == wanted);
    found.cloned().ok_or_else(|| {
        let label = world.label(who);
        let open: Vec<String> = steps.iter().map(step_words).collect();
        NoEvent(match (wanted.is_empty(), open.is_empty()) {
            (_, true) => format!("{label} has no step to take"),
            (true, false) => format!("{label} cannot act now"),
            (false, false) => {
                format!("{label} has no step `{wanted}`; its steps are: {}", open.join(", "))
            }
        })
    })
}

/// The words of a step behind the host: `store-entry x1`.
fn step_words(event: &Event) -> String {
    let Event::Step { step, .. } = event else {
        return "plan".to_owned();
    };
    match &step.work {
        None => step.kind.word().to_owned(),
        Some(work) => format!("{} {work}", step.kind.word()),
    }
}

fn work_of(world: &World, who: Who, work: Option<&Work>) -> Result<protocol::Work, NoEvent> {
    match work {
        Some(Work::Build(build)) => Ok(protocol::Work::Local(build.as_str().into())),
        Some(Work::Grant(grant)) => Ok(protocol::Work::Granted(GrantId(grant.0))),
        None => {
            let mut running = world.process(who).builds.keys();
            let granted = running.find(|work| work.is_granted()).cloned();
            granted.ok_or_else(|| {
                NoEvent(format!("no build under a grant runs on {}", world.label(who)))
            })
        }
    }
}

fn wire(world: &World, link: &Link) -> Result<Wire, NoEvent> {
    Ok(match link {
        Link::ToRecord(host, _) => Wire { who: find(world, host)?, direction: Direction::ToRecord },
        Link::FromRecord(_, host) => {
            Wire { who: find(world, host)?, direction: Direction::FromRecord }
        }
    })
}

fn target_of(world: &World, target: &Target) -> Result<WorldTarget, NoEvent> {
    Ok(match target {
        Target::Link(link) => WorldTarget::Wire(wire(world, link)?),
        Target::Arbiter(arbiter) => WorldTarget::Arbiter(index(*arbiter)),
    })
}

fn index(arbiter: Arbiter) -> ArbiterIndex {
    match arbiter {
        Arbiter::First => ArbiterIndex(0),
        Arbiter::Second => ArbiterIndex(1),
    }
}

fn end_action(end: EndAction) -> protocol::EndAction {
    match end {
        EndAction::Nothing => protocol::EndAction::Nothing,
        EndAction::Restart => protocol::EndAction::Restart,
        EndAction::Stop => protocol::EndAction::Stop,
    }
}

fn version_of(version: Option<&str>) -> Option<Version> {
    version.map(Version::from)
}

fn reason_or(reason: Option<&str>, otherwise: &str) -> Reason {
    Reason::from(reason.unwrap_or(otherwise))
}

/// The command that makes an event happen in this world: its name.
#[must_use]
pub fn command_of(world: &World, event: &Event) -> Command {
    let host = |who: Who| host_ref(world, who);
    match event {
        Event::Ask(who) => Command::Ask { host: host(*who) },
        Event::Watch(who) => Command::Watch { host: host(*who) },
        Event::StandDown { who, after } => Command::StandDown { host: host(*who), after: *after },
        Event::Deliver { from, to } => {
            Command::Deliver { link: Link::ToRecord(host(*from), arbiter(*to)) }
        }
        Event::Publish(index) => Command::Publish { arbiter: arbiter(*index) },
        Event::Read(who) => Command::Deliver { link: Link::FromRecord(Arbiter::First, host(*who)) },
        Event::Repeat(wire) => Command::Repeat { link: link(world, *wire) },
        Event::Plan { who, chunks } => Command::Plan {
            host: host(*who),
            chunks: chunks.iter().flatten().map(Chunk::to_string).collect(),
        },
        Event::Step { who, .. } => {
            let words = step_words(event).split(' ').map(str::to_owned).collect();
            Command::Step { host: host(*who), words }
        }
        Event::SignOff { who, chunk, failed } => {
            Command::SignOff { host: host(*who), chunk: chunk.to_string(), failed: *failed }
        }
        Event::BuildEnds { who, work, failed } => Command::BuildEnds {
            host: host(*who),
            work: Some(work_ref(work)),
            outcome: failed.as_ref().map_or(BuildOutcome::Clean, |reason| {
                BuildOutcome::Failed(Some(reason.to_string()))
            }),
        },
        Event::BuildStops { who, work } => {
            Command::BuildStops { host: host(*who), work: Some(work_ref(work)) }
        }
        Event::Submit { who, build, parent, drains } => Command::Submit {
            host: host(*who),
            build: build.to_string(),
            parent: parent.as_ref().map(BuildId::to_string),
            drains: drains.map(end_word),
        },
        Event::CancelBuild { who, build } => {
            Command::CancelBuild { host: host(*who), build: build.to_string() }
        }
        Event::Drain { who, term, end, at_deadline } => Command::Drain {
            host: host(*who),
            term: match term {
                executor::Term::ThisProcess => Term::ThisProcess,
                executor::Term::ThisVersion => Term::ThisVersion,
                executor::Term::UntilUndrained => Term::UntilUndrained,
            },
            then: end_word(*end),
            at_deadline: match at_deadline {
                protocol::AtDeadline::Interrupt => DeadlineOutcome::Interrupt,
                protocol::AtDeadline::Undrain => DeadlineOutcome::Undrain,
                protocol::AtDeadline::Report => DeadlineOutcome::Report,
            },
        },
        Event::Undrain(who) => Command::Undrain { host: host(*who) },
        Event::Deadline(who) => Command::Deadline { host: host(*who) },
        Event::Interrupt(who) => Command::Interrupt { host: host(*who) },
        Event::Stall(target) => Command::Stall { target: target_ref(world, *target) },
        Event::Flow(target) => Command::Flow { target: target_ref(world, *target) },
        Event::Lose(wire) => Command::Lose { link: link(world, *wire) },
        Event::Double(wire) => Command::Double { link: link(world, *wire) },
        Event::Overtake(wire) => Command::Overtake { link: link(world, *wire) },
        Event::Delay(wire) => Command::Delay { link: link(world, *wire) },
        Event::Cut(who) => Command::Cut { host: host(*who) },
        Event::Stale { who, behind } => Command::Stale { host: host(*who), behind: *behind },
        Event::Slow { who, factor } => Command::Slow { host: host(*who), factor: *factor },
        Event::Pause(who) => Command::Pause { host: host(*who) },
        Event::Resume(who) => Command::Resume { host: host(*who) },
        Event::Crash(who) => Command::Crash { host: host(*who) },
        Event::Gone(who) => Command::Gone { host: host(*who) },
        Event::Boot { name, version } => Command::Boot {
            name: name.to_string(),
            version: version.as_ref().map(Version::to_string),
        },
        Event::Overlap { name, version } => Command::Overlap {
            name: name.to_string(),
            version: version.as_ref().map(Version::to_string),
        },
        Event::Reuse(who) => Command::Reuse { host: host(*who) },
        Event::LoseDisk(who) => Command::LoseDisk { host: host(*who) },
        Event::Suspect(who) => Command::Suspect { host: host(*who) },
        Event::Trust(who) => Command::Trust { host: host(*who) },
        Event::Reask(who) => Command::Reask { host: host(*who) },
        Event::Hang(who) => Command::Hang { host: host(*who) },
        Event::Unsigned { who, chunk } => {
            Command::Unsigned { host: host(*who), chunk: chunk.to_string() }
        }
        Event::ArbiterCrash(index) => Command::ArbiterCrash { arbiter: arbiter(*index) },
        Event::Conflict(index) => Command::Conflict { arbiter: arbiter(*index) },
        Event::UnknownCommit(index) => Command::UnknownCommit { arbiter: arbiter(*index) },
        Event::Lapse(grant) => Command::Lapse { grant: Grant(grant.0) },
        Event::Cancel { grant, then, reason } => Command::CancelGrant {
            grant: Grant(grant.0),
            then: match then {
                protocol::Then::Again => CancelThen::Again,
                protocol::Then::Block => CancelThen::Block,
            },
            reason: Some(reason.to_string()),
        },
        Event::Revoke { grant, reason } => {
            Command::Revoke { grant: Grant(grant.0), reason: Some(reason.to_string()) }
        }
        Event::Retry { version, grant } => {
            Command::Retry { version: version.to_string(), grant: Grant(grant.0) }
        }
        Event::Heal => Command::Heal,
    }
}

fn host_ref(world: &World, who: Who) -> HostRef {
    let process = world.process(who);
    let newest = world.newest(&process.name) == Some(who);
    let incarnation = (!newest).then(|| process.host.id().incarnation.0);
    HostRef { name: Name::to_string(&process.name), incarnation }
}

fn work_ref(work: &protocol::Work) -> Work {
    match work {
        protocol::Work::Local(build) => Work::Build(build.to_string()),
        protocol::Work::Granted(grant) => Work::Grant(Grant(grant.0)),
    }
}

fn link(world: &World, wire: Wire) -> Link {
    let host = host_ref(world, wire.who);
    match wire.direction {
        Direction::ToRecord => Link::ToRecord(host, Arbiter::First),
        Direction::FromRecord => Link::FromRecord(Arbiter::First, host),
    }
}

fn target_ref(world: &World, target: WorldTarget) -> Target {
    match target {
        WorldTarget::Wire(wire) => Target::Link(link(world, wire)),
        WorldTarget::Arbiter(index) => Target::Arbiter(arbiter(index)),
    }
}

fn arbiter(index: ArbiterIndex) -> Arbiter {
    if index.0 == 0 { Arbiter::First } else { Arbiter::Second }
}

fn end_word(end: protocol::EndAction) -> EndAction {
    match end {
        protocol::EndAction::Nothing => EndAction::Nothing,
        protocol::EndAction::Restart => EndAction::Restart,
        protocol::EndAction::Stop => EndAction::Stop,
    }
}

impl World {
    /// The event's stable, readable name: the scenario command that makes it happen here.
    #[must_use]
    pub fn name_of(&self, event: &Event) -> String {
        command_of(self, event).to_string()
    }
}
