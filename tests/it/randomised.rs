//! Seeds of randomised tests.

use std::hash::{BuildHasher, RandomState};

use proptest::prelude::ProptestConfig;
use proptest::test_runner::RngSeed;

/// A number of cases from a seed that is printed; `SEED=…` repeats them.
pub(crate) fn config(cases: u32) -> ProptestConfig {
    let asked = std::env::var("SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let seed = asked.unwrap_or_else(|| RandomState::new().hash_one(cases));
    eprintln!("SEED={seed}");
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}
