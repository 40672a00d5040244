//! Swarms: what they find, and that it depends on the seeds alone.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use handover_sim::check::Property;
use handover_sim::choose::{FaultKind, Outcome};
use handover_sim::explain::Limits;
use handover_sim::swarm::{
    End, Failed, Group, KEPT_MAX, Plan, Ran, Settings, Shard, Strategy, Swarm, Tally, run_seed,
};
use handover_sim::variants;

fn swarm(protocol: &str, strategy: Strategy, seeds: Range<u64>) -> Swarm {
    let protocol = variants::by_name(protocol).expect("there is such a protocol");
    Swarm { settings: Settings::default(), strategy, protocol, seeds, shard: Shard::WHOLE }
}

fn run(swarm: &Swarm, jobs: usize) -> Ran {
    swarm.run(jobs, |_, _| true)
}

/// Two hosts, one version, and the faults that are named, each at most once.
fn small(faults: &[FaultKind]) -> Settings {
    Settings {
        hosts: 2,
        versions: 1,
        chunks: 1,
        arbiters: 1,
        local_builds: 0,
        faults: faults.iter().map(|kind| (*kind, 1)).collect(),
        ..Settings::default()
    }
}

#[test]
fn the_default_settings_hold_under_the_right_protocol() {
    let ran = run(&swarm("current", Strategy::Mix, 0..200), 2);
    assert!(ran.is_complete);
    assert_eq!(ran.tally.ends, BTreeMap::new());
    assert_eq!(ran.tally.schedules, 200);
    assert!(ran.tally.departures.count() > 200, "{} departures", ran.tally.departures.count());
}

#[test]
fn the_results_do_not_depend_on_the_number_of_threads() {
    let swarm = swarm("silent-stand-down", Strategy::Mix, 0..60);
    let alone = run(&swarm, 1).tally;
    assert!(alone.broken > 0);
    for jobs in [2, 5] {
        assert_eq!(run(&swarm, jobs).tally, alone, "{jobs} threads");
    }
}

#[test]
fn the_shards_add_up_to_the_whole_in_any_order() {
    let swarm = swarm("silent-stand-down", Strategy::Mix, 7..60);
    let whole = run(&swarm, 2).tally;
    let mut parts = Tally::default();
    for index in [3, 1, 2] {
        let shard = Shard::new(index, 3).expect("there are three");
        parts.merge(run(&Swarm { shard, ..swarm.clone() }, 2).tally);
    }
    assert_eq!(parts, whole);
}

#[test]
fn a_swarm_that_is_stopped_has_run_its_first_seeds() {
    let swarm = swarm("current", Strategy::Mix, 0..40);
    let stopped = swarm.run(2, |begun, _| begun < 10);
    assert!(!stopped.is_complete);
    let run_until = stopped.tally.schedules;
    assert!((10..=12).contains(&run_until), "{run_until} schedules");
    let first = run(&Swarm { seeds: 0..run_until, ..swarm }, 1).tally;
    assert_eq!(stopped.tally, first);
}

#[test]
fn each_strategy_makes_the_same_of_a_seed_twice_and_something_else_of_another() {
    let settings = Settings::default();
    let current = variants::by_name("current").expect("there is the right one");
    for strategy in Strategy::ALL {
        let plan = Plan::new(&settings, strategy, current);
        let digests = |from| -> Vec<_> {
            (from..from + 12).map(|seed| Tally::of_seed(seed, &plan).digest).collect()
        };
        let once = digests(0);
        assert_eq!(once, digests(0), "{strategy}");
        let different: BTreeSet<_> = once.iter().chain(&digests(12)).copied().collect();
        assert_eq!(different.len(), 24, "{strategy}");
    }
}

#[test]
fn each_strategy_finds_the_crossed_stand_down() {
    for strategy in Strategy::ALL {
        let swarm = swarm("silent-stand-down", strategy, 0..200);
        let tally = swarm.run(2, |_, broken| broken == 0).tally;
        let mut wedges = tally.ends.keys().filter(|end| end.property == Property::NoWedge);
        assert!(wedges.next().is_some(), "{strategy}: {:?}", tally.ends);
    }
}

#[test]
fn a_failure_of_each_end_is_told_as_a_scenario_that_breaks_the_same() {
    let swarm = swarm("drain-after-release", Strategy::Mix, 0..60);
    let ran = run(&swarm, 2);
    assert!(!ran.tally.kept.is_empty());
    for (seed, failed) in ran.tally.kept.iter().take(3) {
        for limits in [None, Some(Limits::default())] {
            let retold = swarm.retell(&ran.plan, *seed, failed, limits.as_ref());
            assert!(retold.is_verified, "{failed:?}");
            assert_eq!(retold.explanation.is_some(), limits.is_some(), "{failed:?}");
        }
    }
}

/// The groups of a run whose kept failures are reduced on so many threads.
fn grouped(swarm: &Swarm, ran: &Ran, jobs: usize) -> Vec<Group> {
    let retold = swarm.retell_all(ran, &Limits::default(), jobs, |_| true);
    let shapes = retold.into_iter().filter_map(|(seed, retold)| {
        retold.explanation.map(|explanation| (seed, explanation.shape))
    });
    ran.tally.groups(&shapes.collect())
}

#[test]
fn a_group_is_named_by_its_lowest_seed_and_counts_each_schedule_once() {
    let swarm = swarm("silent-stand-down", Strategy::Mix, 0..60);
    let ran = run(&swarm, 2);
    let groups = grouped(&swarm, &ran, 2);
    let counted: u64 = groups.iter().map(|group| group.schedules).sum();
    assert_eq!(counted, ran.tally.broken);
    let lowest = groups.iter().map(|group| group.seed).min();
    let silent = variants::by_name("silent-stand-down").expect("there is such a protocol");
    let settings = Settings::default();
    let breaks =
        |seed: &u64| run_seed(*seed, &settings, Strategy::Mix, silent).outcome != Outcome::Holds;
    assert_eq!(lowest, (0..60).find(breaks));
}

#[test]
fn one_cause_is_one_group_in_however_many_events_its_schedules_end() {
    let swarm = swarm("silent-stand-down", Strategy::Mix, 0..150);
    let ran = run(&swarm, 2);
    let groups = grouped(&swarm, &ran, 2);
    let [first, ..] = groups.as_slice() else { panic!("{:?}", ran.tally.ends) };
    assert!(first.schedules * 3 > ran.tally.broken * 2, "{groups:?}");
    let most = ran.tally.ends.values().max().copied().unwrap_or_default();
    assert!(most * 3 < ran.tally.broken * 2, "{:?}", ran.tally.ends);
    assert_eq!(grouped(&swarm, &ran, 1), groups, "whatever the number of threads");
}

#[test]
fn of_each_property_the_first_failures_are_kept_and_the_first_of_each_end() {
    let failed = |seed: u64, decisive: &str| {
        let end = End { property: Property::NoWedge, decisive: decisive.to_owned() };
        let failed =
            Failed { end: end.clone(), why: String::new(), steps: 1, digest: String::new() };
        let (ends, kept) = ([(end, 1)].into(), [(seed, failed)].into());
        Tally { schedules: 1, broken: 1, ends, kept, ..Tally::default() }
    };
    let last = 2 * KEPT_MAX as u64;
    let one = |seed| failed(seed, if seed == last { "crash" } else { "drain" });
    let whole = |seeds: &mut dyn Iterator<Item = u64>| {
        seeds.fold(Tally::default(), |mut tally, seed| {
            tally.merge(one(seed));
            tally
        })
    };
    let tally = whole(&mut (0..=last).rev());
    let kept: Vec<u64> = tally.kept.keys().copied().collect();
    assert_eq!(kept, (0..KEPT_MAX as u64).chain([last]).collect::<Vec<_>>());
    let mut parts = whole(&mut (0..=last).step_by(2));
    parts.merge(whole(&mut (0..=last).skip(1).step_by(2)));
    assert_eq!(parts, tally);
}

#[test]
fn schedules_with_few_departures_come_first_and_each_once() {
    let settings = small(&[FaultKind::Crash]);
    let strategy = Strategy::DelayBounded { departures_max: 1 };
    let current = variants::by_name("current").expect("there is the right one");
    let plan = Plan::new(&settings, strategy, current);
    assert_eq!(plan.departures(), 1);
    let all = plan.enumerated() as u64;
    assert!(all > 50, "{all} schedules");
    let tally = run(
        &Swarm { settings, strategy, protocol: current, seeds: 0..all + 10, shard: Shard::WHOLE },
        2,
    )
    .tally;
    assert_eq!(tally.enumerated, all);
    assert_eq!(tally.ends, BTreeMap::new());
}

#[test]
fn one_departure_is_enough_for_the_crossed_stand_down() {
    let strategy = Strategy::DelayBounded { departures_max: 1 };
    let silent = variants::by_name("silent-stand-down").expect("there is such a protocol");
    let settings = small(&[FaultKind::Reask]);
    let plan = Plan::new(&settings, strategy, silent);
    let seeds = 0..plan.enumerated() as u64;
    let whole = Swarm { settings, strategy, protocol: silent, seeds, shard: Shard::WHOLE };
    let tally = run(&whole, 2).tally;
    assert!(tally.ends.keys().any(|end| end.property == Property::NoWedge));
    assert_eq!(tally.enumerated, tally.schedules);
}

#[test]
fn a_large_rollout_has_too_many_schedules_with_one_departure() {
    let current = variants::by_name("current").expect("there is the right one");
    let plan = Plan::new(&Settings::default(), Strategy::Mix, current);
    assert_eq!((plan.departures(), plan.enumerated()), (0, 1));
}

#[test]
fn what_a_clean_run_is_worth_grows_with_it() {
    let tally = |schedules| Tally { schedules, ..Tally::default() };
    assert_eq!(tally(0).rarest(), None);
    let rarest = |schedules| tally(schedules).rarest().expect("some were run");
    assert!((rarest(1) - 0.99).abs() < 1e-9);
    assert!((rarest(459) - 0.01).abs() < 1e-4);
    assert!(rarest(2_000) < rarest(459));
}

#[test]
fn two_hundred_hosts_walk_and_converge() {
    let settings = Settings { hosts: 200, versions: 2, varies: false, ..Settings::default() };
    let current = variants::by_name("current").expect("there is the right one");
    let report = run_seed(1, &settings, Strategy::Random, current);
    assert_eq!(report.outcome, Outcome::Holds);
    assert_eq!(report.setup.places.len(), 200);
    assert!(report.steps > 10_000, "{} steps", report.steps);
}
