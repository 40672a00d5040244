//! The smallest configurations in which the wrong protocols show what they break.

use super::Protocol;
use crate::choose::FaultKind::{
    self, Arbiter, Cancel, Conflict, Crash, Drain, Fail, Gone, Lapse, Overlap, Reask, Retry, Reuse,
    Revoke, Suspect, Undrain, Unsigned,
};
use crate::explore::{Bounds, Counterexample, Exploration, Property, Reductions};

/// Hosts by their versions, chunks, deployments and other local builds, faults, and the states
/// within which it shows.
type Row = (&'static str, &'static [u8], u8, (u8, u8), &'static [(FaultKind, u8)], usize);

const ROWS: &[Row] = &[
    ("silent-stand-down", &[0, 0], 1, (0, 0), &[(Reask, 1)], 40_000),
    ("silent-on-approval", &[0, 0], 1, (0, 0), &[], 40_000),
    ("guarded-report", &[0], 1, (0, 0), &[(Fail, 1), (Retry, 1)], 40_000),
    ("drain-after-release", &[0], 1, (1, 1), &[], 40_000),
    ("drain-before-status", &[0], 1, (1, 0), &[], 40_000),
    ("always-broken", &[0], 1, (0, 0), &[], 40_000),
    ("no-seq", &[0], 1, (0, 0), &[], 40_000),
    ("decide-when-queued", &[0], 1, (0, 0), &[], 40_000),
    ("ends-wait-for-a-pass", &[0], 1, (0, 0), &[], 2_000),
    ("offer-in-a-later-fold", &[0], 1, (0, 0), &[(Crash, 1)], 40_000),
    ("elect-at-publication", &[0, 0], 1, (0, 0), &[], 40_000),
    ("report-not-held", &[0, 0], 1, (0, 0), &[(Cancel, 1)], 40_000),
    ("approval-before-commit", &[0], 1, (0, 0), &[(Conflict, 1)], 40_000),
    ("approve-unsigned", &[0], 1, (0, 0), &[(Unsigned, 1)], 40_000),
    ("accept-without-acknowledgement", &[0, 0], 1, (0, 0), &[(Reask, 1)], 40_000),
    ("stay-gone", &[0], 1, (0, 0), &[(Gone, 1)], 40_000),
    ("finished-stays-down", &[0], 1, (0, 0), &[(Fail, 1), (Retry, 1)], 40_000),
    ("stale-word-takes-offer-back", &[0], 1, (0, 0), &[(Revoke, 1)], 40_000),
    ("no-grants", &[0], 1, (0, 0), &[(Revoke, 1)], 40_000),
    ("no-grants-at-the-offer", &[0, 0], 1, (0, 0), &[(Lapse, 1)], 40_000),
    ("no-grants-nor-acknowledgement", &[0, 0], 1, (0, 0), &[(Reask, 1)], 20_000),
    ("build-at-the-offer", &[0, 0], 1, (0, 0), &[(Lapse, 1)], 40_000),
    ("abandoned-before-stopped", &[0, 0], 1, (0, 0), &[(Cancel, 1)], 20_000),
    ("asks-before-stopped", &[0, 0], 1, (0, 0), &[(Cancel, 1)], 20_000),
    ("slot-released-at-cancel", &[0], 1, (0, 0), &[(Gone, 1)], 40_000),
    ("ignore-revocation", &[0], 1, (0, 0), &[(Revoke, 1)], 40_000),
    ("accepted-waits", &[0], 1, (0, 0), &[(Revoke, 1)], 40_000),
    ("reservation-kept", &[0], 1, (0, 0), &[(Revoke, 1)], 40_000),
    ("ends-when-idle", &[0], 1, (0, 0), &[(Drain, 1)], 40_000),
    ("lapse-to-the-same-host", &[0, 0], 0, (0, 0), &[], 20_000),
    ("word-buries-the-last-life", &[0], 1, (0, 0), &[(Overlap, 1)], 2_000),
    ("age-is-death", &[0, 0], 1, (0, 0), &[(Suspect, 1)], 40_000),
    ("latest-verdict", &[0, 1], 1, (0, 0), &[(Fail, 1)], 40_000),
    ("offer-to-a-draining-host", &[0, 0], 1, (0, 0), &[(Drain, 1), (Lapse, 1)], 10_000),
    ("free-at-start", &[0], 1, (0, 0), &[(Arbiter, 1)], 40_000),
    ("drain-forgotten", &[0], 1, (0, 0), &[(Crash, 1), (Drain, 1)], 40_000),
    ("cut-builds-pay", &[0], 1, (0, 1), &[(Crash, 1)], 40_000),
    ("parked-for-ever", &[0], 1, (0, 1), &[(Drain, 1), (Undrain, 1)], 40_000),
    ("view-goes-back", &[0, 0], 0, (0, 0), &[(Fail, 1)], 40_000),
    ("reused-number-unnoticed", &[0], 1, (0, 0), &[(Crash, 1), (Reuse, 1)], 2_000),
    ("gate-read-before-counted", &[0], 1, (0, 1), &[(Drain, 1)], 40_000),
    ("parked-keeps-its-slot", &[0], 1, (0, 1), &[(Drain, 1)], 40_000),
    ("admitted-before-the-gate", &[0], 1, (0, 1), &[(Drain, 1)], 40_000),
    ("workspace-before-admission", &[0], 1, (0, 1), &[], 40_000),
    ("release-before-remove", &[0], 1, (0, 0), &[], 40_000),
    ("remove-before-status", &[0], 1, (0, 1), &[(Drain, 1)], 40_000),
    ("status-before-artifacts", &[0], 1, (0, 0), &[], 40_000),
    ("deployment-awaits-itself", &[0], 1, (1, 0), &[], 40_000),
];

/// One that ignores numbers is explored on a network that does not drop what they would refuse.
const IGNORES_NUMBERS: &str = "no-seq";

/// The smallest configuration in which this wrong protocol breaks what it names first.
///
/// # Errors
/// Why there is none: it breaks nothing.
pub fn smallest(protocol: &'static dyn Protocol) -> Result<Bounds, &'static str> {
    let name = protocol.name();
    if protocol.breaks().is_none() {
        return Err(protocol.masked_by().unwrap_or("it is the right one"));
    }
    let row = ROWS.iter().find(|row| row.0 == name);
    let (_, hosts, chunks, local_builds, faults, states_max) =
        *row.expect("each protocol that breaks something has a row");
    let bounds = faults.iter().fold(Bounds::new(hosts), |bounds, (kind, times)| {
        bounds.with(*kind, *times).expect("only kinds with a budget stand in the table")
    });
    let bounds = bounds.under(protocol);
    let superseded = name != IGNORES_NUMBERS;
    let reductions = Reductions { superseded, ..bounds.reductions };
    Ok(Bounds { chunks, local_builds, states_max, reductions, ..bounds })
}

/// What breaks first: of the safety properties the one with the shortest schedule, else the one of
/// liveness.
#[must_use]
pub fn first_broken(found: &Exploration) -> Option<&Counterexample> {
    let broken = found.broken();
    let is_safety = |found: &&&Counterexample| {
        !matches!(found.violation.property, Property::NoWedge | Property::NoLivelock)
    };
    broken.iter().find(is_safety).or_else(|| broken.first()).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variants::PROTOCOLS;
    use crate::variants::by_name;

    #[test]
    fn each_wrong_protocol_that_breaks_something_has_its_configuration() {
        for protocol in PROTOCOLS {
            let breaks = protocol.breaks().is_some();
            assert_eq!(smallest(*protocol).is_ok(), breaks, "{}", protocol.name());
        }
        for (name, ..) in ROWS {
            assert!(by_name(name).is_some_and(|protocol| protocol.breaks().is_some()), "{name}");
        }
    }
}
