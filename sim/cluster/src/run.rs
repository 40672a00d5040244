//! One seed, or many.

use std::path::PathBuf;
use std::time::Duration;

use handover_sim::digest::Digest;
use handover_sim::judge::{ExportError, Exported, Report, Verdict, export_lines, judge_lines};
use madsim::Config;
use madsim::runtime::Runtime;
use madsim::time::TimeHandle;

use crate::cluster::Cluster;
use crate::judge::{Failure, Journals, Judge, Told};
use crate::scenes::Scene;
use crate::shells::Shell;

/// What is run, but for its seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What is played.
    pub scene: Scene,
    /// What carries the hosts.
    pub shell: Shell,
    /// How many hosts, where the scene leaves that open.
    pub hosts: usize,
    /// The journals of the run are judged too, and have to hold.
    pub judges: bool,
}

impl Plan {
    /// A scene with the node as it ships.
    #[must_use]
    pub fn new(scene: Scene) -> Self {
        Self { scene, shell: Shell::Current, hosts: 8, judges: false }
    }

    /// The same, and what its journals tell is judged as those of production are.
    #[must_use]
    pub fn judged(self) -> Self {
        Self { judges: true, ..self }
    }

    /// The same with another shell.
    #[must_use]
    pub fn under(self, shell: Shell) -> Self {
        Self { shell, ..self }
    }
}

/// What a run came to.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Its seed.
    pub seed: u64,
    /// What went wrong.
    pub failure: Option<Failure>,
    /// Over the name, the time and the outcome of each step.
    pub digest: Digest,
    /// How long it was, in simulated time.
    pub time: Duration,
    /// How many steps were judged.
    pub steps: u64,
    /// How many changes were committed.
    pub commits: u64,
    /// What is told of it, if that was asked for.
    pub told: Option<Told>,
    /// What its journals tell, if that was asked for.
    pub report: Option<Report>,
}

/// Runs one seed, on a thread of its own: what the standard library draws per thread is then drawn
/// anew, and a seed is the same alone and in a sweep.
#[must_use]
pub fn run(plan: Plan, seed: u64) -> Outcome {
    on_a_thread(plan, seed, false)
}

/// The same, and tells of it.
#[must_use]
pub fn tell(plan: Plan, seed: u64) -> Outcome {
    on_a_thread(plan, seed, true)
}

fn on_a_thread(plan: Plan, seed: u64, tells: bool) -> Outcome {
    std::thread::scope(|scope| {
        let run = scope.spawn(|| simulate(plan, seed, tells));
        run.join().unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            let why = format!("a panic: {}", text.unwrap_or_default());
            let failure = Some(Failure { property: None, why });
            let (digest, time) = (Digest::new(), Duration::ZERO);
            Outcome { seed, failure, digest, time, steps: 0, commits: 0, told: None, report: None }
        })
    })
}

/// The journals of a run, told as a scenario.
///
/// # Errors
/// If they cannot be told.
pub fn exported(plan: Plan, seed: u64) -> Result<Exported, ExportError> {
    let told = || {
        let judge = Judge::new(false, true);
        // How it ended is another's to say.
        let _ = play(plan, seed, &judge);
        let journals = judge.take_journals().unwrap_or_default();
        let names: Vec<_> = journals.keys().map(|name| PathBuf::from(file_of(name))).collect();
        export_lines(names.iter().map(PathBuf::as_path).zip(journals.into_values()))
    };
    std::thread::scope(|scope| scope.spawn(told).join())
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn play(plan: Plan, seed: u64, judge: &Judge) -> (Result<(), Failure>, Duration) {
    let runtime = Runtime::with_seed_and_config(seed, Config::default());
    let played = judge.clone();
    runtime.block_on(async move {
        let mut cluster = Cluster::new(seed, plan.shell, played);
        let ended = plan.scene.play(&mut cluster, plan.hosts).await;
        (ended, TimeHandle::current().elapsed())
    })
}

fn simulate(plan: Plan, seed: u64, tells: bool) -> Outcome {
    let judge = Judge::new(tells, plan.judges);
    let (ended, time) = play(plan, seed, &judge);
    let report = judge.take_journals().map(judged);
    let failure = judge.failure().or_else(|| ended.err());
    Outcome {
        seed,
        failure: failure.or_else(|| report.as_ref().and_then(doubt)),
        digest: judge.digest(),
        time,
        steps: judge.steps(),
        commits: judge.commits(),
        told: judge.take_told(),
        report,
    }
}

/// The file that a failure's journal of this name is written to.
pub(crate) fn file_of(name: &str) -> String {
    format!("{name}.jsonl")
}

fn judged(journals: Journals) -> Report {
    let names: Vec<_> = journals.keys().map(|name| PathBuf::from(file_of(name))).collect();
    let lines = names.iter().map(PathBuf::as_path).zip(journals.into_values());
    judge_lines(lines).expect("nodes have written these lines")
}

/// A run that holds has journals that hold.
fn doubt(report: &Report) -> Option<Failure> {
    let verdict = report.verdict();
    if verdict == Verdict::Holds {
        return None;
    }
    let records = report.records.iter();
    let findings = records.flat_map(|judged| judged.findings.iter().map(ToString::to_string));
    let missing = report.records.iter().flat_map(|judged| judged.missing.clone());
    let why = findings.chain(missing).next().unwrap_or_else(|| "no line".to_owned());
    Some(Failure::unmet(format!("its journals are judged {verdict}: {why}")))
}
