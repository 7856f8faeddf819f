//! What is counted with a change of the store.

use std::collections::BTreeMap;

/// A day, in milliseconds.
pub const DAY: u64 = 24 * 60 * 60 * 1000;
/// The most that is counted at once: what a host reports must not stop the change that it is counted with.
const MOST: u64 = 1 << 40;

/// What is counted with a change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts(pub(crate) BTreeMap<[String; 3], [u64; 2]>);

impl Counts {
    /// Adds a number, and a sum such as of milliseconds, to those of a workflow, a kind and a name.
    pub fn add(&mut self, of: [&str; 3], number: u64, total: u64) {
        let sums = self.0.entry(of.map(str::to_owned)).or_default();
        for (sum, added) in sums.iter_mut().zip([number, total]) {
            *sum = sum.saturating_add(added).min(MOST);
        }
    }

    /// Adds what was counted elsewhere.
    pub fn merge(&mut self, other: Self) {
        for (of, [number, total]) in other.0 {
            self.add(of.each_ref().map(String::as_str), number, total);
        }
    }

    /// Returns true if nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
