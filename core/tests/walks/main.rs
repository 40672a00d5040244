//! What holds of core over random walks and drawn inputs.
//!
//! Two programs in all, this one and `rules`, so that core is linked to its tests seldom and the
//! quick tests are run first: `.ci/mutants` does both for each mutant.

#[path = "../common/mod.rs"]
mod common;

mod cluster_properties;
mod delivery_properties;
mod executor_random;
mod fold_properties;
mod host_properties;
mod hostile_properties;
mod serialization;
