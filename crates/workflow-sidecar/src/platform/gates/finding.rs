//! The verdict of a check inside this process.

use super::Verdict;
use crate::platform::process::Failure;

/// The verdict on a file or a repository, the reason, and the lines that show it.
#[derive(Debug)]
pub(super) struct GateFinding {
    pub(super) verdict: Verdict,
    pub(super) reason: String,
    pub(super) shown: String,
}

impl GateFinding {
    pub(super) fn passed() -> Self {
        Self {
            verdict: Verdict::Passed,
            reason: String::new(),
            shown: String::new(),
        }
    }

    pub(super) fn failed(reason: impl Into<String>, shown: String) -> Self {
        Self {
            verdict: Verdict::Failed,
            reason: reason.into(),
            shown,
        }
    }

    pub(super) fn could_not_run((error, reason): Failure) -> Self {
        Self {
            verdict: Verdict::CouldNotRun(error),
            reason,
            shown: String::new(),
        }
    }
}
