//! Pictures of a run: a space-time diagram of hosts, record and store.
//!
//! Time goes down. A message begins where it is said or published and ends where it is delivered,
//! so that two which cross are seen to cross; one that is lost ends in a cross. Offers and holds
//! are bars on the record's lane, builds on their host's.

mod build;
mod flight;
mod html;
mod label;
mod layout;
mod legend;
mod mermaid;
mod model;
mod shape;
mod svg;

use serde::{Serialize, Serializer};

use crate::explain::Departure;
use crate::scenario::{Run, Scenario};
use crate::variants::Protocol;
use model::Diagram;

/// A picture of one run.
#[derive(Clone, Debug)]
pub struct Picture {
    diagram: Diagram,
    run: Run,
    departures: Vec<Departure>,
    scenario: String,
    /// The command that replays it.
    replay: Option<String>,
}

/// Lanes, rows, arrows, bars and marks. A lane and a row are named by their numbers, from 0 on.
impl Serialize for Picture {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.diagram.serialize(serializer)
    }
}

impl Picture {
    /// Runs a scenario under a protocol, and makes the picture of it.
    #[must_use]
    pub fn of(scenario: &Scenario, protocol: &'static dyn Protocol) -> Self {
        let (diagram, run, departures) = build::build(scenario, protocol);
        let scenario = scenario.to_string();
        Self { diagram, run, departures, scenario, replay: None }
    }

    /// The same with the command that replays it, for a form that has room for it.
    #[must_use]
    pub fn with_replay(self, command: String) -> Self {
        Self { replay: Some(command), ..self }
    }

    /// The run that it shows.
    #[must_use]
    pub fn run(&self) -> &Run {
        &self.run
    }

    fn title(&self) -> String {
        format!("{}: {}", self.diagram.title, self.diagram.verdict)
    }
}

/// One SVG document with all pictures below each other. It needs no script and no font of its own,
/// and follows the reader's light or dark.
#[must_use]
pub fn svg(pictures: &[Picture]) -> String {
    let laid_out: Vec<_> = pictures
        .iter()
        .map(|picture| (picture.title(), layout::layout(&picture.diagram)))
        .collect();
    svg::document(&laid_out)
}

/// One HTML page: each picture with the departures from calm that break a property, the trace, the
/// scenario, and the command that replays it.
#[must_use]
pub fn html(pictures: &[Picture]) -> String {
    html::page(pictures)
}

/// A Mermaid sequence diagram; several of them as the fenced blocks that a README has, for a file of
/// Mermaid is one diagram.
#[must_use]
pub fn mermaid(pictures: &[Picture]) -> String {
    if let [picture] = pictures {
        return mermaid::text(&picture.diagram);
    }
    let block = |each: &Picture| format!("```mermaid\n{}```\n", mermaid::text(&each.diagram));
    let blocks: Vec<String> = pictures.iter().map(block).collect();
    blocks.join("\n")
}
