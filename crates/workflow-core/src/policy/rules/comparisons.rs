//! The work that one call may need: comparisons of patterns with its commands.

use std::cell::Cell;

/// The comparisons of patterns with commands for one call. A call that needs more counts as unknown.
const MAX_COMPARISONS: usize = 1_000_000;

/// The comparisons that as long as looking up a path take.
pub(super) const COMPARISONS_OF_A_PATH: usize = 1000;

/// The comparisons that a call has needed so far.
#[derive(Debug, Default)]
pub(super) struct Comparisons(Cell<usize>);

impl Comparisons {
    /// Takes a number of them; false if there are not so many.
    pub(super) fn spend(&self, number: usize) -> bool {
        self.0.set(self.0.get().saturating_add(number));
        self.0.get() <= MAX_COMPARISONS
    }

    /// The number so far.
    #[cfg(test)]
    pub(super) fn spent(&self) -> usize {
        self.0.get()
    }
}
