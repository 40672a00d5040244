//! What a swarm has come to, as JSON carries it: written by one run, read back by a merge.

use std::collections::BTreeMap;

use handover_sim::check::{Property, Violation};
use handover_sim::choose::FaultKind;
use handover_sim::scenario::Keyword as _;
use handover_sim::suite::Judgement;
use handover_sim::swarm::{Cause, Group, Novelty, PctBound, Ran, Settings, Sketch, Swarm, Tally};
use handover_sim::variants;
use serde::{Deserialize, Serialize};

use super::super::exit_code;

/// The keys come in this order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Results {
    /// The exit code that the schedules call for.
    pub(super) exit: u8,
    /// Of the program.
    pub(super) version: String,
    pub(super) protocol: String,
    pub(super) strategy: String,
    pub(super) settings: SettingsJson,
    pub(super) seeds: SeedsJson,
    /// How many of the seeds of each share, in their order, were run.
    pub(super) ran: Vec<RanJson>,
    pub(super) interrupted: bool,
    /// `holds` in all that was run, `broken`, or `unknown`.
    pub(super) verdict: String,
    pub(super) schedules: u64,
    pub(super) broken: u64,
    pub(super) transitions: u64,
    pub(super) depth: u64,
    pub(super) states: StatesJson,
    pub(super) departures: DeparturesJson,
    /// How rare a fault may be that this many schedules would have found with 99 %.
    pub(super) rarest: Option<f64>,
    /// Of the schedules with few departures from calm, where a strategy runs them.
    pub(super) bounded: Option<BoundedJson>,
    pub(super) pct: Option<PctJson>,
    pub(super) digest: String,
    pub(super) failures: Vec<FailureJson>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SettingsJson {
    pub(super) hosts: u16,
    pub(super) versions: u8,
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
    pub(super) schedules: u64,
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

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FailureJson {
    pub(super) property: String,
    pub(super) verdict: String,
    /// The kind of the event that decides it.
    pub(super) decisive: String,
    pub(super) why: String,
    pub(super) schedules: u64,
    /// The lowest seed that fails like this, and its schedule.
    pub(super) seed: u64,
    pub(super) steps: u64,
    pub(super) digest: String,
    /// The file; none where it could not be written.
    pub(super) scenario: Option<String>,
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
        };
        results.set(tally.clone(), &BTreeMap::new());
        results
    }

    /// Takes the numbers of a tally, and the files of the failures by seed and cause.
    pub(super) fn set(&mut self, tally: Tally, files: &BTreeMap<(u64, Cause), String>) {
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
        let failure = |(cause, group): (Cause, Group)| FailureJson {
            property: cause.property.to_string(),
            verdict: verdict_on(cause.property).to_owned(),
            why: group.violation.why,
            schedules: group.schedules,
            seed: group.seed,
            steps: group.steps,
            digest: group.digest,
            scenario: files.get(&(group.seed, cause.clone())).cloned(),
            decisive: cause.decisive,
        };
        self.failures = tally.failures.into_iter().map(failure).collect();
        let is_broken = self.failures.iter().any(|failure| failure.verdict == BROKEN);
        let is_decided = self.failures.is_empty() && !self.interrupted && self.schedules > 0;
        let verdict = if is_broken {
            BROKEN
        } else if is_decided {
            HOLDS
        } else {
            UNKNOWN
        };
        self.verdict = verdict.to_owned();
        self.exit = exit_code(self.judgement());
    }

    /// The numbers again.
    pub(super) fn tally(&self) -> Result<Tally, String> {
        let digest = u128::from_str_radix(&self.digest, 16);
        let failures = self.failures.iter().map(FailureJson::group);
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
            failures: failures.collect::<Result<_, String>>()?,
        })
    }

    /// A wrong protocol that breaks what it names is as expected; one that breaks nothing yet may.
    pub(super) fn judgement(&self) -> Judgement {
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
}

const HOLDS: &str = "holds";
const BROKEN: &str = "broken";
const UNKNOWN: &str = "unknown";

/// That a world goes on is seen only up to a bound.
fn verdict_on(property: Property) -> &'static str {
    if property == Property::NoLivelock { UNKNOWN } else { BROKEN }
}

impl FailureJson {
    pub(super) fn group(&self) -> Result<(Cause, Group), String> {
        let property = Property::ALL.iter().find(|known| known.word() == self.property);
        let property = *property.ok_or_else(|| format!("`{}` is no property", self.property))?;
        let group = Group {
            schedules: self.schedules,
            seed: self.seed,
            violation: Violation { property, why: self.why.clone() },
            steps: self.steps,
            digest: self.digest.clone(),
        };
        Ok((Cause { property, decisive: self.decisive.clone() }, group))
    }
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
