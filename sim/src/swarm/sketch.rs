//! How many different hashes there were, in bounded memory and whatever the order.
//!
//! Bar-Yossef and others, "Counting distinct elements in a data stream" (RANDOM 2002): of all
//! hashes the smallest are kept. Where fewer than that were seen, their number is exact; else it
//! follows from how closely they lie.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// How many hashes are kept; the standard error of an estimate is 1 / sqrt(KEPT - 2), 3 %.
const KEPT: usize = 1_024;

/// The smallest of all hashes that were seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Sketch {
    smallest: BTreeSet<u64>,
}

impl Sketch {
    /// Sees a hash; one that was seen before changes nothing.
    pub fn see(&mut self, hash: u64) {
        if self.smallest.len() == KEPT && self.smallest.last().is_some_and(|last| *last <= hash) {
            return;
        }
        self.smallest.insert(hash);
        if self.smallest.len() > KEPT {
            self.smallest.pop_last();
        }
    }

    /// Sees all that another has seen.
    pub fn merge(&mut self, other: &Self) {
        other.smallest.iter().for_each(|hash| self.see(*hash));
    }

    /// Is the number exact?
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.smallest.len() < KEPT
    }

    /// How many different hashes there were.
    #[must_use]
    pub fn count(&self) -> u64 {
        let Some(last) = self.smallest.last().filter(|_| !self.is_exact()) else {
            return self.smallest.len() as u64;
        };
        let kept = self.smallest.len() as u128 - 1;
        let count = (kept << 64) / (u128::from(*last) + 1);
        u64::try_from(count).unwrap_or(u64::MAX)
    }
}

/// The hashes one after another, 16 hex digits each.
impl From<Sketch> for String {
    fn from(sketch: Sketch) -> Self {
        sketch.smallest.iter().map(|hash| format!("{hash:016x}")).collect()
    }
}

impl TryFrom<String> for Sketch {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wrong = || "expected hashes of 16 hex digits each".to_owned();
        let hash = |digits: &[u8]| {
            let digits = std::str::from_utf8(digits).ok().filter(|digits| digits.len() == 16);
            digits.and_then(|digits| u64::from_str_radix(digits, 16).ok()).ok_or_else(wrong)
        };
        let mut sketch = Self::default();
        for digits in text.as_bytes().chunks(16) {
            sketch.see(hash(digits)?);
        }
        Ok(sketch)
    }
}

#[cfg(test)]
mod tests {
    use xxhash_rust::xxh3::xxh3_64;

    use super::*;

    fn of(numbers: std::ops::Range<u64>) -> Sketch {
        let mut sketch = Sketch::default();
        numbers.for_each(|number| sketch.see(xxh3_64(&number.to_le_bytes())));
        sketch
    }

    #[test]
    fn few_are_counted_exactly_and_each_once() {
        let mut sketch = of(0..1_000);
        sketch.merge(&of(500..1_000));
        assert!(sketch.is_exact());
        assert_eq!(sketch.count(), 1_000);
    }

    #[test]
    fn many_are_estimated_within_three_standard_errors() {
        let sketch = of(0..1_000_000);
        assert!(!sketch.is_exact());
        assert!(sketch.count().abs_diff(1_000_000) < 95_000, "{}", sketch.count());
    }

    #[test]
    fn two_halves_are_the_whole_whatever_the_order() {
        let whole = of(0..10_000);
        let (mut one, mut other) = (of(0..6_000), of(4_000..10_000));
        one.merge(&of(4_000..10_000));
        other.merge(&of(0..6_000));
        assert_eq!(one, whole);
        assert_eq!(other, whole);
    }

    #[test]
    fn a_sketch_is_read_back_as_it_was_written() {
        let sketch = of(0..2_000);
        assert_eq!(Sketch::try_from(String::from(sketch.clone())), Ok(sketch));
    }

    #[test]
    fn what_is_no_sketch_is_refused() {
        for text in ["0", "000000000000000g", "é00000000000000", "+000000000000000"] {
            assert!(Sketch::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
