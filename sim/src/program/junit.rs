//! The check as a JUnit report, which CI systems show: a suite for each theme, a case for each
//! file and protocol. All times are zero: two reports of the same files are the same bytes.

use std::path::Path;
use std::time::Duration;

use handover_sim::explore::Verdict;
use handover_sim::suite::{FileReport, Judged, Judgement, Problem};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::check::Checked;
use super::counts::themes;
use super::explore::Explored;
use super::replay_command;
use super::swarm;
use super::walks::Walks;

pub(super) fn report(checked: &Checked) -> String {
    let mut report = Report::new(env!("CARGO_BIN_NAME"));
    report.set_time(Duration::ZERO);
    for (theme, files) in themes(&checked.suite) {
        let cases = files.into_iter().flat_map(|file| cases(theme, file));
        report.add_test_suite(suite(theme, cases));
    }
    if let Some(explored) = &checked.explored {
        report.add_test_suite(suite("explored", explored_cases(explored)));
    }
    if let Some(walks) = &checked.walks {
        report.add_test_suite(suite("walks", walk_cases(walks)));
    }
    report.to_string().expect("text is XML once its control characters are gone")
}

fn suite(name: &str, cases: impl IntoIterator<Item = TestCase>) -> TestSuite {
    let mut suite = TestSuite::new(name);
    suite.set_time(Duration::ZERO);
    suite.add_test_cases(cases);
    suite
}

fn cases(theme: &str, file: &FileReport) -> Vec<TestCase> {
    let path = file.path.display();
    match &file.runs {
        Ok(runs) => {
            let cases = runs.iter().map(|judged| {
                let name = format!("{path} under {}", judged.run.protocol);
                case(theme, &name, run_status(&file.path, judged))
            });
            cases.collect()
        }
        Err(_) => {
            let status = failed(Judgement::Unreadable, &told(&file.problems()));
            vec![case(theme, &path.to_string(), status)]
        }
    }
}

fn case(class: &str, name: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(name, status);
    case.set_classname(class).set_time(Duration::ZERO);
    case
}

fn run_status(path: &Path, judged: &Judged) -> TestCaseStatus {
    let command = replay_command(path, judged.run.protocol);
    let text = format!("{}\nreplay: {command}", told(&judged.problems));
    failed(judged.judgement(), &text)
}

fn told(problems: &[Problem]) -> String {
    let texts: Vec<String> = problems.iter().map(Problem::to_string).collect();
    texts.join("\n")
}

/// The first line is the message; the whole is the description.
fn failed(judgement: Judgement, text: &str) -> TestCaseStatus {
    let (kind, name) = match judgement {
        Judgement::AsExpected => return TestCaseStatus::success(),
        Judgement::NotAsExpected => (NonSuccessKind::Failure, "not as expected"),
        Judgement::Unknown => (NonSuccessKind::Error, "unknown"),
        Judgement::Stale => (NonSuccessKind::Error, "stale"),
        Judgement::Unreadable => (NonSuccessKind::Error, "cannot be read"),
    };
    let mut status = TestCaseStatus::non_success(kind);
    status
        .set_type(name)
        .set_message(text.lines().next().unwrap_or_default())
        .set_description(text);
    status
}

/// A case for each property.
fn explored_cases(explored: &Explored) -> Vec<TestCase> {
    let told = explored.broken();
    let cases = explored.found.verdicts.iter().map(|(property, verdict)| {
        let about = |text: &&String| text.contains(&property.to_string());
        let status = match verdict {
            Verdict::Holds => TestCaseStatus::success(),
            Verdict::Broken(_) => {
                let text = told.iter().find(about).cloned().unwrap_or_default();
                failed(Judgement::NotAsExpected, &text)
            }
            Verdict::Unknown => failed(Judgement::Unknown, "the search ended early"),
        };
        case("explored", &format!("{property} of {}", explored.bounds), status)
    });
    cases.collect()
}

/// A case for each cause of failures, and one for all other walks.
fn walk_cases(walks: &Walks) -> Vec<TestCase> {
    let results = &walks.results;
    let hold = results.schedules - results.broken;
    let name = format!("{hold} of {} seeds hold", results.schedules);
    let mut cases = vec![case("walks", &name, TestCaseStatus::success())];
    cases.extend(results.failures.iter().map(|failure| {
        let text = swarm::failure(results, failure);
        let name = format!("seed {}", failure.seed);
        case("walks", &name, failed(failure.judgement(), text.trim_start()))
    }));
    cases
}
