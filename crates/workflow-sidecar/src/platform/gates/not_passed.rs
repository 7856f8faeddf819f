//! Why a check did not pass.

use super::CheckVerdict;
use crate::platform::process::Failure;

/// The result of a check.
pub(super) type Checked = Result<(), NotPassed>;

/// The verdict on a check that did not pass, the reason, and the lines that show it.
#[derive(Debug)]
pub(super) struct NotPassed {
    pub(super) verdict: CheckVerdict,
    pub(super) reason: String,
    pub(super) shown: String,
}

impl NotPassed {
    pub(super) fn failed(reason: impl Into<String>) -> Self {
        Self {
            verdict: CheckVerdict::Failed,
            reason: reason.into(),
            shown: String::new(),
        }
    }
}

impl From<Failure> for NotPassed {
    fn from((error, reason): Failure) -> Self {
        Self {
            verdict: CheckVerdict::CouldNotRun(error),
            ..Self::failed(reason)
        }
    }
}
