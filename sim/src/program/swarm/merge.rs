//! The results of all shards, put together.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use handover_sim::suite::Judgement;
use handover_sim::swarm::{Shard, Tally};

use super::super::complain;
use super::super::files::{read_regular, refuse_missing};
use super::results::{RanJson, Results, Told};

/// The results of one shard, and the file that they are from.
struct Part {
    path: PathBuf,
    shard: Shard,
    results: Results,
    tally: Tally,
}

/// Reads what shards have printed and puts it together; an error is what was refused.
pub(super) fn merge(paths: &[PathBuf]) -> Result<Results, Judgement> {
    refuse_missing(paths)?;
    let parts: Vec<Result<Part, String>> = paths.iter().map(|path| read(path)).collect();
    let unreadable: Vec<&String> = parts.iter().filter_map(|part| part.as_ref().err()).collect();
    if !unreadable.is_empty() {
        return Err(refuse(
            &unreadable.into_iter().map(String::as_str).collect::<Vec<_>>().join("\nerror: "),
        ));
    }
    let mut parts: Vec<Part> = parts.into_iter().flatten().collect();
    parts.sort_by_key(|part| part.shard);
    fits(&parts).map_err(|why| refuse(&why))?;
    Ok(merged(parts))
}

fn refuse(why: &str) -> Judgement {
    complain(&format!("error: {why}"));
    Judgement::Unreadable
}

fn read(path: &Path) -> Result<Part, String> {
    let name = path.display();
    let help = "help: --merge takes what `handover-sim swarm --shard I/N --json` has printed";
    let text = read_regular(path).map_err(|error| format!("{name}: {error}\n{help}"))?;
    let results: Results = serde_json::from_str(&text)
        .map_err(|error| format!("{name}:{}:{}: {error}\n{help}", error.line(), error.column()))?;
    let tally = results.tally().map_err(|why| format!("{name}: {why}\n{help}"))?;
    let [RanJson { shard, .. }] = results.ran.as_slice() else {
        return Err(format!("{name} is merged already\nhelp: name the files of the shards"));
    };
    let shard: Shard = shard.parse().map_err(|why| format!("{name}: {why}"))?;
    let seeds = shard.len(&(results.seeds.from..results.seeds.to));
    results.agrees(seeds).map_err(|why| format!("{name} is damaged: {why}\n{help}"))?;
    Ok(Part { path: path.to_owned(), shard, results, tally })
}

/// Are these all shards of one swarm, each once? In the order of the shards.
fn fits(parts: &[Part]) -> Result<(), String> {
    let (Some(first), Some(of)) = (parts.first(), parts.iter().map(|part| part.shard.of()).max())
    else {
        return Err("there is nothing to merge".to_owned());
    };
    for part in parts {
        if let Some((what, one, other)) = difference(&first.results, &part.results) {
            return Err(format!(
                "{} and {} are not of one swarm: {what} is {one} in one and {other} in the other\n\
                 help: run all shards with the same options",
                first.path.display(),
                part.path.display()
            ));
        }
    }
    for index in 1..=of {
        let named: Vec<&Part> = parts.iter().filter(|part| part.shard.index() == index).collect();
        match named.as_slice() {
            [_] => {}
            [] => {
                return Err(format!(
                    "shard {index}/{of} is missing\nhelp: name the results of all shards"
                ));
            }
            [one, other, ..] => {
                return Err(format!(
                    "{} and {} are both of shard {index}/{of}\nhelp: name each shard once",
                    one.path.display(),
                    other.path.display()
                ));
            }
        }
    }
    Ok(())
}

/// The first thing in which two results are not of one swarm, and what it is in each.
fn difference(one: &Results, other: &Results) -> Option<(&'static str, String, String)> {
    let of = |results: &Results| {
        results.ran.first().map_or_else(String::new, |ran| {
            ran.shard.split_once('/').map_or("", |(_, of)| of).to_owned()
        })
    };
    let seeds = |results: &Results| format!("{}..{}", results.seeds.from, results.seeds.to);
    let settings = |results: &Results| {
        serde_json::to_string(&results.settings).expect("numbers and words are JSON")
    };
    let text = |of: fn(&Results) -> &String| (of(one).clone(), of(other).clone());
    let pairs = [
        ("the version of the program", text(|results| &results.version)),
        ("the protocol", text(|results| &results.protocol)),
        ("the strategy", text(|results| &results.strategy)),
        ("the range of the seeds", (seeds(one), seeds(other))),
        ("the number of shards", (of(one), of(other))),
        ("the settings", (settings(one), settings(other))),
    ];
    let differs = pairs.into_iter().find(|(_, (one, other))| one != other);
    differs.map(|(what, (one, other))| (what, one, other))
}

/// They fit.
fn merged(parts: Vec<Part>) -> Results {
    let mut tally = Tally::default();
    let mut shapes: BTreeMap<u64, String> = BTreeMap::new();
    let mut told: BTreeMap<u64, Told> = BTreeMap::new();
    let mut ran: Vec<RanJson> = Vec::new();
    let mut interrupted = false;
    let mut merged = parts.first().expect("they are checked to be some").results.clone();
    for part in parts {
        interrupted |= part.results.interrupted;
        shapes.extend(part.results.shapes());
        let failures = part.results.failures.into_iter();
        told.extend(failures.map(|failure| (failure.seed, failure.told())));
        ran.extend(part.results.ran);
        tally.merge(part.tally);
    }
    if ran.iter().all(|ran| ran.complete) {
        let (shard, schedules) = (Shard::WHOLE.to_string(), tally.schedules);
        ran = vec![RanJson { shard, schedules, complete: true }];
    }
    merged.ran = ran;
    merged.interrupted = interrupted;
    merged.set(tally, &shapes, &told);
    merged
}
