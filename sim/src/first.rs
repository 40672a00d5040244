//! Who is first of many, kept from one change to the next.

/// The least of some keys, one for each place: a tournament, in which a change of one key asks
/// those on the way to the top, O(log n), and the first is known without asking.
#[derive(Clone, Debug)]
pub(crate) struct First<K> {
    /// The lesser of the two below, with its place: of node `i` those are nodes `2 i` and `2 i + 1`,
    /// and the second half of the nodes are the places. Invariant: as many nodes as a power of two,
    /// at least twice as many as places; node 0 is unused, node 1 the top.
    nodes: Vec<Option<(K, usize)>>,
}

impl<K> Default for First<K> {
    fn default() -> Self {
        Self { nodes: vec![None, None] }
    }
}

impl<K: Ord + Copy> First<K> {
    /// The key of a place; none: it does not compete.
    pub(crate) fn set(&mut self, place: usize, key: Option<K>) {
        if place >= self.nodes.len() / 2 {
            self.widen(place + 1);
        }
        let mut node = self.nodes.len() / 2 + place;
        let mut winner = key.map(|key| (key, place));
        // Above one who wins as before, nobody has heard of it.
        while self.nodes[node] != winner {
            self.nodes[node] = winner;
            if node == 1 {
                return;
            }
            winner = lesser(winner, self.nodes[node ^ 1]);
            node /= 2;
        }
    }

    /// The place with the least key; of those with the same, the lowest.
    pub(crate) fn place(&self) -> Option<usize> {
        self.nodes[1].map(|(_, place)| place)
    }

    fn widen(&mut self, places: usize) {
        let half = places.next_power_of_two();
        let known = self.nodes.split_off(self.nodes.len() / 2);
        self.nodes = vec![None; 2 * half];
        self.nodes[half..half + known.len()].copy_from_slice(&known);
        for node in (1..half).rev() {
            self.nodes[node] = lesser(self.nodes[2 * node], self.nodes[2 * node + 1]);
        }
    }
}

fn lesser<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
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
