//! `trust`: the user's permission for a project's gate commands, its triggers, and the programs in its git configuration.

use std::path::PathBuf;

use anyhow::{Context, ensure};
use workflow_core::definition::load;

use super::project::UserDirectory;
use super::terminal;
use crate::platform::answers::open_projects;
use crate::platform::answers::trust_store::TrustStore;
use crate::platform::git::config_commands;
use crate::present::{CommandOutcome, Requirements, say};

/// Trust the commands and triggers of a project
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Directory of the project; its workflows are in `.pi/workflows` and `.agents/workflows`
    #[arg(value_name = "DIR", default_value = ".")]
    directory: PathBuf,
    /// List commands and triggers, and change nothing
    #[arg(long, conflicts_with = "revoke")]
    list: bool,
    /// Withdraw the trust in everything of the project
    #[arg(long)]
    revoke: bool,
    #[command(flatten)]
    user: UserDirectory,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<CommandOutcome> {
    let project = &arguments.directory;
    let agent_dir = arguments.user.directory();
    let disk = arguments.user.disk(project)?;
    let store = TrustStore::in_agent_dir(&agent_dir)?;
    if arguments.revoke {
        say(if store.revoke(project)? {
            "Nothing of this project may run any more."
        } else {
            "Nothing of this project was trusted."
        })?;
        return Ok(CommandOutcome::Success);
    }
    let loaded = load(&disk);
    let git_commands = config_commands(project).unwrap_or_else(|reason| {
        // For example because the project is not a repository, or git is not installed.
        tracing::debug!(reason, "the configuration of the repository cannot be read");
        Vec::new()
    });
    let requirements = Requirements::of(&loaded, &git_commands, project, &store)?;
    requirements.page().print()?;
    let untrusted = &requirements.untrusted;
    if untrusted.is_empty() {
        return Ok(CommandOutcome::Success);
    }
    if arguments.list {
        return Ok(CommandOutcome::Waits);
    }
    terminal::require("trust a project")?;
    let project_is_open = open_projects::is_open(&agent_dir, project);
    ensure!(
        !project_is_open.context("it is not known if a session of this project is open")?,
        "a session of this project is open: answer in its host (in Codex and Claude Code by the prompt `workflow trust`), which \
         asks before it runs them. Or close the session, and run this command again: Codex keeps a `codex app-server` running, so end \
         that process too"
    );
    let answer = terminal::ask("Do you trust them? [y/N]")?;
    let agrees = answer.is_some_and(|answer| matches!(&*answer.to_lowercase(), "y" | "yes"));
    if !agrees {
        say("They may not run.")?;
        return Ok(CommandOutcome::Waits);
    }
    for hash in untrusted {
        store.trust(project, hash)?;
    }
    say("They may run, as long as they stay as they are.")?;
    Ok(CommandOutcome::Success)
}
