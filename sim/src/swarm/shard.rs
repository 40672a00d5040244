//! A share of the seeds.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// One of so many shares of the seeds; the first is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shard {
    index: u64,
    of: u64,
}

impl Shard {
    /// All of it.
    pub const WHOLE: Self = Self { index: 1, of: 1 };

    /// The share `index` of `of`; none if there is no such share.
    #[must_use]
    pub fn new(index: u64, of: u64) -> Option<Self> {
        (1..=of).contains(&index).then_some(Self { index, of })
    }

    /// Which share it is, from 1 on.
    #[must_use]
    pub const fn index(self) -> u64 {
        self.index
    }

    /// How many shares there are.
    #[must_use]
    pub const fn of(self) -> u64 {
        self.of
    }

    /// The share's seed of this number, from 0 on: the shares take turns, so that each has its part
    /// of whatever depends on the number of a seed.
    #[must_use]
    pub fn seed(self, seeds: &Range<u64>, number: u64) -> Option<u64> {
        let offset = number.checked_mul(self.of)?.checked_add(self.index - 1)?;
        seeds.start.checked_add(offset).filter(|seed| *seed < seeds.end)
    }

    /// How many of the seeds are in this share.
    #[must_use]
    pub fn len(self, seeds: &Range<u64>) -> u64 {
        let all = seeds.end.saturating_sub(seeds.start);
        all.saturating_sub(self.index - 1).div_ceil(self.of)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = || {
            let (index, of) = text.split_once('/')?;
            Self::new(index.parse().ok()?, of.parse().ok()?)
        };
        let wrong = "is no shard; write I/N with I from 1 to N, as in 1/4";
        read().ok_or_else(|| format!("`{text}` {wrong}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shards_are_the_whole_and_none_has_a_seed_of_another() {
        for (start, end, of) in [(0, 10, 3), (5, 7, 4), (3, 3, 2), (0, 12, 1)] {
            let seeds = start..end;
            let mut all: Vec<u64> = Vec::new();
            for shard in (1..=of).filter_map(|index| Shard::new(index, of)) {
                let share: Vec<u64> = (0..).map_while(|n| shard.seed(&seeds, n)).collect();
                assert_eq!(share.len() as u64, shard.len(&seeds), "{shard} of {seeds:?}");
                all.extend(share);
            }
            all.sort_unstable();
            assert_eq!(all, seeds.collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_last_seed_of_all_is_in_a_shard() {
        let shard = Shard::new(2, 2).expect("there are two");
        let seeds = u64::MAX - 2..u64::MAX;
        assert_eq!(shard.seed(&seeds, 0), Some(u64::MAX - 1));
        assert_eq!(shard.seed(&seeds, 1), None);
        assert_eq!(shard.seed(&(0..u64::MAX), u64::MAX), None);
    }

    #[test]
    fn a_shard_is_read_as_it_is_printed() {
        assert_eq!("2/3".parse::<Shard>().map(|shard| shard.to_string()), Ok("2/3".to_owned()));
        for text in ["0/3", "4/3", "1", "a/b", "1/0", "-1/2", ""] {
            let refused = text.parse::<Shard>().expect_err("it is none");
            assert!(refused.ends_with("as in 1/4"), "{refused}");
        }
    }
}
