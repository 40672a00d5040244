//! How long to wait before the next try: capped, exponential, with jitter from a seeded generator.

use std::time::Duration;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The generator of one process. Two processes differ in their seeds, so that they do not try in
/// step; the same seed waits the same times.
#[derive(Clone, Debug)]
pub(crate) struct Jitter(ChaCha8Rng);

impl Jitter {
    pub(crate) fn new(seed: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        Self(ChaCha8Rng::from_seed(key))
    }

    /// A time from half of `span` to all of it.
    pub(crate) fn around(&mut self, span: Duration) -> Duration {
        span / 2 + self.below(span / 2)
    }

    /// A time from 0 to `span`.
    pub(crate) fn below(&mut self, span: Duration) -> Duration {
        // The upper half of a product is below its factor, so the sum fits.
        let nanos = span.as_nanos().min(u128::from(u64::MAX));
        let drawn = (nanos * u128::from(self.0.next_u64())) >> 64;
        Duration::from_nanos(u64::try_from(drawn).unwrap_or(u64::MAX))
    }
}

/// The waits of one thing that is tried again and again.
#[derive(Clone, Debug)]
pub(crate) struct Backoff {
    first: Duration,
    cap: Duration,
    failures: u32,
}

impl Backoff {
    pub(crate) fn new(first: Duration, cap: Duration) -> Self {
        Self { first, cap, failures: 0 }
    }

    /// The wait after one more failure: doubled up to the cap, then half to all of it.
    pub(crate) fn next(&mut self, jitter: &mut Jitter) -> Duration {
        let doubled = self.first.saturating_mul(2_u32.saturating_pow(self.failures.min(31)));
        self.failures = self.failures.saturating_add(1);
        jitter.around(doubled.min(self.cap))
    }

    pub(crate) fn reset(&mut self) {
        self.failures = 0;
    }
}
