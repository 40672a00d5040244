//! The faults that a walk draws, by the names that scenarios and reports use.

use std::fmt;

use handover_core::{AtDeadline, EndAction, GrantId, Hold, Name, Phase, Term, Then, Work};

use super::Kind;
use crate::draw::Draw;
use crate::world::{ArbiterIndex, Direction, Event, Process, Target, Who, Wire, World};

macro_rules! fault_kinds {
    ($($(#[$doc:meta])* $kind:ident = $word:literal,)*) => {
        /// A kind of fault.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum FaultKind {
            $($(#[$doc])* $kind,)*
        }

        impl FaultKind {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            /// Its word in options and reports.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$kind => $word,)*
                }
            }
        }
    };
}

fault_kinds! {
    /// Messages wait on their way: two change places, or a link or an arbiter stalls for a while.
    Delay = "delay",
    /// The oldest message on a link is lost.
    Lose = "lose",
    /// The oldest message on a link arrives twice.
    Double = "double",
    /// The newest message on a link arrives first.
    Overtake = "overtake",
    /// A link is cut, both ways.
    Cut = "cut",
    /// A host reads views that are some behind.
    Stale = "stale",
    /// All steps of a host take longer by a factor.
    Slow = "slow",
    /// A host does nothing for a while.
    Pause = "pause",
    /// A host dies with all that it had in memory.
    Crash = "crash",
    /// Membership declares a living host gone.
    Gone = "gone",
    /// The next incarnation of a name starts before the last has ended.
    Overlap = "overlap",
    /// A boot takes a number that was used.
    Reuse = "reuse",
    /// Membership suspects a living host.
    Suspect = "suspect",
    /// An operator drains a host.
    Drain = "drain",
    /// An operator takes a drain back.
    Undrain = "undrain",
    /// A host stands down by itself, or that has stood down asks again.
    Reask = "reask",
    /// An operator lifts a failed verdict.
    Retry = "retry",
    /// A build fails, or a chunk of it.
    Fail = "fail",
    /// A build never ends by itself.
    Hang = "hang",
    /// A build does not sign a chunk off.
    Unsigned = "unsigned",
    /// An arbiter dies between commit and publication.
    Arbiter = "arbiter",
    /// A commit loses the compare-and-set, or its answer is lost.
    Conflict = "conflict",
    /// An offer that nobody has taken is withdrawn.
    Lapse = "lapse",
    /// An operator cancels the job.
    Cancel = "cancel",
    /// An operator takes the job away.
    Revoke = "revoke",
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A fault that strikes somewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Strike {
    /// The event.
    pub(super) event: Event,
    /// The event that ends it after a while; some faults last until they are healed.
    pub(super) end: Option<Event>,
}

impl Strike {
    fn lasting(event: Event) -> Self {
        Self { event, end: None }
    }

    fn until(event: Event, end: Event) -> Self {
        let end = Some(end);
        Self { event, end }
    }
}

/// Draws where a fault of this kind strikes; none where there is nothing that it could hit now.
/// Where somebody is a victim, three of four that could hit it do.
pub(super) fn strike(
    world: &World,
    kind: FaultKind,
    victim: Option<&Name>,
    draw: &mut Draw,
) -> Option<Strike> {
    let mut strikes = strikes(world, kind, draw);
    if let Some(victim) = victim
        && draw.chance(750)
    {
        let hits = |strike: &Strike| is_about(world, &strike.event, victim);
        if strikes.iter().any(hits) {
            strikes.retain(hits);
        }
    }
    draw.pick(&strikes).cloned()
}

fn is_about(world: &World, event: &Event, name: &Name) -> bool {
    Kind::of(event).who.is_some_and(|who| world.process(who).name == *name)
}

/// All that a fault of this kind could hit now; what it does there is drawn.
pub(super) fn strikes(world: &World, kind: FaultKind, draw: &mut Draw) -> Vec<Strike> {
    let mut strikes = possible(world, kind, draw);
    strikes.retain(|strike| world.permits(&strike.event).is_ok());
    strikes
}

fn possible(world: &World, kind: FaultKind, draw: &mut Draw) -> Vec<Strike> {
    match kind {
        FaultKind::Delay => delays(world),
        FaultKind::Lose => wires(world, 1).map(|wire| Strike::lasting(Event::Lose(wire))).collect(),
        FaultKind::Double => {
            wires(world, 1).map(|wire| Strike::lasting(Event::Double(wire))).collect()
        }
        FaultKind::Overtake => {
            wires(world, 2).map(|wire| Strike::lasting(Event::Overtake(wire))).collect()
        }
        FaultKind::Arbiter => each_arbiter(world, Event::ArbiterCrash),
        FaultKind::Conflict if draw.chance(500) => each_arbiter(world, Event::UnknownCommit),
        FaultKind::Conflict => each_arbiter(world, Event::Conflict),
        FaultKind::Lapse => lapse(world, draw).into_iter().collect(),
        FaultKind::Cancel => cancel(world, draw).into_iter().collect(),
        FaultKind::Revoke => revoke(world, draw).into_iter().collect(),
        FaultKind::Retry => retries(world),
        FaultKind::Reuse => {
            let dead = world.processes().filter(|(_, process)| !process.lives());
            dead.map(|(who, _)| Strike::lasting(Event::Reuse(who))).collect()
        }
        FaultKind::Cut
        | FaultKind::Stale
        | FaultKind::Slow
        | FaultKind::Pause
        | FaultKind::Crash
        | FaultKind::Gone
        | FaultKind::Overlap
        | FaultKind::Suspect
        | FaultKind::Drain
        | FaultKind::Undrain
        | FaultKind::Reask
        | FaultKind::Fail
        | FaultKind::Hang
        | FaultKind::Unsigned => {
            let mut strikes = Vec::new();
            for (who, process) in world.processes().filter(|(_, process)| process.lives()) {
                push_on_host(kind, who, process, draw, &mut strikes);
            }
            strikes
        }
    }
}

/// What a fault of one host does to this one.
fn push_on_host(
    kind: FaultKind,
    who: Who,
    process: &Process,
    draw: &mut Draw,
    strikes: &mut Vec<Strike>,
) {
    let strike = match kind {
        FaultKind::Cut if draw.chance(500) => Strike::until(Event::Cut(who), Event::Heal),
        FaultKind::Cut => Strike::lasting(Event::Cut(who)),
        FaultKind::Stale => {
            let behind = small(draw, 1, 3);
            Strike::until(Event::Stale { who, behind }, Event::Stale { who, behind: 0 })
        }
        FaultKind::Slow => {
            let factor = small(draw, 2, 100);
            Strike::until(Event::Slow { who, factor }, Event::Slow { who, factor: 1 })
        }
        FaultKind::Pause => Strike::until(Event::Pause(who), Event::Resume(who)),
        FaultKind::Crash => Strike::lasting(Event::Crash(who)),
        FaultKind::Gone => Strike::lasting(Event::Gone(who)),
        FaultKind::Overlap => {
            let name = process.name.clone();
            let event = Event::Overlap { name, version: None };
            let end = draw.chance(700).then_some(Event::Crash(who));
            Strike { event, end }
        }
        FaultKind::Suspect => Strike::until(Event::Suspect(who), Event::Trust(who)),
        FaultKind::Drain => drain(who, draw),
        FaultKind::Undrain if process.host.executor().is_draining() => {
            Strike::lasting(Event::Undrain(who))
        }
        FaultKind::Undrain => return,
        FaultKind::Reask if process.phase() == Phase::StoodDown => {
            Strike::lasting(Event::Reask(who))
        }
        FaultKind::Reask => {
            let after = draw.chance(300);
            let event = Event::StandDown { who, after };
            Strike::until(event, Event::Reask(who))
        }
        FaultKind::Fail => return strikes.extend(failures(who, process)),
        FaultKind::Hang => Strike::lasting(Event::Hang(who)),
        FaultKind::Unsigned => {
            let builds = process.builds.iter().filter(|(work, _)| work.is_granted());
            let chunks = builds.flat_map(|(_, build)| build.unfinished().cloned());
            let unsigned = |chunk| Strike::lasting(Event::Unsigned { who, chunk });
            return strikes.extend(chunks.map(unsigned));
        }
        FaultKind::Delay
        | FaultKind::Lose
        | FaultKind::Double
        | FaultKind::Overtake
        | FaultKind::Reuse
        | FaultKind::Retry
        | FaultKind::Arbiter
        | FaultKind::Conflict
        | FaultKind::Lapse
        | FaultKind::Cancel
        | FaultKind::Revoke => return,
    };
    strikes.push(strike);
}

/// An operator's drain, and what becomes of it: its deadline passes, or it is taken back.
fn drain(who: Who, draw: &mut Draw) -> Strike {
    let term = if draw.chance(500) { Term::ThisVersion } else { Term::UntilUndrained };
    let end = match draw.below(3) {
        0 => EndAction::Nothing,
        1 => EndAction::Restart,
        _ => EndAction::Stop,
    };
    let at_deadline = at_deadline(draw);
    let event = Event::Drain { who, term, end, at_deadline };
    let end = match draw.below(3) {
        0 => Some(Event::Deadline(who)),
        1 => Some(Event::Undrain(who)),
        _ => None,
    };
    Strike { event, end }
}

pub(super) fn at_deadline(draw: &mut Draw) -> AtDeadline {
    match draw.below(3) {
        0 => AtDeadline::Interrupt,
        1 => AtDeadline::Undrain,
        _ => AtDeadline::Report,
    }
}

fn failures(who: Who, process: &Process) -> impl Iterator<Item = Strike> {
    let ends = process.builds.keys().map(move |work| Event::BuildEnds {
        who,
        work: work.clone(),
        failed: Some("broken".into()),
    });
    let granted = process.builds.iter().filter(|(work, _)| work.is_granted());
    let chunks = granted.flat_map(|(_, build)| build.unfinished().cloned());
    let sign_offs = chunks.map(move |chunk| Event::SignOff { who, chunk, failed: true });
    ends.chain(sign_offs).map(Strike::lasting)
}

fn delays(world: &World) -> Vec<Strike> {
    let swaps = wires(world, 2).map(|wire| Strike::lasting(Event::Delay(wire)));
    let arbiters = world.arbiters().map(|(index, _)| Target::Arbiter(index));
    let stalls = wires(world, 0).map(Target::Wire).chain(arbiters);
    let stalls = stalls.map(|target| Strike::until(Event::Stall(target), Event::Flow(target)));
    swaps.chain(stalls).collect()
}

/// The wires of living processes with at least so many messages on them.
fn wires(world: &World, messages: usize) -> impl Iterator<Item = Wire> {
    let living = world.processes().filter(|(_, process)| process.lives());
    living.flat_map(move |(who, _)| {
        let link = world.link(who);
        let both = [
            (Direction::ToRecord, link.statements.len()),
            (Direction::FromRecord, link.views.len()),
        ];
        both.into_iter()
            .filter(move |(_, waiting)| *waiting >= messages)
            .map(move |(direction, _)| Wire { who, direction })
    })
}

fn each_arbiter(world: &World, event: fn(ArbiterIndex) -> Event) -> Vec<Strike> {
    world.arbiters().map(|(index, _)| Strike::lasting(event(index))).collect()
}

/// The grant that an operator's order names: the job's, and now and then one that is over.
fn named(hold: &Hold, draw: &mut Draw) -> GrantId {
    match hold.grant {
        GrantId(number @ 2..) if draw.chance(100) => GrantId(number - 1),
        grant => grant,
    }
}

fn lapse(world: &World, draw: &mut Draw) -> Option<Strike> {
    let offer = world.committed().hold().filter(|hold| !hold.is_started())?;
    Some(Strike::lasting(Event::Lapse(named(offer, draw))))
}

fn cancel(world: &World, draw: &mut Draw) -> Option<Strike> {
    let then = if draw.chance(500) { Then::Again } else { Then::Block };
    Some(Strike::lasting(Event::Cancel {
        grant: named(world.committed().hold()?, draw),
        then,
        reason: "operator".into(),
    }))
}

fn revoke(world: &World, draw: &mut Draw) -> Option<Strike> {
    Some(Strike::lasting(Event::Revoke {
        grant: named(world.committed().hold()?, draw),
        reason: "operator".into(),
    }))
}

fn retries(world: &World) -> Vec<Strike> {
    let verdicts = world.committed().verdicts();
    let failed = verdicts.filter(|(_, verdict)| !verdict.is_approved());
    let retries = failed
        .map(|(version, verdict)| Event::Retry { version: version.clone(), grant: verdict.grant });
    retries.map(Strike::lasting).collect()
}

fn small(draw: &mut Draw, low: u64, high: u64) -> u32 {
    u32::try_from(draw.between(low, high)).expect("the bounds are small")
}

/// Can what ends a fault still happen? It may have ended by itself.
pub(super) fn still_ends(world: &World, event: &Event) -> bool {
    if let Event::Deadline(who) | Event::Undrain(who) = event
        && !world.process(*who).host.executor().is_draining()
    {
        return false;
    }
    world.permits(event).is_ok()
}

/// A local build of this process that another could wait for.
pub(super) fn running_local(process: &Process) -> Option<handover_core::BuildId> {
    process.builds.keys().find_map(|work| match work {
        Work::Local(build) => Some(build.clone()),
        Work::Granted(_) => None,
    })
}
