//! A table from keys to numbers, made for millions of entries.

/// A table that is fuller than this, in 100ths, grows by half.
const FULL: usize = 80;

/// What can be looked up.
pub(super) trait Key: Copy + PartialEq {
    /// No entry has it.
    const FREE: Self;

    /// Its bits, spread over all of a word.
    fn spread(self) -> u64;
}

const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

impl Key for u64 {
    const FREE: Self = 0;

    fn spread(self) -> u64 {
        (self ^ self >> 32).wrapping_mul(ODD)
    }
}

impl Key for u128 {
    const FREE: Self = 0;

    fn spread(self) -> u64 {
        let mask = Self::from(u64::MAX);
        let (low, high) = (self & mask, self >> 64);
        let word = |half: Self| u64::try_from(half).expect("half of its bits");
        (word(low).spread() ^ word(high)).spread()
    }
}

/// An open hash table.
#[derive(Debug)]
pub(super) struct Index<K> {
    keys: Vec<K>,
    values: Vec<u32>,
    len: usize,
}

impl<K: Key> Index<K> {
    pub(super) fn new() -> Self {
        Self { keys: vec![K::FREE; 64], values: vec![0; 64], len: 0 }
    }

    /// In memory.
    pub(super) fn bytes(&self) -> usize {
        self.keys.len() * (size_of::<K>() + size_of::<u32>())
    }

    pub(super) fn find(&self, key: K) -> Option<u32> {
        let at = self.slot(key);
        (self.keys[at] == key).then(|| self.values[at])
    }

    /// The value of a key; one that is new is put in with this value.
    pub(super) fn find_or_insert(&mut self, key: K, value: u32) -> Option<u32> {
        let at = self.slot(key);
        if self.keys[at] == key {
            return Some(self.values[at]);
        }
        self.keys[at] = key;
        self.values[at] = value;
        self.len += 1;
        if self.len * 100 > self.keys.len() * FULL {
            self.grow();
        }
        None
    }

    /// Gives a key that is in another value.
    pub(super) fn replace(&mut self, key: K, value: u32) {
        let at = self.slot(key);
        self.values[at] = value;
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = (K, u32)> {
        let all = self.keys.iter().copied().zip(self.values.iter().copied());
        all.filter(|(key, _)| *key != K::FREE)
    }

    /// Where this key is, or would be.
    fn slot(&self, key: K) -> usize {
        let slots = self.keys.len();
        let share = (u128::from(key.spread()) * slots as u128) >> u64::BITS;
        let mut at = usize::try_from(share).expect("below the length");
        while self.keys[at] != key && self.keys[at] != K::FREE {
            at += 1;
            if at == slots {
                at = 0;
            }
        }
        at
    }

    fn grow(&mut self) {
        let longer = self.keys.len() / 2 * 3;
        let keys = std::mem::replace(&mut self.keys, vec![K::FREE; longer]);
        let values = std::mem::replace(&mut self.values, vec![0; longer]);
        for (key, value) in keys.into_iter().zip(values).filter(|(key, _)| *key != K::FREE) {
            let at = self.slot(key);
            self.keys[at] = key;
            self.values[at] = value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_in_is_found_after_growing_and_nothing_else() {
        let mut index = Index::new();
        for key in 1..10_000_u64 {
            assert_eq!(index.find_or_insert(key << 32, 7), None);
            index.replace(key << 32, u32::try_from(key).expect("it is small"));
        }
        assert_eq!(index.entries().count(), 9_999);
        for key in 1..10_000_u64 {
            assert_eq!(index.find(key << 32), u32::try_from(key).ok());
            assert_eq!(index.find_or_insert(key << 32, 7).map(u64::from), Some(key));
            assert_eq!(index.find(key << 32 | 1), None);
        }
    }
}
