//! Problems with definitions, settings and stored entries, as a person is notified of them.

use crate::definition::{Settings, SettingsStatus};
use crate::diagnostic::{Code, Diagnostic};
use crate::effect::Effects;
use crate::text;
use crate::types::Severity;

/// Problems in one notification.
const MAX_SHOWN: usize = 5;

/// The problems that were shown last.
#[derive(Debug, Clone, Default)]
pub(crate) struct ShownProblems(String);

impl ShownProblems {
    /// Notifies the person of the problems that were found, once per change.
    pub(crate) fn show(&mut self, settings: &Settings, out: &mut Effects) {
        let mut text = summary(&out.diagnostics);
        let Settings { user, project, .. } = settings;
        for (owner, guards) in [("your", user), ("the project's", project)] {
            let meanwhile = match guards.status {
                SettingsStatus::Loaded => continue,
                SettingsStatus::LastKnownGood => "its last readable version applies",
                SettingsStatus::Unreadable => {
                    "everything that its unreadable parts could restrict is blocked"
                }
            };
            let until = format!("\nUntil {owner} settings file is corrected, {meanwhile}.");
            text.push_str(&until);
        }
        if !text.is_empty() && text != self.0 {
            out.warn(format!("[workflow] {text}"));
        }
        self.0 = text;
    }
}

/// The serious problems, one a line.
fn summary(diagnostics: &[Diagnostic]) -> String {
    let is_serious =
        |problem: &&Diagnostic| problem.severity == Severity::Error || is_about_run(problem.code);
    let serious = diagnostics.iter().filter(is_serious);
    let lines = serious.map(ToString::to_string).collect();
    text::few(lines, MAX_SHOWN, |more| format!("… and {more} more")).join("\n")
}

/// Returns true for a problem with the session's run, which is shown even if the run continues.
fn is_about_run(code: Code) -> bool {
    matches!(
        code,
        Code::StoredDamaged
            | Code::DefinitionGone
            | Code::DefinitionChanged
            | Code::DefinitionLost
            | Code::GuardsChanged
    )
}
