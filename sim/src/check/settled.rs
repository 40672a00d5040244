//! `Settled`: settling again after a fold changes nothing.
//!
//! Whoever is suspected, since suspicion only orders an election. Carried by Ar7 and Ar8: taking
//! back, judging and offering happen in the one fold, so that nothing waits for a wake-up.

use std::collections::BTreeSet;

use super::{Property, Transition, Violation, demand};

pub(super) fn check(step: &Transition<'_>) -> Result<(), Violation> {
    let nobody = BTreeSet::new();
    for commit in step.commits() {
        for suspects in [&nobody, &step.after.oracle().suspects] {
            let left = commit.after.settle(suspects);
            demand(Property::Settled, left.is_none(), || {
                let revision = commit.after.revision();
                format!("{revision} was committed with something left to settle")
            })?;
        }
    }
    Ok(())
}
