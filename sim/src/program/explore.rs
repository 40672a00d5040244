//! `explore`: every interleaving of a small rollout, and a verdict on each property.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use handover_sim::check::Property;
use handover_sim::explore::{
    self, Bounds, Counterexample, Exploration, Progress, Reductions, Verdict,
};
use handover_sim::suite::Judgement;
use handover_sim::variants;

use super::cli::Explore;
use super::files::{refuse_output_among, write};
use super::{complain, interrupt, json, print, progress, replay_command};

/// What an exploration has come to.
#[derive(Debug)]
pub(super) struct Explored {
    pub(super) bounds: Bounds,
    pub(super) found: Exploration,
    /// What ended the search before all was seen.
    pub(super) ended_by: Option<&'static str>,
    /// The files of the counterexamples.
    pub(super) paths: BTreeMap<Property, PathBuf>,
}

pub(super) fn explore(asked: &Explore) -> Judgement {
    if asked.versions > asked.hosts {
        complain(&format!(
            "error: {} versions, and {} hosts to run them\n\
             help: the first host runs the first version, each next one the next: give it as many \
             hosts as versions",
            asked.versions, asked.hosts
        ));
        return Judgement::Unreadable;
    }
    if asked.builds_everywhere && asked.deployments == 0 && asked.builds == 0 {
        complain(
            "error: --builds-everywhere, and no build for anybody\n\
             help: say how many with --deployments N or --builds N",
        );
        return Judgement::Unreadable;
    }
    if let Some(out) = &asked.out
        && let Err(refused) = refuse_output_among(out, &[])
    {
        return refused;
    }
    interrupt::listen();
    let bounds = bounds(asked);
    let (found, ended_by) = search(&bounds, asked, "");
    let mut explored = Explored { bounds, found, ended_by, paths: BTreeMap::new() };
    let saved = explored.save(asked.out.as_ref());
    let text = if asked.json { json::explore(&explored) } else { explored.table() };
    explored.judgement().max(saved).max(print(&text))
}

/// States before the first line; each comes after twice as many.
const LINE_STATES: usize = 50_000;

/// More states than this between two lines would look like a hang.
const LINE_STATES_MAX: usize = 1_000_000;

/// Searches until all is seen, a bound is reached or the user has enough; it tells how far it is, and
/// answers also with what ended it before all was seen.
pub(super) fn search(
    bounds: &Bounds,
    asked: &Explore,
    label: &str,
) -> (Exploration, Option<&'static str>) {
    let line = progress::line();
    let mut told = LINE_STATES;
    let mut ended_by = None;
    let found = explore::explore(bounds, asked.jobs.count(), |progress| {
        let text = message(progress, line.elapsed());
        if line.is_hidden() && progress.states >= told {
            complain(&format!("{label}{text}"));
            told = progress.states + progress.states.min(LINE_STATES_MAX);
        }
        line.set_message(format!("{label}{text}"));
        line.tick();
        if interrupt::is_interrupted() {
            ended_by = Some("Ctrl-C");
        } else if asked.max_memory.is_some_and(|most| progress.memory > most) {
            ended_by = Some("--max-memory");
        }
        if ended_by.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    line.finish_and_clear();
    let ended_by = ended_by.or(Some("--max-states")).filter(|_| found.coverage.frontier > 0);
    (found, ended_by)
}

fn bounds(asked: &Explore) -> Bounds {
    let newest = asked.versions - 1;
    let hosts: Vec<u8> = (0..asked.hosts).map(|host| host.min(newest)).collect();
    let protocol = variants::by_name(&asked.protocol).expect("the arguments know only these");
    let bounds = Bounds {
        chunks: asked.chunks,
        late: usize::from(asked.late),
        local_builds: (asked.deployments, asked.builds),
        builds_everywhere: asked.builds_everywhere,
        liveness: !asked.safety_only,
        states_max: asked.max_states.unwrap_or(usize::MAX),
        ..Bounds::new(&hosts).under(protocol)
    };
    let superseded = !asked.any_order;
    let bounds = Bounds { reductions: Reductions { superseded, ..bounds.reductions }, ..bounds };
    asked.faults.iter().flatten().fold(bounds, |bounds, (kind, times)| {
        bounds.with(*kind, *times).expect("the arguments know only kinds with a budget")
    })
}

fn message(progress: &Progress, elapsed: Duration) -> String {
    let Progress { states, transitions, frontier, depth, memory, broken } = progress;
    let broken = broken.map(|property| format!("  {property} is broken; Ctrl-C ends the search"));
    let rate = *states as f64 / elapsed.as_secs_f64().max(0.001);
    let memory = memory >> 20;
    format!(
        "{states} states  {rate:.0} states/s  {transitions} transitions  frontier {frontier}  \
         depth {depth}  {memory} MiB{}",
        broken.unwrap_or_default()
    )
}

impl Explored {
    /// A protocol that breaks what it names is as expected; so is the right one where all holds.
    pub(super) fn judgement(&self) -> Judgement {
        let named = self.bounds.protocol.breaks();
        let is_broken = |property| self.found.verdict(property).broken().is_some();
        match named {
            Some(property) if is_broken(property) => Judgement::AsExpected,
            None if !self.found.broken().is_empty() => Judgement::NotAsExpected,
            None if self.holds_what_was_asked() => Judgement::AsExpected,
            Some(property) if matches!(self.found.verdict(property), Verdict::Holds) => {
                Judgement::NotAsExpected
            }
            Some(_) | None => Judgement::Unknown,
        }
    }

    /// Where only safety was to be decided, what is unknown of the rest is no matter.
    fn holds_what_was_asked(&self) -> bool {
        let liveness = [Property::NoWedge, Property::NoLivelock];
        let asked = self
            .found
            .verdicts
            .iter()
            .filter(|(property, _)| self.bounds.liveness || !liveness.contains(property));
        asked.map(|(_, verdict)| verdict).all(|verdict| matches!(verdict, Verdict::Holds))
    }

    /// Writes the counterexamples: each to its own file, or the shortest to the one that is named.
    fn save(&mut self, out: Option<&PathBuf>) -> Judgement {
        let mut judgement = Judgement::AsExpected;
        let broken = self.found.broken();
        let count = if out.is_some() { 1 } else { broken.len() };
        let mut paths = BTreeMap::new();
        for Counterexample { violation, scenario, .. } in broken.into_iter().take(count) {
            let property = violation.property;
            let own = || PathBuf::from(format!("explore-{property}.scenario"));
            let path = out.cloned().unwrap_or_else(own);
            let text = scenario.to_string();
            let written = write(&path, &text);
            if written == Judgement::AsExpected {
                paths.insert(property, path);
            } else {
                complain(&format!("this is the scenario:\n\n{text}"));
            }
            judgement = judgement.max(written);
        }
        self.paths = paths;
        judgement
    }

    fn table(&self) -> String {
        let coverage = &self.found.coverage;
        let mut text = format!("{}\n\n", self.bounds);
        for (property, verdict) in &self.found.verdicts {
            let steps = verdict.broken().map(|broken| format!(" in {} steps", broken.steps));
            let (name, word) = (property.to_string(), verdict.word());
            let _ = writeln!(text, "{name:16} {word}{}", steps.unwrap_or_default());
        }
        if let (Judgement::NotAsExpected, Some(named)) =
            (self.judgement(), self.bounds.protocol.breaks())
        {
            let _ = writeln!(
                text,
                "\n{} is a wrong protocol, and does not break {named} within these bounds: {}",
                self.bounds.protocol.name(),
                self.remedy()
            );
        }
        let _ = writeln!(
            text,
            "\n{} states, {} transitions, {} steps deep, {} states converged",
            coverage.states, coverage.transitions, coverage.depth, coverage.converged
        );
        let _ = writeln!(
            text,
            "the chance that two different states were taken for one is below {:.0e}",
            coverage.collision_chance
        );
        if let Some(by) = self.ended_by {
            let _ = writeln!(
                text,
                "the search ended early, by {by}: {} states were reached and not explored further",
                coverage.frontier
            );
        }
        for broken in self.broken() {
            let _ = writeln!(text, "\n{broken}");
        }
        text
    }

    /// Where it does break, or why nowhere.
    fn remedy(&self) -> String {
        let bounds = match variants::smallest(self.bounds.protocol) {
            Ok(bounds) => bounds,
            Err(why) => return why.to_owned(),
        };
        let versions = bounds.hosts.iter().max().map_or(1, |newest| newest + 1);
        let (deployments, builds) = bounds.local_builds;
        let numbers = [
            ("hosts", bounds.hosts.len()),
            ("versions", versions.into()),
            ("chunks", bounds.chunks.into()),
            ("deployments", deployments.into()),
            ("builds", builds.into()),
        ];
        let mut options = vec![format!("--protocol {}", bounds.protocol.name())];
        options.extend(numbers.map(|(option, number)| format!("--{option} {number}")));
        let faults = bounds.faults.iter().map(|(kind, times)| format!("{kind}={times}"));
        let faults = faults.collect::<Vec<_>>().join(",");
        options.push(format!("--faults {}", if faults.is_empty() { "none" } else { &faults }));
        if !bounds.reductions.superseded {
            options.push("--any-order".to_owned());
        }
        if bounds.states_max < usize::MAX {
            options.push(format!("--max-states {}", bounds.states_max));
        }
        format!("`explore {}` shows it", options.join(" "))
    }

    /// What is broken, each with the command that replays it.
    pub(super) fn broken(&self) -> Vec<String> {
        let broken = self.found.broken().into_iter().map(|broken| {
            let path = self.paths.get(&broken.violation.property);
            let command = path.map(|path| replay_command(path, self.bounds.protocol.name()));
            let replay = command.map(|command| format!("\nreplay  {command}"));
            format!("broken  {}{}", broken.violation, replay.unwrap_or_default())
        });
        broken.collect()
    }
}
