//! A quick exploration, of less than 50,000 states in all: two small rollouts of the table have the
//! states and transitions that they have, and all properties hold in them. What decides nothing by
//! the rules of core is not left out: what a change of these makes of it shows.
//!
//! With the scenarios this is what `.ci/mutants` asks about what core's own tests do not notice.

use std::ops::ControlFlow;

use handover_sim::explore::{Bounds, ROWS, Reductions, explore};

/// Names of rows, with the states, transitions and depth of each.
const SPACES: [(&str, (usize, usize, usize)); 2] =
    [("P05", (41_537, 158_119, 33)), ("C1", (5_700, 21_648, 26))];

#[test]
fn small_rollouts_hold_all_in_exactly_so_many_states() {
    for (name, size) in SPACES {
        let row = ROWS.iter().find(|row| row.name == name).expect("it is in the table");
        let reductions = Reductions { spent: false, ..Reductions::ALL };
        let bounds = Bounds { reductions, ..row.bounds() };
        let found = explore(&bounds, 1, |_| ControlFlow::Continue(()));
        assert!(found.holds(), "{name}");
        let coverage = found.coverage;
        assert_eq!((coverage.states, coverage.transitions, coverage.depth), size, "{name}");
    }
}
