//! What a swarm has come to, as JSON carries it: written by one run, read back by a merge.

use std::collections::BTreeMap;

use handover_sim::check::Property;
use handover_sim::choose::FaultKind;
use handover_sim::explain::Report;
use handover_sim::scenario::Keyword as _;
use handover_sim::suite::Judgement;
use handover_sim::swarm::{
    Cause, End, Failed, Group, Novelty, PctBound, Ran, Settings, Sketch, Swarm, Tally,
};
use handover_sim::variants;
use serde::{Deserialize, Serialize};

use super::super::exit_code;

/// The keys come in this order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct Results {
    /// The exit code that the schedules call for.
    pub(super) exit: u8,
    /// Of the program.
    pub(super) version: String,
    pub(in super::super) protocol: String,
    pub(in super::super) strategy: String,
    pub(in super::super) settings: SettingsJson,
    pub(super) seeds: SeedsJson,
    /// How many of the seeds of each share, in their order, were run.
    pub(super) ran: Vec<RanJson>,
    pub(in super::super) interrupted: bool,
    /// `holds` in all that was run, `broken`, or `unknown`.
    pub(super) verdict: String,
    pub(in super::super) schedules: u64,
    pub(in super::super) broken: u64,
    pub(in super::super) transitions: u64,
    pub(super) depth: u64,
    pub(super) states: StatesJson,
    pub(super) departures: DeparturesJson,
    /// How rare a fault may be that this many schedules would have found with 99 %.
    pub(super) rarest: Option<f64>,
    /// Of the schedules with few departures from calm, where a strategy runs them.
    pub(super) bounded: Option<BoundedJson>,
    pub(super) pct: Option<PctJson>,
    pub(in super::super) digest: String,
    /// By their causes, those with the most schedules first.
    pub(in super::super) failures: Vec<FailureJson>,
    /// How many schedules failed in which way.
    ends: Vec<EndJson>,
    /// The failures that were kept, to be reduced.
    kept: Vec<KeptJson>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct SettingsJson {
    pub(in super::super) hosts: u16,
    pub(in super::super) versions: u8,
    pub(super) chunks: u8,
    pub(super) slots: u32,
    pub(super) arbiters: u8,
    pub(super) local_builds: u32,
    pub(super) faults: BTreeMap<String, u32>,
    varies: bool,
    steps_max: usize,
    span_us: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SeedsJson {
    pub(super) from: u64,
    /// Excluded.
    pub(super) to: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RanJson {
    /// As `1/4`.
    pub(super) shard: String,
    pub(in super::super) schedules: u64,
    /// All of its seeds were run.
    pub(super) complete: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StatesJson {
    pub(super) distinct: u64,
    pub(super) exact: bool,
    sketch: Sketch,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DeparturesJson {
    pub(super) distinct: usize,
    /// The chance that the next schedule shows a departure that none has shown.
    pub(super) new_chance: Option<f64>,
    /// Schedules that showed one that no other has shown.
    pub(super) singular: u64,
    shown: Novelty,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BoundedJson {
    /// All schedules with so many departures or fewer come first.
    pub(super) departures: u32,
    /// How many there are.
    pub(super) schedules: usize,
    /// How many of them were run.
    pub(super) run: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PctJson {
    pub(super) actors: usize,
    pub(super) steps: u64,
    pub(super) depth: u32,
    pub(super) chance: f64,
}

/// Failures of one cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct FailureJson {
    pub(super) property: String,
    pub(super) verdict: String,
    /// The departures to which they were reduced, without numbers and names.
    pub(super) shape: Option<String>,
    /// Where they were not reduced, the kind of the event that decides them.
    pub(super) decisive: Option<String>,
    pub(in super::super) schedules: u64,
    /// How many of them were reduced; the others are here by their end alone.
    pub(super) reduced: u64,
    /// The lowest seed that fails like this, and its schedule.
    pub(in super::super) seed: u64,
    pub(super) why: String,
    pub(super) steps: u64,
    pub(in super::super) digest: String,
    /// The smallest explanation; none where it could not be reduced.
    pub(super) explanation: Option<Report>,
    /// The file; none where it could not be written, or does not break the same.
    pub(super) scenario: Option<String>,
    /// The command that replays it.
    pub(super) replay: Option<String>,
}

/// What was said and written of a failure.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    pub(super) explanation: Option<Report>,
    pub(super) scenario: Option<String>,
    pub(super) replay: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EndJson {
    property: String,
    decisive: String,
    schedules: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptJson {
    seed: u64,
    property: String,
    decisive: String,
    why: String,
    steps: u64,
    digest: String,
    shape: Option<String>,
}

impl Results {
    /// What one run has come to.
    pub(super) fn of_run(swarm: &Swarm, ran: &Ran, interrupted: bool) -> Self {
        let Ran { tally, is_complete, plan } = ran;
        let shard = swarm.shard.to_string();
        let bounded = (plan.enumerated() > 0).then(|| BoundedJson {
            departures: plan.departures(),
            schedules: plan.enumerated(),
            run: tally.enumerated,
        });
        let ran = RanJson { shard, schedules: tally.schedules, complete: *is_complete };
        let mut results = Self {
            exit: 0,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            protocol: swarm.protocol.name().to_owned(),
            strategy: swarm.strategy.to_string(),
            settings: SettingsJson::from(&swarm.settings),
            seeds: SeedsJson { from: swarm.seeds.start, to: swarm.seeds.end },
            ran: vec![ran],
            interrupted,
            verdict: String::new(),
            schedules: 0,
            broken: 0,
            transitions: 0,
            depth: 0,
            states: StatesJson { distinct: 0, exact: true, sketch: Sketch::default() },
            departures: DeparturesJson {
                distinct: 0,
                new_chance: None,
                singular: 0,
                shown: Novelty::default(),
            },
            rarest: None,
            bounded,
            pct: None,
            digest: String::new(),
            failures: Vec::new(),
            ends: Vec::new(),
            kept: Vec::new(),
        };
        results.set(tally.clone(), &BTreeMap::new(), &BTreeMap::new());
        results
    }

    /// Takes the numbers of a tally, the shapes of kept failures, and what was told of the first of
    /// each group; both by seed.
    pub(super) fn set(
        &mut self,
        tally: Tally,
        shapes: &BTreeMap<u64, String>,
        told: &BTreeMap<u64, Told>,
    ) {
        let groups = tally.groups(shapes).into_iter();
        self.failures = groups.map(|group| FailureJson::new(&group, &tally, told)).collect();
        self.schedules = tally.schedules;
        self.broken = tally.broken;
        self.transitions = tally.transitions;
        self.depth = tally.depth;
        self.rarest = tally.rarest();
        self.states = StatesJson {
            distinct: tally.states.count(),
            exact: tally.states.is_exact(),
            sketch: tally.states.clone(),
        };
        self.departures = DeparturesJson {
            distinct: tally.departures.count(),
            new_chance: tally.new_departure_chance(),
            singular: tally.departures.singular(),
            shown: tally.departures,
        };
        self.pct = tally.pct.map(PctJson::from);
        if let Some(bounded) = &mut self.bounded {
            bounded.run = tally.enumerated;
        }
        self.digest = format!("{:032x}", tally.digest);
        let end = |(end, schedules): (&End, &u64)| EndJson {
            property: end.property.to_string(),
            decisive: end.decisive.clone(),
            schedules: *schedules,
        };
        self.ends = tally.ends.iter().map(end).collect();
        let kept = |(seed, failed): (u64, Failed)| KeptJson {
            seed,
            property: failed.end.property.to_string(),
            decisive: failed.end.decisive,
            why: failed.why,
            steps: failed.steps,
            digest: failed.digest,
            shape: shapes.get(&seed).cloned(),
        };
        self.kept = tally.kept.into_iter().map(kept).collect();
        self.verdict = self.decided().to_owned();
        self.exit = exit_code(self.judgement());
    }

    /// The verdict that the failures make.
    fn decided(&self) -> &'static str {
        let is_broken = self.failures.iter().any(|failure| failure.verdict == BROKEN);
        let is_decided = self.failures.is_empty() && !self.interrupted && self.schedules > 0;
        if is_broken {
            BROKEN
        } else if is_decided {
            HOLDS
        } else {
            UNKNOWN
        }
    }

    /// The numbers again.
    pub(super) fn tally(&self) -> Result<Tally, String> {
        let digest = u128::from_str_radix(&self.digest, 16);
        let ends = self.ends.iter().map(EndJson::end);
        let kept = self.kept.iter().map(KeptJson::failed);
        Ok(Tally {
            schedules: self.schedules,
            broken: self.broken,
            transitions: self.transitions,
            depth: self.depth,
            states: self.states.sketch.clone(),
            departures: self.departures.shown.clone(),
            enumerated: self.bounded.map_or(0, |bounded| bounded.run),
            pct: self.pct.map(|pct| PctBound {
                actors: pct.actors,
                steps: pct.steps,
                depth: pct.depth,
            }),
            digest: digest.map_err(|_| format!("`{}` is no digest", self.digest))?,
            ends: ends.collect::<Result<_, String>>()?,
            kept: kept.collect::<Result<_, String>>()?,
        })
    }

    /// The shapes of the failures that were reduced, by seed.
    pub(super) fn shapes(&self) -> impl Iterator<Item = (u64, String)> {
        self.kept.iter().filter_map(|kept| Some((kept.seed, kept.shape.clone()?)))
    }

    /// How many of the failures were reduced.
    pub(super) fn reduced(&self) -> u64 {
        self.failures.iter().map(|failure| failure.reduced).sum()
    }

    /// A wrong protocol that breaks what it names is as expected; one that breaks nothing yet may.
    pub(in super::super) fn judgement(&self) -> Judgement {
        let named = variants::by_name(&self.protocol).and_then(|protocol| protocol.breaks());
        let breaks = |property: Property| {
            self.failures.iter().any(|failure| failure.property == property.word())
        };
        match (named, self.verdict.as_str()) {
            (Some(property), _) if breaks(property) => Judgement::AsExpected,
            (_, BROKEN) => Judgement::NotAsExpected,
            (None, HOLDS) => Judgement::AsExpected,
            (_, _) => Judgement::Unknown,
        }
    }

    /// Why nothing is known, where no failure says it.
    pub(super) fn unknown_because(&self) -> Option<String> {
        if self.judgement() != Judgement::Unknown || self.interrupted {
            return None;
        }
        if self.schedules == 0 {
            return Some("no schedule was run: there are fewer seeds than shards".to_owned());
        }
        let named = variants::by_name(&self.protocol).and_then(|protocol| protocol.breaks())?;
        Some(format!(
            "{} is a wrong protocol, and none of these schedules breaks {named}; run more seeds",
            self.protocol
        ))
    }

    /// Do the numbers of one share agree with each other? With so many seeds of it.
    pub(super) fn agrees(&self, seeds: u64) -> Result<(), &'static str> {
        let ended = self.ends.iter().try_fold(0_u64, |sum, end| sum.checked_add(end.schedules));
        let ran: Vec<u64> = self.ran.iter().map(|ran| ran.schedules).collect();
        let claims = [
            (ran == [self.schedules], "`ran` and `schedules` do not agree"),
            (self.schedules <= seeds, "there are more `schedules` than seeds"),
            (self.broken <= self.schedules, "more schedules are `broken` than were run"),
            (ended == Some(self.broken), "`ends` and `broken` do not agree"),
            (self.depth <= self.transitions, "`depth` and `transitions` do not agree"),
            (
                self.transitions <= self.depth.saturating_mul(self.schedules),
                "`transitions` and `depth` do not agree",
            ),
            (self.exit == exit_code(self.judgement()), "`exit` and `verdict` do not agree"),
            (
                (self.broken == 0) == self.failures.is_empty(),
                "`failures` and `broken` do not agree",
            ),
            (self.verdict == self.decided(), "`verdict` and `failures` do not agree"),
        ];
        claims.iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, why)| Err(*why))
    }
}

const HOLDS: &str = "holds";
const BROKEN: &str = "broken";
const UNKNOWN: &str = "unknown";

/// That a world goes on is seen only up to a bound.
fn verdict_on(property: Property) -> &'static str {
    if property == Property::NoLivelock { UNKNOWN } else { BROKEN }
}

impl FailureJson {
    fn new(group: &Group, tally: &Tally, told: &BTreeMap<u64, Told>) -> Self {
        let failed = &tally.kept[&group.seed];
        let told = told.get(&group.seed).cloned().unwrap_or_default();
        let (shape, decisive) = match &group.cause {
            Cause::Departures(shape) => (Some(shape.clone()), None),
            Cause::Decisive(decisive) => (None, Some(decisive.clone())),
        };
        Self {
            property: group.property.to_string(),
            verdict: verdict_on(group.property).to_owned(),
            shape,
            decisive,
            schedules: group.schedules,
            reduced: group.reduced,
            seed: group.seed,
            why: failed.why.clone(),
            steps: failed.steps,
            digest: failed.digest.clone(),
            explanation: told.explanation,
            scenario: told.scenario,
            replay: told.replay,
        }
    }

    /// That a world goes on is seen only up to a bound.
    pub(in super::super) fn judgement(&self) -> Judgement {
        if self.verdict == UNKNOWN { Judgement::Unknown } else { Judgement::NotAsExpected }
    }

    pub(super) fn told(self) -> Told {
        let Self { explanation, scenario, replay, .. } = self;
        Told { explanation, scenario, replay }
    }
}

impl EndJson {
    fn end(&self) -> Result<(End, u64), String> {
        Ok((end(&self.property, &self.decisive)?, self.schedules))
    }
}

impl KeptJson {
    fn failed(&self) -> Result<(u64, Failed), String> {
        let Self { seed, property, decisive, why, steps, digest, .. } = self;
        let (end, steps) = (end(property, decisive)?, *steps);
        Ok((*seed, Failed { end, why: why.clone(), steps, digest: digest.clone() }))
    }
}

fn end(property: &str, decisive: &str) -> Result<End, String> {
    Ok(End { property: property_of(property)?, decisive: decisive.to_owned() })
}

pub(super) fn property_of(word: &str) -> Result<Property, String> {
    let property = Property::ALL.iter().find(|known| known.word() == word);
    property.copied().ok_or_else(|| format!("`{word}` is no property"))
}

impl From<&Settings> for SettingsJson {
    fn from(settings: &Settings) -> Self {
        let faults = FaultKind::ALL.iter().filter_map(|kind| {
            let times = settings.faults.get(kind).filter(|times| **times > 0)?;
            Some((kind.word().to_owned(), *times))
        });
        Self {
            hosts: settings.hosts,
            versions: settings.versions,
            chunks: settings.chunks,
            slots: settings.slots,
            arbiters: settings.arbiters,
            local_builds: settings.local_builds,
            faults: faults.collect(),
            varies: settings.varies,
            steps_max: settings.steps_max,
            span_us: settings.span_us,
        }
    }
}

impl From<PctBound> for PctJson {
    fn from(bound: PctBound) -> Self {
        let PctBound { actors, steps, depth } = bound;
        Self { actors, steps, depth, chance: bound.chance() }
    }
}
