//! `vocabulary`: the reference of the language, from the table that the parser reads by.

use handover_sim::scenario::vocabulary as words;
use handover_sim::suite::Judgement;

use super::cli::Vocabulary;
use super::{json, print};

pub(super) fn vocabulary(asked: &Vocabulary) -> Judgement {
    if asked.json {
        return print(&json::vocabulary());
    }
    print(&words::markdown())
}
