//! The digest of a run: the same schedule gives the same 32 hex digits on each machine.
//!
//! XXH3-128 over postcard, two formats with published descriptions, and never `derive(Hash)`, whose
//! bytes depend on the platform. After each event the digest so far is hashed together with the
//! event's name and with each part of the world that the event touched, so that two runs differ
//! from the first event on that differs in its name or in what it did.
//!
//! Of the record only the rows that an event has changed are taken, of a view only its numbers (it
//! was made of a record that was taken before), of a link only what is next on it, and of a process
//! what the event has not left alone. The whole is the sum of what was taken of it since the start,
//! so that an event costs what it does, not what there is.
//!
//! What really happened ([`History`](crate::world::History)) is no part of it: no actor knows it.

use std::fmt;
use std::sync::Arc;

use handover_core::{Host, Record, View};
use postcard::ser_flavors::Flavor;
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_128;

use crate::world::{Arbiter, Link, Process, World};

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
        self.step_within(&mut Vec::new(), name, before, after);
    }

    /// The same, with the bytes in a buffer that is there already.
    pub fn step_within(&mut self, buffer: &mut Vec<u8>, name: &str, before: &World, after: &World) {
        buffer.clear();
        buffer.extend(self.0.to_le_bytes());
        let mut bytes = Bytes(buffer);
        bytes.put(name);
        if let Some(store) = after.touched_store(before) {
            bytes.put(&(Part::Store, store.unapplied()));
            bytes.put_record(before.committed(), store.committed());
        }
        for (index, arbiter) in after.touched_arbiters(before) {
            bytes.put(&(Part::Arbiter, index));
            bytes.put_arbiter(arbiter);
        }
        for (who, before, process) in after.touched_processes(before) {
            bytes.put(&(Part::Process, who));
            bytes.put_process(before, process);
        }
        for (who, link) in after.touched_links(before) {
            bytes.put(&(Part::Link, who));
            bytes.put_link(link);
        }
        if let Some(oracle) = after.touched_oracle(before) {
            bytes.put(&(Part::Oracle, oracle));
        }
        self.0 = xxh3_128(buffer);
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// What kind of part follows.
#[derive(Clone, Copy, Debug, Serialize)]
enum Part {
    Store,
    Arbiter,
    Process,
    Link,
    Oracle,
}

/// The canonical encoding of an event.
struct Bytes<'a>(&'a mut Vec<u8>);

impl Bytes<'_> {
    /// Appends the encoding of a value.
    fn put(&mut self, value: &(impl Serialize + ?Sized)) {
        let written = postcard::serialize_with_flavor(value, Appending(self.0));
        written.expect("a vector takes all bytes, and lengths are known");
    }

    /// What a record says otherwise than another.
    fn put_record(&mut self, before: &Record, after: &Record) {
        self.put(&(after.revision(), after.next_grant(), after.next_ticket()));
        if after.hold() != before.hold() {
            self.put(&(0_u8, after.hold()));
        }
        for (host, line) in after.lines_unlike(before) {
            self.put(&(1_u8, host, line));
        }
        for (version, verdict) in after.verdicts() {
            if before.verdict(version) != Some(verdict) {
                self.put(&(2_u8, version, verdict));
            }
        }
        for (version, _) in before.verdicts() {
            if after.verdict(version).is_none() {
                self.put(&(3_u8, version));
            }
        }
        for (name, gone) in after.gone_unlike(before) {
            self.put(&(4_u8, name, gone));
        }
    }

    fn put_arbiter(&mut self, arbiter: &Arbiter) {
        let Arbiter { applied, unpublished, stalled, conflict_next, unknown_next } = arbiter;
        self.put_number(applied.revision().0);
        for flag in [unpublished, stalled, conflict_next, unknown_next] {
            self.0.push(u8::from(*flag));
        }
    }

    /// Of a process that was there what its step has not left alone.
    fn put_process(&mut self, before: Option<&Process>, process: &Process) {
        let Process {
            name: _,
            host,
            life,
            ledger,
            orders,
            builds,
            ended,
            workspaces,
            artifacts,
            said,
            muted,
            put_off,
            owes_drain,
            shown,
            stale,
            slow,
        } = process;
        self.put_candidate(host);
        let executor = host.executor();
        let was = before.map(|before| before.host.executor());
        if was.is_none_or(|was| !executor.is_unchanged_since(was)) {
            self.put(&(0_u8, executor));
        }
        self.put_unless_shared(1, before.map(|before| &before.ledger), ledger);
        self.put_unless_shared(2, before.map(|before| &before.ended), ended);
        self.put_unless_shared(3, before.map(|before| &before.workspaces), workspaces);
        self.put_unless_shared(4, before.map(|before| &before.artifacts), artifacts);
        self.put(&(5_u8, life, orders, builds, put_off, owes_drain));
        self.put_view(shown.as_deref());
        for number in [said.0, muted.0, u64::from(*stale), u64::from(*slow)] {
            self.put_number(number);
        }
    }

    fn put_unless_shared<T: Serialize>(&mut self, tag: u8, was: Option<&Arc<T>>, is: &Arc<T>) {
        if was.is_none_or(|was| !Arc::ptr_eq(was, is)) {
            self.put(&(tag, is));
        }
    }

    /// The candidate, and what of the host is between it and the executor.
    fn put_candidate(&mut self, host: &Host) {
        let candidate = host.candidate();
        self.put_number(host.id().incarnation.0);
        self.put_number(candidate.seq().0);
        self.put_view(candidate.view());
        self.put(&(candidate.phase(), candidate.wish(), candidate.standing(), host.gate()));
        self.put(&(host.wants_job(), host.is_queued()));
    }

    /// What is next on either way, and how much there is; the rest was next, or the newest, once.
    fn put_link(&mut self, link: &Link) {
        let Link { statements, views, newest, statements_stalled, views_stalled, cut } = link;
        for flag in [statements_stalled, views_stalled, cut] {
            self.0.push(u8::from(*flag));
        }
        self.put_number(statements.len() as u64);
        for statement in [statements.front(), statements.back()].into_iter().flatten() {
            self.put_number(statement.host.incarnation.0);
            self.put_number(statement.seq.0);
        }
        self.put_number(views.len() as u64);
        self.put_view(views.front().map(|view| &**view));
        self.put_view(newest.as_deref());
    }

    /// The numbers of a view: what else it says is what the record of its revision said.
    fn put_view(&mut self, view: Option<&View>) {
        self.0.push(u8::from(view.is_some()));
        let Some(view) = view else { return };
        self.put_number(view.host.incarnation.0);
        self.put_number(view.revision.0);
        self.put_number(view.hold.as_ref().map_or(0, |hold| hold.grant.0));
        self.put_number(view.acknowledged.map_or(0, |seq| seq.0));
        self.put_number(view.verdict.as_ref().map_or(0, |verdict| verdict.grant.0));
        self.put_number(view.name_floor.map_or(0, |floor| floor.0));
        self.0.push(u8::from(view.gone));
    }

    /// A number that is written often: eight bytes, the lowest first.
    fn put_number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }
}

/// Writes behind what is there.
struct Appending<'a>(&'a mut Vec<u8>);

impl Flavor for Appending<'_> {
    type Output = ();

    #[inline]
    fn try_extend(&mut self, data: &[u8]) -> postcard::Result<()> {
        self.0.extend_from_slice(data);
        Ok(())
    }

    #[inline]
    fn try_push(&mut self, data: u8) -> postcard::Result<()> {
        self.0.push(data);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
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
        let mut bytes = Vec::new();
        Bytes(&mut bytes).put(&(1_u8, 300_u32, "ab"));
        assert_eq!(bytes, b"\x01\xac\x02\x02ab");
    }

    #[test]
    fn a_fixed_script_has_a_fixed_chain() {
        assert_eq!(
            run(&script()),
            [
                "bbfe81988620b57885e9d66717e8fb89",
                "05f3e670b1d8ed4b016283d5b9448208",
                "9cca9c0c45b165b759f9324da188295c",
                "cd335b18625d7cc0db85faef428a3f11"
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
