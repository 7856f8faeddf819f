//! Who watches over what runs: whether it is to go on, and which processes there are.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use super::process_group::ProcessGroup;

/// Watches over the checks of a gate while they run.
pub(super) struct Watch<'a> {
    over: &'a AtomicBool,
    told: &'a mut dyn FnMut(Option<ProcessGroup>),
}

impl<'a> Watch<'a> {
    /// Watches a flag that says that all is over; tells which group runs, and that none does.
    pub(super) fn new(over: &'a AtomicBool, told: &'a mut dyn FnMut(Option<ProcessGroup>)) -> Self {
        Self { over, told }
    }

    /// Whether everything is to end.
    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    pub(super) fn runs(&mut self, group: ProcessGroup) {
        (self.told)(Some(group));
    }

    pub(super) fn runs_no_more(&mut self) {
        (self.told)(None);
    }
}

impl fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}
