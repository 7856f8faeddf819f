//! `check`: all diagnostics of the definitions, with location and help.

use std::path::{Path, PathBuf};

use workflow_core::diagnostic::render;

use super::project::UserDirectory;
use crate::check::{CheckJson, Edits, annotation, check, correct, explanation};
use crate::explain::ShellLine;
use crate::hook_hosts;
use crate::install::opencode;
use crate::present::{CommandOutcome, OutputFormat, json, say};

/// Check workflows and settings
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Directories of projects, or of single workflows
    #[arg(value_name = "DIR", default_value = ".")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    user: UserDirectory,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: CheckFormat,
    /// Treat warnings as errors
    #[arg(long)]
    strict: bool,
    /// Explain a diagnostic, with its reason and an example
    #[arg(long, value_name = "CODE", conflicts_with_all = ["strict", "fix", "format"])]
    explain: Option<String>,
    /// Apply the corrections that are unambiguous, and show the changed lines
    #[arg(long)]
    fix: bool,
    /// With --fix: show the changed lines, and write no file
    #[arg(long, requires = "fix")]
    dry_run: bool,
    /// Also report what this host cannot enforce (always reported for installed hosts)
    #[arg(long, value_name = "HOST", value_parser = hook_hosts::names(&[opencode::NAME]))]
    host: Vec<String>,
    /// Show what a shell line does, command by command, and what each phase decides about it
    #[arg(long, value_name = "LINE", allow_hyphen_values = true)]
    explain_command: Option<String>,
}

/// Output formats.
#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
enum CheckFormat {
    /// Text
    #[default]
    Human,
    /// JSON for programs
    Json,
    /// Annotations for GitHub Actions
    Github,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<CommandOutcome> {
    if let Some(code) = &arguments.explain {
        say(explanation(code)?)?;
        return Ok(CommandOutcome::Success);
    }
    if let Some(line) = &arguments.explain_command {
        let format = match arguments.format {
            CheckFormat::Human => OutputFormat::Human,
            CheckFormat::Json => OutputFormat::Json,
            CheckFormat::Github => {
                anyhow::bail!("--explain-command has the formats human and json")
            }
        };
        let project = arguments.paths.first().map_or(Path::new("."), |path| path);
        let user = &arguments.user;
        let line = ShellLine::of(line, project, &user.directory(), &user.disk(project)?)?;
        format.print(&line, ShellLine::text)?;
        return Ok(CommandOutcome::Success);
    }
    let agent_dir = arguments.user.directory();
    let checked = |edits: &Edits| check(&arguments.paths, &agent_dir, &arguments.host, edits);
    let mut corrected = None;
    if arguments.fix {
        let fixed = correct(&std::env::current_dir()?, checked)?;
        if !arguments.dry_run {
            fixed.write()?;
        }
        fixed.print_changes(arguments.dry_run);
        corrected = (!arguments.dry_run).then_some(fixed.report);
    }
    let report = match corrected {
        Some(report) => report,
        // The files are as they were.
        None => checked(&Edits::new())?,
    };
    report.name_passed_over();
    match arguments.format {
        CheckFormat::Human => {
            let mut page = report.page(|found| render(found, true) + "\n");
            if !report.has_workflows && report.diagnostics.is_empty() {
                page.line("`workflow-sidecar init` writes a workflow");
            }
            page.print()?;
        }
        CheckFormat::Github => report.page(annotation).print()?,
        CheckFormat::Json => json(&CheckJson::from(&report))?,
    }
    Ok(report.outcome(arguments.strict))
}
