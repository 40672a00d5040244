//! An ordered map whose clones share the rows that they have in common.
//!
//! A record is kept by its store, by each arbiter, and by whoever looks back: a fold that changes
//! one row of hundreds must not copy the rest. So the rows lie in short leaves, and a clone shares
//! them until one of the two changes a leaf.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};

/// The most rows of a leaf: a change copies one leaf, and the list of the leaves.
const LEAF_MAX: usize = 16;

type Leaf<K, V> = Arc<Vec<(K, V)>>;

/// An ordered map. Invariant: no leaf is empty, none has more than [`LEAF_MAX`] rows, and the keys
/// ascend within a leaf and from one to the next.
pub(crate) struct Rows<K, V> {
    leaves: Arc<Vec<Leaf<K, V>>>,
}

impl<K: Ord + Clone, V: Clone> Rows<K, V> {
    pub(crate) fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let leaf = self.leaves.get(self.leaf_of(key))?;
        let at = leaf.binary_search_by(|(row, _)| row.borrow().cmp(key)).ok()?;
        Some(&leaf[at].1)
    }

    pub(crate) fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.get(key).is_some()
    }

    /// Sets a row; answers with what it was.
    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        let at = self.leaf_of(&key);
        let leaves = Arc::make_mut(&mut self.leaves);
        let Some(leaf) = leaves.get_mut(at).map(Arc::make_mut) else {
            leaves.push(Arc::new(Vec::from([(key, value)])));
            return None;
        };
        match leaf.binary_search_by(|(row, _)| row.cmp(&key)) {
            Ok(at) => return Some(core::mem::replace(&mut leaf[at].1, value)),
            Err(at) => leaf.insert(at, (key, value)),
        }
        if leaf.len() > LEAF_MAX {
            let upper = leaf.split_off(LEAF_MAX / 2);
            leaves.insert(at + 1, Arc::new(upper));
        }
        None
    }

    /// Takes a row away; answers with what it was.
    pub(crate) fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.get(key)?;
        let at = self.leaf_of(key);
        let leaves = Arc::make_mut(&mut self.leaves);
        let leaf = Arc::make_mut(&mut leaves[at]);
        let row = leaf.binary_search_by(|(row, _)| row.borrow().cmp(key)).ok()?;
        let (_, value) = leaf.remove(row);
        if leaf.is_empty() {
            leaves.remove(at);
        }
        Some(value)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.leaves.iter().flat_map(|leaf| leaf.iter().map(|(key, value)| (key, value)))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.leaves.is_empty()
    }

    pub(crate) fn first(&self) -> Option<(&K, &V)> {
        self.iter().next()
    }

    /// The first row behind a key.
    pub(crate) fn first_behind(&self, key: &K) -> Option<(&K, &V)> {
        self.first_not(key, |row| row <= key)
    }

    /// The first row at a key or behind it.
    pub(crate) fn first_from(&self, key: &K) -> Option<(&K, &V)> {
        self.first_not(key, |row| row < key)
    }

    /// The first row that is not before, looked for around a key.
    fn first_not(&self, key: &K, is_before: impl Fn(&K) -> bool) -> Option<(&K, &V)> {
        let at = self.leaf_of(key);
        let leaf = self.leaves.get(at)?;
        let next = || self.leaves.get(at + 1)?.first();
        let first = leaf.partition_point(|(row, _)| is_before(row));
        let (key, value) = leaf.get(first).or_else(next)?;
        Some((key, value))
    }

    /// The last row at a key or before it.
    pub(crate) fn last_up_to(&self, key: &K) -> Option<(&K, &V)> {
        let leaf = self.leaves.get(self.leaf_of(key))?;
        let behind = leaf.partition_point(|(row, _)| row <= key);
        let (key, value) = leaf.get(behind.checked_sub(1)?)?;
        Some((key, value))
    }

    /// The leaf that has this key, if one has: the last that does not begin behind it.
    fn leaf_of<Q: Ord + ?Sized>(&self, key: &Q) -> usize
    where
        K: Borrow<Q>,
    {
        if self.leaves.len() < 2 {
            return 0;
        }
        let starts =
            |leaf: &Leaf<K, V>| leaf.first().is_some_and(|(first, _)| first.borrow() <= key);
        self.leaves.partition_point(starts).saturating_sub(1)
    }

    /// The rows that differ from those of another map, in order: of each its value here, if it has
    /// one. Leaves that the two share are passed over without a look.
    pub(crate) fn differences<'a>(&'a self, other: &'a Self) -> Vec<(&'a K, Option<&'a V>)>
    where
        V: PartialEq,
    {
        let mut differences = Vec::new();
        let (mut here, mut there) = (Cursor::new(&self.leaves), Cursor::new(&other.leaves));
        loop {
            if here.shares_leaf(&there) {
                here.skip_leaf();
                there.skip_leaf();
                continue;
            }
            let (key, value, was) = match (here.row(), there.row()) {
                (None, None) => return differences,
                (Some((key, value)), None) => (key, Some(value), None),
                (None, Some((key, was))) => (key, None, Some(was)),
                (Some((key, value)), Some((old, was))) => match key.cmp(old) {
                    Ordering::Less => (key, Some(value), None),
                    Ordering::Equal => (key, Some(value), Some(was)),
                    Ordering::Greater => (old, None, Some(was)),
                },
            };
            if value.is_some() {
                here.skip_row();
            }
            if was.is_some() {
                there.skip_row();
            }
            if value != was {
                differences.push((key, value));
            }
        }
    }
}

/// A place in the rows of a map.
struct Cursor<'a, K, V> {
    leaves: &'a [Leaf<K, V>],
    row: usize,
}

impl<'a, K, V> Cursor<'a, K, V> {
    fn new(leaves: &'a [Leaf<K, V>]) -> Self {
        Self { leaves, row: 0 }
    }

    fn row(&self) -> Option<(&'a K, &'a V)> {
        let (key, value) = self.leaves.first()?.get(self.row)?;
        Some((key, value))
    }

    fn skip_row(&mut self) {
        self.row += 1;
        if self.leaves.first().is_some_and(|leaf| self.row == leaf.len()) {
            self.skip_leaf();
        }
    }

    fn skip_leaf(&mut self) {
        self.leaves = &self.leaves[1..];
        self.row = 0;
    }

    /// Do the two stand at the beginning of one and the same leaf?
    fn shares_leaf(&self, other: &Self) -> bool {
        let leaves = self.leaves.first().zip(other.leaves.first());
        self.row == 0
            && other.row == 0
            && leaves.is_some_and(|(one, other)| Arc::ptr_eq(one, other))
    }
}

impl<K: Ord + Clone, V: Clone> FromIterator<(K, V)> for Rows<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(rows: I) -> Self {
        let mut map = Self::default();
        for (key, value) in rows {
            map.insert(key, value);
        }
        map
    }
}

impl<K, V> Default for Rows<K, V> {
    fn default() -> Self {
        Self { leaves: Arc::new(Vec::new()) }
    }
}

impl<K, V> Clone for Rows<K, V> {
    fn clone(&self) -> Self {
        Self { leaves: Arc::clone(&self.leaves) }
    }
}

/// Equal maps have equal rows, however they lie in leaves.
impl<K: Ord + Clone, V: Clone + PartialEq> PartialEq for Rows<K, V> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.leaves, &other.leaves) || self.iter().eq(other.iter())
    }
}

impl<K: Ord + Clone, V: Clone + Eq> Eq for Rows<K, V> {}

impl<K: Ord + Clone + Hash, V: Clone + Hash> Hash for Rows<K, V> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for row in self.iter() {
            row.hash(state);
        }
        state.write_u8(0);
    }
}

impl<K: Ord + Clone + fmt::Debug, V: Clone + fmt::Debug> fmt::Debug for Rows<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

#[cfg(feature = "serde")]
impl<K: Ord + Clone + serde::Serialize, V: Clone + serde::Serialize> serde::Serialize
    for Rows<K, V>
{
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut map = serializer.serialize_map(Some(self.iter().count()))?;
        for (key, value) in self.iter() {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;
    use core::cell::Cell;
    use proptest::prelude::*;

    use super::*;

    type Steps = Vec<(u8, Option<u8>)>;

    fn steps() -> impl Strategy<Value = Steps> {
        prop::collection::vec((0_u8..80, prop::option::of(0_u8..3)), 0..200)
    }

    fn run(rows: &mut Rows<u8, u8>, model: &mut BTreeMap<u8, u8>, steps: &Steps) {
        for (key, value) in steps {
            match value {
                Some(value) => assert_eq!(rows.insert(*key, *value), model.insert(*key, *value)),
                None => assert_eq!(rows.remove(key), model.remove(key)),
            }
        }
    }

    proptest! {
        #[test]
        fn the_rows_are_those_of_an_ordered_map(steps in steps()) {
            let (mut rows, mut model) = (Rows::default(), BTreeMap::new());
            run(&mut rows, &mut model, &steps);
            prop_assert!(rows.iter().eq(model.iter()));
            prop_assert_eq!(rows.is_empty(), model.is_empty());
            prop_assert_eq!(rows.first(), model.first_key_value());
            for key in 0..80 {
                prop_assert_eq!(rows.get(&key), model.get(&key));
                prop_assert_eq!(rows.first_behind(&key), model.range(key + 1..).next());
                prop_assert_eq!(rows.first_from(&key), model.range(key..).next());
                prop_assert_eq!(rows.last_up_to(&key), model.range(..=key).next_back());
            }
            prop_assert!(rows.leaves.iter().all(|leaf| (1..=LEAF_MAX).contains(&leaf.len())));
        }

        #[test]
        fn a_clone_stays_what_it_was_and_the_differences_lead_from_it(
            before in steps(), after in steps(),
        ) {
            let (mut rows, mut model) = (Rows::default(), BTreeMap::new());
            run(&mut rows, &mut model, &before);
            let (old_rows, old) = (rows.clone(), model.clone());
            run(&mut rows, &mut model, &after);
            prop_assert!(old_rows.iter().eq(old.iter()));
            prop_assert_eq!(rows == old_rows, model == old);
            let differ = |key: &u8| model.get(key) != old.get(key);
            let expected: Vec<_> = (0..80).filter(differ).map(|key| (key, model.get(&key))).collect();
            let found = rows.differences(&old_rows);
            prop_assert!(found.into_iter().map(|(key, value)| (*key, value)).eq(expected));
        }
    }

    #[test]
    fn a_leaf_is_parted_when_it_has_more_rows_than_one_may_have() {
        let lengths = |rows: &Rows<usize, ()>| -> Vec<usize> {
            rows.leaves.iter().map(|leaf| leaf.len()).collect()
        };
        let mut rows: Rows<usize, ()> = (0..LEAF_MAX).map(|key| (key, ())).collect();
        assert_eq!(lengths(&rows), [16]);
        rows.insert(LEAF_MAX, ());
        assert_eq!(lengths(&rows), [8, 9]);
    }

    /// A key that counts how often it is compared.
    #[derive(Clone)]
    struct Counted<'a>(u32, &'a Cell<usize>);

    impl PartialEq for Counted<'_> {
        fn eq(&self, other: &Self) -> bool {
            self.cmp(other).is_eq()
        }
    }

    impl Eq for Counted<'_> {}

    impl PartialOrd for Counted<'_> {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
            Some(self.cmp(other))
        }
    }

    impl Ord for Counted<'_> {
        fn cmp(&self, other: &Self) -> Ordering {
            self.1.set(self.1.get() + 1);
            self.0.cmp(&other.0)
        }
    }

    #[test]
    fn leaves_that_two_maps_share_are_passed_over_without_a_look() {
        let looks = Cell::new(0);
        let rows = (0..1_000).map(|key| (Counted(key, &looks), 0));
        let rows: Rows<Counted<'_>, u32> = rows.collect();
        let mut changed = rows.clone();
        changed.insert(Counted(500, &looks), 1);
        looks.set(0);
        assert_eq!(changed.differences(&rows).len(), 1);
        assert!(looks.get() <= LEAF_MAX, "{looks:?}");
    }

    #[test]
    fn a_change_copies_one_leaf_of_many() {
        let rows: Rows<u32, u32> = (0..1_000).map(|key| (key, 0)).collect();
        let mut changed = rows.clone();
        changed.insert(500, 1);
        let pairs = rows.leaves.iter().zip(changed.leaves.iter());
        assert_eq!(pairs.filter(|(one, other)| !Arc::ptr_eq(one, other)).count(), 1);
        assert_eq!(changed.differences(&rows), [(&500, Some(&1))]);
    }
}
