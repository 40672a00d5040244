//! Who is first of many, kept from one change to the next.

/// The least of some keys, one for each place: a tournament, in which a change of one key asks
/// those on the way to the top, O(log n), and the first is known without asking.
#[derive(Clone, Debug)]
pub(crate) struct First<K> {
    /// The key of each place, by its number.
    keys: Vec<Option<K>>,
    /// The winner of the two below: of node `i` those are nodes `2 i` and `2 i + 1`, and the nodes
    /// from `rounds.len()` on are the places. Invariant: as many nodes as a power of two, at least
    /// as many as places; node 0 is unused.
    rounds: Vec<u32>,
}

impl<K> Default for First<K> {
    fn default() -> Self {
        Self { keys: Vec::new(), rounds: vec![0] }
    }
}

impl<K: Ord + Copy> First<K> {
    /// The key of a place; none: it does not compete.
    pub(crate) fn set(&mut self, place: usize, key: Option<K>) {
        if place >= self.keys.len() {
            self.keys.resize(place + 1, None);
            if self.rounds.len() < self.keys.len() {
                self.rounds = vec![0; self.keys.len().next_power_of_two()];
                (1..self.rounds.len()).rev().for_each(|node| self.play(node));
            }
        }
        if self.keys[place] == key {
            return;
        }
        self.keys[place] = key;
        let mut node = (self.rounds.len() + place) / 2;
        while node > 0 {
            let won = self.rounds[node] as usize;
            self.play(node);
            if self.rounds[node] as usize == won && won != place {
                // Above, nobody has heard of it.
                return;
            }
            node /= 2;
        }
    }

    /// The place with the least key; of those with the same, the lowest.
    pub(crate) fn place(&self) -> Option<usize> {
        let winner = if self.rounds.len() == 1 { 0 } else { self.rounds[1] as usize };
        self.key(winner).map(|_| winner)
    }

    fn key(&self, place: usize) -> Option<K> {
        self.keys.get(place).copied().flatten()
    }

    fn play(&mut self, node: usize) {
        let (one, other) = (self.winner(2 * node), self.winner(2 * node + 1));
        let one_wins = match (self.key(one), self.key(other)) {
            (Some(first), Some(second)) => first <= second,
            (Some(_), None) | (None, None) => true,
            (None, Some(_)) => false,
        };
        let winner = if one_wins { one } else { other };
        self.rounds[node] = u32::try_from(winner).expect("a place has a small number");
    }

    fn winner(&self, node: usize) -> usize {
        match node.checked_sub(self.rounds.len()) {
            Some(place) => place,
            None => self.rounds[node] as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_the_one_that_a_look_at_all_finds(
            changes in proptest::collection::vec((0..40_usize, proptest::option::of(0..9_u8)), 0..80),
        ) {
            let (mut first, mut all) = (First::default(), vec![None; 40]);
            for (place, key) in changes {
                first.set(place, key);
                all[place] = key;
                let keys = all.iter().enumerate();
                let least = keys.filter_map(|(place, key)| key.map(|key| (key, place))).min();
                prop_assert_eq!(first.place(), least.map(|(_, place)| place));
            }
        }
    }
}
