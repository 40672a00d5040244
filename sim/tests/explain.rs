//! The smallest explanation: what it leaves out, what it keeps, and what it says.

use handover_sim::check::{Property, Violation};
use handover_sim::choose::{WalkSettings, walk};
use handover_sim::explain::{
    Class, Evidence, Explanation, Failure, Fewest, Limits, departures, explain, no_return,
};
use handover_sim::scenario::{self, Ended, Scenario};
use handover_sim::swarm::{Settings, Strategy, run_seed};
use handover_sim::variants::{by_name, names};
use handover_sim::world::{ArbiterIndex, Event, Place, Setup, Who};

fn setup(protocol: &str, places: &[(&str, &str)]) -> Setup {
    Setup {
        places: places.iter().map(|(name, version)| Place::new(name, version)).collect(),
        chunks: ["c1", "c2"].map(Into::into).into(),
        arbiters: 1,
        protocol: by_name(protocol).expect("there is such a protocol"),
    }
}

fn deliver(from: usize) -> Event {
    Event::Deliver { from: Who::from(from), to: ArbiterIndex(0) }
}

fn failure(setup: Setup, schedule: Vec<Event>, property: Property) -> Failure {
    let violation = Violation { property, why: "somebody said so".to_owned() };
    Failure { setup, schedule, violation }
}

/// `b` stands down while its offer is on its way; two others ask, one of them in vain.
fn crossed() -> Failure {
    let places = [("a", "v1"), ("b", "v1"), ("c", "v2"), ("d", "v3")];
    let mut setup = setup("silent-stand-down", &places);
    setup.arbiters = 2;
    setup.places[1].slots = 3;
    let [a, b, c] = [0, 1, 2].map(Who::from);
    let first = ArbiterIndex(0);
    let schedule = vec![
        Event::Ask(b),
        Event::Watch(a),
        deliver(1),
        Event::Ask(c),
        Event::Slow { who: c, factor: 10 },
        deliver(2),
        Event::Publish(first),
        Event::Read(a),
        Event::StandDown { who: b, after: false },
        Event::Read(c),
        Event::Read(b),
    ];
    failure(setup, schedule, Property::NoWedge)
}

fn walked(protocol: &str) -> Failure {
    let settings = WalkSettings::rolling_update();
    let protocol = by_name(protocol).expect("there is such a protocol");
    let mut failures = (0..500).filter_map(|seed| Failure::of(&walk(seed, &settings, protocol)));
    failures.next().expect("one of 500 walks breaks it")
}

fn broken(explanation: &Explanation) -> Option<Property> {
    let text = explanation.scenario.to_string();
    let read = Scenario::parse("explained.scenario", &text, &names()).expect("it is a scenario");
    match scenario::run(&read, explanation.setup.protocol).ended {
        Ended::Breaks { violation, .. } => Some(violation.property),
        Ended::Holds => None,
    }
}

#[test]
fn what_does_not_matter_is_left_out() {
    let explanation = explain(&crossed(), &Limits::default());
    let places = &explanation.setup.places;
    assert_eq!(places.len(), 1, "{explanation}");
    assert_eq!((places[0].name.as_str(), places[0].slots), ("b", 1));
    assert!(explanation.setup.chunks.is_empty());
    assert_eq!(explanation.setup.arbiters, 1);
    let told: Vec<&str> = explanation.departures.iter().map(|each| each.words.as_str()).collect();
    assert_eq!(told, ["b stands down before its offer g1 reaches b"]);
    assert_eq!(explanation.fewest, Fewest::Proved);
    assert_eq!(broken(&explanation), Some(Property::NoWedge));
}

#[test]
fn the_report_says_what_is_broken_by_what_and_since_when() {
    let explanation = explain(&crossed(), &Limits::default());
    let replay = "handover-sim replay crossed.scenario --protocol silent-stand-down";
    let report = explanation.report().text(explanation.property(), Some(replay));
    let report = format!("{report}\n{}", explanation.scenario);
    insta::assert_snapshot!(report);
    let readme = include_str!("../../README.md");
    let shown = format!("```explained\n{report}```");
    assert!(readme.contains(&shown), "the README shows it:\n{shown}");
}

#[test]
fn a_failed_walk_is_explained_by_a_scenario_that_breaks_the_same() {
    for protocol in
        ["no-grants", "silent-stand-down", "guarded-report", "stay-gone", "cut-builds-pay"]
    {
        let failure = walked(protocol);
        let explanation = explain(&failure, &Limits::default());
        assert!(explanation.is_verified, "{protocol}: {explanation}");
        assert_eq!(broken(&explanation), Some(failure.violation.property), "{protocol}");
        assert!(explanation.setup.places.len() <= 2, "{protocol}: {explanation}");
        assert!(explanation.departures.len() <= 2, "{protocol}: {explanation}");
        assert_eq!(explanation.fewest, Fewest::Proved, "{protocol}");
        assert!(explanation.steps() * 3 < failure.schedule.len(), "{protocol}: {explanation}");
    }
}

#[test]
fn an_explanation_cannot_be_explained_by_less() {
    for protocol in ["no-grants", "abandoned-before-stopped"] {
        let first = explain(&walked(protocol), &Limits::default());
        let again = failure(first.setup.clone(), first.schedule.clone(), first.property());
        let second = explain(&again, &Limits::default());
        assert_eq!(second.departures.len(), first.departures.len(), "{protocol}: {second}");
        assert_eq!(second.setup.places.len(), first.setup.places.len(), "{protocol}");
    }
}

#[test]
fn one_failure_has_one_explanation() {
    let told = || {
        let explanation = explain(&walked("abandoned-before-stopped"), &Limits::default());
        format!("{explanation}{}", explanation.scenario)
    };
    assert_eq!(told(), told());
}

#[test]
fn messages_that_cross_are_told_as_a_crossing() {
    let setup = setup("current", &[("b", "v1")]);
    let b = Who::from(0);
    let schedule = [
        Event::Ask(b),
        deliver(0),
        Event::Publish(ArbiterIndex(0)),
        Event::StandDown { who: b, after: false },
        deliver(0),
        Event::Read(b),
    ];
    let found = departures(&setup, &schedule);
    let told: Vec<(usize, &str)> =
        found.iter().map(|each| (each.step, each.words.as_str())).collect();
    let words = "the stand-down of b reaches the record before its offer g1 reaches b";
    assert_eq!(told, [(3, words)]);
}

#[test]
fn a_calm_schedule_has_no_departures() {
    let setup = setup("current", &[("a", "v1"), ("b", "v2")]);
    let mut world = handover_sim::world::World::new(setup.clone());
    let mut schedule = Vec::new();
    let mut wishes = vec![Event::Ask(Who::from(1)), Event::Ask(Who::from(0))];
    while let Some(event) = world.next_calm().or_else(|| wishes.pop()) {
        world.apply(&event, &mut Vec::new()).expect("it can happen");
        schedule.push(event);
    }
    assert!(schedule.len() > 30, "{}", schedule.len());
    assert_eq!(departures(&setup, &schedule), []);
}

#[test]
fn a_message_that_is_late_for_long_is_one_departure() {
    let setup = setup("current", &[("a", "v1"), ("b", "v1")]);
    let [a, b] = [0, 1].map(Who::from);
    let first = ArbiterIndex(0);
    let mut world = handover_sim::world::World::new(setup.clone());
    let mut schedule = vec![Event::Ask(a), deliver(0), Event::Publish(first)];
    for event in &schedule {
        world.apply(event, &mut Vec::new()).expect("it can happen");
    }
    // The view to b waits while a goes on for as long as it can.
    while let Some(event) = world.calm_events().into_iter().find(|event| *event != Event::Read(b)) {
        world.apply(&event, &mut Vec::new()).expect("it can happen");
        schedule.push(event);
    }
    assert!(schedule.len() > 20, "{}", schedule.len());
    schedule.push(Event::Read(b));
    let found = departures(&setup, &schedule);
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn where_convergence_was_lost_is_exact_as_long_as_the_space_can_be_exhausted() {
    let explanation = explain(&crossed(), &Limits::default());
    let lost = explanation.no_return.as_ref().expect("a wedge has a point of no return");
    assert_eq!(lost.event, "stand-down b");
    assert!(matches!(lost.evidence, Evidence::Exhausted { states: 1.. }), "{lost}");
}

#[test]
fn where_the_space_is_too_large_continuations_are_sampled() {
    let limits = Limits { states_max: 0, ..Limits::default() };
    let explanation = explain(&crossed(), &limits);
    let lost = explanation.no_return.as_ref().expect("a wedge has a point of no return");
    assert_eq!(lost.event, "stand-down b");
    assert!(lost.to_string().ends_with("0 of 1000 continuations converge"), "{lost}");
}

#[test]
fn a_safety_property_has_no_point_of_no_return() {
    let explanation = explain(&walked("no-grants"), &Limits::default());
    assert_eq!((explanation.class, explanation.no_return), (Class::Safety, None));
}

#[test]
fn without_any_replays_to_spend_the_failure_stays_as_it_is_and_says_so() {
    let limits = Limits { steps_max: 0, ..Limits::default() };
    let failure = crossed();
    let explanation = explain(&failure, &limits);
    assert_eq!(explanation.setup.places.len(), failure.setup.places.len());
    assert_eq!(explanation.fewest, Fewest::Unknown);
    assert!(explanation.is_verified);
}

#[test]
fn a_failure_that_breaks_nothing_is_not_verified() {
    let setup = setup("current", &[("a", "v1")]);
    let schedule = vec![deliver(0), Event::Ask(Who::from(0)), deliver(0)];
    let explanation = explain(&failure(setup, schedule, Property::NoWedge), &Limits::default());
    assert!(!explanation.is_verified);
    assert_eq!(explanation.steps(), 2, "what cannot happen is left out");
    assert!(explanation.to_string().contains("unverified"), "{explanation}");
}

/// News that nobody reads.
#[test]
fn a_livelock_of_a_large_rollout_is_explained_by_few_steps_of_few_hosts() {
    let wrong = by_name("lapse-to-the-same-host").expect("there is such a protocol");
    let report = run_seed(0, &Settings::default(), Strategy::Mix, wrong);
    let failure = Failure::of(&report).expect("it goes on for ever");
    assert_eq!(failure.violation.property, Property::NoLivelock);
    let explanation = explain(&failure, &Limits::default());
    assert!(explanation.is_verified, "{explanation}");
    assert!(explanation.setup.places.len() <= 2, "{explanation}");
    assert!(explanation.steps() < 40, "{explanation}");
    assert!(explanation.replayed_steps < 200_000, "{explanation}");
}

#[test]
fn a_point_of_no_return_that_the_limits_do_not_reach_is_not_known() {
    let explanation = explain(&crossed(), &Limits::default());
    let limits = Limits { steps_max: 0, ..Limits::default() };
    let found = no_return(&explanation.setup, &explanation.schedule, &limits);
    let why = found.expect_err("there are no steps to look with").to_string();
    assert_eq!(why, "not known, as far as the limits reached");
}

#[test]
fn a_livelock_of_the_order_alone_has_no_point_of_no_return_and_it_is_said() {
    let mut setup = setup("lapse-to-the-same-host", &[("a", "v1"), ("b", "v1")]);
    setup.chunks.clear();
    let schedule = [0, 1].map(|who| Event::Ask(Who::from(who))).to_vec();
    let explanation = explain(&failure(setup, schedule, Property::NoLivelock), &Limits::default());
    assert!(explanation.is_open && explanation.no_return.is_none(), "{explanation}");
    assert!(explanation.to_string().contains("\nno return   none: in another order"));
}
