//! Durations as they are counted: four buckets a doubling, so that the middle of one is within 10 % of all that are in it.

use std::collections::BTreeMap;

use workflow_core::types::Millis;

/// Where the second, third and fourth bucket of a doubling begin, and the middles of all four, in parts of 65,536.
const BEGINS: [u64; 3] = [77_936, 92_682, 110_218];
const MIDDLES: [u64; 4] = [71_468, 84_990, 101_070, 120_194];
const ONE: u32 = 16;
/// The longest time that is told from others.
const LONGEST: Millis = 1 << 44;

/// The bucket of a time.
pub(super) fn bucket(time: Millis) -> u32 {
    let time = time.clamp(1, LONGEST);
    let doublings = time.ilog2();
    let part = (time << ONE) >> doublings;
    let quarter = BEGINS.iter().filter(|begin| **begin <= part);
    // Three at most.
    doublings * 4 + u32::try_from(quarter.count()).unwrap_or_default()
}

/// The middle of a bucket.
fn middle(bucket: u32) -> Millis {
    let middle = MIDDLES[bucket as usize % MIDDLES.len()];
    (middle << (bucket / 4).min(LONGEST.ilog2())) >> ONE
}

/// The time below which so many of a hundred lie: of buckets, and how many are in each.
pub(super) fn percentile(buckets: &BTreeMap<u32, u64>, percent: u64) -> Millis {
    let all = buckets.values().copied().fold(0, u64::saturating_add);
    let rank = all.saturating_mul(percent).div_ceil(100);
    let mut before = 0_u64;
    let found = buckets.iter().find(|(_, number)| {
        before = before.saturating_add(**number);
        before >= rank
    });
    found.map_or(0, |(bucket, _)| middle(*bucket))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn percentiles_are_within_a_tenth(mut times in prop::collection::vec(0_u64..1 << 36, 1..200), percent in 1_u64..100) {
            let mut buckets = BTreeMap::new();
            for time in &times {
                *buckets.entry(bucket(*time)).or_default() += 1;
            }
            times.sort_unstable();
            let rank = (times.len() as u64 * percent).div_ceil(100);
            let exact = times[usize::try_from(rank).unwrap() - 1];
            let found = percentile(&buckets, percent);
            prop_assert!(found.abs_diff(exact) <= exact / 10 + 1, "{found} for {exact}");
        }
    }
}
