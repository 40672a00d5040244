//! What is explored: the bounds of a configuration.

use std::collections::BTreeMap;
use std::fmt;

use handover_core::{Chunk, Version};

use super::canon::{Kind, Number};
use crate::choose::FaultKind;
use crate::variants::{Current, Protocol, is_current};
use crate::world::{Place, Setup};

/// Places whose states can be numbered.
pub(super) const PLACES_MAX: usize = 5;

/// The bounds of a configuration. The space within them is finite, unless a wrong protocol makes
/// hand-overs without end.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// For each host the version that it runs, from 0.
    pub hosts: Vec<u8>,
    /// Chunks of each build.
    pub chunks: u8,
    /// Local deployments, then other local builds, that may be submitted to the first host.
    pub local_builds: (u8, u8),
    /// And to each other host as well.
    pub builds_everywhere: bool,
    /// How often each kind of fault may strike.
    pub faults: BTreeMap<FaultKind, u8>,
    /// A cancel is one of the revocations that may strike: so many of either, in any mixture.
    pub cancels_as_revokes: bool,
    /// Superseded messages that stay on a link, each way.
    pub late: usize,
    /// What the actors follow.
    pub protocol: &'static dyn Protocol,
    /// States after which the search gives up.
    pub states_max: usize,
    /// What is merged.
    pub reductions: Reductions,
    /// `NoWedge` and `NoLivelock` are decided, for which each step has to be remembered.
    pub liveness: bool,
}

/// Which states count as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reductions {
    /// Of a number only its rank counts, among those that anybody still mentions: numbers are only
    /// compared.
    pub ranks: bool,
    /// Of a view only what its host acts on counts: its own hold, whether its present word is
    /// acknowledged, the ruling on its version, whether it is gone.
    pub projection: bool,
    /// A view that says the same to its host as the one before it is dropped.
    pub equal_views: bool,
    /// A message is dropped when it has arrived, and so is one before it that the other side would
    /// refuse by its number. Where this is off any message may arrive at any time, and again, which
    /// explores the comparisons of numbers that the drop relies on. Equal views are kept then, and
    /// `NoLivelock` is not decided: what changes nothing may arrive for ever.
    pub superseded: bool,
    /// Hosts may change their places: nothing is decided by a name.
    pub symmetry: bool,
    /// What decides nothing any more is left out: what a view says of a hold or of a word that its
    /// host does not look at, what was signed off before the report that names it all, the rows of
    /// builds under a grant that have ended, the words of a failure. Under a wrong protocol all of it
    /// may count, and so it does where a number may be used twice or a commit may be lost.
    pub spent: bool,
    /// What a host does is worked out once for all states in which its place and the record are the
    /// same. It merges no states. [`Bounds::shares_steps`] says where it is used.
    pub shared_steps: bool,
}

impl Reductions {
    /// All of them.
    pub const ALL: Self = Self {
        ranks: true,
        projection: true,
        equal_views: true,
        superseded: true,
        symmetry: true,
        spent: true,
        shared_steps: true,
    };
    /// None of them.
    pub const NONE: Self = Self {
        ranks: false,
        projection: false,
        equal_views: false,
        superseded: false,
        symmetry: false,
        spent: false,
        shared_steps: false,
    };
}

/// A fault that the explorer does not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RefusedFault {
    /// It is no choice of the explorer.
    #[error("`{kind}` has no budget: {}", why(*kind))]
    NoBudget {
        /// Its kind.
        kind: FaultKind,
    },
    /// It is to strike more often than can be explored.
    #[error("{times} times `{kind}` are too many: at most {TIMES_MAX} can be explored")]
    TooOften {
        /// Its kind.
        kind: FaultKind,
        /// How often.
        times: u8,
    },
}

fn why(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::Delay
        | FaultKind::Lose
        | FaultKind::Double
        | FaultKind::Overtake
        | FaultKind::Cut
        | FaultKind::Stale => "messages are late, lost and repeated in every exploration",
        FaultKind::Slow | FaultKind::Pause => {
            "every host is as slow as can be in every exploration"
        }
        FaultKind::Crash
        | FaultKind::Gone
        | FaultKind::Overlap
        | FaultKind::Suspect
        | FaultKind::Drain
        | FaultKind::Undrain
        | FaultKind::Reask
        | FaultKind::Retry
        | FaultKind::Fail
        | FaultKind::Hang
        | FaultKind::Unsigned
        | FaultKind::Arbiter
        | FaultKind::Lapse
        | FaultKind::Cancel
        | FaultKind::Revoke
        | FaultKind::Conflict
        | FaultKind::Reuse => "it has one",
    }
}

impl Bounds {
    /// Hosts of these versions, one chunk, no faults, one late message each way. The number of
    /// states grows with each host by more than ten times; all orders of like hosts are looked at.
    ///
    /// # Panics
    /// If there are more than [`HOSTS_MAX`] hosts.
    #[must_use]
    pub fn new(hosts: &[u8]) -> Self {
        assert!(hosts.len() <= HOSTS_MAX, "at most {HOSTS_MAX} hosts can be explored");
        Self {
            hosts: hosts.to_vec(),
            chunks: 1,
            local_builds: (0, 0),
            builds_everywhere: false,
            faults: BTreeMap::new(),
            cancels_as_revokes: false,
            late: 1,
            protocol: &Current,
            states_max: usize::MAX,
            reductions: Reductions::ALL,
            liveness: true,
        }
    }

    /// The kinds of faults that have a budget.
    pub fn kinds() -> impl Iterator<Item = FaultKind> {
        BUDGETED.iter().copied()
    }

    /// The same with so many faults of this kind. `reask` is a wish to stand down, and one to ask
    /// again.
    ///
    /// # Errors
    /// If this kind has no budget here, or not so large a one.
    pub fn with(mut self, kind: FaultKind, times: u8) -> Result<Self, RefusedFault> {
        if !BUDGETED.contains(&kind) {
            return Err(RefusedFault::NoBudget { kind });
        }
        if times > TIMES_MAX {
            return Err(RefusedFault::TooOften { kind, times });
        }
        self.faults.insert(kind, times);
        Ok(self)
    }

    /// The same under another protocol. A wrong one may bend the views that it hears, so of them
    /// all counts then; one that hears the very same again also needs [`Reductions::superseded`]
    /// off.
    #[must_use]
    pub fn under(mut self, protocol: &'static dyn Protocol) -> Self {
        self.protocol = protocol;
        if !is_current(protocol) {
            self.reductions.projection = false;
            self.reductions.equal_views = false;
        }
        self
    }

    /// The versions that hosts run, in order.
    pub(super) fn versions(&self) -> Vec<Version> {
        let newest = self.hosts.iter().copied().max().unwrap_or_default();
        (0..=newest).map(version).collect()
    }

    /// A wrong protocol may look at numbers where the right one only compares them; one that does
    /// not may be explored with all reductions on. Who begins under a number that has spoken counts
    /// its words from 1 again, towards those that were said before.
    pub(super) fn gaps(&self) -> Gaps {
        let Reductions { projection, equal_views, .. } = self.reductions;
        let is_right = is_current(self.protocol) || projection && equal_views;
        let gaps = if is_right { Gaps::NONE } else { Gaps::NEIGHBOURS };
        if self.has_any(&[FaultKind::Reuse]) { gaps.with_all_words() } else { gaps }
    }

    /// Is what a host does worked out once for many states? Not where another reduction but
    /// `symmetry` and `spent` is off, nor with more hosts than five, nor where a number may be used twice, nor
    /// under a wrong protocol that operators may mislead or that may lose a commit.
    #[must_use]
    pub fn shares_steps(&self) -> bool {
        let Reductions {
            ranks,
            projection,
            equal_views,
            superseded,
            symmetry: _,
            shared_steps,
            spent: _,
        } = self.reductions;
        let reduced = ranks && projection && equal_views && superseded && shared_steps;
        reduced && self.hosts.len() <= PLACES_MAX && !self.is_about_more()
    }

    /// Of a grant that is over all places together say whether it can still be named, and a wrong
    /// protocol may tell all of them what it has not committed. Shared steps keep the ranks of words
    /// alone, where with numbers that are used twice more counts.
    fn is_about_more(&self) -> bool {
        let misled = [
            FaultKind::Lapse,
            FaultKind::Cancel,
            FaultKind::Revoke,
            FaultKind::Retry,
            FaultKind::Conflict,
        ];
        self.has_any(&[FaultKind::Reuse]) || !is_current(self.protocol) && self.has_any(&misled)
    }

    /// Is what is spent left out? Not where a number may be used twice: then the dead are not done.
    /// Nor where a commit may be lost: who says again what was heard is answered only where no view
    /// is on its way to it, be it one that says nothing. Nor where what is superseded arrives: then
    /// it counts how new a view is that says nothing.
    pub(super) fn leaves_out_spent(&self) -> bool {
        let Reductions { spent, superseded, .. } = self.reductions;
        let counts = self.has_any(&[FaultKind::Reuse, FaultKind::Conflict]);
        spent && superseded && is_current(self.protocol) && !counts
    }

    fn has_any(&self, kinds: &[FaultKind]) -> bool {
        kinds.iter().any(|kind| self.faults.get(kind).is_some_and(|times| *times > 0))
    }

    pub(super) fn setup(&self) -> Setup {
        let names = (b'a'..=b'z').map(|letter| char::from(letter).to_string());
        let place = |(name, index): (String, &u8)| Place::new(&name, version(*index).as_str());
        let chunks = (1..=self.chunks).map(|number| Chunk::new(format!("c{number}")));
        Setup {
            places: names.zip(&self.hosts).map(place).collect(),
            chunks: chunks.collect(),
            arbiters: 1,
            protocol: self.protocol,
        }
    }

    /// How many places, from the first on, are unlike the others.
    pub(super) fn unlike(&self) -> usize {
        let (deployments, builds) = self.local_builds;
        usize::from((deployments, builds) != (0, 0) && !self.builds_everywhere)
    }

    pub(super) fn budget(&self) -> Budget {
        let paid = |budget: Budget, (kind, times): (&FaultKind, &u8)| {
            let budget = budget.plus(Cost::Fault(*kind), *times);
            if *kind == FaultKind::Reask { budget.plus(Cost::StandDown, *times) } else { budget }
        };
        self.faults.iter().fold(Budget(0), paid)
    }
}

fn version(index: u8) -> Version {
    Version::new(format!("v{}", u32::from(index) + 1))
}

/// `2 hosts of v1, 1 of v2, 1 chunk, crash=1`
impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = self.setup().places;
        let hosts: Vec<String> =
            places.iter().map(|place| format!("{}:{}", place.name, place.version)).collect();
        let faults: Vec<String> =
            self.faults.iter().map(|(kind, times)| format!("{kind}={times}")).collect();
        let faults = if faults.is_empty() { "none".to_owned() } else { faults.join(",") };
        let faults = if self.cancels_as_revokes { faults + " or cancel" } else { faults };
        let (deployments, builds) = self.local_builds;
        if deployments + builds > 0 {
            let each = if self.builds_everywhere { " on each host" } else { "" };
            write!(f, "deployments {deployments}; local builds {builds}{each}; ")?;
        }
        write!(
            f,
            "{}; chunks {}; faults {faults}; late {}; protocol {}",
            hosts.join(" "),
            self.chunks,
            self.late,
            self.protocol.name(),
        )
    }
}

/// The kinds that have a budget; a `reask` is paid in two halves.
const BUDGETED: &[FaultKind] = &[
    FaultKind::Crash,
    FaultKind::Gone,
    FaultKind::Overlap,
    FaultKind::Suspect,
    FaultKind::Drain,
    FaultKind::Undrain,
    FaultKind::Reask,
    FaultKind::Retry,
    FaultKind::Fail,
    FaultKind::Hang,
    FaultKind::Unsigned,
    FaultKind::Arbiter,
    FaultKind::Lapse,
    FaultKind::Cancel,
    FaultKind::Revoke,
    FaultKind::Conflict,
    FaultKind::Reuse,
];

/// A kind of fault strikes at most so often.
pub const TIMES_MAX: u8 = 7;

/// Hosts that can be explored: each has a letter for its name.
pub const HOSTS_MAX: usize = 26;

/// For up to [`TIMES_MAX`].
const BITS: u32 = 3;

/// How far two numbers are apart, at most, of those that follow each other in their order: what is
/// farther counts as so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gaps {
    pub(super) all: u8,
    /// Of the words of a host.
    pub(super) words: u8,
}

impl Gaps {
    /// They are only compared.
    pub(super) const NONE: Self = Self { all: 1, words: 1 };
    /// Neighbours stay neighbours, and the first numbers are told from later ones.
    pub(super) const NEIGHBOURS: Self = Self { all: 2, words: 2 };

    /// The words keep how far they are apart.
    pub(super) const fn with_all_words(self) -> Self {
        Self { words: u8::MAX, ..self }
    }

    pub(super) fn most(self, number: Number) -> u64 {
        if number.is(Kind::Seq) { self.words.into() } else { self.all.into() }
    }
}

/// How many faults of each kind are left: so many bits for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Budget(pub(super) u64);

/// What an action is paid from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cost {
    /// It happens by itself, or may happen at any time.
    Free,
    /// A fault of this kind.
    Fault(FaultKind),
    /// The first half of a `reask`.
    StandDown,
    /// A commit that is lost, and the fault of this kind that it comes with.
    Conflict(Option<FaultKind>),
}

/// At most one of each that an action is paid from; nothing for what is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Price(u64);

impl Price {
    pub(super) const NOTHING: Self = Self(0);
}

impl Cost {
    pub(super) fn price(self) -> Price {
        let kind = match self {
            Self::Free => return Price::NOTHING,
            Self::Fault(kind) => BUDGETED.iter().position(|budgeted| *budgeted == kind),
            Self::StandDown => Some(BUDGETED.len()),
            Self::Conflict(with) => {
                let Price(with) = with.map_or(Price::NOTHING, |kind| Self::Fault(kind).price());
                return Price(with | Self::Fault(FaultKind::Conflict).price().0);
            }
        };
        let kind = kind.expect("only what has a budget costs anything");
        Price(1 << (u32::try_from(kind).expect("few kinds") * BITS))
    }

    /// The same where the commit that it makes is lost.
    pub(super) fn with_conflict(self) -> Self {
        match self {
            Self::Free => Self::Conflict(None),
            Self::Fault(kind) => Self::Conflict(Some(kind)),
            Self::StandDown | Self::Conflict(_) => unreachable!("neither makes a commit to lose"),
        }
    }
}

impl Budget {
    pub(super) fn allows(self, price: Price) -> bool {
        // The lowest bit of each kind of which some are left.
        let left = self.0 | self.0 >> 1 | self.0 >> 2;
        left & price.0 == price.0
    }

    /// What is left afterwards.
    pub(super) fn less(self, price: Price) -> Self {
        Self(self.0 - price.0)
    }

    fn plus(self, cost: Cost, times: u8) -> Self {
        Self(self.0 + cost.price().0 * u64::from(times))
    }
}
