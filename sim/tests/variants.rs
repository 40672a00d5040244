//! Each wrong protocol is found by the default swarm, breaks what it names, and nothing else first;
//! those that the rest of the protocol makes up for break nothing.

use handover_sim::check::Property::{
    self, NoLivelock, NoLostReport, NoWedge, SingleBuilder, TruthfulIdle,
};
use handover_sim::choose::{FaultKind, Outcome, WalkReport};
use handover_sim::scenario::{self, Ended, Scenario};
use handover_sim::swarm::{Settings, Strategy, run_seed};
use handover_sim::variants::{self, Current, PROTOCOLS, Protocol};

/// Schedules within which the default swarm finds each.
const SCHEDULES_MAX: u64 = 2_000;

/// What the default swarm finds of a wrong protocol.
struct Case {
    name: &'static str,
    /// The seed from which on it is looked for here: what takes hundreds of schedules is not looked
    /// for from the first one on.
    from: u64,
    /// What a schedule may meet before what is named: it does not take the shortest way.
    or: &'static [Property],
    /// Hosts and versions, where it takes more than 2,000 schedules of the default swarm.
    among: Option<(u16, u8)>,
}

const fn case(name: &'static str) -> Case {
    Case { name, from: 0, or: &[], among: None }
}

const CASES: &[Case] = &[
    case("silent-stand-down"),
    case("silent-on-approval"),
    case("guarded-report"),
    case("drain-after-release"),
    case("drain-before-status"),
    case("always-broken"),
    // An old word has to be doubled, or left behind, while its host accepts. Where it is a stand-down,
    // it acknowledges what its host has not said yet, and the host ends first.
    Case { from: 390, or: &[TruthfulIdle], ..case("no-seq") },
    case("decide-when-queued"),
    case("ends-wait-for-a-pass"),
    case("offer-in-a-later-fold"),
    case("elect-at-publication"),
    case("report-not-held"),
    case("approve-unsigned"),
    case("approval-before-commit"),
    // Two words and a view have to cross. The late stand-down mostly comes before the host has
    // accepted for the second time; then nobody is evicted, and both build.
    Case { from: 40, or: &[SingleBuilder], ..case("accept-without-acknowledgement") },
    case("stay-gone"),
    // A build has to fail, to be heard, and to be retried, with nobody else of its version.
    Case { from: 520, ..case("finished-stays-down") },
    case("stale-word-takes-offer-back"),
    case("no-grants"),
    case("no-grants-at-the-offer"),
    // The host that is evicted mostly has begun by then, and so has the next.
    Case { or: &[SingleBuilder], ..case("no-grants-nor-acknowledgement") },
    case("build-at-the-offer"),
    // That the build ends by itself while it stops is the shorter schedule, and the rarer one.
    Case { or: &[SingleBuilder], ..case("abandoned-before-stopped") },
    Case { or: &[SingleBuilder], ..case("asks-before-stopped") },
    // A view from before its start has to overtake all others on its way to a builder, and the build
    // has to end before it is stopped: 2,000 schedules of 20 hosts do not show it.
    Case { from: 2_124, or: &[NoLostReport], among: Some((5, 2)), ..case("view-goes-back") },
    case("slot-released-at-cancel"),
    case("ignore-revocation"),
    case("accepted-waits"),
    case("reservation-kept"),
    case("ends-when-idle"),
    case("word-buries-the-last-life"),
    case("lapse-to-the-same-host"),
    case("age-is-death"),
    case("latest-verdict"),
    // It is drained on its way, and not at its end.
    Case { or: &[NoWedge], ..case("offer-to-a-draining-host") },
    case("free-at-start"),
    case("drain-forgotten"),
    case("cut-builds-pay"),
    case("parked-for-ever"),
    case("gate-read-before-counted"),
    case("parked-keeps-its-slot"),
    case("admitted-before-the-gate"),
    case("workspace-before-admission"),
    case("release-before-remove"),
    case("remove-before-status"),
    case("status-before-artifacts"),
    case("deployment-awaits-itself"),
    // Two processes of one identity may be handed one job before either notices anything; one that
    // is refused goes on saying the same.
    Case { or: &[NoLivelock, SingleBuilder], ..case("reused-number-unnoticed") },
];

/// Schedules of each that are tried here, from its first seed on.
const NEAR: u64 = 100;

/// And at least so many, to see that nothing else breaks first. `handover-sim variants --json` tells
/// the same of many more.
const FEW: u64 = 2;

/// A walk of many hosts goes on for long before it is called a livelock, so what goes on for ever is
/// looked for among a few.
fn settings(protocol: &dyn Protocol) -> Settings {
    let mut settings = Settings::default();
    let case = CASES.iter().find(|case| case.name == protocol.name());
    if let Some((hosts, versions)) = case.and_then(|case| case.among) {
        settings = Settings { hosts, versions, ..settings };
    }
    if protocol.breaks() == Some(NoLivelock) || protocol.needs_reuse() {
        settings = Settings { hosts: 3, steps_max: 1_000, local_builds: 0, ..settings };
    }
    if protocol.needs_reuse() {
        settings.faults.insert(FaultKind::Reuse, 3);
    }
    settings
}

fn protocol(name: &str) -> &'static dyn Protocol {
    variants::by_name(name).unwrap_or_else(|| panic!("{name} is no protocol"))
}

fn walked(name: &str, seed: u64) -> WalkReport {
    let protocol = protocol(name);
    run_seed(seed, &settings(protocol), Strategy::Mix, protocol)
}

fn broken_by(report: &WalkReport) -> Option<Property> {
    match &report.outcome {
        Outcome::Holds => None,
        Outcome::Broken(violation) => Some(violation.property),
    }
}

#[test]
fn each_wrong_protocol_is_a_case_or_masked() {
    let cases = CASES.iter().map(|case| case.name);
    let masked = PROTOCOLS.iter().filter(|protocol| protocol.masked_by().is_some());
    let mut known: Vec<&str> = cases.chain(masked.map(|protocol| protocol.name())).collect();
    let mut names = variants::names();
    known.sort_unstable();
    names.sort_unstable();
    assert_eq!(known, names);
    for protocol in PROTOCOLS {
        let masked = protocol.masked_by().is_some() || protocol.name() == Current.name();
        assert_eq!(protocol.breaks().is_none(), masked, "{}", protocol.name());
    }
}

/// The first schedule that breaks it, where nothing breaks but what is named.
fn hunt(case: &Case) -> Result<WalkReport, String> {
    let named = protocol(case.name).breaks();
    let mut first = None;
    let most = if case.among.is_some() { u64::MAX } else { SCHEDULES_MAX };
    for seed in case.from..(case.from + NEAR).min(most) {
        let report = walked(case.name, seed);
        let broken = broken_by(&report);
        let known = |broken| Some(broken) == named || case.or.contains(&broken);
        if !broken.is_none_or(known) {
            return Err(format!("seed {seed} under {}: {broken:?}", case.name));
        }
        if broken.is_some() && first.is_none() {
            first = Some(report);
        }
        if first.is_some() && seed >= case.from + FEW {
            break;
        }
    }
    first.ok_or_else(|| format!("{} is not found from {} on", case.name, case.from))
}

#[test]
fn the_default_swarm_finds_each_and_what_it_names_and_what_is_written_replays_to_the_same_end() {
    let mut wrong = Vec::new();
    for case in CASES {
        match hunt(case) {
            Ok(report) => wrong.extend(replay(&report).err()),
            Err(why) => wrong.push(why),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn replay(report: &WalkReport) -> Result<(), String> {
    let protocol = report.setup.protocol;
    if protocol.needs_reuse() {
        // Two processes of one identity have one name: a script cannot tell them apart.
        return Ok(());
    }
    let text = report.scenario().to_string();
    let parsed = Scenario::parse("walk.scenario", &text, &variants::names());
    let parsed = parsed.map_err(|error| format!("{error:?} in\n{text}"))?;
    let run = scenario::run(&parsed, protocol);
    let ended = match &run.ended {
        Ended::Breaks { violation, .. } => Some(violation.property),
        Ended::Holds => None,
    };
    // Only the property: a script goes on for fewer steps before it calls it a livelock.
    if ended == broken_by(report) && run.stale.is_empty() {
        return Ok(());
    }
    Err(format!("{} ends with {ended:?} when its walk is replayed", protocol.name()))
}

#[test]
fn the_right_one_breaks_nothing_and_what_other_rules_make_up_for_neither() {
    for protocol in PROTOCOLS.iter().filter(|protocol| protocol.breaks().is_none()) {
        for seed in 0..15 * FEW {
            let broken = broken_by(&walked(protocol.name(), seed));
            let masked_by = protocol.masked_by().unwrap_or("nothing is left out");
            assert_eq!(broken, None, "seed {seed} under {}: {masked_by}", protocol.name());
        }
    }
}
