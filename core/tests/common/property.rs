//! How a property is run: fixed numbers, and no property without its interesting cases.
//!
//! Each run draws the same cases, so that a failure is one for everybody. Fresh ones:
//! `HANDOVER_PROPTEST_SEED=$(date +%s) cargo test -p handover-core`.

use std::cell::RefCell;
use std::collections::BTreeMap;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngSeed, TestRunner};

const SEED: u64 = 20_260_101;

/// How often something interesting occurred over all cases of a property.
#[derive(Default)]
pub(crate) struct Tally(RefCell<BTreeMap<&'static str, u64>>);

impl Tally {
    pub(crate) fn saw(&self, what: &'static str) {
        *self.0.borrow_mut().entry(what).or_default() += 1;
    }

    pub(crate) fn saw_if(&self, condition: bool, what: &'static str) {
        if condition {
            self.saw(what);
        }
    }
}

/// Runs a property on `cases` drawn cases. It fails too where something in `floors` occurred less
/// often than it says: then the property was hardly tested.
pub(crate) fn property<S: Strategy>(
    cases: u32,
    strategy: &S,
    floors: &[(&'static str, u64)],
    test: impl Fn(S::Value, &Tally),
) {
    let seed = seed();
    let config = Config {
        cases,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        ..Config::default()
    };
    let tally = Tally::default();
    let outcome = TestRunner::new(config).run(strategy, |case| {
        test(case, &tally);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}\nagain with HANDOVER_PROPTEST_SEED={seed}");
    }
    let seen = tally.0.into_inner();
    for (what, floor) in floors {
        let count = seen.get(what).copied().unwrap_or(0);
        assert!(
            count >= *floor,
            "hardly tested: {what:?} occurred {count} times, at least {floor} are wanted; {seen:?}"
        );
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one way to draw fresh cases; unset, all runs are alike"
)]
fn seed() -> u64 {
    match std::env::var("HANDOVER_PROPTEST_SEED") {
        Ok(text) => text.parse().expect("HANDOVER_PROPTEST_SEED is a plain decimal number"),
        Err(_) => SEED,
    }
}
