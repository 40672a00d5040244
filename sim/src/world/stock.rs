//! Parts that many worlds have in common, kept once.
//!
//! A search that keeps many worlds has most of their parts many times over: each world makes its
//! own where it goes on. Kept once, they stay few enough for the caches, and what a dropped world
//! gives back is small.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::FxHasher;

use super::cast::Actor;
use super::touched::Touched;
use super::{Arbiter, History, Oracle, Store, Who, World};

/// Fewer parts than this are not looked through for those that no world has any more.
const FULL_MIN: usize = 1 << 12;

/// Never told anybody: it decides where a part lies, not what it says.
fn hash_of(part: &impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    part.hash(&mut hasher);
    hasher.finish()
}

/// Parts by their hash. Of two with the same hash, which may never happen, only one is kept.
#[derive(Debug)]
struct Kept<T> {
    parts: BTreeMap<u64, T>,
    /// Where there are more than this, those that nobody has any more go.
    full: usize,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self { parts: BTreeMap::new(), full: FULL_MIN }
    }
}

impl<T> Kept<T> {
    /// Makes room if it is full.
    fn entry(&mut self, hash: u64, is_used: impl Fn(&T) -> bool) -> Entry<'_, u64, T> {
        if self.parts.len() > self.full {
            self.parts.retain(|_, part| is_used(part));
            self.full = FULL_MIN.max(2 * self.parts.len());
        }
        self.parts.entry(hash)
    }
}

/// Parts of one kind.
#[derive(Debug)]
pub(crate) struct Shelf<T>(Kept<Arc<T>>);

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Self(Kept::default())
    }
}

impl<T: Hash + Eq> Shelf<T> {
    /// Takes the equal part from the shelf in its place, or puts it there.
    pub(crate) fn share(&mut self, part: &mut Arc<T>) {
        match self.0.entry(hash_of(part), |kept| Arc::strong_count(kept) > 1) {
            Entry::Occupied(kept) if kept.get() == part => *part = Arc::clone(kept.get()),
            Entry::Occupied(_) => {}
            Entry::Vacant(free) => drop(free.insert(Arc::clone(part))),
        }
    }
}

/// Processes with their links, and what is known of each pair.
#[derive(Debug)]
pub(crate) struct Pairs<T>(Kept<Pair<T>>);

#[derive(Debug)]
struct Pair<T> {
    /// What is known may also depend on these: see [`World::newest`].
    who: Who,
    is_newest: bool,
    actor: Actor,
    known: Arc<T>,
}

impl<T> Default for Pairs<T> {
    fn default() -> Self {
        Self(Kept::default())
    }
}

/// What is of no single process, and what is known of it.
#[derive(Debug)]
pub(crate) struct Commons<T>(Kept<Common<T>>);

#[derive(Debug)]
struct Common<T> {
    store: Arc<Store>,
    arbiters: Vec<Arbiter>,
    oracle: Arc<Oracle>,
    history: Arc<History>,
    known: Arc<T>,
}

impl<T> Default for Commons<T> {
    fn default() -> Self {
        Self(Kept::default())
    }
}

impl<T> Common<T> {
    fn is_of(&self, world: &World) -> bool {
        self.store == world.store
            && self.arbiters == world.arbiters
            && self.oracle == world.oracle
            && self.history == world.history
    }
}

impl World {
    /// Shares with other worlds the processes and links that it does not share with this one.
    /// `known` is what is known of each pair of these, by its number: it follows from the pair, its
    /// number and whether it is the newest of its place, and is made once.
    pub(crate) fn share_processes<T>(
        &mut self,
        with: &Self,
        pairs: &mut Pairs<T>,
        mut make: impl FnMut(&Self, Who) -> T,
        known: &mut Vec<Option<Arc<T>>>,
    ) {
        known.clear();
        let same_cast = self.actors.len() == with.actors.len();
        for who in (0..self.actors.len()).map(Who::from) {
            if same_cast && self.shares_process(with, who) {
                known.push(None);
                continue;
            }
            let (actor, is_newest) = (&self.actors[usize::from(who.0)], self.is_newest(who));
            let hash = hash_of(&(who, is_newest, actor));
            let is_used = |pair: &Pair<T>| Arc::strong_count(&pair.known) > 1;
            known.push(Some(match pairs.0.entry(hash, is_used) {
                Entry::Vacant(free) => {
                    let (actor, known) = (actor.clone(), Arc::new(make(self, who)));
                    Arc::clone(&free.insert(Pair { who, is_newest, actor, known }).known)
                }
                Entry::Occupied(pair) => {
                    let pair = pair.get();
                    if pair.who == who && pair.is_newest == is_newest && pair.actor == *actor {
                        self.actors[usize::from(who.0)] = pair.actor.clone();
                        Arc::clone(&pair.known)
                    } else {
                        Arc::new(make(self, who))
                    }
                }
            }));
        }
    }

    /// Shares with other worlds what else it does not share with this one, and forgets what its last
    /// step has touched. Answers with what is known of it, made once; none where it is the same.
    pub(crate) fn share_common<T>(
        &mut self,
        with: &Self,
        commons: &mut Commons<T>,
        make: impl FnOnce(&Self) -> T,
    ) -> Option<Arc<T>> {
        self.touched = Touched::default();
        if self.shares_record(with) {
            return None;
        }
        let arbiters = self.arbiters.iter();
        let known = arbiters.map(|arbiter| (arbiter.applied.revision(), arbiter.unpublished));
        let known: Vec<_> = known.collect();
        let hash = hash_of(&(&self.store, known, &self.oracle, &self.history));
        let is_used = |common: &Common<T>| Arc::strong_count(&common.known) > 1;
        match commons.0.entry(hash, is_used) {
            Entry::Vacant(free) => {
                let (store, arbiters) = (Arc::clone(&self.store), self.arbiters.clone());
                let (oracle, history) = (Arc::clone(&self.oracle), Arc::clone(&self.history));
                let known = Arc::new(make(self));
                let common = Common { store, arbiters, oracle, history, known };
                Some(Arc::clone(&free.insert(common).known))
            }
            Entry::Occupied(kept) if kept.get().is_of(self) => {
                let kept = kept.get();
                self.store = Arc::clone(&kept.store);
                self.arbiters.clone_from(&kept.arbiters);
                self.oracle = Arc::clone(&kept.oracle);
                self.history = Arc::clone(&kept.history);
                Some(Arc::clone(&kept.known))
            }
            Entry::Occupied(_) => Some(Arc::new(make(self))),
        }
    }
}
