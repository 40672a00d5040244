//! `variants`: how long each strategy takes to find what each wrong protocol breaks.

use std::fmt::Write as _;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use handover_sim::check::Property;
use handover_sim::explore::explore;
use handover_sim::suite::Judgement;
use handover_sim::swarm::{Plan, Strategy};
use handover_sim::variants::{
    Hunt, PROTOCOLS, Protocol, first_broken, hunt, hunting_ground, smallest,
};

use super::cli::Variants;
use super::{complain, interrupt, json, print, progress};

/// Schedules of a cell of the table, over all its seeds.
const SCHEDULES_MAX: u64 = 2_000;

/// What is known of a wrong protocol.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) protocol: &'static dyn Protocol,
    pub(super) shortest: Shortest,
    /// What each strategy has found, seed by seed.
    pub(super) cells: Vec<(Strategy, Vec<Hunt>)>,
}

/// The shortest schedule that breaks something.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shortest {
    /// Of this property, in so many steps.
    Found(Property, usize),
    /// The explorer has nothing to show, and why.
    None(&'static str),
}

/// Hunts each wrong protocol by each strategy, and prints a row as soon as it is known. After a
/// Ctrl-C the rows that are not complete are left out.
pub(super) fn variants(asked: &Variants) -> Judgement {
    let protocols = asked.protocols();
    let strategies = asked.strategies();
    let share = (SCHEDULES_MAX / (asked.seeds.end - asked.seeds.start)).max(1);
    let mut rows = Vec::new();
    if !asked.json && print(&head(asked, share)) != Judgement::AsExpected {
        return Judgement::Unreadable;
    }
    interrupt::listen();
    let line = progress::line();
    let taken = AtomicUsize::new(0);
    let jobs = asked.jobs.count().min(protocols.len());
    std::thread::scope(|scope| {
        let (send, receive) = mpsc::channel();
        for _ in 0..jobs {
            let (send, protocols, strategies, taken) =
                (send.clone(), &protocols, &strategies, &taken);
            scope.spawn(move || {
                while let Some(protocol) = protocols.get(taken.fetch_add(1, Ordering::Relaxed)) {
                    let row = Row::of(*protocol, strategies, asked.seeds.clone(), share);
                    let told = row.is_some_and(|row| send.send(row).is_ok());
                    if !told {
                        break;
                    }
                }
            });
        }
        drop(send);
        // The rows come in any order, and are told in that of the protocols.
        let mut waiting: Vec<Row> = Vec::new();
        for protocol in &protocols {
            line.set_message(protocol.name());
            let is_next = |row: &Row| row.protocol.name() == protocol.name();
            while !waiting.iter().any(is_next) {
                let Ok(row) = receive.recv() else { return };
                waiting.push(row);
            }
            let next = waiting.iter().position(is_next).map(|at| waiting.swap_remove(at));
            let row = next.expect("it was waited for");
            if !asked.json {
                line.suspend(|| print(&row.lines()));
            }
            rows.push(row);
        }
    });
    line.finish_and_clear();
    let all = if rows.len() < protocols.len() { Judgement::Unknown } else { Judgement::AsExpected };
    let judgement = rows.iter().map(Row::judgement).fold(all, Judgement::max);
    for row in rows.iter().filter(|row| row.judgement() != Judgement::AsExpected) {
        complain(&format!("not as it should be: {}", row.wrong()));
    }
    let text =
        if asked.json { json::variants(&rows, judgement) } else { tail(&rows, protocols.len()) };
    judgement.max(print(&text))
}

impl Variants {
    /// Those that are named, each once.
    fn protocols(&self) -> Vec<&'static dyn Protocol> {
        let named = |name| self.protocol.is_empty() || self.protocol.iter().any(|it| it == name);
        PROTOCOLS.iter().copied().filter(|protocol| named(protocol.name())).collect()
    }

    fn strategies(&self) -> Vec<Strategy> {
        if self.strategy.is_empty() {
            return Strategy::ALL.to_vec();
        }
        let mut named = Vec::new();
        for strategy in &self.strategy {
            if !named.contains(strategy) {
                named.push(*strategy);
            }
        }
        named
    }
}

impl Row {
    fn of(
        protocol: &'static dyn Protocol,
        strategies: &[Strategy],
        seeds: Range<u64>,
        share: u64,
    ) -> Option<Self> {
        let cell = |strategy: &Strategy| {
            let plan = Plan::new(&hunting_ground(protocol), *strategy, protocol);
            let hunts = seeds.clone().map(|seed| {
                let goes_on = !interrupt::is_interrupted();
                goes_on.then(|| hunt(seed, share, &plan))
            });
            Some((*strategy, hunts.collect::<Option<Vec<Hunt>>>()?))
        };
        let cells = strategies.iter().map(cell).collect::<Option<_>>()?;
        Some(Self { protocol, shortest: Shortest::of(protocol)?, cells })
    }

    /// The right one and those that other rules make up for break nothing; of the others the
    /// shortest schedule breaks what they name. That a strategy misses one is no failure.
    pub(super) fn judgement(&self) -> Judgement {
        let found = self.cells.iter().flat_map(|(_, hunts)| hunts).any(|hunt| hunt.found.is_some());
        let as_named = match (self.protocol.breaks(), self.shortest) {
            (None, _) => !found,
            (Some(named), Shortest::Found(property, _)) => property == named,
            (Some(_), Shortest::None(_)) => true,
        };
        if as_named { Judgement::AsExpected } else { Judgement::NotAsExpected }
    }

    fn wrong(&self) -> String {
        let name = self.protocol.name();
        match (self.protocol.breaks(), self.shortest) {
            (Some(named), Shortest::Found(property, steps)) => {
                format!("{name} names {named}, and breaks {property} first, in {steps} steps")
            }
            (_, _) => format!("{name} breaks something, and names nothing"),
        }
    }

    /// A line for each strategy.
    fn lines(&self) -> String {
        let mut text = String::new();
        let breaks =
            self.protocol.breaks().map_or_else(|| "nothing".to_owned(), |named| named.to_string());
        let shortest = match self.shortest {
            Shortest::Found(_, steps) => steps.to_string(),
            Shortest::None(_) => "-".to_owned(),
        };
        for (strategy, hunts) in &self.cells {
            let found = hunts.iter().filter(|hunt| hunt.found.is_some()).count();
            let figures = Figures::of(hunts);
            let _ = writeln!(
                text,
                "{:31} {breaks:16} {shortest:>8}  {:15} {:>8}  {:>9} {:>5}  {:>9} {:>8}",
                self.protocol.name(),
                strategy.to_string(),
                format!("{found}/{}", hunts.len()),
                or_dash(figures.schedules.0),
                or_dash(figures.schedules.1),
                or_dash(figures.events.0),
                or_dash(figures.events.1),
            );
        }
        text
    }
}

impl Shortest {
    /// None where it was interrupted.
    fn of(protocol: &'static dyn Protocol) -> Option<Self> {
        let bounds = match smallest(protocol) {
            Ok(bounds) => bounds,
            Err(why) => return Some(Self::None(why)),
        };
        let found = explore(&bounds, 1, |_| {
            if interrupt::is_interrupted() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        let nothing = Self::None("nothing was found within its bounds");
        let first = first_broken(&found);
        let shown =
            first.map_or(nothing, |first| Self::Found(first.violation.property, first.steps));
        (!interrupt::is_interrupted()).then_some(shown)
    }
}

/// Median and 95th percentile over the seeds; none where that many have found nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Figures {
    pub(super) schedules: (Option<u64>, Option<u64>),
    pub(super) events: (Option<u64>, Option<u64>),
}

impl Figures {
    pub(super) fn of(hunts: &[Hunt]) -> Self {
        let found = hunts.iter().filter(|hunt| hunt.found.is_some());
        let mut schedules: Vec<u64> = found.clone().map(|hunt| hunt.schedules).collect();
        let mut events: Vec<u64> = found.map(|hunt| hunt.events).collect();
        schedules.sort_unstable();
        events.sort_unstable();
        // A miss is beyond all that was found.
        let rank = |percent: usize| (hunts.len() * percent).div_ceil(100).saturating_sub(1);
        let at = |sorted: &[u64]| (sorted.get(rank(50)).copied(), sorted.get(rank(95)).copied());
        Self { schedules: at(&schedules), events: at(&events) }
    }
}

fn or_dash(figure: Option<u64>) -> String {
    figure.map_or_else(|| "-".to_owned(), |figure| figure.to_string())
}

fn head(asked: &Variants, share: u64) -> String {
    let Range { start, end } = asked.seeds;
    format!(
        "seeds {start}..{end}, at most {share} schedules each; `-`: more seeds than that found \
         nothing\n\n{:31} {:16} {:>8}  {:15} {:>8}  {:>9} {:>5}  {:>9} {:>8}\n{:31} {:16} {:>8}  {:15} \
         {:>8}  {:>9} {:>5}  {:>9} {:>8}\n",
        "protocol",
        "breaks first",
        "shortest",
        "strategy",
        "found by",
        "schedules",
        "",
        "events",
        "",
        "",
        "",
        "in steps",
        "",
        "seeds",
        "median",
        "p95",
        "median",
        "p95"
    )
}

/// What is missing of so many rows, and what has no shortest schedule, with the reason.
fn tail(rows: &[Row], of: usize) -> String {
    let mut text = String::from("\n");
    if rows.len() < of {
        let _ = writeln!(
            text,
            "interrupted: {} of {of} protocols were hunted to their end, in the order of the table",
            rows.len()
        );
    }
    for row in rows {
        if let Shortest::None(why) = row.shortest {
            let _ = writeln!(text, "no shortest schedule of {}: {why}", row.protocol.name());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::super::cli::{Cli, Command};
    use super::*;

    #[test]
    fn what_is_named_twice_is_hunted_once() {
        let words = "handover-sim variants --protocol no-seq --protocol no-seq \
                     --strategy pct --strategy mix --strategy pct=3";
        let asked = match Cli::parse_from(words.split_whitespace()).asked().0 {
            Command::Variants(asked) => asked,
            other @ (Command::Check(_)
            | Command::Replay(_)
            | Command::Explore(_)
            | Command::Swarm(_)
            | Command::Judge(_)
            | Command::Vocabulary(_)) => panic!("{other:?}"),
        };
        let protocols: Vec<&str> = asked.protocols().iter().map(|it| it.name()).collect();
        assert_eq!(protocols, ["no-seq"]);
        assert_eq!(asked.strategies(), [Strategy::Pct { depth: 3 }, Strategy::Mix]);
    }

    fn hunts(found: &[u64], misses: usize) -> Vec<Hunt> {
        let found = found.iter().map(|schedules| Hunt {
            schedules: *schedules,
            events: 10 * schedules,
            found: Some(Property::NoWedge),
        });
        let missed = Hunt { schedules: 100, events: 1_000, found: None };
        found.chain(std::iter::repeat_n(missed, misses)).collect()
    }

    #[test]
    fn a_miss_is_beyond_all_that_was_found() {
        let all = Figures::of(&hunts(&[5, 1, 3], 0));
        assert_eq!(all.schedules, (Some(3), Some(5)));
        assert_eq!(all.events, (Some(30), Some(50)));
        let most = Figures::of(&hunts(&[5, 1, 3], 2));
        assert_eq!(most.schedules, (Some(5), None));
        assert_eq!(Figures::of(&hunts(&[7], 2)).schedules, (None, None));
    }
}
