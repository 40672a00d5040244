//! `check`: all scenarios under all their protocols, then a quick exploration and the walks.

use std::path::PathBuf;

use handover_sim::suite::{Judgement, Suite, SuiteReport};
use handover_sim::variants::Current;

use super::cli::{Check, DEFAULT_PATH};
use super::explore::Explored;
use super::files::{make_folder, refuse_missing, refuse_output, write};
use super::progress::Progress;
use super::walks::{self, Walks};
use super::{complain, complain_of_unreadable, interrupt, json, junit, print, table};

/// What a check has come to.
#[derive(Debug)]
pub(super) struct Checked {
    pub(super) suite: SuiteReport,
    /// None where only files are checked.
    pub(super) explored: Option<Explored>,
    /// None where none are asked for.
    pub(super) walks: Option<Walks>,
    /// Whether all that was found was written.
    saved: Judgement,
}

impl Checked {
    pub(super) fn judgement(&self) -> Judgement {
        let explored = self.explored.as_ref().map(Explored::judgement);
        let walks = self.walks.as_ref().map(Walks::judgement);
        let searched = [explored, walks].into_iter().flatten();
        searched.fold(self.suite.judgement(), Judgement::max)
    }
}

/// An error is what was refused before the work started.
pub(super) fn check(asked: &Check) -> Result<Judgement, Judgement> {
    let paths = paths(asked)?;
    let suite = Suite::load(&paths);
    let junit = asked.options.junit.as_deref();
    refuse_output(junit, &suite)?;
    asked.options.out.as_deref().map_or(Ok(()), make_folder)?;
    let checked = run(suite, asked);
    let mut judgement = checked.judgement().max(checked.saved);
    if let Some(path) = junit {
        judgement = judgement.max(write(path, &junit::report(&checked)));
    }
    let text = if asked.options.json { json::check(&checked) } else { table::table(&checked) };
    Ok(judgement.max(print(&text)))
}

fn paths(asked: &Check) -> Result<Vec<PathBuf>, Judgement> {
    if !asked.paths.is_empty() {
        return refuse_missing(&asked.paths).map(|()| asked.paths.clone());
    }
    let default = PathBuf::from(DEFAULT_PATH);
    if default.exists() {
        return Ok(vec![default]);
    }
    complain(&format!(
        "error: there is no folder `{DEFAULT_PATH}` here\n\
         help: go to the root of a project that has one, or name files and folders: \
         `handover-sim check PATH...`"
    ));
    Err(Judgement::Unreadable)
}

fn run(suite: Suite, asked: &Check) -> Checked {
    complain_of_unreadable(&suite);
    interrupt::listen();
    let runs = u64::try_from(suite.runs()).expect("runs are counted in memory");
    let count = asked.walks();
    let progress = Progress::new(runs, count);
    let suite = suite.run(|_| progress.run());
    let (explored, saved) = match asked.paths.is_empty() {
        true => Some(walks::explore(asked.out())).unzip(),
        false => (None, None),
    };
    let walks = (count > 0).then(|| {
        let walks = walks::walk(count, &Current, asked.out(), |begun| progress.walked(begun));
        if !walks.results.interrupted {
            progress.walked(count);
        }
        walks
    });
    progress.end();
    let walks_saved = walks.as_ref().map(|walks| walks.saved);
    let saved = [saved, walks_saved].into_iter().flatten();
    let saved = saved.fold(Judgement::AsExpected, Judgement::max);
    Checked { suite, explored, walks, saved }
}

#[cfg(test)]
mod tests {
    use handover_sim::variants::by_name;

    use super::*;

    fn checked(folder: &std::path::Path) -> Checked {
        let protocol = by_name("silent-stand-down").expect("there is such a protocol");
        let walks = walks::walk(20, protocol, folder, |_| ());
        let (saved, suite) = (walks.saved, SuiteReport { files: Vec::new() });
        Checked { suite, explored: None, walks: Some(walks), saved }
    }

    #[test]
    fn a_walk_that_fails_is_told_in_each_form_with_the_command_that_replays_it() {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let checked = checked(folder.path());
        assert_eq!(checked.saved, Judgement::AsExpected);
        let forms = [table::table(&checked), json::check(&checked), junit::report(&checked)];
        for text in forms {
            for part in ["NoWedge", " replay ", ".scenario --protocol silent-stand-down"] {
                assert!(text.contains(part), "no `{part}` in\n{text}");
            }
        }
    }

    #[test]
    fn a_folder_that_takes_no_file_is_reported_and_what_was_found_is_told() {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let checked = checked(&folder.path().join("nowhere"));
        assert_eq!(checked.saved, Judgement::Unreadable);
        let text = table::table(&checked);
        assert!(text.contains("break NoWedge") && !text.contains(" replay "), "{text}");
    }
}
