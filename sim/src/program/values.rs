//! What arguments of several commands are made of.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::ops::Range;

use clap::Args;
use clap::builder::{PossibleValuesParser, RangedI64ValueParser, TypedValueParser};
use handover_sim::choose::FaultKind;
use handover_sim::explore::{Bounds, RefusedFault};
use handover_sim::scenario::nearest;
use handover_sim::variants::PROTOCOLS;

/// How many threads work.
#[derive(Args, Debug)]
pub(super) struct Jobs {
    /// Threads; what is found does not depend on their number [default: one a core]
    #[arg(long, value_name = "N", value_parser = range::<u32>(1, 512))]
    jobs: Option<u32>,
}

impl Jobs {
    pub(super) fn count(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, NonZero::get);
        self.jobs.map_or_else(cores, |jobs| usize::try_from(jobs).unwrap_or(usize::MAX))
    }
}

/// From `least` to `most`.
pub(super) fn range<T>(least: i64, most: i64) -> RangedI64ValueParser<T>
where
    T: TryFrom<i64> + Clone + Send + Sync,
    RangedI64ValueParser<T>: TypedValueParser,
{
    RangedI64ValueParser::new().range(least..=most)
}

pub(super) fn protocols() -> PossibleValuesParser {
    PossibleValuesParser::new(PROTOCOLS.iter().map(|protocol| protocol.name()))
}

/// `0..100`, the last one excluded; at least one seed, and at most so many.
pub(super) fn seeds(most: u64) -> impl Fn(&str) -> Result<Range<u64>, String> + Clone {
    move |text| {
        let (start, end) =
            text.split_once("..").ok_or("write A..B, with B excluded, as in 0..1000")?;
        let number = |text: &str| {
            let number = text.trim().parse::<u64>();
            number.map_err(|_| format!("`{text}` is no number from 0 to {}", u64::MAX))
        };
        let seeds = number(start)?..number(end)?;
        match seeds.end.saturating_sub(seeds.start) {
            0 => Err("that is no seed at all: B is excluded, and has to be above A".to_owned()),
            count if count > most => {
                Err(format!("that is {count} seeds, and there may be {most}; B is excluded"))
            }
            _ => Ok(seeds),
        }
    }
}

/// `512M`
pub(super) fn size(text: &str) -> Result<usize, String> {
    let (number, unit) = match text.char_indices().last() {
        Some((at, 'K' | 'k')) => (&text[..at], 1 << 10),
        Some((at, 'M' | 'm')) => (&text[..at], 1 << 20),
        Some((at, 'G' | 'g')) => (&text[..at], 1 << 30),
        Some(_) | None => (text, 1),
    };
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number {
        return Err("write a number of bytes, or one with K, M or G, as in 512M".to_owned());
    }
    let size = number.parse::<usize>().ok().and_then(|number| number.checked_mul(unit));
    match size {
        Some(0) => Err("a search holds at least a byte; leave it out for no bound".to_owned()),
        Some(size) => Ok(size),
        None => Err(format!("no machine has so many bytes; the most is {}G", usize::MAX >> 30)),
    }
}

/// How often each kind of fault may strike, at most; those that never may are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Faults(pub(super) BTreeMap<FaultKind, u32>);

/// More of one kind than this would be all that happens.
const TIMES_MAX: u32 = 1_000;

/// Why a list of faults cannot be read.
#[derive(Debug, thiserror::Error)]
enum Misread {
    #[error("`{0}`: write KIND=N, as in crash=1, or none")]
    NoPair(String),
    #[error("`{times}` is no number from 0 to {most}")]
    NoNumber { times: String, most: u32 },
    #[error("there is no fault `{0}`")]
    NoKind(String),
    #[error("`{0}` stands there twice")]
    Twice(String),
    #[error("each kind has a budget of its own here")]
    All,
    #[error(transparent)]
    Budget(#[from] RefusedFault),
}

impl Misread {
    /// What is wrong; and where it is the kind, which kinds there are.
    fn told(&self, kinds: &[&'static str]) -> String {
        match self {
            Self::NoKind(word) => {
                let near = nearest(word, kinds.iter().copied());
                let near = near.map(|near| format!(" (did you mean `{near}`?)"));
                format!("{self}{}; there are {}", near.unwrap_or_default(), kinds.join(", "))
            }
            Self::All | Self::Budget(RefusedFault::NoBudget { .. }) => {
                format!("{self}; there are {}", kinds.join(", "))
            }
            Self::NoPair(_)
            | Self::NoNumber { .. }
            | Self::Twice(_)
            | Self::Budget(RefusedFault::TooOften { .. }) => self.to_string(),
        }
    }
}

/// What is named, each once; none is all.
fn read(text: &str, most: u32) -> Result<BTreeMap<Option<FaultKind>, u32>, Misread> {
    let mut named = BTreeMap::new();
    if text == "none" {
        return Ok(named);
    }
    for each in text.split(',') {
        let (word, times) = each.split_once('=').ok_or_else(|| Misread::NoPair(each.to_owned()))?;
        let number = times.parse().ok().filter(|number| *number <= most);
        let number = number.ok_or_else(|| Misread::NoNumber { times: times.to_owned(), most })?;
        let kind = FaultKind::ALL.iter().copied().find(|kind| kind.word() == word);
        if kind.is_none() && word != ALL {
            return Err(Misread::NoKind(word.to_owned()));
        }
        if named.insert(kind, number).is_some() {
            return Err(Misread::Twice(word.to_owned()));
        }
    }
    Ok(named)
}

const ALL: &str = "all";

/// `crash=2,gone=1`, `all=3,reuse=0`, `none`: a kind that is named counts for more than `all`.
pub(super) fn faults(text: &str) -> Result<Faults, String> {
    let kinds = || FaultKind::ALL.iter().map(|kind| kind.word());
    let words = || std::iter::once(ALL).chain(kinds()).collect::<Vec<_>>();
    let named = read(text, TIMES_MAX).map_err(|why| why.told(&words()))?;
    let all = named.get(&None).copied().unwrap_or_default();
    let times = |kind: FaultKind| named.get(&Some(kind)).copied().unwrap_or(all);
    let faults = FaultKind::ALL.iter().map(|kind| (*kind, times(*kind)));
    Ok(Faults(faults.filter(|(_, times)| *times > 0).collect()))
}

/// `crash=1,gone=1`, of the kinds that have a budget in an exploration.
pub(super) fn budgets(text: &str) -> Result<BTreeMap<FaultKind, u8>, String> {
    let kinds = || Bounds::kinds().map(FaultKind::word).collect::<Vec<_>>();
    read_budgets(text).map_err(|why| why.told(&kinds()))
}

fn read_budgets(text: &str) -> Result<BTreeMap<FaultKind, u8>, Misread> {
    let mut budgets = BTreeMap::new();
    for (kind, times) in read(text, u8::MAX.into())? {
        let kind = kind.ok_or(Misread::All)?;
        let times = u8::try_from(times).expect("no more were read");
        if times > 0 {
            Bounds::new(&[]).with(kind, times)?;
            budgets.insert(kind, times);
        }
    }
    Ok(budgets)
}

#[cfg(test)]
mod tests {
    use handover_sim::swarm::Settings;

    use super::*;

    #[test]
    fn faults_are_named_each_or_all_and_a_name_counts_for_more_than_all() {
        let read = |text| faults(text).map(|Faults(faults)| faults);
        let both = BTreeMap::from([(FaultKind::Crash, 2), (FaultKind::Gone, 1)]);
        assert_eq!(read("crash=2,gone=1"), Ok(both));
        assert_eq!(read("none"), Ok(BTreeMap::new()));
        for all in ["all=3,reuse=0", "reuse=0,all=3"] {
            assert_eq!(read(all), Ok(Settings::default().faults));
        }
    }

    #[test]
    fn what_is_no_fault_is_refused_with_those_that_are() {
        let refused = |text| faults(text).expect_err("it cannot be read");
        let near = "there is no fault `crush` (did you mean `crash`?); there are all, delay, ";
        assert!(refused("crush=1").starts_with(near));
        assert!(
            refused("flood=1").starts_with("there is no fault `flood`; there are all, delay, ")
        );
        assert!(refused("crash").contains("write KIND=N"));
        assert!(refused("crash=1001").contains("from 0 to 1000"));
        assert!(refused("").contains("write KIND=N"));
        assert_eq!(refused("crash=1,crash=2"), "`crash` stands there twice");
    }

    #[test]
    fn an_exploration_takes_the_kinds_that_have_a_budget_there() {
        assert_eq!(budgets("crash=1"), Ok(BTreeMap::from([(FaultKind::Crash, 1)])));
        assert_eq!(budgets("none"), Ok(BTreeMap::new()));
        let refused = |text| budgets(text).expect_err("it has no budget");
        for text in ["pause=1", "crush=1", "all=1", "all=0"] {
            assert!(refused(text).contains("; there are "), "{}", refused(text));
        }
        assert!(refused("crash=200").starts_with("200 times `crash` are too many: at most "));
        assert_eq!(refused("crash=1,crash=2"), "`crash` stands there twice");
        assert_eq!(refused("crash=256"), "`256` is no number from 0 to 255");
    }

    #[test]
    fn seeds_are_a_range_that_is_not_empty_and_has_no_more_than_there_may_be() {
        let few = seeds(2_000);
        assert_eq!(few("1..100"), Ok(1..100));
        assert_eq!(few("0..2000"), Ok(0..2_000));
        assert_eq!(seeds(u64::MAX)("0..18446744073709551615"), Ok(0..u64::MAX));
        for (text, why) in [
            ("", "write A..B"),
            ("7", "write A..B"),
            ("..", "`` is no number"),
            ("a..2", "`a` is no number"),
            ("-1..2", "`-1` is no number"),
            ("1..=2", "`=2` is no number"),
            ("0..18446744073709551616", "`18446744073709551616` is no number"),
            ("3..3", "no seed at all"),
            ("4..3", "no seed at all"),
            ("0..2001", "that is 2001 seeds, and there may be 2000"),
        ] {
            let said = few(text).expect_err(text);
            assert!(said.contains(why), "{text}: {said}");
        }
    }

    #[test]
    fn a_size_is_a_number_of_bytes_that_there_can_be() {
        assert_eq!(size("512M"), Ok(512 << 20));
        assert_eq!(size("7"), Ok(7));
        for (text, why) in [
            ("", "as in 512M"),
            ("G", "as in 512M"),
            ("1.5G", "as in 512M"),
            ("-1", "as in 512M"),
            ("1é", "as in 512M"),
            ("0", "leave it out"),
            ("99999999999G", "the most is"),
            ("99999999999999999999999", "the most is"),
        ] {
            let said = size(text).expect_err(text);
            assert!(said.contains(why), "{text}: {said}");
        }
    }
}
