//! Failures of one cause: those that come to the same when they are reduced.
//!
//! One cause lets a schedule end in several events, so the end tells causes apart badly. What is
//! left of a schedule once all is left out that does not matter tells them well. Only the first
//! failures are reduced; another one is put to the group of the first that ended as it did.

use std::collections::BTreeMap;

use super::{End, Tally};
use crate::check::Property;

/// By what the failures of a group are told to be of one cause.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// Their departures from calm, without numbers and names.
    Departures(String),
    /// They could not be reduced: the kind of event that decides them.
    Decisive(String),
}

/// The failures of one cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// What is broken.
    pub property: Property,
    /// By what.
    pub cause: Cause,
    /// The lowest seed of them.
    pub seed: u64,
    /// How many schedules failed like this.
    pub schedules: u64,
    /// How many of them were reduced; the others are here by their end alone.
    pub reduced: u64,
}

impl Tally {
    /// The failures by their causes, those with the most schedules first. The shapes are those of
    /// the explanations of kept failures, by seed.
    #[must_use]
    pub fn groups(&self, shapes: &BTreeMap<u64, String>) -> Vec<Group> {
        let mut groups: BTreeMap<(Property, Cause), Group> = BTreeMap::new();
        // Of each end what was not kept, and where it belongs.
        let mut others: BTreeMap<&End, ((Property, Cause), u64)> = BTreeMap::new();
        for (seed, failed) in &self.kept {
            let end = &failed.end;
            let shape = shapes.get(seed);
            let cause = match shape {
                Some(shape) => Cause::Departures(shape.clone()),
                None => Cause::Decisive(end.decisive.clone()),
            };
            let key = (end.property, cause.clone());
            let all = self.ends.get(end).copied().unwrap_or_default();
            let (_, left) = others.entry(end).or_insert_with(|| (key.clone(), all));
            *left = left.saturating_sub(1);
            let group = groups.entry(key).or_insert_with(|| Group {
                property: end.property,
                cause,
                seed: *seed,
                schedules: 0,
                reduced: 0,
            });
            group.schedules += 1;
            group.reduced += u64::from(shape.is_some());
        }
        for (key, left) in others.into_values() {
            if let Some(group) = groups.get_mut(&key) {
                group.schedules += left;
            }
        }
        let mut groups: Vec<Group> = groups.into_values().collect();
        groups.sort_by_key(|group| (u64::MAX - group.schedules, group.seed));
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::super::Failed;
    use super::*;

    fn tally(failures: &[(u64, &str)], ends: &[(&str, u64)]) -> Tally {
        let end =
            |decisive: &str| End { property: Property::NoWedge, decisive: decisive.to_owned() };
        let failed = |decisive| Failed {
            end: end(decisive),
            why: String::new(),
            steps: 1,
            digest: String::new(),
        };
        let kept = failures.iter().map(|(seed, decisive)| (*seed, failed(decisive))).collect();
        let ends = ends.iter().map(|(decisive, count)| (end(decisive), *count)).collect();
        Tally { kept, ends, ..Tally::default() }
    }

    fn shapes(shapes: &[(u64, &str)]) -> BTreeMap<u64, String> {
        shapes.iter().map(|(seed, shape)| (*seed, (*shape).to_owned())).collect()
    }

    fn told(groups: &[Group]) -> Vec<(u64, u64, u64)> {
        groups.iter().map(|group| (group.seed, group.schedules, group.reduced)).collect()
    }

    #[test]
    fn failures_that_reduce_to_one_are_one_group_whatever_decided_them() {
        let tally = tally(&[(1, "drain"), (2, "crash")], &[("drain", 1), ("crash", 1)]);
        let groups = tally.groups(&shapes(&[(1, "stand-down #1"), (2, "stand-down #1")]));
        assert_eq!(told(&groups), [(1, 2, 2)]);
    }

    #[test]
    fn one_end_can_have_two_causes() {
        let tally = tally(&[(1, "drain"), (2, "drain")], &[("drain", 2)]);
        let groups = tally.groups(&shapes(&[(1, "stand-down #1"), (2, "crash #1")]));
        assert_eq!(told(&groups), [(1, 1, 1), (2, 1, 1)]);
    }

    #[test]
    fn what_was_not_kept_goes_where_the_first_of_its_end_is() {
        let tally =
            tally(&[(1, "drain"), (2, "crash"), (3, "drain")], &[("drain", 9), ("crash", 1)]);
        let groups = tally.groups(&shapes(&[(1, "calm"), (2, "crash #1"), (3, "crash #1")]));
        assert_eq!(told(&groups), [(1, 8, 1), (2, 2, 2)]);
    }

    #[test]
    fn what_cannot_be_reduced_is_a_group_by_its_end() {
        let tally = tally(&[(1, "drain"), (2, "crash")], &[("drain", 1), ("crash", 2)]);
        let groups = tally.groups(&BTreeMap::new());
        assert_eq!(told(&groups), [(2, 2, 0), (1, 1, 0)]);
        assert_eq!(groups[0].cause, Cause::Decisive("crash".to_owned()));
    }
}
