//! The one place that draws.
//!
//! A run is made by a number, its seed, and nothing else. Each concern draws from a stream of its
//! own, so that one more fault does not shift the delays. The draws are made here from the
//! generator's 64-bit words and not by `rand`'s distributions, which may change with a release;
//! golden vectors pin both.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What is drawn for; each has a stream of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Concern {
    /// Which of several is taken.
    Schedule = 1,
    /// How long something takes.
    Delays = 2,
    /// What goes wrong, where, and when.
    Faults = 3,
    /// What hosts and operators want.
    Workload = 4,
}

/// The stream of one concern under one seed: ChaCha with 8 rounds, the seed in the first 8 bytes of
/// its key, the concern as its stream number.
#[derive(Clone, Debug)]
pub struct Draw {
    words: ChaCha8Rng,
}

impl Draw {
    /// The stream at its beginning.
    #[must_use]
    pub fn new(seed: u64, concern: Concern) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let mut words = ChaCha8Rng::from_seed(key);
        words.set_stream(concern as u64);
        Self { words }
    }

    /// A number below `bound`: the upper half of the product of a word and the bound (Lemire's
    /// multiply and shift, without his rejection, so that each draw takes exactly one word). A
    /// number is then off its share by less than `bound` in 2^64.
    ///
    /// # Panics
    /// If `bound` is 0: there is nothing to draw.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "there is nothing below 0 to draw");
        let product = u128::from(self.words.next_u64()) * u128::from(bound);
        u64::try_from(product >> 64).expect("the upper half of 128 bits")
    }

    /// A number from `low` to `high`, both included.
    ///
    /// # Panics
    /// If `low` is above `high`, or the two span all 64 bits.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        assert!(low <= high, "there is nothing from {low} to {high} to draw");
        low + self.below(high - low + 1)
    }

    /// True in `per_mille` of a thousand draws.
    pub fn chance(&mut self, per_mille: u64) -> bool {
        self.below(1_000) < per_mille
    }

    /// One of these; none if there is none, and then nothing is drawn.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        if from.is_empty() {
            return None;
        }
        let index = self.below(from.len() as u64);
        from.get(usize::try_from(index).expect("an index of a slice"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONCERNS: [Concern; 4] =
        [Concern::Schedule, Concern::Delays, Concern::Faults, Concern::Workload];

    fn thousands(seed: u64, concern: Concern) -> [u64; 4] {
        let mut draw = Draw::new(seed, concern);
        std::array::from_fn(|_| draw.below(1_000))
    }

    #[test]
    fn golden_vectors_of_each_concern() {
        assert_eq!(
            CONCERNS.map(|concern| thousands(0, concern)),
            [[789, 817, 259, 606], [974, 616, 54, 898], [759, 128, 351, 993], [522, 575, 944, 935]]
        );
        assert_eq!(
            CONCERNS.map(|concern| thousands(u64::MAX, concern)),
            [
                [269, 313, 898, 676],
                [600, 808, 974, 988],
                [469, 929, 841, 806],
                [413, 370, 314, 266]
            ]
        );
    }

    #[test]
    fn golden_vectors_of_each_kind_of_draw() {
        let mut draw = Draw::new(7, Concern::Schedule);
        let between: Vec<u64> = (0..6).map(|_| draw.between(10, 12)).collect();
        let chance: Vec<bool> = (0..6).map(|_| draw.chance(500)).collect();
        let picked: Vec<char> =
            (0..6).filter_map(|_| draw.pick(&['a', 'b', 'c'])).copied().collect();
        assert_eq!(between, [12, 10, 12, 12, 12, 11]);
        assert_eq!(chance, [false, true, false, true, false, true]);
        assert_eq!(picked, ['a', 'c', 'c', 'b', 'c', 'b']);
    }

    #[test]
    fn the_words_are_those_of_chacha8() {
        // The key stream of eight rounds under the key and nonce of all zeros, as published with
        // eSTREAM's test vectors.
        let mut words = ChaCha8Rng::from_seed([0; 32]);
        assert_eq!(
            words.next_u64().to_le_bytes(),
            [0x3e, 0x00, 0xef, 0x2f, 0x89, 0x5f, 0x40, 0xd6]
        );
    }

    #[test]
    fn each_number_below_a_bound_comes_up_and_none_above() {
        let mut draw = Draw::new(1, Concern::Delays);
        let mut seen = [0_u32; 5];
        for _ in 0..1_000 {
            seen[usize::try_from(draw.below(5)).expect("below 5")] += 1;
        }
        assert!(seen.iter().all(|count| (150..=250).contains(count)), "{seen:?}");
    }

    #[test]
    fn the_two_ends_of_a_range_come_up() {
        let mut draw = Draw::new(1, Concern::Delays);
        let drawn: Vec<u64> = (0..100).map(|_| draw.between(3, 4)).collect();
        assert!(drawn.contains(&3) && drawn.contains(&4), "{drawn:?}");
    }

    #[test]
    fn a_chance_of_nothing_never_comes_and_one_of_all_always() {
        let mut draw = Draw::new(1, Concern::Faults);
        assert!((0..1_000).all(|_| !draw.chance(0)));
        assert!((0..1_000).all(|_| draw.chance(1_000)));
    }

    #[test]
    fn nothing_is_drawn_from_nothing() {
        let mut draw = Draw::new(1, Concern::Workload);
        let mut same = draw.clone();
        assert_eq!(draw.pick::<u8>(&[]), None);
        assert_eq!(draw.below(1_000), same.below(1_000));
    }
}
