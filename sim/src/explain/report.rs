//! The report of an explanation.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Class, Departure, Evidence, Explanation, Fewest, NoPoint, NoReturn};
use crate::check::Property;

/// What an explanation says, without the schedule and its scenario: text for people, and what JSON
/// carries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// What shows that it is broken.
    pub found: String,
    /// Of the property.
    pub class: Class,
    /// In the order of the schedule.
    pub departures: Vec<Departure>,
    /// How few they are.
    pub fewest: Fewest,
    /// For a liveness property, where it was lost.
    pub no_return: Option<NoReturn>,
    /// In another order than the calm one it still converges, so that there is none.
    pub open: bool,
    /// Hosts of the smallest setting.
    pub hosts: usize,
    /// Atomic steps of the reduced schedule.
    pub steps: usize,
    /// Schedules that were replayed.
    pub replays: usize,
    /// Atomic steps that they took together.
    pub replayed_steps: usize,
    /// The scenario was replayed and breaks the same property.
    pub verified: bool,
}

impl Report {
    /// The report for people. It ends with the command that replays the file of its scenario, where
    /// there is one.
    #[must_use]
    pub fn text(&self, property: Property, replay: Option<&str>) -> String {
        let told = Told { report: self, property };
        let replay = replay.map(|command| format!("replay      {command}\n"));
        format!("{told}{}", replay.unwrap_or_default())
    }
}

impl Explanation {
    /// What it says.
    #[must_use]
    pub fn report(&self) -> Report {
        Report {
            found: self.violation.why.clone(),
            class: self.class,
            departures: self.departures.clone(),
            fewest: self.fewest,
            no_return: self.no_return.clone(),
            open: self.is_open,
            hosts: self.setup.places.len(),
            steps: self.steps(),
            replays: self.replays,
            replayed_steps: self.replayed_steps,
            verified: self.is_verified,
        }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Told { report: &self.report(), property: self.property() }.fmt(f)
    }
}

struct Told<'a> {
    report: &'a Report,
    property: Property,
}

impl fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { report, property } = self;
        writeln!(f, "broken      {property} ({})", report.class)?;
        writeln!(f, "found       {}", report.found)?;
        match report.departures.as_slice() {
            [] => writeln!(f, "departures  none: the calm way breaks it")?,
            [..] => {
                let (count, fewest) = (report.departures.len(), report.fewest);
                writeln!(f, "departures  {count} from calm{}", note(count, fewest))?;
            }
        }
        for (number, departure) in (1..).zip(&report.departures) {
            writeln!(f, "  {number}. {}", departure.words)?;
        }
        if let Some(no_return) = &report.no_return {
            writeln!(f, "no return   {no_return}")?;
        }
        if report.open {
            writeln!(f, "no return   {}", NoPoint::Open)?;
        }
        let Report { hosts, steps, replays, replayed_steps, .. } = report;
        let s = if *hosts == 1 { "" } else { "s" };
        writeln!(
            f,
            "reduced to  {hosts} host{s}, {steps} steps, by {replays} replays of {replayed_steps} \
             steps"
        )?;
        if !report.verified {
            writeln!(f, "unverified  the scenario was not seen to break it")?;
        }
        Ok(())
    }
}
fn note(count: usize, fewest: Fewest) -> String {
    match fewest {
        Fewest::Proved => ", proved fewest".to_owned(),
        Fewest::NoneToSpare { at_least } if at_least < count => {
            format!(", none of which can be left out; {at_least} at least")
        }
        Fewest::NoneToSpare { .. } => ", none of which can be left out".to_owned(),
        Fewest::Unknown => ", as far as the limits reached".to_owned(),
    }
}

impl fmt::Display for NoReturn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (event, step) = (&self.event, self.step + 1);
        write!(f, "step {step}, `{event}`: {}", self.evidence)
    }
}

impl fmt::Display for NoPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "none: in another order than the calm one it still converges",
            Self::Unknown => "not known, as far as the limits reached",
        })
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exhausted { states } => {
                write!(f, "none of the {states} states that follow without faults has converged")
            }
            Self::Sampled { continuations } => {
                write!(f, "0 of {continuations} continuations converge")
            }
        }
    }
}
