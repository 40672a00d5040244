//! Who is next: the index that keeps an election cheap.
//!
//! An election wants the first alive asker of any version without a verdict. The index keeps the
//! askers of each version in order, and the first of each version without a verdict in an order
//! over all versions, so that one election looks at the suspects ahead of the elected and at
//! nobody else: O((1 + s) log n) for n lines and s such suspects.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use core::cmp::Reverse;

use super::{Line, Verdict};
use crate::rows::Rows;
use crate::{HostId, Priority, Standing, Ticket, Version};

/// A place in the order of election (Ar8): those not passed over first, by priority, then ticket;
/// the passed over by ticket alone, so that they take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Place {
    Fresh { priority: Reverse<Priority>, ticket: Ticket },
    PassedOver { ticket: Ticket },
}

impl Place {
    /// The place of a line, if it asks.
    pub(super) fn of(line: &Line) -> Option<Self> {
        match line.standing {
            Standing::Asking { .. } if line.passed_over => {
                Some(Self::PassedOver { ticket: line.ticket })
            }
            Standing::Asking { priority } => {
                Some(Self::Fresh { priority: Reverse(priority), ticket: line.ticket })
            }
            Standing::Accepted { .. }
            | Standing::Building { .. }
            | Standing::Finished { .. }
            | Standing::StoodDown => None,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Election {
    /// All askers of each version, in order.
    queues: BTreeMap<Version, Rows<(Place, HostId), ()>>,
    /// Invariant: the first of the queue of each version without a verdict, and nothing else.
    fronts: BTreeSet<(Place, HostId, Version)>,
}

impl Election {
    /// The index that these lines and verdicts have.
    pub(super) fn of<'a>(
        lines: impl Iterator<Item = (&'a HostId, &'a Line)>,
        is_judged: impl Fn(&Version) -> bool,
    ) -> Self {
        let mut election = Self::default();
        for (host, line) in lines {
            if let Some(place) = Place::of(line) {
                let queue = election.queues.entry(line.version.clone()).or_default();
                queue.insert((place, host.clone()), ());
            }
        }
        for (version, queue) in &election.queues {
            if let Some(((place, host), ())) = queue.first()
                && !is_judged(version)
            {
                election.fronts.insert((*place, host.clone(), version.clone()));
            }
        }
        election
    }

    /// A line of this version changed its place; `open` tells whether the version has no verdict.
    pub(super) fn move_asker(
        &mut self,
        host: &HostId,
        version: &Version,
        from: Option<Place>,
        to: Option<Place>,
        open: bool,
    ) {
        if from == to {
            return;
        }
        self.close(version);
        let queue = self.queues.entry(version.clone()).or_default();
        if let Some(place) = from {
            queue.remove(&(place, host.clone()));
        }
        if let Some(place) = to {
            queue.insert((place, host.clone()), ());
        }
        if queue.is_empty() {
            self.queues.remove(version);
        }
        if open {
            self.open(version);
        }
    }

    /// The version has a verdict now: none of its askers is elected.
    pub(super) fn close(&mut self, version: &Version) {
        if let Some((place, host)) = self.front(version) {
            self.fronts.remove(&(*place, host.clone(), version.clone()));
        }
    }

    /// The version has no verdict (any more): its askers may be elected.
    pub(super) fn open(&mut self, version: &Version) {
        if let Some((place, host)) = self.front(version) {
            self.fronts.insert((*place, host.clone(), version.clone()));
        }
    }

    /// The first of the askers of a version.
    fn front(&self, version: &Version) -> Option<&(Place, HostId)> {
        self.queues.get(version).and_then(Rows::first).map(|(front, ())| front)
    }

    /// The askers of the open versions in the order of election, as seen through a fold that has
    /// not been applied: `changed` are its lines, `ruled` its verdicts.
    pub(super) fn askers<'a>(
        &'a self,
        changed: &'a BTreeMap<HostId, Option<Arc<Line>>>,
        ruled: &'a BTreeMap<Version, Option<Arc<Verdict>>>,
        is_open: impl Fn(&Version) -> bool,
    ) -> Askers<'a> {
        let mut waiting = BTreeSet::new();
        for (host, line) in changed {
            let Some(line) = line else { continue };
            if let Some(place) = Place::of(line)
                && is_open(&line.version)
            {
                waiting.insert((place, host, None));
            }
        }
        for (version, verdict) in ruled {
            if verdict.is_none()
                && let Some((place, host)) = self.front(version)
            {
                waiting.insert((*place, host, Some(version)));
            }
        }
        Askers { election: self, fronts: self.fronts.iter(), front: None, waiting, changed, ruled }
    }
}

/// A merge of the versions' queues, each advanced only as far as it is asked for.
pub(super) struct Askers<'a> {
    election: &'a Election,
    fronts: alloc::collections::btree_set::Iter<'a, (Place, HostId, Version)>,
    front: Option<&'a (Place, HostId, Version)>,
    /// Heads that are not the front of a version: later askers of a version whose earlier ones
    /// were seen, versions that the fold opened, and lines that it changed (these without a
    /// version, since no queue goes on behind them).
    waiting: BTreeSet<(Place, &'a HostId, Option<&'a Version>)>,
    changed: &'a BTreeMap<HostId, Option<Arc<Line>>>,
    ruled: &'a BTreeMap<Version, Option<Arc<Verdict>>>,
}

impl<'a> Askers<'a> {
    fn pop(&mut self) -> Option<(Place, &'a HostId, Option<&'a Version>)> {
        if self.front.is_none() {
            self.front = self.fronts.next();
        }
        let front = self.front.map(|(place, host, version)| (*place, host, Some(version)));
        match (front, self.waiting.first()) {
            (Some(front), waiting) if waiting.is_none_or(|first| front < *first) => {
                self.front = None;
                Some(front)
            }
            _ => self.waiting.pop_first(),
        }
    }
}

impl<'a> Iterator for Askers<'a> {
    type Item = (Place, &'a HostId);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (place, host, version) = self.pop()?;
            let Some(version) = version else {
                return Some((place, host));
            };
            if self.ruled.get(version).is_some_and(Option::is_some) {
                continue;
            }
            let queue = self.election.queues.get(version);
            let next = queue.and_then(|queue| queue.first_behind(&(place, host.clone())));
            if let Some(((place, host), ())) = next {
                self.waiting.insert((*place, host, Some(version)));
            }
            if !self.changed.contains_key(host) {
                return Some((place, host));
            }
        }
    }
}
