//! The events: each one atomic step.
//!
//! The name of an event is the scenario command that makes it happen (see
//! [`World::name_of`](super::World::name_of)), so that a list of names is a schedule that people
//! can read and a scenario file can replay.

use std::collections::BTreeSet;

use handover_core::{
    AtDeadline, BuildId, Chunk, EndAction, GrantId, Name, Reason, Term, Then, Version, Work,
};
use serde::Serialize;

/// A process, by the order of its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Who(pub u16);

/// An arbiter, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct ArbiterIndex(pub u8);

impl From<usize> for Who {
    fn from(index: usize) -> Self {
        Self(u16::try_from(index).expect("a world has at most 65,536 processes"))
    }
}

impl From<usize> for ArbiterIndex {
    fn from(index: usize) -> Self {
        Self(u8::try_from(index).expect("a world has at most two arbiters"))
    }
}

/// A direction between a process and the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Direction {
    /// Statements.
    ToRecord,
    /// Views.
    FromRecord,
}

/// One direction of the link of one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Wire {
    /// Whose link.
    pub who: Who,
    /// Which way.
    pub direction: Direction,
}

/// What can be stalled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Target {
    /// Nothing is delivered on it.
    Wire(Wire),
    /// It commits and does not publish.
    Arbiter(ArbiterIndex),
}

/// The next step of a host's driver: an effect of the core, without its contents.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Step {
    /// What is done.
    pub kind: StepKind,
    /// For which build.
    pub work: Option<Work>,
}

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum StepKind {
    /// A waiter that has been handed a slot reads the gate.
    Wake,
    /// A row of the ledger is written.
    StoreEntry,
    /// The workspace is prepared and the build runs.
    Start,
    /// The build is told to stop.
    Stop,
    /// What the build leaves behind is stored.
    StoreArtifacts,
    /// The drain, or its end, is written.
    StoreDrain,
    /// The build leaves the current set.
    Remove,
    /// The build gives its slot back.
    Release,
    /// The end action of a drain is performed.
    Drained,
    /// The process comes back under a new incarnation.
    Return,
}

impl StepKind {
    /// Its word in a command.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Wake => "wake",
            Self::StoreEntry => "store-entry",
            Self::Start => "start",
            Self::Stop => "stop",
            Self::StoreArtifacts => "store-artifacts",
            Self::StoreDrain => "store-drain",
            Self::Remove => "remove",
            Self::Release => "release",
            Self::Drained => "drained",
            Self::Return => "return",
        }
    }
}

/// What can happen next, in one step.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[allow(missing_docs, reason = "the fields are the words of the command that each variant names")]
pub enum Event {
    /// `ask b`
    Ask(Who),
    /// `watch b`
    Watch(Who),
    /// `stand-down b [after]`
    StandDown { who: Who, after: bool },
    /// `deliver b -> record`: the arbiter folds the oldest statement and commits.
    Deliver { from: Who, to: ArbiterIndex },
    /// `publish [record2]`: the arbiter publishes what it has committed.
    Publish(ArbiterIndex),
    /// `deliver record -> b`: the host reads its oldest view.
    Read(Who),
    /// `repeat LINK`: the present statement, or the newest view, is sent again (Dr1).
    Repeat(Wire),
    /// `plan b [CHUNK...]`
    Plan { who: Who, chunks: Option<BTreeSet<Chunk>> },
    /// `step b WORD...`
    Step { who: Who, step: Step },
    /// `sign-off b CHUNK [failed]`
    SignOff { who: Who, chunk: Chunk, failed: bool },
    /// `build-ends b of WORK [failed REASON]`
    BuildEnds { who: Who, work: Work, failed: Option<Reason> },
    /// `build-stops b of WORK`
    BuildStops { who: Who, work: Work },
    /// `submit b BUILD ...`
    Submit { who: Who, build: BuildId, parent: Option<BuildId>, drains: Option<EndAction> },
    /// `cancel b BUILD`
    CancelBuild { who: Who, build: BuildId },
    /// `drain b ...`
    Drain { who: Who, term: Term, end: EndAction, at_deadline: AtDeadline },
    /// `undrain b`
    Undrain(Who),
    /// `deadline b`
    Deadline(Who),
    /// `interrupt b`: who ends the process stops what runs, whatever its drain's deadline says.
    Interrupt(Who),
    /// `stall LINK|record`
    Stall(Target),
    /// `flow LINK|record`
    Flow(Target),
    /// `lose LINK`
    Lose(Wire),
    /// `double LINK`
    Double(Wire),
    /// `overtake LINK`
    Overtake(Wire),
    /// `delay LINK`
    Delay(Wire),
    /// `cut b`
    Cut(Who),
    /// `stale b N`
    Stale { who: Who, behind: u32 },
    /// `slow b N`
    Slow { who: Who, factor: u32 },
    /// `pause b`
    Pause(Who),
    /// `resume b`
    Resume(Who),
    /// `crash b`
    Crash(Who),
    /// `gone b`: membership says that it has ended; a wrong verdict if it has not.
    Gone(Who),
    /// `boot b[:VERSION]`
    Boot { name: Name, version: Option<Version> },
    /// `overlap b[:VERSION]`: the next incarnation starts before the last has ended.
    Overlap { name: Name, version: Option<Version> },
    /// `reuse b`: a boot takes the number of this process.
    Reuse(Who),
    /// `lose-disk b`: the book of this process, which has ended, is lost with its disk.
    LoseDisk(Who),
    /// `suspect b`
    Suspect(Who),
    /// `trust b`
    Trust(Who),
    /// `reask b`
    Reask(Who),
    /// `hang b`: its build never ends by itself.
    Hang(Who),
    /// `unsigned b CHUNK`: its build will not sign this chunk off.
    Unsigned { who: Who, chunk: Chunk },
    /// `arbiter [record2]`: a crash between commit and publish.
    ArbiterCrash(ArbiterIndex),
    /// `conflict [record2]`: its next commit loses the compare-and-set.
    Conflict(ArbiterIndex),
    /// `unknown [record2]`: its next commit is done, and the answer is lost.
    UnknownCommit(ArbiterIndex),
    /// `lapse g1`
    Lapse(GrantId),
    /// `cancel g1 [again|block] [REASON]`
    Cancel { grant: GrantId, then: Then, reason: Reason },
    /// `revoke g1 [REASON]`
    Revoke { grant: GrantId, reason: Reason },
    /// `retry v1 g1`
    Retry { version: Version, grant: GrantId },
    /// `heal`: all faults end.
    Heal,
}

impl Event {
    /// The process that it is about, as far as it is there already; none of an arbiter's, or an
    /// operator's.
    #[must_use]
    pub fn who(&self) -> Option<Who> {
        match self {
            Self::Ask(who)
            | Self::Watch(who)
            | Self::StandDown { who, .. }
            | Self::Deliver { from: who, .. }
            | Self::Read(who)
            | Self::Plan { who, .. }
            | Self::Step { who, .. }
            | Self::SignOff { who, .. }
            | Self::BuildEnds { who, .. }
            | Self::BuildStops { who, .. }
            | Self::Submit { who, .. }
            | Self::CancelBuild { who, .. }
            | Self::Drain { who, .. }
            | Self::Undrain(who)
            | Self::Deadline(who)
            | Self::Interrupt(who)
            | Self::Cut(who)
            | Self::Stale { who, .. }
            | Self::Slow { who, .. }
            | Self::Pause(who)
            | Self::Resume(who)
            | Self::Crash(who)
            | Self::Gone(who)
            | Self::Reuse(who)
            | Self::LoseDisk(who)
            | Self::Suspect(who)
            | Self::Trust(who)
            | Self::Reask(who)
            | Self::Hang(who)
            | Self::Unsigned { who, .. } => Some(*who),
            Self::Repeat(wire)
            | Self::Lose(wire)
            | Self::Double(wire)
            | Self::Overtake(wire)
            | Self::Delay(wire)
            | Self::Stall(Target::Wire(wire))
            | Self::Flow(Target::Wire(wire)) => Some(wire.who),
            Self::Publish(_)
            | Self::Stall(Target::Arbiter(_))
            | Self::Flow(Target::Arbiter(_))
            | Self::Boot { .. }
            | Self::Overlap { .. }
            | Self::ArbiterCrash(_)
            | Self::Conflict(_)
            | Self::UnknownCommit(_)
            | Self::Lapse(_)
            | Self::Cancel { .. }
            | Self::Revoke { .. }
            | Self::Retry { .. }
            | Self::Heal => None,
        }
    }
}
