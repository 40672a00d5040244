//! The report of an explanation.

use std::fmt;

use super::{Evidence, Explanation, Fewest, NoReturn};

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "broken      {} ({})", self.violation.property, self.class)?;
        writeln!(f, "found       {}", self.violation.why)?;
        match self.departures.as_slice() {
            [] => writeln!(f, "departures  none: the calm way breaks it")?,
            [..] => {
                let (count, fewest) = (self.departures.len(), self.fewest);
                writeln!(f, "departures  {count} from calm{}", note(count, fewest))?;
            }
        }
        for (number, departure) in (1..).zip(&self.departures) {
            writeln!(f, "  {number}. {}", departure.words)?;
        }
        if let Some(no_return) = &self.no_return {
            writeln!(f, "no return   {no_return}")?;
        }
        let (hosts, steps) = (self.setup.places.len(), self.steps());
        let (replays, replayed) = (self.replays, self.replayed_steps);
        let s = if hosts == 1 { "" } else { "s" };
        writeln!(
            f,
            "reduced to  {hosts} host{s}, {steps} steps, by {replays} replays of {replayed} steps"
        )?;
        if !self.is_verified {
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
