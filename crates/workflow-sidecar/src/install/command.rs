//! `install` and `uninstall`, from what the user asks for to what they read.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::changes::make;
use super::hosts::{InstallTarget, commands};
use super::plan::{installed, plan, plan_removal};
use super::{codex_trust, opencode, pi};
use crate::hook_hosts::{self, HookHost};

/// What the user asks for.
#[derive(Debug)]
pub(crate) struct InstallRequest<'a> {
    /// The name of the host.
    pub(crate) host: &'a str,
    /// True for the project of the current directory only.
    pub(crate) project: bool,
    pub(crate) dry_run: bool,
    /// The directory of the store, if it is not the user's.
    pub(crate) state: Option<PathBuf>,
    /// True if the hooks are to be trusted, too.
    pub(crate) trust: bool,
}

impl InstallRequest<'_> {
    /// Installs our part of the host's configuration, and says what is left to do.
    pub(crate) fn install(self) -> anyhow::Result<()> {
        let host = hook_hosts::host(self.host);
        if self.host == pi::NAME {
            if self.state.is_some() {
                bail!("pi keeps the sessions itself: install without --state");
            }
            pi::run("install", self.project, self.dry_run)?;
        } else {
            let target = self.target()?;
            make(&plan(host, &target)?, &target, self.dry_run)?;
        }
        if self.dry_run {
            return Ok(());
        }
        let Some(host) = host else {
            anstream::println!("Start {} again. Then type: /workflow NAME TASK", self.host);
            return Ok(());
        };
        if self.trust && host.name == "codex" {
            let trusted = trust_in_codex(host, &self.target()?)?;
            anstream::println!("Codex trusts the {trusted} hooks. Type: workflow NAME TASK");
            return Ok(());
        }
        if self.trust {
            let name = match host.name {
                "gemini" => "Gemini CLI",
                "claude" => "Claude Code",
                _ => "Copilot CLI",
            };
            // Only the user can confirm this.
            anstream::println!("Only you can trust the folder: {name} asks when it starts there.");
        }
        anstream::println!("{} Then type: workflow NAME TASK", next_step(host));
        Ok(())
    }

    /// Removes our part.
    pub(crate) fn uninstall(self) -> anyhow::Result<()> {
        if self.host == pi::NAME {
            return pi::run("remove", self.project, self.dry_run);
        }
        let (host, target) = (hook_hosts::host(self.host), self.target()?);
        make(&plan_removal(host, &target)?, &target, self.dry_run)?;
        if host.is_none() && !self.dry_run {
            opencode::remove_empty_directories(&target);
        }
        Ok(())
    }

    fn target(&self) -> anyhow::Result<InstallTarget> {
        let project = self.project.then(std::env::current_dir).transpose()?;
        let state = self.state.as_deref().map(std::path::absolute);
        Ok(InstallTarget {
            state: state.transpose().context("--state is no directory")?,
            ..InstallTarget::of_process(project.as_deref())?
        })
    }
}

/// Has Codex trust exactly the hooks that were installed, and returns their number.
fn trust_in_codex(host: &'static HookHost, target: &InstallTarget) -> anyhow::Result<usize> {
    let installed = installed(host, target).context("no hooks are installed")?;
    let here = std::env::current_dir()?;
    let commands = commands(host, target);
    codex_trust::trust(Path::new("codex"), &here, &installed.hooks, &commands)
        .context("the hooks are installed, and not trusted")
}

/// Steps of the user in the host.
fn next_step(host: &HookHost) -> &'static str {
    match host.name {
        "codex" => {
            "Start `codex` and choose to trust the hooks; it asks at the start. Until then it does not run them, and `codex exec` does not \
             say so."
        }
        "gemini" => {
            "Trust the folder in Gemini CLI, or it runs no hooks. In editors (ACP) it runs none at all."
        }
        _ => "Start the host again.",
    }
}
