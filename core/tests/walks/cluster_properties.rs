//! What holds of candidates and a record together, over random walks in which words and views
//! come late, twice or never, hosts crash or are expelled, and operators intervene.

use crate::common::{Cluster, property, walks};
use handover_core::{GrantId, Phase, Refusal};

#[test]
fn correct_hosts_never_raise_an_alarm() {
    property(400, &walks(), &[("folds", 8_000)], |steps, tally| {
        let mut cluster = Cluster::new();
        for step in steps {
            for fold in cluster.step(step) {
                assert_ne!(fold.answer.err(), Some(Refusal::Impossible));
                tally.saw("folds");
            }
            assert!(cluster.members.iter().all(|member| member.alarms == 0));
        }
    });
}

/// `SingleBuilder`: builds whose grant was revoked, and builds of hosts that are gone, do not
/// count until they have stopped.
#[test]
fn at_most_one_builds_and_that_is_the_holder() {
    let floors = [("builds", 5_000), ("does not count", 400)];
    property(400, &walks(), &floors, |steps, tally| {
        let mut cluster = Cluster::new();
        for step in steps {
            cluster.step(step);
            let mut builders = 0;
            for member in &cluster.members {
                let Some(build) = &member.build else { continue };
                let host = member.candidate.host();
                if cluster.revoked.contains(&build.grant) || cluster.record.is_gone(host) {
                    tally.saw("does not count");
                    continue;
                }
                builders += 1;
                let hold = cluster.record.hold().expect("who builds holds");
                assert_eq!((&hold.host, hold.grant), (host, build.grant));
                tally.saw("builds");
            }
            assert!(builders <= 1);
        }
    });
}

/// `NoLostReport`.
#[test]
fn who_leaves_finished_leaves_no_hold_behind() {
    property(400, &walks(), &[("left finished", 230)], |steps, tally| {
        let mut cluster = Cluster::new();
        for step in steps {
            let finished: Vec<Option<GrantId>> = finished(&cluster);
            cluster.step(step);
            for (member, grant) in cluster.members.iter().zip(finished) {
                let Some(grant) = grant.filter(|_| !member.crashed) else {
                    continue;
                };
                let still = member.candidate.phase() == (Phase::Finished { grant });
                if still || cluster.record.is_gone(member.candidate.host()) {
                    continue;
                }
                let held = cluster.record.hold().map(|hold| hold.grant);
                assert_ne!(held, Some(grant));
                tally.saw("left finished");
            }
        }
    });
}

fn finished(cluster: &Cluster) -> Vec<Option<GrantId>> {
    let grant = |phase| match phase {
        Phase::Finished { grant } => Some(grant),
        Phase::Idle
        | Phase::Asking
        | Phase::Planning { .. }
        | Phase::Accepted { .. }
        | Phase::Building { .. }
        | Phase::Cancelling { .. }
        | Phase::StoodDown
        | Phase::Expelled { .. } => None,
    };
    let members = cluster.members.iter();
    members.map(|it| grant(it.candidate.phase())).collect()
}

/// `GateTruth`.
#[test]
fn an_open_gate_implies_an_approval_in_the_record() {
    let floors = [("open", 14_000), ("closed", 70_000)];
    property(400, &walks(), &floors, |steps, tally| {
        let mut cluster = Cluster::new();
        for step in steps {
            cluster.step(step);
            for member in &cluster.members {
                if !member.candidate.gate().is_open() {
                    tally.saw("closed");
                    continue;
                }
                let verdict = cluster.record.verdict(member.candidate.version());
                assert!(verdict.is_some_and(|verdict| verdict.is_approved()));
                tally.saw("open");
            }
        }
    });
}

/// `SupersededStops`.
#[test]
fn who_has_read_that_its_grant_is_gone_does_not_build_on() {
    property(400, &walks(), &[("superseded", 350)], |steps, tally| {
        let mut cluster = Cluster::new();
        for step in steps {
            cluster.step(step);
            for member in &cluster.members {
                let (Some(build), Some(view)) = (&member.build, member.candidate.view()) else {
                    continue;
                };
                let held = view.hold_of(member.candidate.host());
                if held.is_some_and(|hold| hold.grant == build.grant && !hold.is_cancelling()) {
                    continue;
                }
                let grant = build.grant;
                assert_ne!(member.candidate.phase(), Phase::Building { grant });
                tally.saw("superseded");
            }
        }
    });
}

/// `NoWedge`, as far as walks reach: without faults everything comes to a good end.
#[test]
fn after_any_walk_calm_brings_everything_to_a_good_end() {
    let floors = [("served", 500), ("blocked", 50), ("stood down", 40)];
    property(400, &walks(), &floors, |steps, tally| {
        let mut cluster = Cluster::new();
        for step in steps {
            cluster.step(step);
        }
        assert!(cluster.calm(), "it comes to rest");
        cluster.record.check();
        assert_eq!(cluster.record.hold(), None);
        for member in &cluster.members {
            let verdict = cluster.record.verdict(member.candidate.version());
            let gate = member.candidate.gate();
            match verdict {
                Some(verdict) if verdict.is_approved() => {
                    assert!(gate.is_open());
                    tally.saw("served");
                }
                Some(_) => {
                    assert!(matches!(gate, handover_core::Gate::Blocked { .. }));
                    tally.saw("blocked");
                }
                None => {
                    let phase = member.candidate.phase();
                    assert_eq!(phase, Phase::StoodDown, "who asks is served in the end");
                    tally.saw("stood down");
                }
            }
        }
    });
}
