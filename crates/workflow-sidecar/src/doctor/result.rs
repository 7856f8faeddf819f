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

/// The subject of a check, which its results begin with.
#[derive(Debug, Clone, Copy)]
pub(super) struct CheckSubject(pub(super) &'static str);

impl CheckSubject {
    fn found(self, status: CheckStatus, text: String) -> InstallationCheck {
        InstallationCheck {
            subject: self.0,
            status,
            text,
            help: None,
        }
    }

    pub(super) fn ok(self, text: impl Into<String>) -> InstallationCheck {
        self.found(CheckStatus::Ok, text.into())
    }

    /// A warning, with what to do.
    pub(super) fn warn(
        self,
        text: impl Into<String>,
        help: impl Into<String>,
    ) -> InstallationCheck {
        self.found(CheckStatus::Warn, text.into()).help(help)
    }

    /// An error, with what to do.
    pub(super) fn fail(
        self,
        text: impl Into<String>,
        help: impl Into<String>,
    ) -> InstallationCheck {
        self.found(CheckStatus::Fail, text.into()).help(help)
    }
}

impl InstallationCheck {
    /// The result of two checks: the worse one counts, and both are named.
    pub(super) fn after(self, first: Self) -> Self {
        let is_worse = first.status > self.status;
        Self {
            status: first.status.max(self.status),
            text: format!("{}; {}", first.text, self.text),
            help: if is_worse { first.help } else { self.help },
            ..self
        }
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}
