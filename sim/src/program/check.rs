//! `check`: all scenarios under all their protocols, then the walks.

use std::path::{Path, PathBuf};

use handover_sim::suite::{Judgement, Suite, SuiteReport};

use super::cli::{Check, DEFAULT_PATH};
use super::walks::{self, Walks};
use super::{complain, complain_of_unreadable, json, junit, print, progress, table, write};

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

pub(super) fn check(asked: &Check) -> Judgement {
    if asked.paths.is_empty() && !Path::new(DEFAULT_PATH).exists() {
        complain(&format!(
            "error: there is no folder `{DEFAULT_PATH}` here\n\
             help: go to the root of a project that has one, or name files and folders: \
             `handover-sim check PATH...`"
        ));
        return Judgement::Unreadable;
    }
    let mut checked = run(asked);
    let saved = checked.walks.save(&asked.out);
    let mut judgement = checked.judgement().max(saved);
    if let Some(path) = &asked.junit {
        judgement = judgement.max(write(path, &junit::report(&checked)));
    }
    let text = if asked.json { json::check(&checked) } else { table::table(&checked) };
    judgement.max(print(&text))
}

fn run(asked: &Check) -> Checked {
    let paths = if asked.paths.is_empty() {
        vec![PathBuf::from(DEFAULT_PATH)]
    } else {
        asked.paths.clone()
    };
    let suite = Suite::load(&paths);
    complain_of_unreadable(&suite);
    let runs = u64::try_from(suite.runs()).expect("runs are counted in memory");
    let bar = progress::bar(runs + asked.walks);
    bar.set_message("scenarios");
    let suite = suite.run(|_| bar.inc(1));
    bar.set_message("walks");
    let walks = walks::walk(asked.walks, || bar.inc(1));
    bar.finish_and_clear();
    Checked { suite, walks }
}
