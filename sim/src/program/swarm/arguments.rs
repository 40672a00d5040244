//! The arguments of `swarm`.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use handover_sim::scenario::CURRENT;
use handover_sim::swarm::{Settings, Shard, Strategy};

use super::super::values::{Faults, Jobs, faults, protocols, range, seeds};

/// Seeds of a swarm that is told neither which nor for how long.
const DEFAULT_SEEDS: Range<u64> = 0..1_000;

#[derive(Args, Debug)]
pub(in super::super) struct Swarm {
    /// The seeds, the last one excluded [default: 0..1000; with --budget all from 0 on]
    #[arg(long, value_name = "A..B", value_parser = seeds(u64::MAX))]
    seeds: Option<Range<u64>>,
    /// Begin no further seed after this time, as in 60s, 5m, 2h; which seeds were run is said
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(super) budget: Option<Duration>,
    /// Run only this share of the seeds; --merge puts the results of all shares together
    #[arg(long, value_name = "I/N", default_value_t = Shard::WHOLE)]
    pub(super) shard: Shard,
    #[command(flatten)]
    pub(super) jobs: Jobs,
    /// How schedules are picked: mix, random, delay-bounded[=DEPARTURES], pct[=DEPTH]
    #[arg(long, value_name = "S", default_value_t = Strategy::Mix)]
    pub(super) strategy: Strategy,
    /// What the actors follow
    #[arg(long, value_name = "P", default_value = CURRENT, value_parser = protocols())]
    pub(super) protocol: String,
    /// Hosts, at most: each seed draws how many
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = range::<u16>(1, 1000))]
    hosts: u16,
    /// Versions that they roll through, at most
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = range::<u8>(1, 20))]
    versions: u8,
    /// Chunks of a build, at most
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = range::<u8>(0, 64))]
    chunks: u8,
    /// How often each kind of fault is tried in a schedule, at most: `crash=2,gone=1` or
    /// `all=5,reuse=0` or `none` [default: all=3,reuse=0]
    #[arg(long, value_name = "KIND=N,...", value_parser = faults)]
    faults: Option<Faults>,
    /// Print one JSON object, which --merge takes
    #[arg(long)]
    pub(super) json: bool,
    /// Groups of failures that are told at length; the scenario of each is written all the same
    #[arg(
        long, value_name = "N", default_value_t = super::EXPLAINED,
        value_parser = range::<usize>(0, i64::MAX),
    )]
    pub(super) explain: usize,
    /// The folder that takes the scenarios of failures; made where there is none [default: .]
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Run nothing; put together what the shards have printed with --json
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = [
        "seeds", "budget", "shard", "jobs", "strategy", "protocol", "hosts", "versions", "chunks",
        "faults", "out",
    ])]
    pub(super) merge: Vec<PathBuf>,
}

impl Swarm {
    pub(super) fn seeds(&self) -> Range<u64> {
        let unasked = if self.budget.is_some() { 0..u64::MAX } else { DEFAULT_SEEDS };
        self.seeds.clone().unwrap_or(unasked)
    }

    pub(super) fn settings(&self) -> Settings {
        let settings = Settings {
            hosts: self.hosts,
            versions: self.versions,
            chunks: self.chunks,
            ..Settings::default()
        };
        match &self.faults {
            Some(Faults(faults)) => Settings { faults: faults.clone(), ..settings },
            None => settings,
        }
    }

    pub(super) fn out(&self) -> &Path {
        self.out.as_deref().unwrap_or_else(|| Path::new("."))
    }
}

/// `60s`
fn time(text: &str) -> Result<Duration, String> {
    let read = || {
        let number = text.strip_suffix(['s', 'm', 'h'])?;
        let seconds = match text.chars().last()? {
            'h' => 3_600,
            'm' => 60,
            _ => 1,
        };
        number.parse::<u64>().ok()?.checked_mul(seconds).filter(|seconds| *seconds > 0)
    };
    let seconds = read().ok_or("write a whole number of s, m or h from 1 on, as in 60s, 5m, 2h")?;
    Ok(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_unit() {
        assert_eq!(time("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(time("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(time("1h"), Ok(Duration::from_secs(3_600)));
        for text in ["90", "0s", "s", "1.5h", "1d", "99999999999999999h", "é"] {
            assert!(time(text).is_err(), "{text}");
        }
    }
}
