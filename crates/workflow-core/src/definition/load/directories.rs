//! The workflows directories of the user and of the project, read in byte order of their entries, within the limits.

use super::directory::{Directory, FoundWorkflow};
use super::files::{FilePath, FileProblem, Files, TierEntry};
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
    let directory = Location::file(&files.shown(&FilePath::workflows(tier)));
    let entries = match files.entries(tier) {
        Ok(entries) => entries,
        Err(problem) => {
            let message = format!("the {} workflows directory {problem}", name_of(tier));
            let diagnostic = Diagnostic::new(Code::Unreadable, Severity::Error, message);
            diagnostics.push(diagnostic.at(directory));
            return Vec::new();
        }
    };
    let most = limits.max_workflows as usize;
    if entries.len() > most {
        diagnostics.push(too_many(tier, most).at(directory));
    }
    let mut found = Vec::new();
    for entry in entries.into_iter().take(most) {
        match entry {
            TierEntry::Skipped { name, problem } => {
                let location = Location::file(&files.shown(&FilePath::entry(tier, &name)));
                diagnostics.push(skipped(tier, &name, &problem).at(location));
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

fn name_of(tier: Tier) -> &'static str {
    match tier {
        Tier::Global => "global",
        Tier::Project => "project's",
    }
}

fn too_many(tier: Tier, most: usize) -> Diagnostic {
    let message = format!(
        "more than {most} directories in the {} workflows directory: only the first {most} are read",
        name_of(tier)
    );
    Diagnostic::new(Code::OverLimit, Severity::Error, message)
        .with_help("remove some, or raise `limits.maxWorkflows` in the settings")
}

/// Reports an entry that is not followed (B25).
fn skipped(tier: Tier, name: &str, problem: &FileProblem) -> Diagnostic {
    let message = format!(
        "`{}` in the {} workflows directory is skipped: it {problem}",
        shown(name),
        name_of(tier)
    );
    Diagnostic::new(Code::EntrySkipped, Severity::Warning, message)
}
