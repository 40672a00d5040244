//! A world in 128 bits, without its numbers: what goes round and round comes to the same print.
//!
//! Unlike the key of an explored state this leaves messages where they are and hosts in their
//! places, so it serves any world. What it drops is what only grows: of a number its rank counts,
//! among those that it is compared with, and a grant that nobody can name any more is forgotten.

use xxhash_rust::xxh3::xxh3_128;

use handover_core::Revision;

use super::Reductions;
use super::bounds::Gaps;
use super::canon::{Kind, Number};
use super::encode::{part, place_part, process_part, whole_part, write_decisions, write_lines};
use super::key::{Part, Scratch};
use crate::variants::is_current;
use crate::world::{Setup, World};

/// Makes the prints of the worlds of one setup.
#[derive(Debug)]
pub struct Printer {
    scratch: Scratch,
    numbers: Vec<Number>,
    ranks: Vec<u32>,
    bytes: Vec<u8>,
}

impl Printer {
    /// For worlds of this setup.
    #[must_use]
    pub fn new(setup: &Setup) -> Self {
        let reductions = Reductions { ranks: true, ..Reductions::NONE };
        // A wrong protocol may look at numbers where the right one only compares them.
        let gaps = if is_current(setup.protocol) { Gaps::NONE } else { Gaps::NEIGHBOURS };
        let scratch = Scratch::with(setup, reductions, gaps);
        Self { scratch, numbers: Vec::new(), ranks: Vec::new(), bytes: Vec::new() }
    }

    /// The print of a world of this setup: equal where no actor can ever tell a difference.
    ///
    /// Incarnations are no such numbers: where hosts come back for ever no print comes again.
    ///
    /// # Panics
    /// If the world is of another setup.
    pub fn print(&mut self, world: &World) -> u128 {
        let parts = self.parts(world);
        self.numbers.clear();
        self.numbers.extend(parts.iter().flat_map(|part| part.numbers.iter().copied()));
        self.numbers.sort_unstable();
        self.numbers.dedup();
        self.rank_all(self.gaps(world));
        self.bytes.clear();
        for part in &parts {
            self.write(part);
        }
        xxh3_128(&self.bytes)
    }

    fn parts(&mut self, world: &World) -> Vec<Part> {
        let scratch = &mut self.scratch;
        let mut parts = vec![whole_part(world, scratch), arbiters_part(world, scratch)];
        parts.extend((0..scratch.places.len()).map(|place| place_part(world, place, scratch)));
        let published = || {
            let applied = world.arbiters().map(|(_, arbiter)| arbiter.applied.revision());
            applied.chain([world.committed().revision()])
        };
        parts.extend(world.processes().map(|(who, _)| {
            let mut part = process_part(world, who, scratch);
            // A view is new to a process or not.
            let number = |revision: Revision| Number::new(Kind::Revision, who.0.into(), revision.0);
            part.numbers.extend(published().map(number));
            part
        }));
        parts
    }

    /// Once two processes speak under one number, the words of one count as those of the other: then
    /// it matters how far they are apart.
    fn gaps(&self, world: &World) -> Gaps {
        let gaps = self.scratch.gaps;
        if world.history().reused { gaps.with_all_words() } else { gaps }
    }

    /// Each number's rank among those of its kind and scope; with gaps, neighbours stay neighbours.
    fn rank_all(&mut self, gaps: Gaps) {
        self.ranks.clear();
        let mut last: Option<(Number, u32)> = None;
        for number in &self.numbers {
            let (value, rank) = match last {
                Some((last, rank)) if last.group() == number.group() => (last.value(), rank),
                Some(_) | None => (0, 0),
            };
            let gap = (number.value() - value).min(gaps.most(*number));
            let rank = rank + u32::try_from(gap).expect("few words");
            self.ranks.push(rank);
            last = Some((*number, rank));
        }
    }

    fn rank(&self, number: Number) -> Option<u32> {
        if let Some(place) = number.name() {
            return u32::try_from(place).ok();
        }
        self.numbers.binary_search(&number).ok().map(|at| self.ranks[at])
    }

    /// What is remembered of a grant counts while the grant can be named.
    fn write(&mut self, part: &Part) {
        self.bytes.extend(part.hash.to_le_bytes());
        for number in &part.numbers {
            let rank = self.rank(*number).expect("all numbers of the parts have a rank");
            self.bytes.extend(rank.to_le_bytes());
        }
        let mut memories: Vec<_> = part
            .memories
            .iter()
            .filter_map(|memory| {
                let rank = self.rank(Number::new(Kind::Grant, 0, memory.grant.0))?;
                Some((rank, memory.place, memory.hash))
            })
            .collect();
        memories.sort_unstable();
        let bytes = postcard::to_allocvec(&memories).expect("numbers can be encoded");
        self.bytes.extend(bytes);
    }
}

/// What arbiters are about to do, and the record as one knows it that is behind the store.
fn arbiters_part(world: &World, scratch: &mut Scratch) -> Part {
    scratch.writer.clear();
    for (_, arbiter) in world.arbiters() {
        let due = (arbiter.stalled, arbiter.conflict_next, arbiter.unknown_next);
        scratch.writer.write(&due);
        let is_behind = arbiter.applied.revision() != world.committed().revision();
        scratch.writer.write(&is_behind);
        if is_behind {
            write_decisions(&arbiter.applied, scratch);
            for place in scratch.places.clone() {
                write_lines(&arbiter.applied, &place, scratch);
            }
        }
    }
    scratch.writer.write(&world.history().reused);
    part(&scratch.writer, Vec::new())
}

#[cfg(test)]
mod tests {
    use super::super::Bounds;
    use super::*;
    use crate::variants::by_name;
    use crate::world::{ArbiterIndex, Event, Who};

    const A: Who = Who(0);
    const RECORD: ArbiterIndex = ArbiterIndex(0);
    const HOSTS: usize = 20;

    fn after(world: &World, events: &[Event]) -> World {
        let mut world = world.clone();
        for event in events {
            world.apply(event, &mut Vec::new()).expect("the test knows what can happen");
        }
        world
    }

    /// The job is offered to a host that then stands down: a hand-over comes to nothing.
    fn round(first: Event) -> Vec<Event> {
        let heard = || {
            let reads = (0..HOSTS).map(|host| Event::Read(Who::from(host)));
            [Event::Deliver { from: A, to: RECORD }, Event::Publish(RECORD)]
                .into_iter()
                .chain(reads)
        };
        let stands_down = Event::StandDown { who: A, after: false };
        [first].into_iter().chain(heard()).chain([stands_down]).chain(heard()).collect()
    }

    fn setup(protocol: &str) -> Setup {
        let bounds = Bounds::new(&[0; HOSTS]);
        Setup { protocol: by_name(protocol).expect("it is known"), ..bounds.setup() }
    }

    #[test]
    fn worlds_that_differ_in_numbers_alone_have_one_print() {
        for protocol in ["current", "report-not-held"] {
            let setup = setup(protocol);
            let mut printer = Printer::new(&setup);
            let mut world = after(&World::new(setup), &round(Event::Ask(A)));
            // A wrong protocol may tell the first numbers from later ones.
            world = after(&after(&world, &round(Event::Reask(A))), &round(Event::Reask(A)));
            for at in 0..=round(Event::Reask(A)).len() {
                let once = after(&world, &round(Event::Reask(A))[..at]);
                let again = after(&world, &round(Event::Reask(A)));
                let again = after(&again, &round(Event::Reask(A))[..at]);
                assert_ne!(once, again, "{protocol} {at}");
                assert_eq!(printer.print(&once), printer.print(&again), "{protocol} {at}");
            }
        }
    }

    #[test]
    fn after_a_reuse_worlds_that_differ_in_their_words_have_two_prints() {
        let setup = setup("current");
        let mut printer = Printer::new(&setup);
        let once = after(&World::new(setup), &round(Event::Ask(A)));
        let twice = after(&once, &round(Event::Reask(A)));
        // The record has heard 2 words of one, and 4 of the other.
        let again = [Event::Crash(A), Event::Reuse(A), Event::Ask(Who::from(HOSTS))];
        let [once, twice] = [once, twice].map(|world| printer.print(&after(&world, &again)));
        assert_ne!(once, twice);
    }

    #[test]
    fn worlds_that_an_actor_can_tell_apart_have_two_prints() {
        let setup = setup("current");
        let mut printer = Printer::new(&setup);
        let world = World::new(setup);
        let mut prints = Vec::new();
        for at in 0..=round(Event::Ask(A)).len() {
            prints.push(printer.print(&after(&world, &round(Event::Ask(A))[..at])));
        }
        let lost = [Event::Ask(A), Event::Conflict(RECORD)];
        prints.push(printer.print(&after(&world, &lost)));
        prints.push(printer.print(&after(&world, &[Event::Ask(Who(1))])));
        prints.sort_unstable();
        let count = prints.len();
        prints.dedup();
        assert_eq!(prints.len(), count);
    }
}
