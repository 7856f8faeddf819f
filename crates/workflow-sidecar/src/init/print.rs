//! What `init` has written, and what to do next, as text.

use std::io::IsTerminal;
use std::path::Path;

use workflow_core::definition::{LoadOutcome, Tier, load};
use workflow_core::diagnostic::{render, visible};
use workflow_core::session::project_gate_commands;

use super::first_run::{SECONDS, first_run};
use super::{Template, WORKFLOWS, WrittenTemplate};
use crate::install::installed_hosts;
use crate::platform::disk::{Disk, user_agent_dir};
use crate::platform::gates::{CheckVerdict, Report, no_test_ran};
use crate::present::Page;

impl WrittenTemplate {
    /// Adds the files, and the command that runs the tests.
    pub(crate) fn print_files(&self, project: &Path, page: &mut Page) {
        for key in &self.keys {
            let directory = Path::new(WORKFLOWS).join(key);
            let files = self.files.iter();
            let files = files.filter_map(|file| file.strip_prefix(&directory).ok());
            let names: Vec<String> = files.map(|file| file.display().to_string()).collect();
            let directory = project_path(project, &directory);
            page.line(format_args!("wrote {directory}: {}", names.join(", ")));
        }
        if let Some(schema) = &self.schema {
            page.line(schema);
        }
        let command = &self.tests.line;
        let files = self.files_with_tests.iter();
        let files: Vec<String> = files.map(|file| project_path(project, file)).collect();
        if files.is_empty() {
            return;
        }
        page.line(if self.tests.is_detected {
            format!("Detected test command: `{command}` (change it under `gate` and `commands`).")
        } else {
            let files = files.join("\n  ");
            format!("Could not detect a test command; using `{command}`. Change it in:\n  {files}")
        });
    }

    /// Runs the tests once, if there are any, and adds their result. A terminal sees that it goes on.
    pub(crate) fn run_tests(&self, project: &Path, page: &mut Page) -> anyhow::Result<()> {
        if self.files_with_tests.is_empty() || !self.tests.is_detected {
            return Ok(());
        }
        page.add(&format!(
            "Running it once, for at most {} minutes (`--no-run` skips this)",
            SECONDS / 60
        ));
        page.print()?;
        let is_watched = std::io::stdout().is_terminal();
        let report = first_run(&self.tests, project, || {
            if is_watched {
                // Progress is not worth an error.
                page.add(".");
                let _ = page.print();
            }
        });
        page.line(match report {
            Some(report) => format!("\n{}", test_result(&report)),
            None => "\n⚠ it ended without a result".to_owned(),
        });
        Ok(())
    }

    /// Adds which workflows the new ones replace, and their diagnostics.
    pub(crate) fn print_problems(&self, project: &Path, page: &mut Page) {
        let loaded = load(&Disk::new(user_agent_dir(None), project.to_path_buf()));
        for listing in &loaded.index {
            if listing.outcome == LoadOutcome::Shadowed
                && listing.tier == Tier::Global
                && self.keys.contains(&listing.key)
            {
                let own = visible(&listing.source);
                page.line(format_args!("In this project it replaces your own {own}"));
            }
        }
        for found in &loaded.diagnostics {
            let about = found.workflow.as_ref();
            if about.is_some_and(|about| self.keys.contains(about)) {
                page.line(format_args!("\n{}", render(found, true)));
            }
        }
    }
}

/// Describes the result of the tests, with the end of their output if they did not pass.
fn test_result(report: &Report) -> String {
    const MAX_LINES: usize = 10;
    let (reason, seconds) = (&report.reason, report.duration_ms / 1000);
    let head = match report.verdict {
        CheckVerdict::Passed => return format!("✓ it passes ({seconds} s)"),
        CheckVerdict::CouldNotRun(_) => format!("⚠ it could not run: {reason}"),
        CheckVerdict::Failed => match no_test_ran(&report.tail) {
            Some(sentence) => format!("✗ it ran no test ({reason}): \"{sentence}\""),
            None => format!("✗ it fails ({reason})"),
        },
    };
    let lines: Vec<&str> = report.tail.lines().collect();
    let last = lines[lines.len().saturating_sub(MAX_LINES)..].iter();
    let output = last.fold(String::new(), |text, line| format!("{text}\n  {line}"));
    format!("{head}{output}\nThe gates of this workflow need it to pass.")
}

/// Adds the next steps with a workflow.
pub(crate) fn print_next_steps(project: &Path, key: &str, template: &Template, page: &mut Page) {
    let here = project == Path::new(".");
    let (argument, option) = if here {
        (String::new(), String::new())
    } else {
        let project = project.display().to_string();
        // Quoted, because the line is copied into a shell. A path with a NUL byte cannot be quoted, nor exist.
        let project = shlex::try_quote(&project).unwrap_or(project.as_str().into());
        (format!(" {project}"), format!(" --project {project}"))
    };
    let inputs = template.inputs;
    // The description of a simulation has a default, but not after an input.
    let dry_run = if inputs.is_empty() { "" } else { " a dry run" };
    let check = format!("workflow-sidecar check{argument}");
    let explain = format!("workflow-sidecar explain {key}{option}");
    let simulate = format!("workflow-sidecar simulate {key}{option}{inputs}{dry_run}");
    let start = format!("/workflow {key}{inputs} <what to do>");
    let mut steps = vec![
        (check, "find mistakes, after each change"),
        (explain, "the rules of each phase"),
        (simulate, "walk through it without an agent"),
    ];
    let loaded = load(&Disk::new(user_agent_dir(None), project.to_path_buf()));
    let mut commands = project_gate_commands(key, &loaded.catalog, &loaded.index);
    if commands.next().is_some() {
        let trust = format!("workflow-sidecar trust{argument}");
        steps.push((trust, "allow the commands of its gates"));
    }
    if installed_hosts(Some(project)).is_empty() {
        let install = "workflow-sidecar install HOST".to_owned();
        steps.push((install, "make the host of your agent follow it"));
    }
    steps.push((start, "start it in the agent"));
    page.line("\nNext:");
    page.pairs(&steps);
}

/// Returns a path of the project as the user would type it.
pub(super) fn project_path(project: &Path, path: &Path) -> String {
    let full = project.join(path);
    let is_here = project == Path::new(".");
    if is_here { path } else { &full }.display().to_string()
}
