//! The configurations that the right protocol was explored in, by name.
//!
//! Their names say where they come from: `P`, `X` and `Z` the protocol's candidate and arbiter, `A`
//! revocations and cancels, `B` suspicions and lapses, `C` hosts that build for themselves as well,
//! `D` lives of one name that overlap. To stand down costs one `reask`, which may ask again; a `stop`
//! is a cancel or a revocation.

use super::Bounds;
use crate::choose::FaultKind;

/// A configuration with a name.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// The version of each host.
    hosts: &'static [u8],
    chunks: u8,
    late: usize,
    /// Local builds on each host.
    builds: u8,
    /// `crash=1 gone=1`
    faults: &'static str,
}

impl Row {
    /// What is explored.
    ///
    /// # Panics
    /// Never: the faults of the rows have budgets.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        let Self { name: _, hosts, chunks, late, builds, faults } = *self;
        let everywhere = builds > 0;
        let bounds = Bounds {
            chunks,
            late,
            local_builds: (0, builds),
            builds_everywhere: everywhere,
            ..Bounds::new(hosts)
        };
        faults.split_whitespace().fold(bounds, |bounds, fault| {
            let (word, times) = fault.split_once('=').expect("a fault has a number");
            let (word, cancels_as_revokes) = match word {
                "stop" => ("revoke", true),
                _ => (word, bounds.cancels_as_revokes),
            };
            let bounds = Bounds { cancels_as_revokes, ..bounds };
            let mut kinds = FaultKind::ALL.iter().copied();
            let kind = kinds.find(|kind| kind.word() == word).expect("a fault that is known");
            let times = times.parse().expect("a number");
            bounds.with(kind, times).expect("a fault that has a budget")
        })
    }
}

const fn row(
    name: &'static str,
    hosts: &'static [u8],
    (chunks, late, builds): (u8, usize, u8),
    faults: &'static str,
) -> Row {
    Row { name, hosts, chunks, late, builds, faults }
}

const ONE: &[u8] = &[0];
const TWO: &[u8] = &[0, 0];
const MIX: &[u8] = &[0, 1];
const THREE: &[u8] = &[0, 0, 0];
const MIX3: &[u8] = &[0, 0, 1];

/// All of them.
pub const ROWS: &[Row] = &[
    row("P01", TWO, (2, 2, 0), ""),
    row("P02", TWO, (2, 2, 0), "crash=1"),
    row("P03", TWO, (2, 2, 0), "reask=2"),
    row("P04", TWO, (2, 2, 0), "gone=2"),
    row("P05", TWO, (2, 2, 0), "fail=1 retry=1 unsigned=1"),
    row("P06", TWO, (2, 2, 0), "arbiter=2 reask=1"),
    row("P07", TWO, (2, 2, 0), "lapse=2 reask=1"),
    row("P08", TWO, (2, 1, 0), "crash=1 reask=1 arbiter=1"),
    row("P09", TWO, (1, 1, 0), "crash=1 gone=1 reask=1 lapse=1"),
    row("P10", TWO, (1, 1, 0), "crash=1 fail=1 retry=1 reask=1 lapse=1"),
    row("P11", MIX, (2, 2, 0), "reask=1 fail=1 retry=1"),
    row("P12", MIX, (1, 1, 0), "crash=1 gone=1 reask=1"),
    row("P13", THREE, (2, 2, 0), ""),
    row("P14", MIX3, (2, 2, 0), ""),
    row("P15", THREE, (1, 1, 0), "reask=1 lapse=1"),
    row("P16", MIX3, (1, 1, 0), "reask=1 lapse=1"),
    row("P17", THREE, (1, 1, 0), "crash=1 gone=1"),
    row("P18", MIX3, (1, 1, 0), "crash=1"),
    row("P19", MIX3, (1, 1, 0), "fail=1 retry=1 arbiter=1"),
    row("P20", MIX3, (1, 1, 0), "gone=1 reask=1"),
    row("P21", THREE, (1, 1, 0), "gone=1 reask=1 fail=1 retry=1"),
    row("P22", THREE, (1, 1, 0), "crash=1 gone=1 reask=1"),
    row("P23", TWO, (1, 1, 0), "crash=1 gone=1 reask=1 retry=1 fail=1 unsigned=1 arbiter=1"),
    row("X1", TWO, (1, 1, 0), "gone=1 reask=1 retry=1 fail=1 unsigned=1 arbiter=1 lapse=1"),
    row("X2", MIX, (1, 1, 0), "crash=1 gone=1 reask=1 fail=1 unsigned=1 lapse=1"),
    row("Z1", MIX3, (1, 1, 0), "gone=1 reask=1 fail=1 retry=1"),
    row("Z2", MIX3, (1, 1, 0), "crash=1 gone=1"),
    row("Z3", MIX3, (2, 2, 0), "reask=2"),
    row("Z4", MIX3, (1, 0, 0), "gone=1 reask=1 fail=1 retry=1 arbiter=1 lapse=1"),
    row("A01", TWO, (2, 2, 0), "revoke=2"),
    row("A02", TWO, (2, 1, 0), "crash=1 revoke=1"),
    row("A03", TWO, (2, 2, 0), "gone=1 revoke=2"),
    row("A04", TWO, (2, 2, 0), "reask=1 revoke=1"),
    row("A05", TWO, (2, 2, 0), "lapse=1 revoke=2"),
    row("A06", TWO, (2, 2, 0), "retry=1 fail=1 unsigned=1 revoke=1"),
    row("A07", TWO, (2, 2, 0), "arbiter=1 revoke=2"),
    row("A08", ONE, (2, 2, 0), "hang=2"),
    row("A09", TWO, (1, 1, 0), "crash=1 revoke=1 hang=1"),
    row("A10", TWO, (1, 1, 0), "gone=1 reask=1 revoke=1 hang=1"),
    row("A11", MIX, (1, 1, 0), "reask=1 retry=1 fail=1 revoke=2"),
    row("A12", TWO, (1, 1, 0), "crash=1 gone=1 reask=1 revoke=1"),
    row("A13", TWO, (1, 1, 0), "gone=1 reask=1 retry=1 fail=1 arbiter=1 lapse=1 revoke=1"),
    row("A20", THREE, (1, 1, 0), "crash=1 revoke=1"),
    row("A21", THREE, (1, 1, 0), "gone=1 revoke=1"),
    row("A22", THREE, (1, 1, 0), "reask=1 revoke=1"),
    row("A23", THREE, (1, 1, 0), "lapse=1 revoke=1"),
    row("A24", THREE, (1, 1, 0), "retry=1 fail=1 revoke=1"),
    row("A25", THREE, (1, 1, 0), "arbiter=1 revoke=1"),
    row("A26", MIX3, (1, 1, 0), "gone=1 revoke=1"),
    row("A27", MIX3, (1, 1, 0), "reask=1 revoke=1"),
    row("A28", MIX3, (1, 1, 0), "retry=1 fail=1 revoke=1"),
    row("A29", MIX3, (1, 1, 0), "arbiter=1 lapse=1 revoke=1"),
    row("A30", THREE, (1, 1, 0), "revoke=1 hang=1"),
    row("A31", THREE, (1, 1, 0), "lapse=1 revoke=2"),
    row("A40", TWO, (1, 0, 0), "crash=1 gone=1 reask=1 arbiter=1 lapse=1 revoke=1"),
    row("A41", TWO, (1, 1, 0), "gone=1 reask=1 lapse=1 revoke=2"),
    row("A50", TWO, (2, 1, 0), "cancel=2"),
    row("A51", ONE, (1, 1, 0), "cancel=1 hang=1"),
    row("A52", TWO, (1, 1, 0), "gone=1 reask=1 cancel=1 hang=1"),
    row("A53", TWO, (1, 1, 0), "crash=1 gone=1 cancel=1"),
    row("A54", TWO, (1, 1, 0), "reask=1 retry=1 fail=1 arbiter=1 lapse=1 cancel=1"),
    row("A55", THREE, (1, 1, 0), "lapse=1 cancel=1"),
    row("A56", THREE, (1, 1, 0), "reask=1 cancel=1"),
    row("A57", THREE, (1, 1, 0), "retry=1 fail=1 cancel=1"),
    row("A58", MIX3, (1, 1, 0), "gone=1 cancel=1"),
    row("A60", TWO, (2, 2, 0), "stop=2"),
    row("A61", TWO, (1, 1, 0), "gone=1 reask=1 stop=3"),
    row("A62", TWO, (1, 1, 0), "crash=1 gone=1 stop=2"),
    row("A63", TWO, (1, 1, 0), "retry=1 fail=1 arbiter=1 lapse=1 stop=2 hang=1"),
    row("A64", THREE, (1, 1, 0), "reask=1 stop=2"),
    row("A65", THREE, (1, 1, 0), "gone=1 stop=2"),
    row("A66", MIX3, (1, 1, 0), "retry=1 fail=1 stop=2"),
    row("A67", THREE, (1, 1, 0), "stop=2 hang=1"),
    row("B1", TWO, (1, 1, 0), "suspect=2"),
    row("B2", THREE, (1, 1, 0), "suspect=2 lapse=1"),
    row("B3", TWO, (1, 1, 0), "crash=1 gone=1 suspect=1"),
    row("B4", TWO, (1, 1, 0), "lapse=2"),
    row("B5", THREE, (1, 1, 1), "lapse=1"),
    row("C1", TWO, (1, 1, 1), ""),
    row("C2", TWO, (1, 1, 1), "drain=1 undrain=1"),
    row("C3", TWO, (2, 2, 1), "drain=1 undrain=1"),
    row("C4", TWO, (1, 1, 1), "drain=1 lapse=1 undrain=1"),
    row("C5", TWO, (1, 1, 1), "drain=1 revoke=1 undrain=1"),
    row("C6", TWO, (1, 1, 1), "drain=1 retry=1 fail=1 lapse=1 undrain=1"),
    row("C7", TWO, (1, 0, 1), "crash=1 drain=1 lapse=1 undrain=1"),
    row("C8", TWO, (1, 0, 1), "drain=1 arbiter=1 lapse=1 revoke=1 undrain=1"),
    row("C9", TWO, (1, 1, 1), "drain=1 undrain=1 hang=1 stop=2"),
    row("C10", TWO, (1, 1, 1), "crash=1 gone=1"),
    row("C11", THREE, (1, 0, 1), "drain=1 undrain=1"),
    row("D1", ONE, (1, 1, 0), "crash=1"),
    row("D2", ONE, (1, 1, 0), "overlap=1"),
    row("D3", ONE, (1, 1, 0), "crash=1 overlap=1"),
    row("D4", TWO, (1, 1, 0), "crash=1"),
    row("D5", TWO, (1, 0, 0), "crash=1 gone=1"),
    row("D6", TWO, (1, 1, 0), "overlap=1"),
    row("D7", TWO, (1, 0, 0), "crash=1 overlap=1"),
    row("D8", TWO, (1, 0, 0), "gone=1 overlap=1"),
    row("D9", ONE, (1, 0, 0), "crash=1 gone=1 reask=1 overlap=1"),
];
