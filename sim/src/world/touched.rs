//! What a step has changed: noted by the step, so that nobody has to look for it.

use std::sync::Arc;

use super::{Arbiter, ArbiterIndex, Link, Oracle, Process, Store, Who, World};

/// The processes and links that may have changed since the last [`World::follow`], in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Touched {
    pub(super) processes: Crowd,
    pub(super) links: Crowd,
}

/// A set of processes, in order. The first 64 are bits, so that the worlds of a search carry no
/// list.
#[derive(Clone, Debug, Default)]
pub(super) struct Crowd {
    first: u64,
    others: Vec<Who>,
}

impl Crowd {
    pub(super) fn insert(&mut self, who: Who) {
        if u32::from(who.0) < u64::BITS {
            self.first |= 1 << who.0;
        } else if self.others.last().is_none_or(|last| *last < who) {
            self.others.push(who);
        } else if let Err(at) = self.others.binary_search(&who) {
            self.others.insert(at, who);
        }
    }

    fn contains(&self, who: Who) -> bool {
        if u32::from(who.0) < u64::BITS {
            self.first & (1 << who.0) != 0
        } else {
            self.others.binary_search(&who).is_ok()
        }
    }

    fn iter(&self) -> impl Iterator<Item = Who> {
        let bits =
            std::iter::successors(Some(self.first), |bits| Some(bits & bits.wrapping_sub(1)));
        let first = bits.take_while(|bits| *bits != 0).map(|bits| bits.trailing_zeros() as usize);
        first.map(Who::from).chain(self.others.iter().copied())
    }

    fn clear(&mut self) {
        self.first = 0;
        self.others.clear();
    }
}

impl World {
    /// Brings a world that was left behind, as it was before a step, up to the world that went on.
    /// It costs what the step has changed, where a clone costs a little for each process.
    ///
    /// # Panics
    /// If this world is not a clone of the other that was left behind.
    pub fn follow(&mut self, after: &mut Self) {
        for who in after.touched.processes.iter() {
            let at = usize::from(who.0);
            match self.actors.get_mut(at) {
                Some(actor) => actor.process = Arc::clone(&after.actors[at].process),
                None => self.actors.push(after.actors[at].clone()),
            }
        }
        for who in after.touched.links.iter() {
            let at = usize::from(who.0);
            self.actors[at].link = Arc::clone(&after.actors[at].link);
        }
        catch_up(&mut self.cast, &after.cast);
        catch_up(&mut self.store, &after.store);
        catch_up(&mut self.oracle, &after.oracle);
        catch_up(&mut self.history, &after.history);
        for (here, there) in self.arbiters.iter_mut().zip(&after.arbiters) {
            catch_up(here, there);
        }
        after.touched.processes.clear();
        after.touched.links.clear();
    }

    /// Are the record, the arbiters, membership and what really happened the same as in another
    /// world, by what is still shared?
    pub(crate) fn shares_record(&self, other: &Self) -> bool {
        let mut arbiters = self.arbiters.iter().zip(&other.arbiters);
        Arc::ptr_eq(&self.store, &other.store)
            && arbiters.all(|(one, other)| Arc::ptr_eq(one, other))
            && Arc::ptr_eq(&self.oracle, &other.oracle)
            && Arc::ptr_eq(&self.history, &other.history)
    }

    /// Are the store and the arbiters the same as in another world, by what is still shared?
    pub(super) fn shares_store(&self, other: &Self) -> bool {
        let mut arbiters = self.arbiters.iter().zip(&other.arbiters);
        Arc::ptr_eq(&self.store, &other.store)
            && arbiters.all(|(one, other)| Arc::ptr_eq(one, other))
    }

    /// Are a process and its link the same as in another world, by what is still shared?
    pub(crate) fn shares_process(&self, other: &Self, who: Who) -> bool {
        let (one, other) = (&self.actors[usize::from(who.0)], &other.actors[usize::from(who.0)]);
        Arc::ptr_eq(&one.process, &other.process) && Arc::ptr_eq(&one.link, &other.link)
    }

    /// The processes in which this world differs from an earlier one of which it is a clone that
    /// went on, each as it was, if it was, and as it is.
    pub(crate) fn touched_processes<'a>(
        &'a self,
        before: &'a Self,
    ) -> impl Iterator<Item = (Who, Option<&'a Process>, &'a Process)> {
        self.touched.processes.iter().filter_map(|who| {
            let after = &self.actors[usize::from(who.0)].process;
            let before = before.actors.get(usize::from(who.0)).map(|actor| &actor.process);
            let same = before.is_some_and(|before| Arc::ptr_eq(before, after));
            (!same).then(|| (who, before.map(|before| &**before), &**after))
        })
    }

    /// The links in which it differs, likewise.
    pub(crate) fn touched_links<'a>(
        &'a self,
        before: &'a Self,
    ) -> impl Iterator<Item = (Who, &'a Link)> {
        self.touched.links.iter().filter_map(|who| {
            let after = &self.actors[usize::from(who.0)].link;
            let before = before.actors.get(usize::from(who.0)).map(|actor| &actor.link);
            let same = before.is_some_and(|before| Arc::ptr_eq(before, after));
            (!same).then_some((who, &**after))
        })
    }

    /// The arbiters in which it differs, likewise.
    pub(crate) fn touched_arbiters<'a>(
        &'a self,
        before: &'a Self,
    ) -> impl Iterator<Item = (ArbiterIndex, &'a Arbiter)> {
        let pairs = self.arbiters.iter().zip(&before.arbiters).enumerate();
        let touched = pairs.filter(|(_, (after, before))| !Arc::ptr_eq(after, before));
        touched.map(|(i, (after, _))| (ArbiterIndex::from(i), &**after))
    }

    /// The store, if it differs.
    pub(crate) fn touched_store(&self, before: &Self) -> Option<&Store> {
        (!Arc::ptr_eq(&self.store, &before.store)).then_some(&*self.store)
    }

    /// What membership says, if it differs.
    pub(crate) fn touched_oracle(&self, before: &Self) -> Option<&Oracle> {
        (!Arc::ptr_eq(&self.oracle, &before.oracle)).then_some(&*self.oracle)
    }

    /// The processes that may have changed since the last [`World::follow`], themselves or their
    /// links.
    pub(super) fn touched_actors(&self) -> impl Iterator<Item = Who> {
        let Touched { processes, links } = &self.touched;
        processes.iter().chain(links.iter().filter(|who| !processes.contains(*who)))
    }
}

fn catch_up<T>(here: &mut Arc<T>, there: &Arc<T>) {
    if !Arc::ptr_eq(here, there) {
        *here = Arc::clone(there);
    }
}
