//! The workflows directories, read in byte order of their entries, within the limits.

use super::directory::{Directory, FoundWorkflow};
use super::files::{FilePath, TierEntry};
use crate::definition::tier::Tier;
use crate::diagnostic::{Code, Diagnostic, Location, Severity, shown};

impl Directory<'_> {
    /// Reads the workflows of its source, in byte order of their keys.
    pub(super) fn read_all(&self, diagnostics: &mut Vec<Diagnostic>) -> Vec<FoundWorkflow> {
        let (files, root) = (self.files, self.root);
        let of = match root.tier() {
            Tier::Global => "global",
            Tier::Project => "project's",
        };
        let location = |path: FilePath| Location::file(&files.shown(&path));
        let directory = location(FilePath::workflows(root));
        let entries = match files.entries(root) {
            Ok(entries) => entries,
            Err(problem) => {
                let message = format!("the {of} workflows directory {problem}");
                let found = Diagnostic::new(Code::Unreadable, Severity::Error, message);
                diagnostics.push(found.at(directory));
                return Vec::new();
            }
        };
        let most = self.limits.max_workflows as usize;
        if entries.len() > most {
            let message = format!(
                "more than {most} directories in the {of} workflows directory: only the first {most} are read"
            );
            let help = "remove some, or raise `limits.maxWorkflows` in the settings";
            let found = Diagnostic::new(Code::OverLimit, Severity::Error, message);
            diagnostics.push(found.at(directory).with_help(help));
        }
        let mut found = Vec::new();
        for TierEntry { name, problem } in entries.into_iter().take(most) {
            if let Some(problem) = problem {
                // It is not followed (B25).
                let location = location(FilePath::entry(root, &name));
                let name = shown(&name);
                let message =
                    format!("`{name}` in the {of} workflows directory is skipped: it {problem}");
                let found = Diagnostic::new(Code::EntrySkipped, Severity::Warning, message);
                diagnostics.push(found.at(location));
            } else {
                let directory = Directory {
                    key: &name,
                    ..*self
                };
                found.extend(directory.read(diagnostics));
            }
        }
        found
    }
}
