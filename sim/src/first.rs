//! Who is first of many, kept from one change to the next.

/// Behind all keys: whoever has it does not compete.
const NONE: u128 = u128::MAX;

/// The least of some keys, one for each place: a tournament, in which a change of one key asks
/// those on the way to the top, O(log n), and the first is known without asking.
#[derive(Clone, Debug)]
pub(crate) struct First {
    /// The lesser of the two below: of node `i` those are nodes `2 i` and `2 i + 1`, and the second
    /// half of the nodes are the places. Each is a key, and in its lowest 32 bits the place that
    /// has it. Invariant: as many nodes as a power of two, at least twice as many as places; node 0
    /// is unused, node 1 the top.
    nodes: Vec<u128>,
}

impl Default for First {
    fn default() -> Self {
        Self { nodes: vec![NONE; 2] }
    }
}

impl First {
    /// The key of a place, and its turn among those with the same; none: it does not compete.
    pub(crate) fn set(&mut self, place: usize, key: Option<(u64, u32)>) {
        if place >= self.nodes.len() / 2 {
            self.widen(place + 1);
        }
        let number = u128::from(u32::try_from(place).expect("a place has a small number"));
        let whole = |(key, turn)| u128::from(key) << 64 | u128::from(turn) << 32 | number;
        let mut winner = key.map_or(NONE, whole);
        let mut node = self.nodes.len() / 2 + place;
        // Above one who wins as before, nobody has heard of it.
        while self.nodes[node] != winner {
            self.nodes[node] = winner;
            if node == 1 {
                return;
            }
            winner = winner.min(self.nodes[node ^ 1]);
            node /= 2;
        }
    }

    /// The place with the least key; of those with the same, the lowest.
    pub(crate) fn place(&self) -> Option<usize> {
        let lowest = |node: u128| (node & u128::from(u32::MAX)) as usize;
        Some(self.nodes[1]).filter(|first| *first != NONE).map(lowest)
    }

    /// The least key.
    pub(crate) fn key(&self) -> Option<u64> {
        let highest = |node: u128| u64::try_from(node >> 64).expect("the upper half of 128 bits");
        Some(self.nodes[1]).filter(|first| *first != NONE).map(highest)
    }

    fn widen(&mut self, places: usize) {
        let half = places.next_power_of_two();
        let known = self.nodes.split_off(self.nodes.len() / 2);
        self.nodes = vec![NONE; 2 * half];
        self.nodes[half..half + known.len()].copy_from_slice(&known);
        for node in (1..half).rev() {
            self.nodes[node] = self.nodes[2 * node].min(self.nodes[2 * node + 1]);
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
            changes in proptest::collection::vec((0..40_usize, proptest::option::of(0..9_u64)), 0..80),
        ) {
            let (mut first, mut all) = (First::default(), vec![None; 40]);
            for (place, key) in changes {
                first.set(place, key.map(|key| (key, 0)));
                all[place] = key;
                let keys = all.iter().enumerate();
                let least = keys.filter_map(|(place, key)| key.map(|key| (key, place))).min();
                prop_assert_eq!(first.place(), least.map(|(_, place)| place));
                prop_assert_eq!(first.key(), least.map(|(key, _)| key));
            }
        }
    }
}
