//! Results of checks.

use serde::Serialize;

/// The severity of a check's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CheckStatus {
    /// As it should be.
    Ok,
    /// A warning.
    Warn,
    /// An error.
    Fail,
}

/// The result of one check.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct InstallationCheck {
    /// The subject of the check.
    pub(crate) subject: &'static str,
    pub(crate) status: CheckStatus,
    /// The result.
    pub(crate) text: String,
    /// The advice, if something is to be done.
    pub(crate) help: Option<String>,
}

impl InstallationCheck {
    pub(super) fn new(subject: &'static str, status: CheckStatus, text: String) -> Self {
        Self {
            subject,
            status,
            text,
            help: None,
        }
    }

    pub(super) fn ok(subject: &'static str, text: impl Into<String>) -> Self {
        Self::new(subject, CheckStatus::Ok, text.into())
    }

    /// A warning, with what to do.
    pub(super) fn warn(
        subject: &'static str,
        text: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self::new(subject, CheckStatus::Warn, text.into()).help(help)
    }

    /// An error, with what to do.
    pub(super) fn fail(
        subject: &'static str,
        text: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self::new(subject, CheckStatus::Fail, text.into()).help(help)
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}
