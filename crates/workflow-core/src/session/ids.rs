//! Ids that a session makes: tasks, approval requests, gate runs and restores.

/// The generator of a session's ids.
#[derive(Debug, Clone)]
pub(crate) struct Ids {
    /// The state of `SplitMix64`: ids need to differ, not to be secret.
    seed: u64,
    /// The number of the last gate run or restore.
    pub(super) jobs: u64,
}

/// Makes the id of a run outside of a session: that of a copied one.
pub fn task_id(seed: u64, now: u64) -> String {
    Ids::new(seed).task(now)
}

impl Ids {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, jobs: 0 }
    }

    /// The number of a gate run or a restore.
    pub(crate) fn job(&mut self) -> u64 {
        self.jobs += 1;
        self.jobs
    }

    /// `wf-{milliseconds}-{six base-36 characters}` (A17: always six).
    pub(crate) fn task(&mut self, now: u64) -> String {
        format!("wf-{now}-{}", self.characters(6))
    }

    /// Twelve base-36 characters that identify an approval request.
    pub(crate) fn approval(&mut self) -> String {
        self.characters(12)
    }

    fn next(&mut self) -> u64 {
        self.seed = self.seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.seed ^ (self.seed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn characters(&mut self, count: usize) -> String {
        let mut value = self.next();
        std::iter::repeat_with(|| {
            let digit = u32::try_from(value % 36).expect("a digit is less than 36");
            value /= 36;
            char::from_digit(digit, 36).expect("a digit is less than 36")
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
            let mut ids = Ids::new(seed);
            (0..1000).map(|_| ids.task(7)).collect()
        };
        assert_eq!(ids(1), ids(1));
        assert!(ids(1).iter().all(|id| id.len() == "wf-7-abcdef".len()));
        let mut sorted = ids(1);
        sorted.sort();
        sorted.dedup();
        assert_eq!(sorted.len(), 1000);
    }
}
