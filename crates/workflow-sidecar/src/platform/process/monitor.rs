//! The link between a running command and its caller: cancellation in, process groups out.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use super::ProcessGroup;

/// Lets the caller cancel commands, and reports which process group runs.
pub(crate) struct Monitor<'a> {
    cancelled: &'a AtomicBool,
    report_group: Option<&'a mut dyn FnMut(Option<ProcessGroup>)>,
}

impl<'a> Monitor<'a> {
    /// Reads the cancellation from a flag; `report_group` gets the group that starts, and `None` when it has ended.
    pub(crate) fn new(
        cancelled: &'a AtomicBool,
        report_group: &'a mut dyn FnMut(Option<ProcessGroup>),
    ) -> Self {
        Self {
            cancelled,
            report_group: Some(report_group),
        }
    }

    /// A monitor of commands that are not cancelled, and whose groups nobody asks for.
    pub(crate) fn idle() -> Self {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Self {
            cancelled: &NEVER,
            report_group: None,
        }
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    pub(super) fn report(&mut self, group: Option<ProcessGroup>) {
        if let Some(report_group) = &mut self.report_group {
            report_group(group);
        }
    }
}

impl fmt::Debug for Monitor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Monitor").finish_non_exhaustive()
    }
}
