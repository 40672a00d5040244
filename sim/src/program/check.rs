//! `check`: all scenarios under all their protocols, then the walks.

use std::path::PathBuf;

use handover_sim::suite::{Judgement, Suite, SuiteReport};

use super::cli::{Check, DEFAULT_PATH};
use super::files::{refuse_folder, refuse_missing, refuse_output, write};
use super::progress::Progress;
use super::walks::{self, Walks};
use super::{complain, complain_of_unreadable, json, junit, print, table};

/// What a check has come to.
#[derive(Debug)]
pub(super) struct Checked {
    pub(super) suite: SuiteReport,
    pub(super) walks: Walks,
}

impl Checked {
    pub(super) fn judgement(&self) -> Judgement {
        self.suite.judgement().max(self.walks.judgement())
    }
}

/// An error is what was refused before the work started.
pub(super) fn check(asked: &Check) -> Result<Judgement, Judgement> {
    let paths = paths(asked)?;
    let suite = Suite::load(&paths);
    let junit = asked.options.junit.as_deref();
    refuse_output(junit, &suite)?;
    refuse_folder(asked.out())?;
    let mut checked = run(suite, asked.walks());
    let saved = checked.walks.save(asked.out());
    let mut judgement = checked.judgement().max(saved);
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

fn run(suite: Suite, walks: u64) -> Checked {
    complain_of_unreadable(&suite);
    let runs = u64::try_from(suite.runs()).expect("runs are counted in memory");
    let mut progress = Progress::new(runs, walks);
    let suite = suite.run(|_| progress.run());
    let walks = walks::walk(walks, || progress.walk());
    progress.end();
    Checked { suite, walks }
}
