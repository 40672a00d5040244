//! Leaving out: hosts, deeds, and what the setting has more than it needs.

use std::collections::BTreeSet;
use std::sync::Arc;

use handover_core::{Name, Priority};

use super::deed::{Deed, Kind};
use super::departures::count;
use super::replay::{Budget, Case, Played, play};
use crate::check::Property;

/// A case that breaks a property, and is made smaller as long as it still does.
#[derive(Debug)]
pub(super) struct Shrinker<'a> {
    pub(super) case: Case,
    property: Property,
    /// What is accepted has no more departures than this.
    departures_max: usize,
    budget: &'a mut Budget,
}

impl<'a> Shrinker<'a> {
    pub(super) fn new(case: Case, property: Property, budget: &'a mut Budget) -> Self {
        Self { case, property, departures_max: usize::MAX, budget }
    }

    /// From here on nothing is accepted that has more departures.
    pub(super) fn with_at_most(mut self, departures: usize) -> Self {
        self.departures_max = departures;
        self
    }

    /// Until nothing can be left out any more.
    pub(super) fn shrink(&mut self) {
        self.drop_places();
        self.drop_all(|deed| deed.kind == Kind::Move);
        self.drop_skipped();
        loop {
            let before = self.size();
            for kind in [Kind::Fault, Kind::End, Kind::Move, Kind::Wish] {
                self.drop_some(|deed| deed.kind == kind);
            }
            self.drop_places();
            self.simplify();
            self.hold_back();
            if self.size() == before || self.budget.is_spent() {
                return;
            }
        }
    }

    fn size(&self) -> (usize, usize) {
        (self.case.setup.places.len(), self.case.deeds.len())
    }

    /// Takes a candidate if it breaks the property.
    fn accept(&mut self, candidate: Case) -> bool {
        if self.budget.is_spent() {
            return false;
        }
        let played = play(&candidate, self.property, self.budget);
        let taken = played.breaks(self.property)
            && (self.departures_max == usize::MAX
                || count(&candidate.setup, &played.events) <= self.departures_max);
        if taken {
            self.case = candidate;
        }
        taken
    }

    /// Leaves all deeds of a kind out at once, which is cheap to try.
    fn drop_all(&mut self, wanted: impl Fn(&Deed) -> bool) {
        let all: BTreeSet<usize> = self.case.indices(wanted).into_iter().collect();
        if !all.is_empty() {
            let candidate = self.case.without(&all);
            self.accept(candidate);
        }
    }

    /// Leaves out what does not happen anyway.
    fn drop_skipped(&mut self) {
        let played = play(&self.case, self.property, self.budget);
        let skipped: BTreeSet<usize> = played.skipped.into_iter().collect();
        if !skipped.is_empty() {
            let candidate = self.case.without(&skipped);
            self.accept(candidate);
        }
    }

    /// Leaves deeds out, in halves, quarters, and so on to single ones (delta debugging); goes on
    /// until no single one can be left out.
    fn drop_some(&mut self, wanted: impl Fn(&Deed) -> bool) {
        let mut chunk = self.case.indices(&wanted).len();
        while chunk > 0 && !self.budget.is_spent() {
            let mut dropped = false;
            let mut at = 0;
            // From the end: what is later needs what is earlier more often than the other way.
            loop {
                let mut indices = self.case.indices(&wanted);
                indices.reverse();
                let Some(rest) = indices.get(at..).filter(|rest| !rest.is_empty()) else {
                    break;
                };
                let left_out = rest.iter().take(chunk).copied().collect();
                let candidate = self.case.without(&left_out);
                if self.accept(candidate) {
                    dropped = true;
                } else {
                    at += chunk;
                }
            }
            if chunk > 1 || !dropped {
                chunk /= 2;
            }
        }
    }

    /// What is held back for long may as well never come: that makes the schedule shorter.
    fn hold_back(&mut self) {
        let mut steps = self.played().events.len();
        for index in (0..self.case.deeds.len()).rev() {
            let deed = &self.case.deeds[index];
            let Some(key) = deed.key.clone().filter(|_| deed.kind == Kind::Move && deed.is_calm)
            else {
                continue;
            };
            let mut candidate = self.case.clone();
            candidate.deeds[index] = Arc::new(Deed::held(key));
            let before = self.case.clone();
            if !self.accept(candidate) {
                continue;
            }
            let shorter = self.played().events.len();
            if shorter < steps {
                steps = shorter;
            } else {
                self.case = before;
            }
        }
    }

    /// Leaves places out, each with all that happens there.
    fn drop_places(&mut self) {
        let mut chunk = self.case.setup.places.len() / 2;
        while chunk > 0 && !self.budget.is_spent() {
            let mut at = 0;
            while at < self.case.setup.places.len() && self.case.setup.places.len() > 1 {
                let places = self.case.setup.places.iter().skip(at).take(chunk);
                let names: BTreeSet<Name> = places.map(|place| place.name.clone()).collect();
                let candidate = without_places(&self.case, &names);
                if !self.accept(candidate) {
                    at += chunk;
                }
            }
            chunk /= 2;
        }
    }

    /// The smaller settings.
    fn simplify(&mut self) {
        let chunks: Vec<_> = self.case.setup.chunks.iter().cloned().collect();
        if !chunks.is_empty() && !self.change(|case| case.setup.chunks.clear()) {
            for chunk in chunks {
                self.change(|case| {
                    case.setup.chunks.remove(&chunk);
                });
            }
        }
        if self.case.setup.arbiters > 1 {
            self.change(|case| case.setup.arbiters = 1);
        }
        for index in 0..self.case.setup.places.len() {
            let place = &self.case.setup.places[index];
            let (slots, priority, pinned) = (place.slots, place.priority, place.pinned);
            if slots > 1 {
                self.change(|case| case.setup.places[index].slots = 1);
            }
            if priority != Priority(0) {
                self.change(|case| case.setup.places[index].priority = Priority(0));
            }
            if pinned {
                self.change(|case| case.setup.places[index].pinned = false);
            }
        }
        self.unite_versions();
    }

    /// Lets all run one version, or as few as possible.
    fn unite_versions(&mut self) {
        let mut versions: BTreeSet<String> =
            self.case.setup.places.iter().map(|place| place.version.to_string()).collect();
        for deed in &self.case.deeds {
            versions.extend(deed.version().map(str::to_owned));
        }
        let versions: Vec<String> = versions.into_iter().collect();
        for (index, later) in versions.iter().enumerate().rev() {
            for earlier in &versions[..index] {
                let changed = self.change(|case| {
                    for place in &mut case.setup.places {
                        if place.version.as_str() == later {
                            place.version = earlier.as_str().into();
                        }
                    }
                    for deed in &mut case.deeds {
                        if deed.version() == Some(later) {
                            Arc::make_mut(deed).set_version(earlier);
                        }
                    }
                });
                if changed {
                    break;
                }
            }
        }
    }

    fn change(&mut self, change: impl FnOnce(&mut Case)) -> bool {
        let mut candidate = self.case.clone();
        change(&mut candidate);
        self.accept(candidate)
    }

    /// The case, replayed.
    pub(super) fn played(&mut self) -> Played {
        play(&self.case, self.property, self.budget)
    }
}

fn without_places(case: &Case, names: &BTreeSet<Name>) -> Case {
    let mut case = case.clone();
    case.setup.places.retain(|place| !names.contains(&place.name));
    case.deeds.retain(|deed| deed.place.as_ref().is_none_or(|place| !names.contains(place)));
    case
}
