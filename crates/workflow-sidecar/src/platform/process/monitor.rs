//! The link between a running command and its caller: cancellation in, process groups out.

use std::sync::atomic::{AtomicBool, Ordering};

/// Lets the caller cancel commands, and reports which process group runs.
#[derive(Clone, Copy)]
pub(crate) struct Monitor<'a> {
    cancelled: &'a AtomicBool,
    /// Gets the number of the group that starts, and `None` when it has ended.
    pub(super) report: &'a dyn Fn(Option<u32>),
}

impl<'a> Monitor<'a> {
    /// Reads the cancellation from a flag.
    pub(crate) fn new(cancelled: &'a AtomicBool, report: &'a dyn Fn(Option<u32>)) -> Self {
        Self { cancelled, report }
    }

    /// A monitor of commands that are not cancelled, and whose groups nobody asks for.
    pub(crate) fn idle() -> Self {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Self::new(&NEVER, &|_| ())
    }

    pub(crate) fn is_cancelled(self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}
