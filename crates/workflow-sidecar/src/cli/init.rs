//! `init`: a new workflow from a template.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};
use workflow_core::definition::{LoadOutcome, load, nearest};
use workflow_core::diagnostic::{render, shown, visible};

use crate::init::{
    Language, SCHEMA, SECONDS, STARTER, SchemaState, Template, WORKFLOWS, WrittenTemplate,
    first_run, templates, write,
};
use crate::platform::disk::{Disk, user_agent_dir};
use crate::platform::gates::{Report, Verdict, no_test_ran};

use super::schema;
use crate::present::CommandOutcome;

const EXAMPLES: &str = "\
Examples:
  workflow-sidecar init                               a commented workflow of three phases
  workflow-sidecar init --template bugfix             a ready-made workflow; `list --templates` lists them
  workflow-sidecar init --template bugfix --name fix  the same under another name
  workflow-sidecar init --json5                       JSON5 instead of YAML

No existing file is overwritten. The test command that is found in the files of the project is run once, to show what the
gates of the workflow will find; a guess is not run.";

/// The default key.
const DEFAULT_KEY: &str = "my-workflow";

/// Create a workflow, commented or ready-made
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// A name without its option, for a better answer than that it is unexpected
    #[arg(hide = true)]
    bare: Option<String>,
    /// Workflow to create: the commented `starter`, or a ready-made one
    #[arg(long, short, value_name = "NAME", value_parser = templates().map(|template| template.name).collect::<Vec<_>>())]
    template: Option<String>,
    /// Write the definition in JSON5
    #[arg(long)]
    json5: bool,
    /// Do not run the test command
    #[arg(long)]
    no_run: bool,
    /// Directory of the project; the workflow is written to its `.pi/workflows`
    #[arg(long, value_name = "DIR", default_value = ".")]
    project: PathBuf,
    /// Command name, and name of the directory [default: name of the template; of the starter `my-workflow`]
    #[arg(long, value_name = "KEY")]
    name: Option<String>,
}

impl Arguments {
    fn template(&self) -> &'static Template {
        let asked = |template: &&Template| Some(template.name) == self.template.as_deref();
        templates().find(asked).unwrap_or(&STARTER)
    }

    fn key(&self) -> &str {
        let template = self.template().name;
        let default = if template == STARTER.name {
            DEFAULT_KEY
        } else {
            template
        };
        self.name.as_deref().unwrap_or(default)
    }
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<CommandOutcome> {
    if let Some(bare) = &arguments.bare {
        bail!("{}", suggestion(bare));
    }
    let project = &arguments.project;
    ensure!(project.is_dir(), "{} is not a directory", project.display());
    let language = if arguments.json5 {
        Language::Json5
    } else {
        Language::Yaml
    };
    let key = arguments.key();
    let written = write(
        project,
        arguments.template(),
        key,
        language,
        schema::WORKFLOW,
    )?;
    let mut out = anstream::stdout().lock();
    print_written(&mut out, project, &written)?;
    if !written.files_with_tests.is_empty() {
        print_tests(&mut out, project, &written)?;
        if written.tests.is_detected && !arguments.no_run {
            run_tests(&mut out, project, &written)?;
        }
    }
    print_problems(&mut out, project, &written)?;
    print_next_steps(&mut out, project, key, arguments.template())?;
    Ok(CommandOutcome::Success)
}

/// Suggests the option that a bare name belongs to.
fn suggestion(bare: &str) -> String {
    let templates = templates().map(|template| template.name);
    match nearest(bare, templates) {
        Some(template) => format!("did you mean `init --template {template}`?"),
        None => format!(
            "did you mean `init --name {}`? The ready-made ones: `workflow-sidecar list --templates`",
            shown(bare)
        ),
    }
}

fn print_written(
    out: &mut impl Write,
    project: &Path,
    written: &WrittenTemplate,
) -> anyhow::Result<()> {
    for key in &written.keys {
        let directory = Path::new(WORKFLOWS).join(key);
        let files = written
            .files
            .iter()
            .filter_map(|file| file.strip_prefix(&directory).ok());
        let names = files.fold(String::new(), |names, file| {
            let between = if names.is_empty() { "" } else { ", " };
            format!("{names}{between}{}", file.display())
        });
        writeln!(out, "wrote {}: {names}", project_path(project, &directory))?;
    }
    let schema = project_path(project, Path::new(SCHEMA));
    match written.schema {
        SchemaState::Same => {}
        SchemaState::Written => writeln!(out, "wrote {schema}, for your editor")?,
        SchemaState::Other => writeln!(
            out,
            "kept {schema} of another version: `workflow-sidecar schema workflow > {schema}` updates it"
        )?,
    }
    Ok(())
}

/// Prints the command that runs tests.
fn print_tests(
    out: &mut impl Write,
    project: &Path,
    written: &WrittenTemplate,
) -> anyhow::Result<()> {
    let command = written.tests.typed();
    if written.tests.is_detected {
        writeln!(
            out,
            "Detected test command: `{command}` (change it under `gate` and `run`)."
        )?;
        return Ok(());
    }
    let files = written.files_with_tests.iter();
    let files: Vec<String> = files.map(|file| project_path(project, file)).collect();
    writeln!(
        out,
        "Could not detect a test command; using `{command}`. Change it in:\n  {}",
        files.join("\n  ")
    )?;
    Ok(())
}

/// Runs the command that runs tests once, and prints its result.
fn run_tests(
    out: &mut impl Write,
    project: &Path,
    written: &WrittenTemplate,
) -> anyhow::Result<()> {
    write!(
        out,
        "Running it once, for at most {} minutes (`--no-run` skips this)",
        SECONDS / 60
    )?;
    out.flush()?;
    let is_watched = std::io::stdout().is_terminal();
    let report = first_run(&written.tests, project, || {
        if is_watched {
            // Progress is not worth an error.
            let _ = write!(out, ".").and_then(|()| out.flush());
        }
    });
    let result = match report {
        Some(report) => result(&report),
        None => "⚠ it ended without a result".to_owned(),
    };
    writeln!(out, "\n{result}")?;
    Ok(())
}

/// Describes the result of the tests, with the end of their output if they did not pass.
fn result(report: &Report) -> String {
    const MAX_LINES: usize = 10;
    let (reason, seconds) = (&report.reason, report.duration_ms / 1000);
    let head = match report.verdict {
        Verdict::Passed => return format!("✓ it passes ({seconds} s)"),
        Verdict::CouldNotRun(_) => format!("⚠ it could not run: {reason}"),
        Verdict::Failed => match no_test_ran(&report.tail) {
            Some(sentence) => format!("✗ it ran no test ({reason}): \"{sentence}\""),
            None => format!("✗ it fails ({reason})"),
        },
    };
    let lines: Vec<&str> = report.tail.lines().collect();
    let last = lines[lines.len().saturating_sub(MAX_LINES)..].iter();
    let output = last.fold(String::new(), |text, line| format!("{text}\n  {line}"));
    format!("{head}{output}\nThe gates of this workflow need it to pass.")
}

/// Prints which workflows the new ones replace, and their diagnostics.
fn print_problems(
    out: &mut impl Write,
    project: &Path,
    written: &WrittenTemplate,
) -> anyhow::Result<()> {
    let loaded = load(&Disk::new(user_agent_dir(None), project.to_path_buf()));
    for listing in &loaded.index {
        if listing.outcome == LoadOutcome::Shadowed && written.keys.contains(&listing.key) {
            let replaced = visible(&listing.source);
            writeln!(out, "In this project it replaces your own {replaced}")?;
        }
    }
    for diagnostic in &loaded.diagnostics {
        if diagnostic
            .workflow
            .as_ref()
            .is_some_and(|about| written.keys.contains(about))
        {
            writeln!(out, "\n{}", render(diagnostic, true))?;
        }
    }
    Ok(())
}

fn print_next_steps(
    out: &mut impl Write,
    project: &Path,
    key: &str,
    template: &Template,
) -> anyhow::Result<()> {
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
    let steps = [
        (
            format!("workflow-sidecar check{argument}"),
            "find mistakes, after each change",
        ),
        (
            format!("workflow-sidecar explain {key}{option}"),
            "the rules of each phase",
        ),
        (
            format!("workflow-sidecar simulate {key}{option}{inputs}{dry_run}"),
            "walk through it without an agent",
        ),
        (
            format!("/workflow {key}{inputs} <what to do>"),
            "start it in the agent",
        ),
    ];
    let width = steps
        .iter()
        .map(|(command, _)| command.len())
        .max()
        .unwrap_or(0);
    let lines = steps
        .iter()
        .fold(String::new(), |mut lines, (command, what)| {
            // Writing to a string does not fail.
            let _ = writeln!(lines, "  {command:width$}  {what}");
            lines
        });
    write!(out, "\nNext:\n{lines}")?;
    Ok(())
}

/// Returns a path of the project as the user would type it.
fn project_path(project: &Path, path: &Path) -> String {
    let here = project == Path::new(".");
    let path = if here {
        path.to_path_buf()
    } else {
        project.join(path)
    };
    path.display().to_string()
}
