//! `check`: all diagnostics of the definitions, with location and help.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use workflow_core::diagnostic::{Code, Diagnostic, Severity, render, shown, visible};

use super::explain_command;
use super::project::UserDirectory;
use crate::check::{
    CheckReport, Corrected, Edits, FlowTotals, annotation, check, code_named, correct, explanation,
    log,
};
use crate::hook_hosts;
use crate::present::{CommandOutcome, OutputFormat, count, json};
use clap::builder::PossibleValuesParser;

const EXAMPLES: &str = "\
Examples:
  workflow-sidecar check                           the workflows of this directory, and your own
  workflow-sidecar check packages/*                the workflows of several projects
  workflow-sidecar check .pi/workflows/bugfix      one workflow
  workflow-sidecar check --strict --format github  for CI: annotations, and warnings fail too
  workflow-sidecar check --format sarif > check.sarif
  workflow-sidecar check --explain WF026           what a diagnostic means, with an example
  workflow-sidecar check --fix --dry-run           preview the corrections
  workflow-sidecar check --explain-command 'git log | head'   what a shell line does, and which phase allows it

Exits with 1 if there is an error; with --strict also if there is a warning.";

/// Check workflows and settings
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
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
    #[arg(long, value_name = "HOST", value_parser = PossibleValuesParser::new(hook_hosts::names()))]
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
    /// SARIF 2.1.0, for code scanning
    Sarif,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<CommandOutcome> {
    if let Some(code) = &arguments.explain {
        return explain(code);
    }
    if let Some(line) = &arguments.explain_command {
        let format = match arguments.format {
            CheckFormat::Human => OutputFormat::Human,
            CheckFormat::Json => OutputFormat::Json,
            CheckFormat::Github | CheckFormat::Sarif => {
                anyhow::bail!("--explain-command has the formats human and json")
            }
        };
        let project = arguments.paths.first().map_or(Path::new("."), |path| path);
        return explain_command::run(line, project, &arguments.user, format);
    }
    let named = arguments.host.iter();
    let named: Vec<_> = named.filter_map(|name| hook_hosts::host(name)).collect();
    let checked =
        |edits: &Edits| check(&arguments.paths, &arguments.user.directory(), &named, edits);
    let report = if arguments.fix {
        let corrected = correct(&std::env::current_dir()?, checked)?;
        if !arguments.dry_run {
            corrected.write()?;
        }
        print_changes(&corrected, arguments.dry_run);
        corrected.report
    } else {
        checked(&Edits::new())?
    };
    for path in &report.passed_over {
        let path = shown(&path.display().to_string());
        anstream::eprintln!("{path} is a file, no project: passed over");
    }
    match arguments.format {
        CheckFormat::Human => {
            print_lines(&report, |found| render(found, true) + "\n")?;
            if !report.has_workflows() && report.diagnostics.is_empty() {
                writeln!(
                    anstream::stdout(),
                    "`workflow-sidecar init` writes a workflow"
                )?;
            }
        }
        CheckFormat::Github => print_lines(&report, annotation)?,
        CheckFormat::Json => json(&CheckJson::from(&report))?,
        CheckFormat::Sarif => json(&log(&report.diagnostics))?,
    }
    let failing = report.diagnostics.iter().any(|found| match found.severity {
        Severity::Error => true,
        Severity::Warning => arguments.strict,
        Severity::Info => false,
    });
    let is_empty = arguments.strict && report.workflows() == 0;
    if is_empty && !failing {
        anstream::eprintln!("error: no workflow can run (an error with --strict)");
    }
    let failing = failing || is_empty;
    Ok(if failing {
        CommandOutcome::Findings
    } else {
        CommandOutcome::Success
    })
}

/// Prints the explanation of a code.
fn explain(name: &str) -> anyhow::Result<CommandOutcome> {
    let Some(code) = code_named(name) else {
        let (first, last) = (Code::ALL[0], Code::ALL[Code::ALL.len() - 1]);
        anyhow::bail!(
            "there is no diagnostic {}: codes are {first} to {last}, as in docs/DIAGNOSTICS.md",
            shown(name)
        );
    };
    writeln!(anstream::stdout(), "{}", explanation(code))?;
    Ok(CommandOutcome::Success)
}

/// Prints the corrected lines on standard error, as standard output is for what is left.
fn print_changes(corrected: &Corrected, dry_run: bool) {
    let changes = &corrected.changes;
    for change in changes {
        let line = change.line.map(|line| format!(":{line}"));
        anstream::eprintln!("{}{}", shown(&change.file), line.unwrap_or_default());
        anstream::eprintln!("- {}", visible(&change.before));
        anstream::eprintln!("+ {}", visible(&change.after));
    }
    let number = count(changes.len(), "correction");
    match (changes.len(), dry_run) {
        (0, _) if corrected.report.diagnostics.is_empty() => {
            anstream::eprintln!("nothing to fix");
        }
        (0, _) => anstream::eprintln!("nothing that --fix can correct"),
        (_, true) => anstream::eprintln!("{number} would be made"),
        (_, false) => anstream::eprintln!("{number} made"),
    }
    anstream::eprintln!();
}

/// Prints each diagnostic as a text, and the totals.
fn print_lines(report: &CheckReport, text: impl Fn(&Diagnostic) -> String) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    for found in &report.diagnostics {
        writeln!(out, "{}", text(found))?;
    }
    for empty in &report.empty {
        let above = empty.above.as_ref();
        let above = above.map(|above| format!("; {above} has some: check that"));
        writeln!(
            out,
            "no workflows in {}{}",
            empty.looked_into,
            above.unwrap_or_default()
        )?;
    }
    let number = |severity: Severity| count(report.number(severity), severity.as_str());
    Ok(writeln!(
        out,
        "{}{} can run, {}, {}",
        count(report.workflows(), "workflow"),
        flow(report.flow),
        number(Severity::Error),
        number(Severity::Warning)
    )?)
}

/// Formats what decides where the runs go: ` with 2 inputs and 3 outcomes`. Empty if nothing does.
fn flow(totals: FlowTotals) -> String {
    let FlowTotals {
        inputs,
        outcomes,
        visit_limits,
        budgets,
    } = totals;
    let numbers = [
        (inputs, "input"),
        (outcomes, "outcome"),
        (visit_limits, "visit limit"),
        (budgets, "budget"),
    ];
    let present = numbers.iter().filter(|(number, _)| *number > 0);
    let texts: Vec<String> = present.map(|(number, name)| count(*number, name)).collect();
    match &*texts {
        [] => String::new(),
        [only] => format!(" with {only}"),
        [first @ .., last] => format!(" with {} and {last}", first.join(", ")),
    }
}

/// The output of `--format json`.
#[derive(Debug, Serialize)]
struct CheckJson<'a> {
    workflows: usize,
    errors: usize,
    warnings: usize,
    /// Absent if no workflow has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    flow: Option<FlowTotals>,
    diagnostics: Vec<DiagnosticJson<'a>>,
}

/// A diagnostic, as in the output of `--format json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct DiagnosticJson<'a> {
    code: &'static str,
    severity: &'static str,
    message: &'a str,
    file: Option<&'a str>,
    line: Option<u32>,
    column: Option<u32>,
    end_line: Option<u32>,
    end_column: Option<u32>,
    workflow: Option<&'a str>,
    help: Option<&'a str>,
}

impl<'a> From<&'a CheckReport> for CheckJson<'a> {
    fn from(report: &'a CheckReport) -> Self {
        Self {
            workflows: report.workflows(),
            errors: report.number(Severity::Error),
            warnings: report.number(Severity::Warning),
            flow: Some(report.flow).filter(|flow| *flow != FlowTotals::default()),
            diagnostics: report
                .diagnostics
                .iter()
                .map(DiagnosticJson::from)
                .collect(),
        }
    }
}

impl<'a> From<&'a Diagnostic> for DiagnosticJson<'a> {
    fn from(found: &'a Diagnostic) -> Self {
        let location = found.location.as_ref();
        let region = location.and_then(|location| location.region.as_ref());
        Self {
            code: found.code.as_str(),
            severity: found.severity.as_str(),
            message: &found.message,
            file: location.map(|location| &*location.file),
            line: region.map(|region| region.line),
            column: region.map(|region| region.column),
            end_line: region.map(|region| region.end_line),
            end_column: region.map(|region| region.end_column),
            workflow: found.workflow.as_deref(),
            help: found.help.as_deref(),
        }
    }
}
