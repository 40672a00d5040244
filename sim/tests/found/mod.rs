//! Reads what a search has found back from its text, and replays it.

use handover_sim::scenario::{self, Ended, Scenario};
use handover_sim::variants::Protocol;

/// How the text ends under this protocol: each of its steps can happen, and it ends as it says.
pub(crate) fn replay(text: &str, protocol: &'static dyn Protocol) -> Ended {
    let read = Scenario::parse("found.scenario", text, &[protocol.name(), "current"]);
    let run = scenario::run(&read.expect("what is written can be read"), protocol);
    assert!(run.is_as_expected(), "{text}\n{}", run.trace);
    run.ended
}
