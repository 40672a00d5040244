//! One failure of a group, told as a scenario.

use super::{Cause, Group, Plan, Swarm};
use crate::check::Property;
use crate::choose::walk_by;
use crate::explain::{Explanation, Failure, Limits, explain};
use crate::scenario::{self, Ended, Scenario};
use crate::variants;

/// A failure as a scenario.
#[derive(Clone, Debug)]
pub struct Retold {
    /// The scenario.
    pub scenario: Scenario,
    /// The smallest explanation, where one was asked for and found.
    pub explanation: Option<Explanation>,
    /// The text of the scenario was read and run, and breaks the same property.
    pub is_verified: bool,
}

impl Swarm {
    /// Runs the seed of a group again and tells it as a scenario: reduced to what explains it where
    /// there are limits, else, or where the reduction cannot be verified, the whole schedule.
    #[must_use]
    pub fn retell(
        &self,
        plan: &Plan,
        (cause, group): (&Cause, &Group),
        limits: Option<&Limits>,
    ) -> Retold {
        let report = walk_by(group.seed, plan);
        let explanation = limits.map(|limits| {
            let failure = Failure {
                setup: report.setup.clone(),
                schedule: report.schedule.clone(),
                violation: group.violation.clone(),
            };
            explain(&failure, limits)
        });
        if let Some(explanation) = explanation
            && self.breaks(&explanation.scenario, cause.property)
        {
            let scenario = explanation.scenario.clone();
            return Retold { scenario, explanation: Some(explanation), is_verified: true };
        }
        let scenario = report.scenario();
        let is_verified = self.breaks(&scenario, cause.property);
        Retold { scenario, explanation: None, is_verified }
    }

    /// Does the text of a scenario, read and run, break this property?
    fn breaks(&self, scenario: &Scenario, property: Property) -> bool {
        let text = scenario.to_string();
        let read = Scenario::parse("swarm.scenario", &text, &variants::names());
        let Ok(read) = read else {
            return false;
        };
        match scenario::run(&read, self.protocol).ended {
            Ended::Breaks { violation, .. } => violation.property == property,
            Ended::Holds => false,
        }
    }
}
