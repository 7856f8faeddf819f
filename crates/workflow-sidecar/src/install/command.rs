//! `install` and `uninstall`, from what the user asks for to what they read.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::changes::{FileChange, make};
use super::hosts::{InstallTarget, quoted_text, server};
use super::plan::{installed, installed_parts, plan, plan_removal};
use super::{codex_trust, opencode, pi};
use crate::files::home_dir;
use crate::hook_hosts::{self, HookHost};
use crate::measured::running_version;
use crate::platform::installation::{InstalledParts, PLUGIN, note_installation, noted_plugins};

/// What the user asks for.
#[derive(Debug, clap::Args)]
pub(crate) struct InstallRequest {
    /// The host
    #[arg(value_parser = hook_hosts::names(&[opencode::NAME, pi::NAME]))]
    host: String,
    /// Only for the project of the current directory
    #[arg(long)]
    project: bool,
    /// A directory for a plugin of Claude Code with the same, instead of the configuration
    #[arg(long, value_name = "DIR", conflicts_with = "project")]
    plugin: Option<PathBuf>,
    /// As an administrator, for all users of this machine
    #[arg(long, conflicts_with_all = ["project", "plugin"])]
    managed: bool,
    /// With --managed: the files are below this directory, for a package or an image
    #[arg(long, value_name = "DIR", requires = "managed")]
    root: Option<PathBuf>,
    /// Show the changes and make none
    #[arg(long)]
    dry_run: bool,
}

impl InstallRequest {
    /// Installs our part of the host's configuration, and says what is left to do. The store may be in another directory than
    /// the user's, and the hooks may be trusted, too.
    pub(crate) fn install(&self, state: Option<&Path>, trust: bool) -> anyhow::Result<()> {
        let host = self.hook_host()?;
        if self.host == pi::NAME {
            if state.is_some() {
                bail!("pi keeps the sessions itself: install without --state");
            }
            pi::run("install", self.project, self.dry_run)?;
        } else {
            // The opencode on the path must load the plugin.
            if host.is_none()
                && let Some(version) = running_version(opencode::NAME)
                && let Some(why) = opencode::unusable(&version)
            {
                bail!("{why}: install opencode 1");
            }
            let target = self.target(state)?;
            let changes = plan(host, &target)?;
            let directories = missing_directories(&changes);
            make(&changes, &target, self.dry_run)?;
            let parts = installed_parts(host, &target)?;
            self.note(&target, Some(parts), directories)?;
            if let Some(host) = host {
                self.report_hooks(host, &target)?;
            }
        }
        if self.dry_run {
            if let Some(host) = host.filter(|_| self.managed) {
                anstream::println!("{}", for_users(host, &self.target(state)?));
            }
            return Ok(());
        }
        let Some(host) = host else {
            anstream::println!("Start {} again. Then type: /workflow NAME TASK", self.host);
            return Ok(());
        };
        if let Some(plugin) = &self.plugin {
            let plugin = plugin.display();
            anstream::println!(
                "Start `claude --plugin-dir {plugin}`. Then type: /workflow-sidecar:workflow NAME TASK"
            );
            return Ok(());
        }
        let next = if self.managed {
            for_users(host, &self.target(state)?)
        } else if trust && host.name == "codex" {
            let trusted = trust_in_codex(host, &self.target(state)?)?;
            format!("Codex trusts the {trusted} hooks.")
        } else {
            next_step(host).to_owned()
        };
        if trust && host.name != "codex" {
            let name = host.title;
            // Only the user can confirm this.
            anstream::println!("Only you can trust the folder: {name} asks when it starts there.");
        }
        anstream::println!(
            "If gates run commands of your project, allow them before: workflow-sidecar trust"
        );
        let word = host.prompt_word(&std::env::current_dir()?);
        anstream::println!("{next} Then type: {word} NAME TASK");
        Ok(())
    }

    /// The host, if hooks are installed in it.
    fn hook_host(&self) -> anyhow::Result<Option<&'static HookHost>> {
        if self.plugin.is_some() && self.host != "claude" {
            let host = &self.host;
            bail!("--plugin is for Claude Code: install {host} without it");
        }
        let host = hook_hosts::host(&self.host);
        if self.managed && host.is_none() {
            let name = &self.host;
            bail!("{name} has no managed hooks: install without --managed, as each user");
        }
        Ok(host)
    }

    /// Says how many hooks are installed, and whether Claude Code runs other ones beside them: those of its configuration
    /// beside a plugin, or the reverse.
    fn report_hooks(&self, host: &'static HookHost, target: &InstallTarget) -> anyhow::Result<()> {
        if let Some(installed) = installed(host, target).filter(|_| !self.dry_run) {
            let (hooks, file) = (installed.commands.len(), installed.hooks.display());
            anstream::println!("{hooks} hooks in {file}.");
        }
        let mut others = InstallTarget::all(Some(&std::env::current_dir()?));
        let user = InstallTarget::of_process(None)?;
        let plugins = noted_plugins(&user.directories.home, host.name);
        others.extend(plugins.into_iter().map(|plugin| InstallTarget {
            plugin: Some(plugin),
            ..user.clone()
        }));
        let is_other = |it: &&InstallTarget| it.plugin.is_some() != self.plugin.is_some();
        let mut others = others.iter().filter(is_other);
        if let Some(other) = others.find_map(|other| installed(host, other)) {
            anstream::println!(
                "Attention: {} has hooks, too, and each event counts twice. Remove one of both with `workflow-sidecar uninstall \
                 {}` and the option of its installation.",
                other.hooks.display(),
                host.name
            );
        }
        Ok(())
    }

    /// Removes our part.
    pub(crate) fn uninstall(&self) -> anyhow::Result<()> {
        let host = self.hook_host()?;
        if self.host == pi::NAME {
            return pi::run("remove", self.project, self.dry_run);
        }
        let target = self.target(None)?;
        make(&plan_removal(host, &target)?, &target, self.dry_run)?;
        for directory in self.note(&target, None, Vec::new())? {
            // One with files of somebody else stays.
            let _ = std::fs::remove_dir(directory);
        }
        Ok(())
    }

    /// Notes what is installed now, if anything is, and returns the directories that were made for it.
    fn note(
        &self,
        target: &InstallTarget,
        parts: Option<InstalledParts>,
        directories: Vec<PathBuf>,
    ) -> anyhow::Result<Vec<PathBuf>> {
        if self.dry_run {
            return Ok(Vec::new());
        }
        let home = home_dir().context("the home directory is not known: set HOME")?;
        let (option, place) = match &target.plugin {
            Some(plugin) => (PLUGIN, Some(&**plugin)),
            None if self.managed => ("--managed", Some(&*target.directories.home)),
            None => ("", target.project.as_deref()),
        };
        let whose = (&*self.host, option, place);
        note_installation(&home, whose, &target.program, parts, directories)
    }

    fn target(&self, state: Option<&Path>) -> anyhow::Result<InstallTarget> {
        let project = self.project.then(std::env::current_dir).transpose()?;
        let absolute = |path: Option<&Path>| path.map(std::path::absolute).transpose();
        let target = if self.managed {
            InstallTarget::managed(absolute(self.root.as_deref())?.as_deref())
        } else {
            InstallTarget::of_process(project.as_deref())
        };
        Ok(InstallTarget {
            plugin: absolute(self.plugin.as_deref())?,
            state: absolute(state).context("--state is no directory")?,
            ..target?
        })
    }
}

/// Has Codex trust exactly the hooks that were installed, and returns their number.
fn trust_in_codex(host: &'static HookHost, target: &InstallTarget) -> anyhow::Result<usize> {
    let installed = installed(host, target).context("no hooks are installed")?;
    let project = std::env::current_dir()?;
    let trusted = codex_trust::trust(Path::new("codex"), &project, &installed);
    trusted.context("the hooks are installed, and not trusted")
}

/// The directories that changes make.
fn missing_directories(changes: &[FileChange]) -> Vec<PathBuf> {
    let all = changes
        .iter()
        .flat_map(|change| change.path.ancestors().skip(1));
    let missing = all.filter(|path| !path.exists());
    missing.map(Path::to_path_buf).collect()
}

/// What a managed installation leaves to the users, and what they may change.
fn for_users(host: &HookHost, target: &InstallTarget) -> String {
    match host.name {
        "codex" => "Codex runs these hooks for every user, without their trust. So that no user turns hooks off, add \
                    `[features] hooks = true` to /etc/codex/requirements.toml."
            .to_owned(),
        "claude" => format!(
            "Claude Code runs these hooks for every user. Its managed settings name no program as MCP server, and \
             managed-mcp.json would lock users out of theirs, so each user runs `claude mcp add-json --scope user workflow {}`.",
            quoted_text(&server(host, target).to_string())
        ),
        _ => format!("{} runs these hooks for every user.", host.title),
    }
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
