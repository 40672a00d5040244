//! The digest of a run: the same schedule gives the same 32 hex digits on each machine.
//!
//! XXH3-128 over postcard, two formats with published descriptions, and never `derive(Hash)`, whose
//! bytes depend on the platform. After each event the digest so far is hashed together with the
//! event's name and with the hash of each part of the world that the event touched, so that two
//! runs differ from the first event on that differs in its name or in what it did.
//!
//! What really happened ([`History`](crate::world::History)) is no part of it: no actor knows it.

use std::fmt;

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_128;

use crate::world::World;

/// Bytes of a part's encoding that most parts do not exceed.
const PART_BYTES: usize = 1024;

/// A chain of 128-bit hashes over the events of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Digest(u128);

impl Digest {
    /// The digest of a run in which nothing has happened.
    #[must_use]
    pub const fn new() -> Self {
        Self(0)
    }

    /// Goes on by one event: its name, and what it touched between two worlds, the second of which
    /// is a clone of the first that went on.
    pub fn step(&mut self, name: &str, before: &World, after: &World) {
        let mut link = self.0.to_le_bytes().to_vec();
        link.extend((name.len() as u64).to_le_bytes());
        link.extend(name.as_bytes());
        let mut bytes = Vec::with_capacity(PART_BYTES);
        for part in after.touched_since(before) {
            link = encode(&part, link);
            bytes.clear();
            bytes = encode(&after.part(part), bytes);
            link.extend(xxh3_128(&bytes).to_le_bytes());
        }
        self.0 = xxh3_128(&link);
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// Appends the canonical encoding of a value.
fn encode(value: &impl Serialize, bytes: Vec<u8>) -> Vec<u8> {
    postcard::to_extend(value, bytes).expect("a vector takes all bytes, and lengths are known")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::variants::Current;
    use crate::world::{ArbiterIndex, Event, Place, Setup, Who};

    fn world() -> World {
        World::new(Setup {
            places: vec![Place::new("a", "v1"), Place::new("b", "v1")],
            chunks: BTreeSet::from(["assets".into()]),
            arbiters: 1,
            protocol: &Current,
        })
    }

    /// `b` asks, the record offers it the job, it reads of it.
    fn script() -> [(&'static str, Event); 4] {
        let (from, to) = (Who(1), ArbiterIndex(0));
        [
            ("ask b", Event::Ask(Who(1))),
            ("deliver b -> record", Event::Deliver { from, to }),
            ("publish", Event::Publish(to)),
            ("deliver record -> b", Event::Read(Who(1))),
        ]
    }

    fn run(script: &[(&str, Event)]) -> Vec<String> {
        let mut world = world();
        let mut digest = Digest::new();
        let mut digests = Vec::new();
        for (name, event) in script {
            let before = world.clone();
            world.apply(event, &mut Vec::new()).expect("it is enabled");
            digest.step(name, &before, &world);
            digests.push(digest.to_string());
        }
        digests
    }

    #[test]
    fn the_hash_is_xxh3_128_by_its_published_vectors() {
        assert_eq!(xxh3_128(b""), 0x99aa_06d3_0147_98d8_6001_c324_468d_497f);
        assert_eq!(xxh3_128(b"a"), 0xa96f_af70_5af1_6834_e6c6_32b6_1e96_4e1f);
        assert_eq!(xxh3_128(b"abc"), 0x06b0_5ab6_733a_6185_78af_5f94_892f_3950);
    }

    #[test]
    fn an_encoding_is_postcard_as_documented() {
        assert_eq!(encode(&(1_u8, 300_u32, "ab"), vec![]), b"\x01\xac\x02\x02ab");
    }

    #[test]
    fn a_fixed_script_has_a_fixed_chain() {
        assert_eq!(
            run(&script()),
            [
                "ca91ec3c9224a709c3bd474313360f4c",
                "fd654593ff3798115cdc7d01247b39b6",
                "13673a4522470e915e6165c6b5f38211",
                "8fff42648baf440465e0324e7797ab02"
            ]
        );
    }

    #[test]
    fn another_name_for_the_same_step_is_another_digest_from_there_on() {
        let mut renamed = script();
        renamed[2].0 = "publish record";
        let (one, other) = (run(&script()), run(&renamed));
        assert_eq!(one[..2], other[..2]);
        assert_ne!(one[2], other[2]);
        assert_ne!(one[3], other[3]);
    }

    #[test]
    fn another_outcome_under_the_same_name_is_another_digest() {
        let mut other = script();
        other[0].1 = Event::Ask(Who(0));
        assert_ne!(run(&script()[..1]), run(&other[..1]));
    }
}
