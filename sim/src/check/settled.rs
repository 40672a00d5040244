//! `Settled`: settling again after a fold changes nothing.
//!
//! Whoever is suspected, since suspicion only orders an election. Carried by Ar7 and Ar8: taking
//! back, judging and offering happen in the one fold, so that nothing waits for a wake-up.

use std::collections::BTreeSet;

use handover_core::{HostId, Record};

use super::{Property, Transition, Violation, demand};

pub(super) fn check(step: &Transition<'_>) -> Result<(), Violation> {
    let nobody = BTreeSet::new();
    for commit in step.commits() {
        let suspects = &step.after.oracle().suspects;
        let suspicions = if suspects.is_empty() { &[&nobody][..] } else { &[&nobody, suspects] };
        for suspects in suspicions {
            judge(commit.after, suspects)?;
        }
    }
    Ok(())
}

pub(super) fn judge(after: &Record, suspects: &BTreeSet<HostId>) -> Result<(), Violation> {
    let left = after.settle(suspects);
    demand(Property::Settled, left.is_none(), || {
        format!("{} was committed with something left to settle", after.revision())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::{Made, building, judge_to_rest};

    #[test]
    fn a_rollout_leaves_nothing_to_settle() {
        judge_to_rest(building(), Property::Settled).expect("it holds");
    }

    #[test]
    fn a_job_that_was_taken_back_and_not_given_on_breaks_it() {
        let made = Made::committing(&building(), None, |parts| parts.hold = None);
        let revision = made.after.committed().revision();
        let why = format!("{revision} was committed with something left to settle");
        made.breaks(Property::Settled, &why);
    }
}
