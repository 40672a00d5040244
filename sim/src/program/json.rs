//! Results for programs. The keys come in the order of the structures below.

use std::collections::BTreeMap;
use std::path::Path;

use handover_sim::picture::Picture;
use handover_sim::scenario::Ended;
use handover_sim::scenario::vocabulary as words;
use handover_sim::suite::{Judged, Judgement, Problem};
use serde::Serialize;

use super::check::Checked;
use super::counts::{Counts, digest, themes};
use super::exit_code;
use super::explore::Explored;
use super::swarm::{FailureJson, Results};
use super::variants::{Figures, Row, Shortest};

#[derive(Serialize)]
struct CheckJson<'a> {
    /// The exit code that the files and the walks call for.
    exit: u8,
    totals: CountsJson,
    themes: Vec<ThemeJson>,
    runs: Vec<RunJson>,
    unreadable: Vec<ProblemJson>,
    /// None where only files are checked.
    explored: Option<ExploreJson>,
    /// None where none are asked for.
    walks: Option<WalksJson<'a>>,
    digest: String,
}

#[derive(Serialize)]
struct CountsJson {
    files: usize,
    unreadable: usize,
    runs: usize,
    holds: usize,
    breaks_as_expected: usize,
    not_as_expected: usize,
    steps: usize,
}

#[derive(Serialize)]
struct ThemeJson {
    theme: String,
    #[serde(flatten)]
    counts: CountsJson,
}

#[derive(Serialize)]
struct RunJson {
    protocol: &'static str,
    /// The property that is broken.
    property: Option<String>,
    /// `holds`, `broken` or `unknown`.
    verdict: &'static str,
    /// The ending that the head names.
    expected: Option<String>,
    as_expected: bool,
    steps: usize,
    digest: String,
    scenario: String,
    problems: Vec<ProblemJson>,
}

#[derive(Serialize)]
struct ProblemJson {
    scenario: String,
    line: Option<usize>,
    column: Option<usize>,
    expected: String,
    found: String,
}

#[derive(Serialize)]
struct WalksJson<'a> {
    protocol: &'a str,
    strategy: &'a str,
    walks: u64,
    holds: u64,
    broken: u64,
    steps: u64,
    digest: &'a str,
    failures: &'a [FailureJson],
}

#[derive(Serialize)]
struct ReplayJson<'a> {
    #[serde(flatten)]
    run: RunJson,
    /// The command that replays it.
    replay: String,
    trace: Vec<EntryJson>,
    picture: &'a Picture,
}

#[derive(Serialize)]
struct EntryJson {
    /// None where the runner itself goes on.
    line: Option<usize>,
    text: String,
    consequences: Vec<String>,
}

#[derive(Serialize)]
struct ExploreJson {
    /// Its name, where it comes with the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<&'static str>,
    /// The exit code that the verdicts call for.
    exit: u8,
    protocol: &'static str,
    /// What was explored.
    bounds: String,
    states: usize,
    transitions: usize,
    depth: usize,
    /// States that were reached and not explored further.
    frontier: usize,
    /// What ended the search before all was seen; null where nothing did.
    ended_by: Option<&'static str>,
    converged: usize,
    /// Two different states were taken for one with at most this chance.
    collision_chance: f64,
    verdicts: Vec<VerdictJson>,
}

#[derive(Serialize)]
struct VerdictJson {
    property: String,
    verdict: &'static str,
    /// Of the shortest schedule that breaks it.
    steps: Option<usize>,
    why: Option<String>,
    scenario: Option<String>,
}

#[derive(Serialize)]
struct VariantsJson {
    /// The exit code that the rows call for.
    exit: u8,
    rows: Vec<VariantJson>,
}

/// What a strategy has found of a wrong protocol.
#[derive(Serialize)]
struct VariantJson {
    protocol: &'static str,
    /// What it has to break first.
    property: Option<String>,
    /// `broken` or `unknown`.
    verdict: &'static str,
    strategy: String,
    seeds: usize,
    /// Seeds that have found something.
    found: usize,
    /// What they have found, each property with the number of seeds.
    properties: BTreeMap<String, usize>,
    /// To the first failure, over the seeds; none where that many have found nothing.
    schedules_median: Option<u64>,
    schedules_p95: Option<u64>,
    events_median: Option<u64>,
    events_p95: Option<u64>,
    /// Of the shortest schedule that breaks the property.
    steps: Option<usize>,
    /// Why there is no shortest schedule.
    why: Option<&'static str>,
}

#[derive(Serialize)]
struct VocabularyJson {
    headers: Vec<WordJson>,
    verbs: Vec<WordJson>,
    facts: Vec<WordJson>,
}

#[derive(Serialize)]
struct WordJson {
    form: &'static str,
    meaning: &'static str,
    example: &'static str,
}

/// One object over several lines.
pub(super) fn check(checked: &Checked) -> String {
    let suite = &checked.suite;
    let themes = themes(suite).into_iter().map(|(theme, files)| ThemeJson {
        theme: theme.to_owned(),
        counts: Counts::of(files).into(),
    });
    let runs = suite.files.iter().flat_map(|file| {
        let judged = file.judged().iter();
        judged.map(|judged| RunJson::new(&file.path, judged))
    });
    let unreadable = suite.files.iter().filter(|file| file.runs.is_err());
    let unreadable = unreadable.flat_map(|file| file.problems());
    let check = CheckJson {
        exit: exit_code(checked.judgement()),
        totals: Counts::of(&suite.files).into(),
        themes: themes.collect(),
        runs: runs.collect(),
        unreadable: unreadable.map(ProblemJson::from).collect(),
        explored: checked.explored.as_ref().map(|explored| explore_json(None, explored)),
        walks: checked.walks.as_ref().map(|walks| WalksJson::new(&walks.results)),
        digest: digest(checked),
    };
    let text = serde_json::to_string_pretty(&check).expect("text, numbers and lists are JSON");
    format!("{text}\n")
}

/// One object in a line.
pub(super) fn replay(path: &Path, judged: &Judged, picture: &Picture, replay: String) -> String {
    let entries = judged.run.trace.entries.iter().map(|entry| EntryJson {
        line: Some(entry.line).filter(|line| *line > 0),
        text: entry.text.clone(),
        consequences: entry.consequences.clone(),
    });
    let run = RunJson::new(path, judged);
    let replay = ReplayJson { run, replay, trace: entries.collect(), picture };
    let text = serde_json::to_string(&replay).expect("text, numbers and lists are JSON");
    format!("{text}\n")
}

/// One object over several lines.
pub(super) fn explore(explored: &Explored) -> String {
    let text = serde_json::to_string_pretty(&explore_json(None, explored));
    format!("{}\n", text.expect("text, numbers and lists are JSON"))
}

/// One array of such objects, each with the name of its row.
pub(super) fn explore_rows(rows: &[(&'static str, Explored)]) -> String {
    let rows: Vec<_> =
        rows.iter().map(|(name, explored)| explore_json(Some(name), explored)).collect();
    let text = serde_json::to_string_pretty(&rows).expect("text, numbers and lists are JSON");
    format!("{text}\n")
}

fn explore_json(row: Option<&'static str>, explored: &Explored) -> ExploreJson {
    let verdicts = explored.found.verdicts.iter().map(|(property, verdict)| {
        let broken = verdict.broken();
        VerdictJson {
            property: property.to_string(),
            verdict: verdict.word(),
            steps: broken.map(|broken| broken.steps),
            why: broken.map(|broken| broken.violation.why.clone()),
            scenario: explored.paths.get(property).map(|path| path.display().to_string()),
        }
    });
    let coverage = &explored.found.coverage;
    ExploreJson {
        row,
        exit: exit_code(explored.judgement()),
        protocol: explored.bounds.protocol.name(),
        bounds: explored.bounds.to_string(),
        states: coverage.states,
        transitions: coverage.transitions,
        depth: coverage.depth,
        frontier: coverage.frontier,
        ended_by: explored.ended_by,
        converged: coverage.converged,
        collision_chance: coverage.collision_chance,
        verdicts: verdicts.collect(),
    }
}

/// One object over several lines.
pub(super) fn variants(rows: &[Row], judgement: Judgement) -> String {
    let cells = rows.iter().flat_map(|row| {
        let (steps, why) = match row.shortest {
            Shortest::Found(_, steps) => (Some(steps), None),
            Shortest::None(why) => (None, Some(why)),
        };
        row.cells.iter().map(move |(strategy, hunts)| {
            let mut properties = BTreeMap::new();
            for property in hunts.iter().filter_map(|hunt| hunt.found) {
                *properties.entry(property.to_string()).or_default() += 1;
            }
            let found = properties.values().sum();
            let figures = Figures::of(hunts);
            VariantJson {
                protocol: row.protocol.name(),
                property: row.protocol.breaks().map(|named| named.to_string()),
                verdict: if found > 0 { "broken" } else { "unknown" },
                strategy: strategy.to_string(),
                seeds: hunts.len(),
                found,
                properties,
                schedules_median: figures.schedules.0,
                schedules_p95: figures.schedules.1,
                events_median: figures.events.0,
                events_p95: figures.events.1,
                steps,
                why,
            }
        })
    });
    let variants = VariantsJson { exit: exit_code(judgement), rows: cells.collect() };
    let text = serde_json::to_string_pretty(&variants).expect("text, numbers and lists are JSON");
    format!("{text}\n")
}

/// One object over several lines.
pub(super) fn vocabulary() -> String {
    fn list(entries: impl Iterator<Item = &'static words::Entry>) -> Vec<WordJson> {
        let words = entries.map(|entry| WordJson {
            form: entry.form,
            meaning: entry.meaning,
            example: entry.example,
        });
        words.collect()
    }
    let vocabulary = VocabularyJson {
        headers: list(words::headers()),
        verbs: list(words::verbs()),
        facts: list(words::facts()),
    };
    let text = serde_json::to_string_pretty(&vocabulary).expect("text and lists are JSON");
    format!("{text}\n")
}

impl RunJson {
    fn new(path: &Path, judged: &Judged) -> Self {
        let run = &judged.run;
        let property = match &run.ended {
            Ended::Holds => None,
            Ended::Breaks { violation, .. } => Some(violation.property.to_string()),
        };
        let undecided = matches!(
            judged.judgement(),
            Judgement::Unknown | Judgement::Stale | Judgement::Unreadable
        );
        let verdict = match property {
            _ if undecided => "unknown",
            None => "holds",
            Some(_) => "broken",
        };
        Self {
            protocol: run.protocol,
            property,
            verdict,
            expected: run.expected.map(|expected| expected.to_string()),
            as_expected: judged.judgement() == Judgement::AsExpected,
            steps: run.steps,
            digest: run.digest.to_string(),
            scenario: path.display().to_string(),
            problems: judged.problems.iter().cloned().map(ProblemJson::from).collect(),
        }
    }
}

impl From<Problem> for ProblemJson {
    fn from(problem: Problem) -> Self {
        Self {
            scenario: problem.path.display().to_string(),
            line: problem.place.0,
            column: problem.place.1,
            expected: problem.expected,
            found: problem.found,
        }
    }
}

impl<'a> WalksJson<'a> {
    fn new(results: &'a Results) -> Self {
        Self {
            protocol: &results.protocol,
            strategy: &results.strategy,
            walks: results.schedules,
            holds: results.schedules - results.broken,
            broken: results.broken,
            steps: results.transitions,
            digest: &results.digest,
            failures: &results.failures,
        }
    }
}

impl From<Counts> for CountsJson {
    fn from(counts: Counts) -> Self {
        Self {
            files: counts.files,
            unreadable: counts.unreadable,
            runs: counts.runs,
            holds: counts.holds,
            breaks_as_expected: counts.breaks_as_expected,
            not_as_expected: counts.not_as_expected,
            steps: counts.steps,
        }
    }
}
