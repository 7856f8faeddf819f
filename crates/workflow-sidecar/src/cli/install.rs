//! `install` and `uninstall`: our part of a host's configuration.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::builder::PossibleValuesParser;
use clap::builder::styling::{AnsiColor, Style};

use crate::hook_hosts::{self, HOSTS, HookHost};
use crate::install::{self, FileChange, InstallError, Place};
use crate::platform::home::home_dir;

const EXAMPLES: &str = "\
Examples:
  workflow-sidecar install codex              for all your projects
  workflow-sidecar install codex --project    for the project of this directory
  workflow-sidecar install codex --dry-run    show what would be written

Everything else in the files of the host stays as it is, byte for byte.";

const EXAMPLES_OF_REMOVAL: &str = "\
Examples:
  workflow-sidecar uninstall codex
  workflow-sidecar uninstall codex --project --dry-run";

/// Make Codex, Claude Code, Copilot CLI or Gemini CLI follow workflows
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    target: Target,
    /// The directory of the store, instead of ~/.local/state/workflow-sidecar
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
}

/// Remove from a host's configuration what `install` wrote
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES_OF_REMOVAL)]
pub(super) struct RemovalArguments {
    #[command(flatten)]
    target: Target,
}

#[derive(Debug, clap::Args)]
struct Target {
    /// The host
    #[arg(value_parser = PossibleValuesParser::new(HOSTS.map(|host| host.name)))]
    host: String,
    /// Only for the project of the current directory
    #[arg(long)]
    project: bool,
    /// Show the changes and make none
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let host = arguments.target.host()?;
    let state = arguments.state.as_deref().map(std::path::absolute);
    let state = state.transpose().context("--state is no directory")?;
    arguments.target.change(state.as_deref(), install::plan)?;
    if !arguments.target.dry_run {
        anstream::println!("{}", next_step(host));
    }
    Ok(())
}

pub(super) fn remove(arguments: &RemovalArguments) -> anyhow::Result<()> {
    arguments.target.change(None, install::plan_removal)
}

impl Target {
    fn host(&self) -> anyhow::Result<&'static HookHost> {
        // The parser of the argument knows the hosts.
        hook_hosts::host(&self.host).context("the host is not known")
    }

    /// Shows the changes, and makes them.
    fn change(
        &self,
        state: Option<&Path>,
        plan: fn(&HookHost, &Place<'_>) -> Result<Vec<FileChange>, InstallError>,
    ) -> anyhow::Result<()> {
        let home = home_dir().ok_or(InstallError::NoHome)?;
        let project = self.project.then(std::env::current_dir).transpose()?;
        let program = std::env::current_exe().context("the path of this program is not known")?;
        let place = Place {
            home: &home,
            project: project.as_deref(),
            program: &program,
            state,
        };
        let mut out = anstream::stdout();
        let mut has_changes = false;
        for change in plan(self.host()?, &place)? {
            if change.before == change.after {
                continue;
            }
            has_changes = true;
            print(&mut out, &change)?;
            if !self.dry_run {
                install::apply(&change)?;
            }
        }
        if !has_changes {
            writeln!(out, "Nothing to change.")?;
        }
        Ok(())
    }
}

/// Prints the lines that come and go.
fn print(out: &mut impl Write, change: &FileChange) -> std::io::Result<()> {
    let lines = |text: &Option<String>| -> Vec<String> {
        let text = text.as_deref().unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    };
    let (before, after) = (lines(&change.before), lines(&change.after));
    let note = match (&change.before, &change.after) {
        (None, _) => " (new)",
        (_, None) => " (removed)",
        _ => "",
    };
    writeln!(out, "{}{note}", change.path.display())?;
    let styled = |colour: AnsiColor| Style::new().fg_color(Some(colour.into()));
    let (red, green) = (styled(AnsiColor::Red), styled(AnsiColor::Green));
    for line in before.iter().filter(|line| !after.contains(line)) {
        writeln!(out, "{red}- {line}{red:#}")?;
    }
    for line in after.iter().filter(|line| !before.contains(line)) {
        writeln!(out, "{green}+ {line}{green:#}")?;
    }
    Ok(())
}

/// What the user has to do in the host.
fn next_step(host: &HookHost) -> &'static str {
    match host.name {
        "codex" => {
            "Start `codex` and choose to trust the hooks; it asks at the start. Until then it does not run them, and `codex exec` does not \
             say so. Then type: workflow NAME TASK"
        }
        "gemini" => {
            "Trust the folder in Gemini CLI, or it runs no hooks. In editors (ACP) it runs none at all. Then type: workflow NAME TASK"
        }
        _ => "Start the host again. Then type: workflow NAME TASK",
    }
}
