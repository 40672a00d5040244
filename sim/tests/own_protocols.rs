//! Protocols that are written outside of the crate are searched like those in it: nothing is taken
//! for granted of them, what is found names them, and what is written replays.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use handover_core::{Change, Host, HostId, Input, Record, Refusal, Standing};
use handover_sim::choose::FaultKind::{Cancel, Drain, Gone};
use handover_sim::explain::Limits;
use handover_sim::explore::{Bounds, Exploration, Property, Verdict, explore};
use handover_sim::scenario::{self, Ended, Scenario};
use handover_sim::swarm::{Settings, Shard, Strategy, Swarm};
use handover_sim::variants::{Protocol, Said, Saying, by_name};

/// A statement of a host that is gone is taken (against Ar1).
#[derive(Debug)]
struct DeadSpeak;

impl Protocol for DeadSpeak {
    fn name(&self) -> &'static str {
        "dead-speak"
    }

    fn summary(&self) -> &'static str {
        "a word of a host that is gone is taken"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::NoWedge)
    }

    fn fold(
        &self,
        record: &Record,
        input: &Input,
        suspects: &BTreeSet<HostId>,
    ) -> Result<Change, Refusal> {
        match record.fold(input, suspects) {
            Err(Refusal::Gone) => {
                let mut parts = record.to_parts();
                parts.gone.clear();
                let forgetful = Record::from_parts(parts).expect("fewer rows are a record");
                forgetful.fold(input, suspects)
            }
            folded => folded,
        }
    }
}

/// A host keeps the report of its build to itself. What it breaks, its author has yet to find out.
#[derive(Debug)]
struct Tacit;

impl Protocol for Tacit {
    fn name(&self) -> &'static str {
        "tacit"
    }

    fn summary(&self) -> &'static str {
        "a host does not say that its build has ended"
    }

    fn breaks(&self) -> Option<Property> {
        None
    }

    fn say(&self, saying: &Saying<'_>) -> Said {
        if let Standing::Finished { .. } = saying.statement.standing {
            return Said::Kept { acknowledged: false };
        }
        Said::Sent(saying.statement.clone())
    }
}

/// Nobody is ever drained.
#[derive(Debug)]
struct NeverEnds;

impl Protocol for NeverEnds {
    fn name(&self) -> &'static str {
        "never-ends"
    }

    fn summary(&self) -> &'static str {
        "a process is told to end, and goes on"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::NoLivelock)
    }

    fn is_drained(&self, _host: &Host) -> bool {
        false
    }
}

fn run(bounds: &Bounds) -> Exploration {
    explore(bounds, 1, |_| ControlFlow::Continue(()))
}

/// What the text of a scenario breaks, read and run under a protocol.
fn replayed(scenario: &Scenario, protocol: &'static dyn Protocol) -> Option<Property> {
    let read = Scenario::parse("own.scenario", &scenario.to_string(), &[protocol.name()]);
    match scenario::run(&read.expect("it can be read"), protocol).ended {
        Ended::Breaks { violation, .. } => Some(violation.property),
        Ended::Holds => None,
    }
}

#[test]
fn what_another_protocol_would_take_is_left_on_the_links() {
    let bounds = Bounds::new(&[0]).with(Gone, 1).expect("it has a budget");
    assert!(run(&bounds).holds());
    let found = run(&bounds.under(&DeadSpeak));
    let broken = found.verdict(Property::NoWedge).broken().expect("the dead hold the job");
    assert_eq!(broken.steps, 5);
    assert_eq!(replayed(&broken.scenario, &DeadSpeak), Some(Property::NoWedge));
}

#[test]
fn what_is_found_names_the_protocol_also_where_that_names_nothing() {
    let found = run(&Bounds::new(&[0]).under(&Tacit));
    let broken = found.verdict(Property::NoWedge).broken().expect("nobody is approved");
    let text = broken.scenario.to_string();
    assert!(text.contains("under   tacit    breaks NoWedge"), "{text}");
    assert_eq!(replayed(&broken.scenario, &Tacit), Some(Property::NoWedge));
}

#[test]
fn a_host_whose_steps_never_end_is_a_livelock_and_not_a_hang() {
    let bounds = Bounds::new(&[0]).with(Drain, 1).expect("it has a budget");
    let found = run(&bounds.under(&NeverEnds));
    let broken = found.verdict(Property::NoLivelock).broken();
    assert!(broken.is_some(), "{:?}", found.verdicts);
}

#[test]
fn no_wedge_is_claimed_whose_own_replay_converges() {
    let wrong = by_name("abandoned-before-stopped").expect("it is a protocol");
    let bounds = Bounds::new(&[0]).with(Cancel, 1).expect("it has a budget");
    let found = run(&bounds.under(wrong));
    for (property, verdict) in &found.verdicts {
        if let Verdict::Broken(broken) = verdict {
            assert!(replayed(&broken.scenario, wrong).is_some(), "{property}");
        }
    }
}

#[test]
fn a_swarm_reduces_and_verifies_what_another_protocol_breaks() {
    let swarm = Swarm {
        settings: Settings { hosts: 3, versions: 2, ..Settings::default() },
        strategy: Strategy::Mix,
        protocol: &Tacit,
        seeds: 0..2,
        shard: Shard::WHOLE,
    };
    let ran = swarm.run(1, |_, _| true);
    let retold = swarm.retell_all(&ran, &Limits::default(), 1, |_| true);
    assert!(!retold.is_empty(), "it breaks something");
    for failure in retold.values() {
        assert!(failure.is_verified && failure.explanation.is_some(), "{failure:?}");
    }
}
