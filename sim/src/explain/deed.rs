//! An event of a schedule, named so that it is found again in a world that went another way.
//!
//! A process is named by its place and by how many later ones of the place there are, a build under
//! a grant by its host, a grant by how far it is behind the newest. So a deed survives that other
//! hosts, hand-overs and builds are left out.

use handover_core::{BuildId, Name, Work};

use crate::scenario::{Command, Grant, Work as WorkWord, command_of, event_of};
use crate::world::{ArbiterIndex, Direction, Event, StepKind, Who, World};

/// What an event is to calm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// It happens by itself; the question is only when.
    Move,
    /// Somebody wants it.
    Wish,
    /// Something goes wrong, or an operator intervenes.
    Fault,
    /// A fault ends.
    End,
}

impl Kind {
    /// The kind of an event in this world.
    pub(super) fn of(world: &World, event: &Event) -> Self {
        match event {
            Event::Deliver { .. }
            | Event::Publish(_)
            | Event::Read(_)
            | Event::Repeat(_)
            | Event::Plan { .. }
            | Event::Step { .. }
            | Event::SignOff { failed: false, .. }
            | Event::BuildEnds { failed: None, .. }
            | Event::BuildStops { .. } => Self::Move,
            Event::Gone(who) if !world.process(*who).lives() => Self::Move,
            Event::Ask(_)
            | Event::Watch(_)
            | Event::StandDown { .. }
            | Event::Reask(_)
            | Event::Submit { .. }
            | Event::CancelBuild { .. }
            | Event::Drain { .. }
            | Event::Undrain(_)
            | Event::Deadline(_)
            | Event::Interrupt(_)
            | Event::Boot { .. } => Self::Wish,
            Event::Flow(_)
            | Event::Resume(_)
            | Event::Trust(_)
            | Event::Stale { behind: 0, .. }
            | Event::Slow { factor: 1, .. }
            | Event::Heal => Self::End,
            Event::SignOff { .. }
            | Event::BuildEnds { .. }
            | Event::Gone(_)
            | Event::Stall(_)
            | Event::Lose(_)
            | Event::Double(_)
            | Event::Overtake(_)
            | Event::Delay(_)
            | Event::Cut(_)
            | Event::Stale { .. }
            | Event::Slow { .. }
            | Event::Pause(_)
            | Event::Crash(_)
            | Event::Overlap { .. }
            | Event::Reuse(_)
            | Event::LoseDisk(_)
            | Event::Suspect(_)
            | Event::Hang(_)
            | Event::Unsigned { .. }
            | Event::ArbiterCrash(_)
            | Event::Conflict(_)
            | Event::UnknownCommit(_)
            | Event::Lapse(_)
            | Event::Cancel { .. }
            | Event::Revoke { .. }
            | Event::Retry { .. } => Self::Fault,
        }
    }
}

/// A process: the how many-th of its place, counted from the newest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Life {
    name: Name,
    newer: usize,
}

/// Which of the builds of a host.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Job {
    Granted,
    Local(BuildId),
}

/// What a calm event is about, whatever it carries. An event that takes the place of a calm one has
/// the key of that one: the end of a build, failed or not; the oldest statement, whoever folds it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Key {
    Deliver(Life),
    Read(Life),
    Publish(ArbiterIndex),
    Repeat(Life, Direction),
    Gone(Life),
    Plan(Life),
    Step(Life, StepKind, Option<Job>),
    SignOff(Life),
    Ends(Life, Job),
    Stops(Life, Job),
}

impl Key {
    /// The key of an event; none of one that takes no calm event's place.
    pub(super) fn of(world: &World, event: &Event) -> Option<Self> {
        let life = |who: &Who| Life::of(world, *who);
        if let Event::Publish(index) = event {
            return Some(Self::Publish(*index));
        }
        let key = if let Event::Deliver { from, .. } = event {
            Self::Deliver(life(from))
        } else if let Event::Read(who) = event {
            Self::Read(life(who))
        } else if let Event::Repeat(wire) = event {
            Self::Repeat(life(&wire.who), wire.direction)
        } else if let Event::Gone(who) = event {
            Self::Gone(life(who))
        } else if let Event::Plan { who, .. } = event {
            Self::Plan(life(who))
        } else if let Event::Step { who, step } = event {
            Self::Step(life(who), step.kind, step.work.as_ref().map(Job::of))
        } else if let Event::SignOff { who, .. } = event {
            Self::SignOff(life(who))
        } else if let Event::BuildEnds { who, work, .. } = event {
            Self::Ends(life(who), Job::of(work))
        } else if let Event::BuildStops { who, work } = event {
            Self::Stops(life(who), Job::of(work))
        } else {
            return None;
        };
        Some(key)
    }

    /// The place that it is about; none for an arbiter's.
    pub(super) fn place(&self) -> Option<&Name> {
        match self {
            Self::Publish(_) => None,
            Self::Deliver(life)
            | Self::Read(life)
            | Self::Repeat(life, _)
            | Self::Gone(life)
            | Self::Plan(life)
            | Self::Step(life, ..)
            | Self::SignOff(life)
            | Self::Ends(life, _)
            | Self::Stops(life, _) => Some(&life.name),
        }
    }
}

impl Life {
    fn of(world: &World, who: Who) -> Self {
        let name = world.process(who).name.clone();
        let later = world.processes().filter(|(other, _)| *other > who);
        let newer = later.filter(|(_, process)| process.name == name).count();
        Self { name, newer }
    }

    fn find(&self, world: &World) -> Option<Who> {
        let named = world.processes().filter(|(_, process)| process.name == self.name);
        let lives: Vec<Who> = named.map(|(who, _)| who).collect();
        lives.into_iter().rev().nth(self.newer)
    }
}

impl Job {
    fn of(work: &Work) -> Self {
        match work {
            Work::Granted(_) => Self::Granted,
            Work::Local(build) => Self::Local(build.clone()),
        }
    }
}

/// An event of a schedule, or a calm event that never comes.
#[derive(Clone, Debug)]
pub(super) struct Deed {
    /// The command that makes it happen; none: what the key names is held back to the end.
    pub(super) command: Option<Command>,
    /// The calm event whose place it takes.
    pub(super) key: Option<Key>,
    pub(super) kind: Kind,
    /// Calm could have taken it at some time where it stood.
    pub(super) is_calm: bool,
    /// Whose it is.
    pub(super) place: Option<Name>,
    /// For a command about a grant: how far the grant is behind the newest.
    behind: u64,
}

impl Deed {
    /// The deed that an event is in this world.
    pub(super) fn of(world: &World, event: &Event) -> Self {
        let key = Key::of(world, event);
        let (mut command, mut behind) = (command_of(world, event), 0);
        if let Some(grant) = grant_of(&mut command) {
            behind = newest_grant(world).saturating_sub(grant.0);
        }
        if let Command::BuildEnds { work, .. } | Command::BuildStops { work, .. } = &mut command
            && let Some(WorkWord::Grant(_)) = work
        {
            *work = None;
        }
        let place = place_of(world, event);
        let (kind, is_calm) = (Kind::of(world, event), world.calm_events().contains(event));
        Self { command: Some(command), key, kind, is_calm, place, behind }
    }

    /// A calm event that is held back to the end.
    pub(super) fn held(key: Key) -> Self {
        let place = key.place().cloned();
        let kind = Kind::Move;
        Self { command: None, key: Some(key), kind, is_calm: true, place, behind: 0 }
    }

    /// The version that it names.
    pub(super) fn version(&self) -> Option<&str> {
        if let Some(
            Command::Boot { version: Some(version), .. }
            | Command::Overlap { version: Some(version), .. }
            | Command::Retry { version, .. },
        ) = &self.command
        {
            return Some(version);
        }
        None
    }

    /// Names another version.
    pub(super) fn set_version(&mut self, other: &str) {
        if let Some(
            Command::Boot { version: Some(version), .. }
            | Command::Overlap { version: Some(version), .. }
            | Command::Retry { version, .. },
        ) = &mut self.command
        {
            other.clone_into(version);
        }
    }

    /// The event that it is in another world; none where it can no longer happen.
    pub(super) fn event(&self, world: &World) -> Option<Event> {
        let mut command = self.command.clone()?;
        if let Some(key @ Key::Step(life, ..)) = &self.key {
            let steps = world.steps_of(life.find(world)?);
            return steps.into_iter().find(|step| Key::of(world, step).as_ref() == Some(key));
        }
        if let Some(grant) = grant_of(&mut command) {
            let number = newest_grant(world).checked_sub(self.behind)?;
            *grant = Grant(number);
        }
        let event = event_of(world, &command).ok().flatten()?;
        world.permits(&event).is_ok().then_some(event)
    }
}

/// The grant that a command names.
fn grant_of(command: &mut Command) -> Option<&mut Grant> {
    if let Command::Lapse { grant }
    | Command::CancelGrant { grant, .. }
    | Command::Revoke { grant, .. }
    | Command::Retry { grant, .. } = command
    {
        return Some(grant);
    }
    None
}

/// The number of the newest grant; 0 before the first.
fn newest_grant(world: &World) -> u64 {
    world.committed().next_grant().0.saturating_sub(1)
}

/// Whose event it is; none of an arbiter's or an operator's.
pub(crate) fn place_of(world: &World, event: &Event) -> Option<Name> {
    if let Event::Boot { name, .. } | Event::Overlap { name, .. } = event {
        return Some(name.clone());
    }
    event.who().map(|who| world.process(who).name.clone())
}
