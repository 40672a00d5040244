//! All scenarios of a folder, each under all protocols of its head, as one check.
//!
//! This is the door for other people's tests. A project that keeps its incidents as `.scenario`
//! files checks them with `cargo test` by one call of [`check_dir`]; the program `handover-sim
//! check` is made of the same parts. All files are read before any is run, and a file that cannot
//! be read hides nothing that the others show.

mod problem;
mod report;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::scenario::{self, LoadError, Run, Scenario};
use crate::variants;

pub use problem::{Judgement, Problem};
pub use report::{FileReport, Judged, SuiteFailed, SuiteReport};

/// How the name of a scenario file ends, after the dot.
pub const EXTENSION: &str = "scenario";

/// Runs all scenarios in and below a folder (or one file), each under all protocols of its head.
///
/// ```
/// # use handover_sim::{SuiteFailed, check_dir};
/// // With `#[test]` on it, in `tests/scenarios.rs` of a project that has a folder `scenarios`:
/// fn incidents_end_as_their_files_say() -> Result<(), SuiteFailed> {
///     let report = check_dir("scenarios")?;
///     println!("{report}");
///     Ok(())
/// }
/// # let error = check_dir("nowhere").unwrap_err();
/// # assert!(error.to_string().contains("nowhere"));
/// ```
///
/// A relative path begins where `cargo test` runs a test: at the root of its package.
///
/// # Errors
/// Something is not as the files say, or a file cannot be read, or there is none. The error tells
/// of each with file and line, what was expected, what was found and how to replay it; its `Debug`
/// says the same, so that `?` in a test and `unwrap` are as useful as a message of one's own.
pub fn check_dir(path: impl AsRef<Path>) -> Result<SuiteReport, SuiteFailed> {
    let report = Suite::load(&[path.as_ref().to_owned()]).run(|_| {});
    if report.judgement() == Judgement::AsExpected {
        return Ok(report);
    }
    Err(SuiteFailed(report))
}

/// Scenario files that have been read and not yet run.
#[derive(Debug)]
pub struct Suite {
    files: Vec<SuiteFile>,
}

#[derive(Debug)]
struct SuiteFile {
    path: PathBuf,
    theme: String,
    scenario: Result<Scenario, LoadError>,
}

impl Suite {
    /// Reads files, and folders with all that is below them, in the order of their paths. Links to
    /// folders are not followed. What cannot be read is part of the report.
    #[must_use]
    pub fn load(paths: &[PathBuf]) -> Self {
        let mut files: Vec<SuiteFile> = Vec::new();
        for root in paths {
            for (path, found) in find(root) {
                if files.iter().any(|file| file.path == path) {
                    continue;
                }
                let scenario = found.and_then(|()| Scenario::load(&path, &variants::names()));
                let theme = theme(root, &path);
                files.push(SuiteFile { path, theme, scenario });
            }
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Self { files }
    }

    /// The files, each with its scenario or with what is wrong with it.
    pub fn files(&self) -> impl Iterator<Item = (&Path, Result<&Scenario, &LoadError>)> {
        self.files.iter().map(|file| (file.path.as_path(), file.scenario.as_ref()))
    }

    /// How many runs [`run`](Self::run) will make: one for each file and protocol.
    #[must_use]
    pub fn runs(&self) -> usize {
        let scenarios = self.files.iter().filter_map(|file| file.scenario.as_ref().ok());
        scenarios.map(|each| each.setup().endings.len()).sum()
    }

    /// Runs all that could be read, and calls `seen` after each run.
    #[must_use]
    pub fn run(self, mut seen: impl FnMut(&Run)) -> SuiteReport {
        let files = self.files.into_iter().map(|file| {
            let runs = file.scenario.map(|scenario| run_all(&file.path, &scenario, &mut seen));
            FileReport { path: file.path, theme: file.theme, runs }
        });
        SuiteReport { files: files.collect() }
    }
}

fn run_all(path: &Path, scenario: &Scenario, seen: &mut impl FnMut(&Run)) -> Vec<Judged> {
    let endings = scenario.setup().endings.iter();
    let runs = endings.map(|(name, _)| {
        let protocol = variants::by_name(name).expect("the parser refuses a name that is none");
        let run = scenario::run(scenario, protocol);
        seen(&run);
        Judged::new(path, scenario, run)
    });
    runs.collect()
}

/// A file that was found, or a path with what is wrong with it.
type Found = (PathBuf, Result<(), LoadError>);

/// The scenario files at a path, sorted. A file that was named is taken whatever its name is.
fn find(root: &Path) -> Vec<Found> {
    if !root.is_dir() {
        return vec![(root.to_owned(), Ok(()))];
    }
    let mut found = Vec::new();
    walk(root, &mut found);
    if found.is_empty() {
        let none = io::Error::new(
            io::ErrorKind::NotFound,
            format!("no file in or below this folder is named *.{EXTENSION}"),
        );
        found.push(unreadable(root, none));
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

fn walk(folder: &Path, found: &mut Vec<Found>) {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(source) => return found.push(unreadable(folder, source)),
    };
    for entry in entries {
        match entry.and_then(|entry| Ok((entry.path(), entry.file_type()?))) {
            Ok((path, kind)) if kind.is_dir() => walk(&path, found),
            Ok((path, _)) if path.extension().is_some_and(|end| end == EXTENSION) => {
                found.push((path, Ok(())));
            }
            Ok(_) => {}
            Err(source) => found.push(unreadable(folder, source)),
        }
    }
}

fn unreadable(path: &Path, source: io::Error) -> Found {
    let path = path.to_owned();
    let error = LoadError::Read { path: path.clone(), source };
    (path, Err(error))
}

/// The first folder below the root; for a file that lies in the root itself, the root's name.
fn theme(root: &Path, path: &Path) -> String {
    let below = path.strip_prefix(root).ok().and_then(|below| {
        let folder = below.parent()?.components().next()?;
        Some(folder.as_os_str())
    });
    let own = || path.parent().and_then(Path::file_name);
    let name = below.or_else(own).map(|name| name.to_string_lossy());
    name.map_or_else(|| ".".to_owned(), String::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn theme_of(root: &str, path: &str) -> String {
        theme(Path::new(root), Path::new(path))
    }

    #[test]
    fn a_theme_is_the_first_folder_below_the_root_or_the_folder_of_the_file() {
        assert_eq!(theme_of("scenarios", "scenarios/drain/x.scenario"), "drain");
        assert_eq!(theme_of("scenarios", "scenarios/drain/a/x.scenario"), "drain");
        assert_eq!(theme_of("scenarios", "scenarios/x.scenario"), "scenarios");
        assert_eq!(theme_of("a/drain", "a/drain/x.scenario"), "drain");
        assert_eq!(theme_of("a/drain/x.scenario", "a/drain/x.scenario"), "drain");
        assert_eq!(theme_of("x.scenario", "x.scenario"), ".");
    }
}
