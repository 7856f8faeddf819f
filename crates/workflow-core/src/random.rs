//! Task ids, from a seed the caller gives.

/// A small generator (SplitMix64): task ids need to differ, not to be secret.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// `wf-{milliseconds}-{six base-36 characters}` (A17: always six).
    pub(crate) fn task_id(&mut self, now: u64) -> String {
        format!("wf-{now}-{}", self.characters(6))
    }

    /// Twelve base-36 characters that name something once.
    pub(crate) fn nonce(&mut self) -> String {
        self.characters(12)
    }

    fn characters(&mut self, count: usize) -> String {
        const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
        let mut value = self.next();
        std::iter::repeat_with(|| {
            let digit = DIGITS[usize::try_from(value % 36).unwrap_or_default()];
            value /= 36;
            char::from(digit)
        })
        .take(count)
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_ids_and_they_differ_from_each_other() {
        let ids = |seed| -> Vec<String> {
            let mut random = Random::new(seed);
            (0..1000).map(|_| random.task_id(7)).collect()
        };
        assert_eq!(ids(1), ids(1));
        assert!(ids(1).iter().all(|id| id.len() == "wf-7-abcdef".len()));
        let mut sorted = ids(1);
        sorted.sort();
        sorted.dedup();
        assert_eq!(sorted.len(), 1000);
    }
}
