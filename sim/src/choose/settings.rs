//! What a walk is made of: the bounds that all seeds share, and what one seed makes of them.

use std::collections::{BTreeMap, BTreeSet};

use handover_core::{Chunk, Name, Version};

use super::FaultKind;
use crate::draw::Draw;
use crate::variants::Protocol;
use crate::world::{Place, Setup};

/// The bounds that all seeds of a set of walks share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkSettings {
    /// Places, 1 to 1,000, each with a process of the first version at the start.
    pub hosts: u16,
    /// Each seed draws how many hosts and versions there are, up to the bounds, how much time there
    /// is for all of it, a factor on all that a host does, and whether one place is hit more often
    /// than others; else these are the same for all.
    pub varies: bool,
    /// Versions that the places roll through, at least 1.
    pub versions: u8,
    /// Chunks of a build, at most; each seed draws how many.
    pub chunks: u8,
    /// Slots of an executor, at most, at least 1; each seed draws how many for each place.
    pub slots: u32,
    /// Arbiters over the record, at most: 1 or 2; each seed draws how many.
    pub arbiters: u8,
    /// Builds that are submitted to executors, at most; each seed draws how many.
    pub local_builds: u32,
    /// How often each kind of fault is tried, at most; each seed draws how often.
    pub faults: BTreeMap<FaultKind, u32>,
    /// Steps after which the faults end, whatever is left to do; more where there are many hosts.
    pub steps_max: usize,
    /// The virtual time in which wishes and faults begin, in microseconds.
    pub span_us: u64,
}

/// What a swarm runs if it is told nothing: 20 hosts that roll through 3 versions, up to 8 chunks,
/// all faults but [`FaultKind::Reuse`].
impl Default for WalkSettings {
    fn default() -> Self {
        Self {
            hosts: 20,
            varies: true,
            versions: 3,
            chunks: 8,
            local_builds: 20,
            steps_max: 10_000,
            span_us: 800_000,
            ..Self::rolling_update()
        }
    }
}

impl WalkSettings {
    /// A rolling update of 5 hosts from one version to the next, with every fault that the protocol
    /// stands up to: all but [`FaultKind::Reuse`], which breaks the driver's part (Dr4).
    #[must_use]
    pub fn rolling_update() -> Self {
        let faults =
            FaultKind::ALL.iter().filter(|kind| **kind != FaultKind::Reuse).map(|kind| (*kind, 3));
        Self {
            hosts: 5,
            varies: false,
            versions: 2,
            chunks: 3,
            slots: 2,
            arbiters: 2,
            local_builds: 6,
            faults: faults.collect(),
            steps_max: 3_000,
            span_us: 400_000,
        }
    }

    /// The same without any fault: what must go well before anything else is asked.
    #[must_use]
    pub fn without_faults(mut self) -> Self {
        self.faults.clear();
        self
    }

    /// A rollout that has all the bounds, for all schedules that come first.
    pub(super) fn whole(&self) -> Draft {
        let place = |index| Place {
            slots: self.slots.max(1),
            ..Place::new(&place_name(index), version_name(0).as_str())
        };
        Draft {
            places: (0..self.hosts).map(place).collect(),
            victim: None,
            versions: self.versions,
            span_us: self.span_us,
            chunks: chunks(self.chunks.into()),
            arbiters: self.arbiters.clamp(1, 2),
            local_builds: self.local_builds,
            faults: self.faults.clone(),
        }
    }

    /// How large this seed's rollout is: a large one has more going on, a small one more of it at
    /// the same places.
    fn size(&self, draw: &mut Draw, hosts_preferred: u16) -> Size {
        if !self.varies {
            let Self { hosts, versions, span_us, .. } = *self;
            return Size { hosts, versions, span_us };
        }
        let hosts = match draw.below(4) {
            0 => self.hosts,
            1 => drawn_below(draw, self.hosts),
            _ => drawn_below(draw, self.hosts.min(hosts_preferred)),
        };
        let versions = match draw.below(2) {
            0 => self.versions,
            _ => u8::try_from(draw.between(1, u64::from(self.versions))).expect("at most a u8"),
        };
        let span_us = self.span_us * u64::from(hosts + 5) / u64::from(self.hosts + 5);
        Size { hosts, versions, span_us: span_us >> draw.below(4) }
    }

    /// Most failures need more than one fault at the same place.
    fn victim(&self, draw: &mut Draw, places: &[Place]) -> Option<Name> {
        let is_drawn = self.varies && draw.chance(600);
        is_drawn.then(|| draw.pick(places).map(|place| place.name.clone())).flatten()
    }

    /// What this seed makes of the settings (swarm testing): a run in which some faults never
    /// happen finds what a run in which all do hides. Where the size varies, half of the seeds have
    /// at most the hosts that are preferred.
    pub(super) fn draft(
        &self,
        workload: &mut Draw,
        faults: &mut Draw,
        hosts_preferred: u16,
    ) -> Draft {
        let Size { hosts, versions, span_us } = self.size(workload, hosts_preferred);
        let places = (0..hosts).map(|index| Place {
            slots: u32::try_from(workload.between(1, u64::from(self.slots.max(1))))
                .expect("at most a u32"),
            pinned: workload.chance(100),
            ..Place::new(&place_name(index), version_name(0).as_str())
        });
        let places: Vec<Place> = places.collect();
        let chunk_count = workload.between(0, u64::from(self.chunks));
        let arbiters = workload.between(1, u64::from(self.arbiters.clamp(1, 2)));
        let local_builds = workload.between(0, u64::from(self.local_builds));
        let draft_of = |(kind, most): (&FaultKind, &u32)| {
            let wanted = faults.chance(500);
            let times = faults.between(1, u64::from((*most).max(1)));
            let times = u32::try_from(times).expect("at most a u32");
            (*kind, if wanted { times.min(*most) } else { 0 })
        };
        Draft {
            faults: self.faults.iter().map(draft_of).collect(),
            victim: self.victim(workload, &places),
            places,
            versions,
            span_us,
            chunks: chunks(chunk_count),
            arbiters: u8::try_from(arbiters).expect("1 or 2"),
            local_builds: u32::try_from(local_builds).expect("at most a u32"),
        }
    }
}

/// How large a rollout is.
struct Size {
    hosts: u16,
    versions: u8,
    span_us: u64,
}

/// What one seed makes of the settings.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    /// The places, in order.
    pub places: Vec<Place>,
    /// The place that is hit more often than others.
    pub victim: Option<Name>,
    /// Versions that the places roll through.
    pub versions: u8,
    /// The virtual time in which wishes and faults begin.
    pub span_us: u64,
    /// The plan of each build.
    pub chunks: BTreeSet<Chunk>,
    /// 1 or 2.
    pub arbiters: u8,
    /// Builds that are submitted.
    pub local_builds: u32,
    /// How often each kind of fault is tried.
    pub faults: BTreeMap<FaultKind, u32>,
}

impl Draft {
    /// About how many steps it takes, rather more: what has no virtual time draws its points below
    /// this. Each host hears of each publication, so that a host has more to do among many.
    pub(super) fn steps(&self) -> u64 {
        let hosts = self.places.len() as u64;
        let of_a_host = 30 + hosts * 3 / 2;
        60 + hosts * u64::from(self.versions) * of_a_host + u64::from(self.local_builds) * 10
    }

    /// The kinds of faults that strike in it.
    pub(super) fn kinds(&self) -> Vec<FaultKind> {
        let struck = self.faults.iter().filter(|(_, times)| **times > 0);
        struck.map(|(kind, _)| *kind).collect()
    }

    /// The world that it begins with.
    pub(super) fn setup(&self, protocol: &'static dyn Protocol) -> Setup {
        Setup {
            places: self.places.clone(),
            chunks: self.chunks.clone(),
            arbiters: self.arbiters,
            protocol,
        }
    }
}

/// From 1 to `most`.
fn drawn_below(draw: &mut Draw, most: u16) -> u16 {
    u16::try_from(draw.between(1, u64::from(most))).expect("at most a u16")
}

/// `c1`, `c2`, ...
fn chunks(count: u64) -> BTreeSet<Chunk> {
    (1..=count).map(|number| format!("c{number}").as_str().into()).collect()
}

/// `v1`, `v2`, ...
pub(super) fn version_name(index: u8) -> Version {
    format!("v{}", u32::from(index) + 1).as_str().into()
}

/// The names of the first places.
const LETTERS: &str = "abcdefghijklmnopqrstuvwxyz";

/// `a` to `z`, then `h27` and so on.
fn place_name(index: u16) -> String {
    if let Some(letter) = LETTERS.chars().nth(usize::from(index)) {
        letter.to_string()
    } else {
        format!("h{}", u32::from(index) + 1)
    }
}
