//! The digest of a run: the same schedule gives the same 32 hex digits on each machine.
//!
//! XXH3-128 over postcard, two formats with published descriptions, and never `derive(Hash)`, whose
//! bytes depend on the platform. After each event the digest so far is hashed together with the
//! event and with each part of the world that the event touched, so that two runs differ from the
//! first event on that is another, or did something else.
//!
//! Of the record only the rows that an event has changed are taken, of a view only its numbers (it
//! was made of a record that was taken before), and these once, when it is put on its link; of a
//! link only which messages are next on it, and of a process its numbers, and what the event has
//! not left alone. The whole is the sum of what was taken of it since the start, so that an event
//! costs what it does, not what there is.
//!
//! What really happened ([`History`](crate::world::History)) is no part of it: no actor knows it.
//! Nor is the setup: hosts are their numbers here, until the record has a line with their names.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use handover_core::executor::ExecutorParts;
use handover_core::{Candidate, Ledger, Phase, Record, View, Wish, Work};
use postcard::ser_flavors::Flavor;
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_128;

use crate::world::{Arbiter, Life, Link, Process, World};

/// A chain of 128-bit hashes over the events of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Digest(u128);

impl Digest {
    /// The digest of a run in which nothing has happened.
    #[must_use]
    pub const fn new() -> Self {
        Self(0)
    }

    /// Goes on by one event: `what` it is, as a world's event or as a text, and what it touched
    /// between two worlds, the second of which is a clone of the first that went on.
    pub fn step(&mut self, what: &(impl Serialize + ?Sized), before: &World, after: &World) {
        self.step_within(&mut Vec::new(), what, before, after);
    }

    /// The same, with the bytes in a buffer that is there already.
    pub fn step_within(
        &mut self,
        buffer: &mut Vec<u8>,
        what: &(impl Serialize + ?Sized),
        before: &World,
        after: &World,
    ) {
        buffer.clear();
        buffer.extend(self.0.to_le_bytes());
        let mut bytes = Bytes(buffer);
        bytes.put(what);
        if let Some(store) = after.touched_store(before) {
            bytes.put_part(Part::Store, store.unapplied());
            bytes.put_record(before.committed(), store.committed());
        }
        for (index, arbiter) in after.touched_arbiters(before) {
            bytes.put_part(Part::Arbiter, usize::from(index.0));
            bytes.put_arbiter(arbiter);
        }
        for (who, before, process) in after.touched_processes(before) {
            bytes.put_part(Part::Process, usize::from(who.0));
            bytes.put_process(before, process);
        }
        for (who, before, link) in after.touched_links(before) {
            bytes.put_part(Part::Link, usize::from(who.0));
            bytes.put_link(before, link);
        }
        if let Some(oracle) = after.touched_oracle(before) {
            bytes.put_part(Part::Oracle, oracle.suspects.len());
            bytes.put(oracle);
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
#[derive(Clone, Copy, Debug)]
enum Part {
    Store,
    Arbiter,
    Process,
    Link,
    Oracle,
}

/// On the tag of a row: it is gone.
const GONE: u8 = 0x80;

/// The canonical encoding of an event.
struct Bytes<'a>(&'a mut Vec<u8>);

impl Bytes<'_> {
    /// Appends the encoding of a value.
    fn put(&mut self, value: &(impl Serialize + ?Sized)) {
        let written = postcard::serialize_with_flavor(value, Appending(self.0));
        written.expect("a vector takes all bytes, and lengths are known");
    }

    /// Which part follows: its kind, and its number among those of its kind, or a number of it.
    fn put_part(&mut self, part: Part, number: usize) {
        self.0.push(part as u8);
        self.put_number(number as u64);
    }

    /// What a record says otherwise than another.
    fn put_record(&mut self, before: &Record, after: &Record) {
        self.put_numbers([after.revision().0, after.next_grant().0, after.next_ticket().0]);
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
        self.put_flags([*unpublished, *stalled, *conflict_next, *unknown_next]);
    }

    /// The numbers of a process, and of the rest what its step has not left alone.
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
        let candidate = host.candidate();
        self.0.push(match life {
            Life::Up => 0,
            Life::Paused => 1,
            Life::Crashed => 2,
            Life::Exited => 3,
        });
        self.put_phase(candidate.phase());
        let wish = match candidate.wish() {
            Wish::Watch => 0,
            Wish::Job => 1,
            Wish::StandDown => 2,
        };
        self.put_numbers([
            wish | u64::from(host.wants_job()) << 2 | u64::from(host.is_queued()) << 3,
            host.id().incarnation.0,
            candidate.seq().0,
            said.0,
            muted.0,
            u64::from(*stale),
            u64::from(*slow),
        ]);
        self.put_message(shown.as_deref());
        // As a rule it holds the view that it has been shown.
        let shares = |(held, shown): (&View, &View)| std::ptr::eq(held, shown);
        let held = candidate.view();
        if held.zip(shown.as_deref()).is_some_and(shares) || held == shown.as_deref() {
            self.0.push(u8::MAX - 1);
        } else {
            self.put_view(held);
        }
        // A host's word that stays has its number.
        let was = before.map(|before| before.host.candidate());
        let word = |of: &Candidate| (of.host().incarnation, of.seq());
        if was.is_none_or(|was| word(was) != word(candidate)) {
            self.put(&candidate.standing());
        }
        let was = before.map(|before| &before.host);
        let executor = host.executor();
        if was.is_none_or(|was| !executor.is_unchanged_since(was.executor())) {
            self.put_executor(was.map(|was| was.executor().parts()), executor.parts());
        }
        let was = before.map(|before| &before.ledger);
        if was.is_none_or(|was| !Arc::ptr_eq(was, ledger)) {
            self.put_ledger(was.map(|was| &**was), ledger);
        }
        let was = before.map(|before| &before.ended);
        if was.is_none_or(|was| !Arc::ptr_eq(was, ended)) {
            self.put_rows(1, was.map(|was| &**was), ended);
        }
        self.put_new(2, before.map(|before| &before.workspaces), workspaces);
        self.put_new(3, before.map(|before| &before.artifacts), artifacts);
        self.put_unless_equal(4, before.map(|before| &before.orders), orders);
        let was = before.map(|before| &before.builds);
        if was.is_none_or(|was| !Arc::ptr_eq(was, builds)) {
            self.put_rows(5, was.map(|was| &**was), builds);
        }
        self.put_unless_equal(6, before.map(|before| &before.put_off), put_off);
        self.put_unless_equal(7, before.map(|before| &before.owes_drain), owes_drain);
    }

    /// What it is in, and for which grant.
    fn put_phase(&mut self, phase: Phase) {
        let (kind, grant) = match phase {
            Phase::Idle => (0, None),
            Phase::Asking => (1, None),
            Phase::Planning { grant } => (2, Some(grant)),
            Phase::Accepted { grant } => (3, Some(grant)),
            Phase::Building { grant } => (4, Some(grant)),
            Phase::Cancelling { grant } => (5, Some(grant)),
            Phase::Finished { grant } => (6, Some(grant)),
            Phase::StoodDown => (7, None),
            Phase::Expelled { running } => (8, running),
        };
        self.put_numbers([kind, grant.map_or(0, |grant| grant.0)]);
    }

    fn put_executor(&mut self, before: Option<&ExecutorParts>, parts: &ExecutorParts) {
        let ExecutorParts {
            settings,
            version,
            ledger,
            tasks,
            free,
            candidate,
            reserved,
            drain,
            drain_due,
            drain_write,
            announced,
            booted_into,
        } = parts;
        if before.is_none() {
            self.put(&(8_u8, settings, version));
        }
        self.put(&(free, candidate, announced));
        self.put_flags([*reserved, *drain_due, *booted_into]);
        self.put_unless_equal(10, before.map(|before| &before.drain), drain);
        self.put_unless_equal(11, before.map(|before| &before.drain_write), drain_write);
        self.put_rows(12, before.map(|before| &before.tasks), tasks);
        // Its rows are written with those of the disk, which are taken from there.
        let Ledger { format: _, entries, drain: _, next_place, next_drain } = ledger;
        self.put_numbers([entries.len() as u64, *next_place, *next_drain]);
    }

    fn put_ledger(&mut self, before: Option<&Ledger>, ledger: &Ledger) {
        let Ledger { format, entries, drain, next_place, next_drain } = ledger;
        if before.is_none() {
            self.put(&(13_u8, format));
        }
        self.put_numbers([14, *next_place, *next_drain]);
        self.put_unless_equal(15, before.map(|before| &before.drain), drain);
        self.put_rows(16, before.map(|before| &before.entries), entries);
    }

    /// The rows that are others than before, and the keys that are gone.
    fn put_rows<K, V>(&mut self, tag: u8, was: Option<&BTreeMap<K, V>>, is: &BTreeMap<K, V>)
    where
        K: Ord + Serialize,
        V: PartialEq + Serialize,
    {
        if was.is_none_or(BTreeMap::is_empty) && is.is_empty() {
            return;
        }
        let mut old = was.into_iter().flatten().peekable();
        for (key, row) in is {
            while let Some((gone, _)) = old.next_if(|(old, _)| *old < key) {
                self.put(&(tag | GONE, gone));
            }
            let same = old.next_if(|(old, _)| *old == key).is_some_and(|(_, old)| old == row);
            if !same {
                self.put(&(tag, key, row));
            }
        }
        for (gone, _) in old {
            self.put(&(tag | GONE, gone));
        }
    }

    /// What has joined a set that nothing leaves.
    fn put_new(&mut self, tag: u8, was: Option<&Arc<BTreeSet<Work>>>, is: &Arc<BTreeSet<Work>>) {
        if was.is_some_and(|was| Arc::ptr_eq(was, is)) {
            return;
        }
        self.put(&(tag, is.len() as u64));
        for work in is.iter().filter(|work| !was.is_some_and(|was| was.contains(*work))) {
            self.put(&(tag, work));
        }
    }

    fn put_unless_equal<T: Serialize + PartialEq>(&mut self, tag: u8, was: Option<&T>, is: &T) {
        if was != Some(is) {
            self.put(&(tag, is));
        }
    }

    /// What is next on either way, and how much there is; the rest was next, or the newest, once.
    fn put_link(&mut self, before: Option<&Link>, link: &Link) {
        let Link { statements, views, newest, statements_stalled, views_stalled, cut } = link;
        let was = before.and_then(|before| before.newest.as_ref());
        let published = was != newest.as_ref();
        self.put_flags([*statements_stalled, *views_stalled, *cut, published]);
        if published {
            self.put_view(newest.as_deref());
        }
        self.put_number(statements.len() as u64);
        for statement in [statements.front(), statements.back()].into_iter().flatten() {
            self.put_numbers([statement.host.incarnation.0, statement.seq.0]);
        }
        self.put_number(views.len() as u64);
        self.put_message(views.front().map(|view| &**view));
    }

    /// Which view of its link it is.
    fn put_message(&mut self, view: Option<&View>) {
        let numbers = |view: &View| [view.revision.0 + 1, view.host.incarnation.0];
        self.put_numbers(view.map_or([0, 0], numbers));
    }

    /// The numbers of a view: what else it says is what the record of its revision said.
    fn put_view(&mut self, view: Option<&View>) {
        let Some(view) = view else { return self.0.push(u8::MAX) };
        let (verdict, hold) = (view.verdict.as_ref(), view.hold.as_ref());
        self.put_flags([view.gone, view.is_approved(), view.acknowledged.is_some()]);
        self.put_numbers([
            view.host.incarnation.0,
            view.revision.0,
            hold.map_or(0, |hold| hold.grant.0),
            view.acknowledged.map_or(0, |seq| seq.0),
            verdict.map_or(0, |verdict| verdict.grant.0),
            view.name_floor.map_or(0, |floor| floor.0),
        ]);
    }

    /// Numbers, most of them small, one after another.
    fn put_numbers<const N: usize>(&mut self, numbers: [u64; N]) {
        if numbers.iter().fold(0, |all, number| all | number) < 0x80 {
            self.0.extend(numbers.map(|number| number.to_le_bytes()[0]));
        } else {
            numbers.into_iter().for_each(|number| self.put_number(number));
        }
    }

    /// One byte, the first flag lowest.
    fn put_flags<const N: usize>(&mut self, flags: [bool; N]) {
        let byte = flags.into_iter().rev().fold(0, |byte, flag| byte << 1 | u8::from(flag));
        self.0.push(byte);
    }

    /// A number as postcard writes it: seven bits a byte, the lowest first.
    fn put_number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number.to_le_bytes()[0] | 0x80);
            number >>= 7;
        }
        self.0.push(number.to_le_bytes()[0]);
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

    /// `b` asks, the record offers it the job, it reads of it: each event as it is told, and as it
    /// happens.
    fn script() -> [(Event, Event); 4] {
        let (from, to) = (Who(1), ArbiterIndex(0));
        [Event::Ask(Who(1)), Event::Deliver { from, to }, Event::Publish(to), Event::Read(Who(1))]
            .map(|event| (event.clone(), event))
    }

    fn run(script: &[(Event, Event)]) -> Vec<String> {
        let mut world = world();
        let mut digest = Digest::new();
        let mut digests = Vec::new();
        for (told, event) in script {
            let before = world.clone();
            world.apply(event, &mut Vec::new()).expect("it is enabled");
            digest.step(told, &before, &world);
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
                "d39aab861c295ffc54f61c61fe5bf83b",
                "0f961eb75fab79d7e7d927c086eae096",
                "099cd65feafa0596af8e978cba643145",
                "2c1268ed97e34ca3f5cfd9b501405bf6"
            ]
        );
    }

    #[test]
    fn another_event_that_does_the_same_is_another_digest_from_there_on() {
        let mut retold = script();
        retold[2].0 = Event::Heal;
        let (one, other) = (run(&script()), run(&retold));
        assert_eq!(one[..2], other[..2]);
        assert_ne!(one[2], other[2]);
        assert_ne!(one[3], other[3]);
    }

    #[test]
    fn another_outcome_of_the_same_event_is_another_digest() {
        let mut other = script();
        other[0].1 = Event::Ask(Who(0));
        assert_ne!(run(&script()[..1]), run(&other[..1]));
    }
}
