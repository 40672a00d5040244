//! The results for people.

use std::fmt::Write as _;

use handover_sim::swarm::KEPT_MAX;

use super::results::{FailureJson, Results, property_of};

pub(super) fn table(results: &Results) -> String {
    let mut text = String::new();
    let Results { protocol, strategy, .. } = results;
    let _ = writeln!(text, "swarm        {} by {strategy} under {protocol}", seeds(results));
    let settings = &results.settings;
    let _ = writeln!(
        text,
        "settings     at most {} hosts, {} versions, {} chunks, {} slots, {} arbiters, {} local \
         builds",
        settings.hosts,
        settings.versions,
        settings.chunks,
        settings.slots,
        settings.arbiters,
        settings.local_builds
    );
    let _ = writeln!(text, "faults       {}", faults(results));
    let holds = results.schedules - results.broken;
    let _ = writeln!(
        text,
        "schedules    {}: {holds} hold, {} do not, {} steps, {} the longest",
        results.schedules, results.broken, results.transitions, results.depth
    );
    let about = if results.states.exact { "" } else { "about " };
    let _ = writeln!(
        text,
        "distinct     {about}{} states, {} departures from calm",
        results.states.distinct, results.departures.distinct
    );
    worth(&mut text, results);
    let _ = writeln!(text, "digest       {}", results.digest);
    if results.interrupted {
        text.push_str("interrupted  what is left was not run\n");
    }
    if let Some(why) = results.unknown_because() {
        let _ = writeln!(text, "unknown      {why}");
    }
    text
}

fn seeds(results: &Results) -> String {
    let (from, to) = (results.seeds.from, results.seeds.to);
    let all = if to == u64::MAX { format!("{from}..") } else { format!("{from}..{to}") };
    if let [ran] = results.ran.as_slice()
        && ran.shard == "1/1"
    {
        // The seeds of the whole are run in their order.
        return format!("seeds {from}..{}", from + ran.schedules);
    }
    let shares = results.ran.iter().map(|ran| {
        let part = if ran.complete { "all" } else { "the first" };
        format!("{part} {} of shard {}", ran.schedules, ran.shard)
    });
    format!("seeds {all}, {}", shares.collect::<Vec<_>>().join(", "))
}

/// `each kind up to 3 times: delay lose ...`
fn faults(results: &Results) -> String {
    let faults = &results.settings.faults;
    let most = faults.values().max();
    let Some(most) = most else {
        return "none".to_owned();
    };
    let words: Vec<String> = faults
        .iter()
        .map(|(word, times)| if times == most { word.clone() } else { format!("{word} ({times})") })
        .collect();
    let often = if *most == 1 { "once".to_owned() } else { format!("{most} times") };
    format!("each kind at most {often}: {}", words.join(" "))
}

/// A fault that shows more often than this is not rare.
const RARE: f64 = 0.5;

/// What the schedules are worth.
fn worth(text: &mut String, results: &Results) {
    let departures = &results.departures;
    if let Some(chance) = departures.new_chance {
        let _ = writeln!(
            text,
            "next         shows a departure that none has shown with a chance of {:.1} %: {} of {} \
             schedules showed one that no other has",
            chance * 100.0,
            departures.singular,
            results.schedules
        );
    }
    // Of a handful of schedules it says nothing that anybody wants to know.
    let rarest = results.rarest.filter(|rarest| results.broken == 0 && *rarest <= RARE);
    if let Some(rarest) = rarest {
        let _ = writeln!(
            text,
            "worth        a fault that shows in one of {:.0} schedules, or more often, would have \
             been found with 99 %",
            (1.0 / rarest).floor()
        );
    }
    if let Some(bounded) = results.bounded.filter(|bounded| bounded.departures > 0) {
        let s = if bounded.departures == 1 { "" } else { "s" };
        let _ = writeln!(
            text,
            "bounded      {} of all {} schedules with at most {} departure{s} from calm were run",
            bounded.run, bounded.schedules, bounded.departures
        );
    }
    if let Some(pct) = results.pct {
        let _ = writeln!(
            text,
            "pct          a failure of depth {} is found by each schedule of pct with a chance of \
             at least 1/(n k^{}) = {:.1e}, for {} actors and {} steps",
            pct.depth,
            pct.depth - 1,
            pct.chance,
            pct.actors,
            pct.steps
        );
    }
}

/// How the failures were put into groups, and the first so many groups.
pub(super) fn failures(results: &Results, explained_max: usize) -> String {
    let mut text = String::new();
    if results.failures.is_empty() {
        return text;
    }
    let (reduced, broken) = (results.reduced(), results.broken);
    let _ = writeln!(text, "reduced      {reduced} of {broken} failures{}", how_many(results));
    for failure in results.failures.iter().take(explained_max) {
        text.push_str(&self::failure(results, failure));
    }
    let left_out = results.failures.len().saturating_sub(explained_max);
    if left_out > 0 {
        let all = results.failures.len();
        let s = if left_out == 1 { "" } else { "s" };
        let _ = writeln!(text, "\n{left_out} more group{s}; `--explain {all}` tells of each");
    }
    text
}

/// The bounds that left some out.
fn how_many(results: &Results) -> String {
    if results.reduced() == results.broken {
        return String::new();
    }
    format!(
        ": of each property the first {KEPT_MAX}, and the first of each end; the others are put to \
         a group by how they end"
    )
}

/// One group.
pub(in super::super) fn failure(results: &Results, failure: &FailureJson) -> String {
    let FailureJson { property, schedules, reduced, seed, .. } = failure;
    let by = match (&failure.shape, &failure.decisive) {
        (Some(shape), _) if reduced == schedules => format!("by `{shape}`"),
        (Some(shape), _) => {
            format!("by `{shape}`, {reduced} reduced and {} by their ends", schedules - reduced)
        }
        (None, decisive) => format!("decided by `{}`", decisive.as_deref().unwrap_or_default()),
    };
    let breaks = if *schedules == 1 { "breaks" } else { "break" };
    let first = if *schedules == 1 { "it is" } else { "the first is" };
    let mut text = format!(
        "\n{schedules} of {} schedules {breaks} {property} {by}; {first} that of seed {seed}\n",
        results.schedules
    );
    let FailureJson { explanation, replay, .. } = failure;
    match (explanation, property_of(property)) {
        (Some(report), Ok(property)) => text.push_str(&report.text(property, replay.as_deref())),
        (Some(_) | None, _) => {
            let _ = writeln!(text, "found       {}", failure.why);
            let _ = writeln!(text, "not reduced {} steps", failure.steps);
            if let Some(command) = replay {
                let _ = writeln!(text, "replay      {command}");
            }
        }
    }
    if replay.is_none() {
        text.push_str("no file     see stderr\n");
    }
    text
}
