//! What a scenario says, as values: names and numbers as they were written, no type of the world.

use super::{
    BuildState, CancelThen, DeadlineOutcome, EndAction, Gate, HostState, Property, Refusal, Remark,
    Standing, Term, VerdictState,
};

/// A host in a command: `b`, or `b.2` for its second life.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostRef {
    /// The place.
    pub name: String,
    /// Exactly this life, from 1; none: the newest.
    pub incarnation: Option<u64>,
}

/// One of the at most two arbiters over the record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Arbiter {
    /// `record`, the one that is meant where none is named.
    #[default]
    First,
    /// `record2`; needs the header `arbiters 2`.
    Second,
}

/// The number of a hand-over: `g1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Grant(pub u64);

/// One direction between a host and an arbiter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Link {
    /// `b -> record`: statements.
    ToRecord(HostRef, Arbiter),
    /// `record -> b`: views.
    FromRecord(Arbiter, HostRef),
}

/// What can be stalled: a link, or an arbiter's publishing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// Nothing is delivered on it until it flows again.
    Link(Link),
    /// Commits without publishing until it flows again.
    Arbiter(Arbiter),
}

/// A build: by its id, or by the grant that it runs under.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Work {
    /// `x1`.
    Build(String),
    /// `g1`.
    Grant(Grant),
}

/// How a build ended.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BuildOutcome {
    /// Well.
    Clean,
    /// Badly, with the reason where one is given.
    Failed(Option<String>),
}

/// A host and what it runs, in a header: `b:v1`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostVersion {
    /// The place.
    pub name: String,
    /// The version.
    pub version: String,
}

/// A host and a number of it, in a header: `b=2`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostNumber {
    /// The place.
    pub name: String,
    /// The number; the header says of what.
    pub number: u32,
}

/// How a scenario ends under a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ending {
    /// All properties hold.
    Holds,
    /// This property is broken.
    Breaks(Property),
}

/// A line of the head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Header {
    /// The hosts that are up at the start.
    Hosts(Vec<HostVersion>),
    /// The hosts that `boot` starts.
    Idle(Vec<HostVersion>),
    /// The plan of each build.
    Chunks(Vec<String>),
    /// The slots of executors.
    Slots(Vec<HostNumber>),
    /// The priorities with which hosts ask.
    Priority(Vec<HostNumber>),
    /// How many arbiters share the record.
    Arbiters(u32),
    /// The hosts that their builds may not drain.
    Pinned(Vec<String>),
    /// Each command is one atomic step: nothing follows it by itself.
    SingleSteps,
    /// A protocol that the scenario runs under.
    Under {
        /// Its name.
        variant: String,
        /// The ending that it must have.
        ending: Ending,
    },
}

/// A line of the body.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are the words of the form that each variant names")]
pub enum Command {
    /// `ask HOST`
    Ask { host: HostRef },
    /// `watch HOST`
    Watch { host: HostRef },
    /// `stand-down HOST [after]`; after: the running build may finish first.
    StandDown { host: HostRef, after: bool },
    /// `deliver LINK`
    Deliver { link: Link },
    /// `publish [record2]`
    Publish { arbiter: Arbiter },
    /// `repeat LINK`
    Repeat { link: Link },
    /// `stall LINK|record`
    Stall { target: Target },
    /// `flow LINK|record`
    Flow { target: Target },
    /// `plan HOST [CHUNK...]`; no chunks: those of the head.
    Plan { host: HostRef, chunks: Vec<String> },
    /// `sign-off HOST CHUNK [failed]`
    SignOff { host: HostRef, chunk: String, failed: bool },
    /// `build-ends HOST [of WORK] [failed [REASON...]]`; no work: the build under the grant.
    BuildEnds { host: HostRef, work: Option<Work>, outcome: BuildOutcome },
    /// `build-stops HOST [of WORK]`
    BuildStops { host: HostRef, work: Option<Work> },
    /// `submit HOST BUILD [parent BUILD] [drains [nothing|restart|stop]]`
    Submit { host: HostRef, build: String, parent: Option<String>, drains: Option<EndAction> },
    /// `drain HOST [TERM] [then ACTION] [at-deadline OUTCOME]`
    Drain { host: HostRef, term: Term, then: EndAction, at_deadline: DeadlineOutcome },
    /// `undrain HOST`
    Undrain { host: HostRef },
    /// `deadline HOST`
    Deadline { host: HostRef },
    /// `interrupt HOST`
    Interrupt { host: HostRef },
    /// `step HOST [WORD...]`; no words: the next effect.
    Step { host: HostRef, words: Vec<String> },
    /// `lose LINK`
    Lose { link: Link },
    /// `double LINK`
    Double { link: Link },
    /// `overtake LINK`
    Overtake { link: Link },
    /// `delay LINK`
    Delay { link: Link },
    /// `cut HOST`
    Cut { host: HostRef },
    /// `stale HOST N`; in views.
    Stale { host: HostRef, behind: u32 },
    /// `slow HOST N`
    Slow { host: HostRef, factor: u32 },
    /// `pause HOST`
    Pause { host: HostRef },
    /// `resume HOST`
    Resume { host: HostRef },
    /// `crash HOST`
    Crash { host: HostRef },
    /// `gone HOST`
    Gone { host: HostRef },
    /// `boot HOST[:VERSION]`; no version: the one it ran last, or that of the head.
    Boot { name: String, version: Option<String> },
    /// `overlap HOST[:VERSION]`
    Overlap { name: String, version: Option<String> },
    /// `reuse HOST`
    Reuse { host: HostRef },
    /// `lose-disk HOST`
    LoseDisk { host: HostRef },
    /// `suspect HOST`
    Suspect { host: HostRef },
    /// `trust HOST`
    Trust { host: HostRef },
    /// `reask HOST`
    Reask { host: HostRef },
    /// `fail HOST [REASON...]`
    Fail { host: HostRef, reason: Option<String> },
    /// `hang HOST`
    Hang { host: HostRef },
    /// `unsigned HOST CHUNK`
    Unsigned { host: HostRef, chunk: String },
    /// `arbiter [record2]`
    ArbiterCrash { arbiter: Arbiter },
    /// `conflict [record2]`
    Conflict { arbiter: Arbiter },
    /// `unknown [record2]`
    UnknownCommit { arbiter: Arbiter },
    /// `lapse GRANT`
    Lapse { grant: Grant },
    /// `cancel GRANT [again|block] [REASON...]`
    CancelGrant { grant: Grant, then: CancelThen, reason: Option<String> },
    /// `cancel HOST BUILD`
    CancelBuild { host: HostRef, build: String },
    /// `revoke GRANT [REASON...]`
    Revoke { grant: Grant, reason: Option<String> },
    /// `retry VERSION GRANT`
    Retry { version: String, grant: Grant },
    /// `heal`
    Heal,
    /// `rest`
    Rest,
    /// `expect [under VARIANT] FACT`; no variant: the current protocol.
    Expect { under: Option<String>, fact: Fact },
    /// `check [PROPERTY|all]`; no property: all.
    Check { property: Option<Property> },
}

/// What the record's hold is expected to be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are the words of the form that each variant names")]
pub enum HoldFact {
    /// `none`
    None,
    /// `Offered(HOST, GRANT)`
    Offered { host: HostRef, grant: Grant },
    /// `Started(HOST, GRANT) [cancelling]`
    Started { host: HostRef, grant: Grant, cancelling: bool },
}

/// What `expect` says of the world.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are the words of the form that each variant names")]
pub enum Fact {
    /// `hold none|Offered(HOST, GRANT)|Started(HOST, GRANT) [cancelling]`
    Hold(HoldFact),
    /// `gate HOST open|waiting|blocked|unknown`
    Gate { host: HostRef, gate: Gate },
    /// `verdict VERSION none|approved|failed`
    Verdict { version: String, verdict: VerdictState },
    /// `line HOST none|STANDING`; none: the record has no line of it.
    Line { host: HostRef, standing: Option<Standing> },
    /// `host HOST STATE`
    Host { host: HostRef, state: HostState },
    /// `said HOST STANDING [GRANT]`
    Said { host: HostRef, standing: Standing, grant: Option<Grant> },
    /// `refused REFUSAL`
    Refused { refusal: Refusal },
    /// `answered REMARK`
    Answered { remark: Remark },
    /// `building HOST yes|no`
    Building { host: HostRef, yes: bool },
    /// `builders N`
    Builders { count: u32 },
    /// `build HOST BUILD STATE [attempts N]`
    Build { host: HostRef, build: String, state: BuildState, attempts: Option<u32> },
    /// `workspace HOST BUILD yes|no`
    Workspace { host: HostRef, build: String, yes: bool },
    /// `draining HOST yes|no [then ACTION]`
    Draining { host: HostRef, yes: bool, then: Option<EndAction> },
    /// `drained HOST yes|no`
    Drained { host: HostRef, yes: bool },
    /// `free-slots HOST N`
    FreeSlots { host: HostRef, count: u32 },
    /// `queue HOST BUILD...|none`
    Queue { host: HostRef, builds: Vec<String> },
    /// `offers N`
    Offers { count: u32 },
    /// `converged`
    Converged,
    /// `stuck`
    Stuck,
}

impl Header {
    /// Whether it lists nothing, and so would not parse.
    pub(super) const fn is_empty(&self) -> bool {
        match self {
            Self::Hosts(list) | Self::Idle(list) => list.is_empty(),
            Self::Slots(list) | Self::Priority(list) => list.is_empty(),
            Self::Chunks(list) | Self::Pinned(list) => list.is_empty(),
            Self::Arbiters(_) | Self::SingleSteps | Self::Under { .. } => false,
        }
    }
}
