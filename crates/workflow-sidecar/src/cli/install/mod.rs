//! `install` and `uninstall`: our part of a host's configuration.

mod changes;
mod pi;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::builder::{PossibleValue, PossibleValuesParser};

use crate::files::home_dir;
use crate::hook_hosts::{self, HookHost};
use crate::install::{self, Directories, InstallError, InstallTarget, codex_trust, opencode};

const EXAMPLES: &str = "\
Examples:
  workflow-sidecar install codex              for all your projects
  workflow-sidecar install codex --project    for the project of this directory
  workflow-sidecar install codex --trust      and trust the hooks, as `/hooks` in Codex does
  workflow-sidecar install codex --dry-run    show what would be written
  workflow-sidecar install pi                 have pi install its package

Claude Code is untested: its hooks are written from its types.

Everything else in the files of the host stays as it is, byte for byte.";

const EXAMPLES_OF_REMOVAL: &str = "\
Examples:
  workflow-sidecar uninstall codex
  workflow-sidecar uninstall codex --project --dry-run";

/// Make Codex, Claude Code, Copilot CLI, Gemini CLI, opencode or pi follow workflows
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    options: TargetOptions,
    /// The directory of the store, instead of ~/.local/state/workflow-sidecar
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// Also trust the hooks in Codex; for another host, say what you have to confirm there
    #[arg(long)]
    trust: bool,
}

/// Remove from a host's configuration what `install` wrote
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES_OF_REMOVAL)]
pub(super) struct RemovalArguments {
    #[command(flatten)]
    options: TargetOptions,
}

#[derive(Debug, clap::Args)]
struct TargetOptions {
    /// The host
    #[arg(value_parser = names())]
    host: String,
    /// Only for the project of the current directory
    #[arg(long)]
    project: bool,
    /// Show the changes and make none
    #[arg(long)]
    dry_run: bool,
}

/// The hosts, for the command line.
fn names() -> PossibleValuesParser {
    let others = [opencode::NAME, pi::NAME].map(|name| PossibleValue::new(name).help(name));
    PossibleValuesParser::new(hook_hosts::names().chain(others))
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let state = arguments.state.as_deref().map(std::path::absolute);
    let state = state.transpose().context("--state is no directory")?;
    let options = &arguments.options;
    if options.host == pi::NAME {
        if state.is_some() {
            bail!("pi keeps the sessions itself: install without --state");
        }
        pi::run("install", options.project, options.dry_run)?;
        if !options.dry_run {
            anstream::println!("Start pi again. Then type: /workflow NAME TASK");
        }
        return Ok(());
    }
    let host = hook_hosts::host(&options.host);
    options.change(state.as_deref(), false)?;
    if options.dry_run {
        return Ok(());
    }
    let Some(host) = host else {
        anstream::println!("Start opencode again. Then type: /workflow NAME TASK");
        return Ok(());
    };
    if arguments.trust && host.name == "codex" {
        let trusted = options.trust_in_codex(host, state.as_deref())?;
        anstream::println!("Codex trusts the {trusted} hooks. Type: workflow NAME TASK");
        return Ok(());
    }
    if arguments.trust {
        anstream::println!("{}", who_trusts(host));
    }
    anstream::println!("{}", next_step(host));
    Ok(())
}

pub(super) fn remove(arguments: &RemovalArguments) -> anyhow::Result<()> {
    let options = &arguments.options;
    if options.host == pi::NAME {
        return pi::run("remove", options.project, options.dry_run);
    }
    options.change(None, true)
}

impl TargetOptions {
    /// Installs or removes our part of the host's configuration.
    fn change(&self, state: Option<&Path>, removes: bool) -> anyhow::Result<()> {
        self.with_target(state, |target| {
            let Some(host) = hook_hosts::host(&self.host) else {
                let plan = if removes {
                    opencode::plan_removal(target)?
                } else {
                    opencode::plan(target)?
                };
                let sources = opencode::source_directory(target);
                changes::make(&plan, Some(&sources), self.dry_run)?;
                if removes && !self.dry_run {
                    opencode::remove_empty_directories(target);
                }
                return Ok(());
            };
            let plan = if removes {
                install::plan_removal(host, target)?
            } else {
                install::plan(host, target)?
            };
            changes::make(&plan, None, self.dry_run)
        })
    }

    /// Calls a function with the target of the installation.
    fn with_target<T>(
        &self,
        state: Option<&Path>,
        act: impl FnOnce(&InstallTarget<'_>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let home = home_dir().ok_or(InstallError::NoHome)?;
        let project = self.project.then(std::env::current_dir).transpose()?;
        let program = std::env::current_exe().context("the path of this program is not known")?;
        act(&InstallTarget {
            directories: &Directories::of_process(&home),
            project: project.as_deref(),
            program: &program,
            state,
        })
    }

    /// Has Codex trust exactly the hooks that were installed, and returns their number.
    fn trust_in_codex(
        &self,
        host: &'static HookHost,
        state: Option<&Path>,
    ) -> anyhow::Result<usize> {
        self.with_target(state, |target| {
            let installed = install::installed(host, target).context("no hooks are installed")?;
            let commands = install::commands(host, target);
            let here = std::env::current_dir()?;
            codex_trust::trust(Path::new("codex"), &here, &installed.hooks, &commands)
                .context("the hooks are installed, and not trusted")
        })
    }
}

/// Steps that only a person can confirm.
fn who_trusts(host: &HookHost) -> &'static str {
    match host.name {
        "gemini" => "Only you can trust the folder: Gemini CLI asks when it starts there.",
        "claude" => "Only you can trust the folder: Claude Code asks when it starts there.",
        _ => "Only you can trust the folder: Copilot CLI asks when it starts there.",
    }
}

/// Steps of the user in the host.
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
