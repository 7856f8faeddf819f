//! The workflows directories of the user and of the project, read in byte order of their entries, within the limits.

use super::directory::{Directory, FoundWorkflow};
use super::files::{FilePath, Files, TierEntry};
use crate::definition::model::{Limits, RuleSets};
use crate::definition::tier::Tier;
use crate::diagnostic::{Code, Diagnostic, Location, Severity, shown};

/// Reads the workflows of a source, in byte order of their keys.
pub(super) fn load_tier(
    files: &dyn Files,
    tier: Tier,
    limits: &Limits,
    sets: &RuleSets,
    keeps_locations: bool,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<FoundWorkflow> {
    let of = match tier {
        Tier::Global => "global",
        Tier::Project => "project's",
    };
    let report = |code, severity, path: &FilePath, message: String| {
        let location = Location::file(&files.shown(path));
        Diagnostic::new(code, severity, message).at(location)
    };
    let directory = FilePath::workflows(tier);
    let entries = match files.entries(tier) {
        Ok(entries) => entries,
        Err(problem) => {
            let message = format!("the {of} workflows directory {problem}");
            diagnostics.push(report(
                Code::Unreadable,
                Severity::Error,
                &directory,
                message,
            ));
            return Vec::new();
        }
    };
    let most = limits.max_workflows as usize;
    if entries.len() > most {
        let message = format!(
            "more than {most} directories in the {of} workflows directory: only the first {most} are read"
        );
        let help = "remove some, or raise `limits.maxWorkflows` in the settings";
        let found = report(Code::OverLimit, Severity::Error, &directory, message);
        diagnostics.push(found.with_help(help));
    }
    let mut found = Vec::new();
    for entry in entries.into_iter().take(most) {
        match entry {
            // It is not followed (B25).
            TierEntry::Skipped { name, problem } => {
                let path = FilePath::entry(tier, &name);
                let name = shown(&name);
                let message =
                    format!("`{name}` in the {of} workflows directory is skipped: it {problem}");
                diagnostics.push(report(
                    Code::EntrySkipped,
                    Severity::Warning,
                    &path,
                    message,
                ));
            }
            TierEntry::Directory(key) => {
                let directory = Directory {
                    files,
                    tier,
                    key: &key,
                    limits,
                    sets,
                    keeps_locations,
                };
                found.extend(directory.read(diagnostics));
            }
        }
    }
    found
}
