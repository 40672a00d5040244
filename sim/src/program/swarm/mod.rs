//! `swarm`: many seeds over a large rollout; what they break, explained, and what a clean run is
//! worth.

mod arguments;
mod explained;
mod merge;
mod results;
mod table;

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use handover_sim::suite::Judgement;
use handover_sim::swarm::{self, Ran};
use handover_sim::variants;

use super::files::make_folder;
use super::{complain, interrupt, print, progress};

pub(super) use arguments::Swarm;
pub(super) use results::{FailureJson, Results};
pub(super) use table::failure;

/// An error is what was refused before the work started.
pub(super) fn swarm(asked: &Swarm) -> Result<Judgement, Judgement> {
    if !asked.merge.is_empty() {
        let merged = merge::merge(&asked.merge)?;
        let text = told(&merged, asked);
        return Ok(merged.judgement().max(print(&text)));
    }
    asked.out.as_deref().map_or(Ok(()), make_folder)?;
    interrupt::listen();
    let swarm = swarm::Swarm {
        settings: asked.settings(),
        strategy: asked.strategy,
        protocol: variants::by_name(&asked.protocol).expect("the arguments know only these"),
        seeds: asked.seeds(),
        shard: asked.shard,
    };
    let ran = run(&swarm, asked);
    let (results, saved) = explained(&swarm, ran, asked.out(), asked.jobs.count());
    let text = told(&results, asked);
    Ok(results.judgement().max(saved).max(print(&text)))
}

/// What a run has come to, with what was said of its failures; and whether all of it was written.
pub(super) fn explained(
    swarm: &swarm::Swarm,
    ran: Ran,
    out: &Path,
    jobs: usize,
) -> (Results, Judgement) {
    let interrupted = interrupt::is_interrupted() && !ran.is_complete;
    let mut results = Results::of_run(swarm, &ran, interrupted);
    let explained = explained::explain(swarm, &ran, out, jobs);
    results.set(ran.tally, &explained.shapes, &explained.told);
    (results, explained.judgement)
}

/// Groups of failures that are told at length where nobody says how many.
const EXPLAINED: usize = 8;

/// The failures, told as `swarm` tells them.
pub(super) fn failures(results: &Results) -> String {
    table::failures(results, EXPLAINED)
}

fn told(results: &Results, asked: &Swarm) -> String {
    if asked.json {
        let text = serde_json::to_string_pretty(results).expect("text and numbers are JSON");
        return format!("{text}\n");
    }
    format!("{}{}", table::table(results), table::failures(results, asked.explain))
}

/// Seeds between two lines on a stderr that is no terminal.
const LINE_SEEDS: u64 = 500;

fn run(swarm: &swarm::Swarm, asked: &Swarm) -> Ran {
    #[expect(clippy::disallowed_methods, reason = "only how many seeds are run depends on it")]
    let begun = Instant::now();
    let is_spent = || asked.budget.is_some_and(|budget| begun.elapsed() >= budget);
    let all = swarm.shard.len(&swarm.seeds);
    let line = progress::line();
    let said = AtomicU64::new(0);
    let ran = swarm.run(asked.jobs.count(), |begun, broken| {
        let of = if asked.budget.is_some() { String::new() } else { format!(" of {all}") };
        let text = format!("swarm  {begun}{of} schedules, {broken} broken");
        if line.is_hidden() {
            let lines = begun / LINE_SEEDS;
            if said.fetch_max(lines, Ordering::Relaxed) < lines {
                complain(&text);
            }
        } else {
            line.set_message(text);
            line.tick();
        }
        !interrupt::is_interrupted() && !is_spent()
    });
    line.finish_and_clear();
    ran
}
