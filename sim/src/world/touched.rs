//! What a step has changed: noted by the step, so that nobody has to look for it.

use std::sync::Arc;

use handover_core::{Statement, View};

use super::{Arbiter, ArbiterIndex, Link, Oracle, Process, Store, Who, World};

/// The processes and links that may have changed since the last [`World::follow`], in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Touched {
    pub(super) processes: Crowd,
    pub(super) links: Crowd,
    /// Of these links more has changed than the moves say.
    pub(super) whole_links: Crowd,
    /// Messages that came onto a link or went off it, in this order.
    pub(super) moves: Vec<(Who, Move)>,
}

/// What becomes of a queue in all but rare steps. To make it again costs as much as it did, where a
/// copy costs as much as the queue is long.
#[derive(Clone, Debug)]
pub(super) enum Move {
    /// A statement goes onto the link.
    Said(Arc<Statement>),
    /// The oldest statement arrives.
    Heard,
    /// A view goes onto the link.
    Shown(Arc<View>),
    /// The oldest view arrives.
    Read,
}

/// More moves than this are no longer told one by one: nobody may ever follow.
const MOVES_MAX: usize = 1 << 12;

impl Touched {
    /// Notes a move on a link of which no more than moves has changed.
    pub(super) fn note(&mut self, who: Who, change: Move) {
        if self.moves.len() == MOVES_MAX {
            self.moves.drain(..).for_each(|(who, _)| self.whole_links.insert(who));
        }
        if !self.whole_links.contains(who) {
            self.moves.push((who, change));
        }
    }
}

impl Link {
    pub(super) fn make(&mut self, change: Move) {
        match change {
            Move::Said(statement) => self.statements.push_back(statement),
            Move::Heard => drop(self.statements.pop_front()),
            Move::Shown(view) => {
                self.newest = Some(Arc::clone(&view));
                self.views.push_back(view);
            }
            Move::Read => drop(self.views.pop_front()),
        }
    }
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

    pub(super) fn remove(&mut self, who: Who) {
        if u32::from(who.0) < u64::BITS {
            self.first &= !(1 << who.0);
        } else if let Ok(at) = self.others.binary_search(&who) {
            self.others.remove(at);
        }
    }

    pub(super) fn contains(&self, who: Who) -> bool {
        if u32::from(who.0) < u64::BITS {
            self.first & (1 << who.0) != 0
        } else {
            self.others.binary_search(&who).is_ok()
        }
    }

    pub(super) fn iter(&self) -> CrowdIter<'_> {
        CrowdIter { first: self.first, others: self.others.iter() }
    }

    /// Adds those of another crowd.
    pub(super) fn join(&mut self, other: &Self) {
        self.first |= other.first;
        other.others.iter().for_each(|who| self.insert(*who));
    }

    pub(super) fn clear(&mut self) {
        self.first = 0;
        self.others.clear();
    }
}

/// Those of a crowd, in order. Several times a step, so without the detours of adapters.
pub(super) struct CrowdIter<'a> {
    first: u64,
    others: std::slice::Iter<'a, Who>,
}

impl Iterator for CrowdIter<'_> {
    type Item = Who;

    fn next(&mut self) -> Option<Who> {
        if self.first == 0 {
            return self.others.next().copied();
        }
        let lowest = self.first.trailing_zeros();
        self.first &= self.first - 1;
        Some(Who::from(lowest as usize))
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
                Some(actor) => copy(&mut actor.process, &after.actors[at].process),
                None => self.actors.push(after.actors[at].clone()),
            }
        }
        for who in after.touched.whole_links.iter() {
            let at = usize::from(who.0);
            copy(&mut self.actors[at].link, &after.actors[at].link);
        }
        for (who, change) in after.touched.moves.drain(..) {
            let at = usize::from(who.0);
            let (here, there) = (&mut self.actors[at].link, &after.actors[at].link);
            if after.touched.whole_links.contains(who) || Arc::ptr_eq(here, there) {
                continue;
            }
            match Arc::get_mut(here) {
                Some(link) => link.make(change),
                None => {
                    *here = Arc::clone(there);
                }
            }
        }
        catch_up(&mut self.cast, &after.cast);
        catch_up(&mut self.store, &after.store);
        catch_up(&mut self.oracle, &after.oracle);
        catch_up(&mut self.history, &after.history);
        for (here, there) in self.arbiters.iter_mut().zip(&after.arbiters) {
            here.follow(there);
        }
        after.touched.processes.clear();
        after.touched.links.clear();
        after.touched.whole_links.clear();
    }

    /// Are the record, the arbiters, membership and what really happened the same as in another
    /// world, by what is still shared?
    pub(crate) fn shares_record(&self, other: &Self) -> bool {
        let mut arbiters = self.arbiters.iter().zip(&other.arbiters);
        Arc::ptr_eq(&self.store, &other.store)
            && arbiters.all(|(one, other)| one.is_one_with(other))
            && Arc::ptr_eq(&self.oracle, &other.oracle)
            && Arc::ptr_eq(&self.history, &other.history)
    }

    /// Are the store and the arbiters the same as in another world, by what is still shared?
    pub(super) fn shares_store(&self, other: &Self) -> bool {
        let mut arbiters = self.arbiters.iter().zip(&other.arbiters);
        Arc::ptr_eq(&self.store, &other.store)
            && arbiters.all(|(one, other)| one.is_one_with(other))
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
    ) -> impl Iterator<Item = (Who, Option<&'a Link>, &'a Link)> {
        self.touched.links.iter().filter_map(|who| {
            let after = &self.actors[usize::from(who.0)].link;
            let before = before.actors.get(usize::from(who.0)).map(|actor| &actor.link);
            let same = before.is_some_and(|before| Arc::ptr_eq(before, after));
            (!same).then(|| (who, before.map(|before| &**before), &**after))
        })
    }

    /// The arbiters in which it differs, likewise.
    pub(crate) fn touched_arbiters<'a>(
        &'a self,
        before: &'a Self,
    ) -> impl Iterator<Item = (ArbiterIndex, &'a Arbiter)> {
        let pairs = self.arbiters.iter().zip(&before.arbiters).enumerate();
        let touched = pairs.filter(|(_, (after, before))| !after.is_one_with(before));
        touched.map(|(i, (after, _))| (ArbiterIndex::from(i), after))
    }

    /// The store, if it differs.
    pub(crate) fn touched_store(&self, before: &Self) -> Option<&Store> {
        (!Arc::ptr_eq(&self.store, &before.store)).then_some(&*self.store)
    }

    /// What membership says, if it differs.
    pub(crate) fn touched_oracle(&self, before: &Self) -> Option<&Oracle> {
        (!Arc::ptr_eq(&self.oracle, &before.oracle)).then_some(&*self.oracle)
    }

    /// Adds the processes that may have changed since the last [`World::follow`], themselves or
    /// their links.
    pub(super) fn add_touched(&self, to: &mut Crowd) {
        let Touched { processes, links, whole_links: _, moves: _ } = &self.touched;
        to.join(processes);
        to.join(links);
    }
}

pub(super) fn catch_up<T>(here: &mut Arc<T>, there: &Arc<T>) {
    if !Arc::ptr_eq(here, there) {
        *here = Arc::clone(there);
    }
}

/// Two that go on step by step keep a part each: what was shared would have to be copied, and one
/// of the copies dropped, with every step.
fn copy<T: Clone>(here: &mut Arc<T>, there: &Arc<T>) {
    if Arc::ptr_eq(here, there) {
        return;
    }
    match Arc::get_mut(here) {
        Some(part) => part.clone_from(there),
        None => *here = Arc::clone(there),
    }
}
