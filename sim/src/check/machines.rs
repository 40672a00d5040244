//! The machines' own invariants: what the core asserts of itself.

use std::sync::Arc;

use super::Transition;
use crate::world::Fact;

/// Lets each machine that a step has touched check itself. For debug and test runs under the right
/// protocol: a wrong one may bend a machine out of its own shape.
///
/// # Panics
/// On a defect of the core.
pub fn check_machines(step: &Transition<'_>) {
    for fact in step.facts {
        if let Fact::Committed { after, .. } = fact {
            Arc::as_ref(after).check();
        }
    }
    for (_, _, process) in step.touched() {
        process.host.check();
    }
}
