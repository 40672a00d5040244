//! A walk as a scenario file: what a seed has found, in the language in which races are kept.
//!
//! A seed finds the same schedule only as long as the code stays as it is. The list of events
//! survives edits, and can be read, cut down and kept.

use handover_sim::check::Violation;
use handover_sim::choose::WalkReport;
use handover_sim::scenario::{CURRENT, Command, Ending, HostSetup, Scenario, Setup, command_of};
use handover_sim::world::{self, World};

/// The scenario of a walk; each of its commands is one atomic step.
pub(super) fn scenario(walk: &WalkReport, violation: &Violation) -> Scenario {
    let title = format!("A walk of seed {} breaks {}", walk.seed, violation.property);
    let prose = format!("Found: {}.", violation.why.replace('\n', " "));
    let setup = setup(&walk.setup, violation);
    Scenario::compose(title, &[prose.as_str()], &setup, commands(walk))
}

fn commands(walk: &WalkReport) -> Vec<Command> {
    let mut world = World::new(walk.setup.clone());
    let commands = walk.schedule.iter().map(|event| {
        let command = command_of(&world, event);
        world
            .apply(event, &mut Vec::new())
            .expect("the walk has taken this step in the same world");
        command
    });
    commands.collect()
}

/// `current` has to hold; what a wrong protocol broke in the walk it has to break again.
fn setup(walked: &world::Setup, violation: &Violation) -> Setup {
    let hosts = walked.places.iter().map(|place| HostSetup {
        name: place.name.to_string(),
        version: place.version.to_string(),
        booted: place.up,
        slots: place.slots,
        priority: place.priority.0,
        pinned: place.pinned,
    });
    let mut endings = vec![(CURRENT.to_owned(), Ending::Holds)];
    let protocol = walked.protocol.name();
    if protocol != CURRENT {
        endings.push((protocol.to_owned(), Ending::Breaks(violation.property)));
    }
    Setup {
        hosts: hosts.collect(),
        chunks: walked.chunks.iter().map(ToString::to_string).collect(),
        arbiters: u32::from(walked.arbiters),
        single_steps: true,
        endings,
    }
}

#[cfg(test)]
mod tests {
    use handover_sim::choose::{Outcome, WalkSettings, walk};
    use handover_sim::scenario::{Ended, run};
    use handover_sim::variants;

    use super::*;

    /// Seeds among which each protocol below has one that breaks it.
    const SEEDS: u64 = 300;

    #[test]
    fn the_file_of_a_walk_breaks_the_same_property_with_the_same_words() {
        let settings = WalkSettings::rolling_update();
        for name in ["silent-stand-down", "guarded-report", "drain-after-release"] {
            let protocol = variants::by_name(name).expect("it is in the list");
            let mut walks = (0..SEEDS).map(|seed| walk(seed, &settings, protocol));
            let found = walks.find_map(|report| match report.outcome.clone() {
                Outcome::Holds => None,
                Outcome::Broken(violation) => Some((report, violation)),
            });
            let (report, violation) = found.unwrap_or_else(|| panic!("no seed breaks {name}"));
            let text = scenario(&report, &violation).to_string();
            let read = Scenario::parse("walk.scenario", &text, &variants::names());
            let read = read.unwrap_or_else(|error| panic!("{error}"));
            let again = run(&read, protocol);
            assert_eq!(again.stale, vec![], "{name}");
            match again.ended {
                Ended::Holds => panic!("the file of a walk under {name} holds"),
                Ended::Breaks {
                    violation: same, ..
                } => assert_eq!(same, violation, "{name}"),
            }
        }
    }
}
