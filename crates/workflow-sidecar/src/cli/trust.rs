//! `trust`: the user's permission for a project's gate commands, its triggers, and the programs in its git configuration.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use workflow_core::definition::{Loaded, RunCheck, Tier, Trigger, load};
use workflow_core::diagnostic::visible;
use workflow_core::session::project_gate_commands;

use anyhow::{Context, ensure};

use super::project::UserDirectory;
use super::terminal;
use crate::platform::answers::open_projects;
use crate::platform::answers::trust_store::{
    CommandsHash, Trust, TrustError, TrustStore, hash_of, hash_of_triggers,
};
use crate::platform::git::config_commands;
use crate::present::{CommandOutcome, DIMMED, GOOD, NOTABLE, count};

const EXAMPLES: &str = "\
Examples:
  workflow-sidecar trust              show the commands and triggers of this project, then ask
  workflow-sidecar trust ../app       those of another project
  workflow-sidecar trust --list       list them, and whether they are trusted
  workflow-sidecar trust --revoke     withdraw the trust

Commands of your own workflows and settings need no trust. Trust covers a command or trigger as it is now: if it
changes, you are asked again. While a session of the project is open, its host asks you instead.

--list exits with 3 if something is not trusted yet.";

/// Trust the commands and triggers of a project
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Directory of the project; its workflows are in `.pi/workflows`
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
    let disk = arguments.user.disk(project)?;
    let store = TrustStore::in_agent_dir(&arguments.user.directory())?;
    let mut out = anstream::stdout();
    if arguments.revoke {
        store.revoke(project)?;
        writeln!(out, "Nothing of this project may run any more.")?;
        return Ok(CommandOutcome::Success);
    }
    let loaded = load(&disk);
    let git_commands = config_commands(project).unwrap_or_else(|reason| {
        // For example because the project is not a repository, or git is not installed.
        tracing::debug!(reason, "the configuration of the repository cannot be read");
        Vec::new()
    });
    let requirements = Requirements::of(&loaded, &git_commands, project, &store)?;
    if requirements.is_empty() {
        writeln!(
            out,
            "This project runs no commands at its gates, and has no triggers."
        )?;
        return Ok(CommandOutcome::Success);
    }
    requirements.print(&mut out)?;
    if arguments.list || requirements.untrusted.is_empty() {
        return Ok(if requirements.untrusted.is_empty() {
            CommandOutcome::Success
        } else {
            CommandOutcome::Waits
        });
    }
    terminal::require("trust a project")?;
    let project_is_open = open_projects::is_open(&arguments.user.directory(), project);
    ensure!(
        !project_is_open.context("it is not known if a session of this project is open")?,
        "a session of this project is open: answer in its host, which asks before it runs them. Or close the session, and run this \
         command again"
    );
    let answer = terminal::ask("Do you trust them? [y/N]")?;
    let agrees = answer.is_some_and(|answer| matches!(&*answer.to_lowercase(), "y" | "yes"));
    if !agrees {
        writeln!(out, "They may not run.")?;
        return Ok(CommandOutcome::Waits);
    }
    for hash in &requirements.untrusted {
        store.trust(project, hash)?;
    }
    writeln!(out, "They may run, as long as they stay as they are.")?;
    Ok(CommandOutcome::Success)
}

/// Everything of a project that needs the user's trust.
struct Requirements<'l> {
    commands: Lines<'l>,
    triggers: Lines<'l>,
    /// Programs in the configuration of the repository.
    git_commands: Lines<'l>,
    /// The hashes that are not trusted yet. A run asks for the commands of its workflow and its subworkflows, a
    /// session for the triggers.
    untrusted: Vec<CommandsHash>,
}

/// Commands or triggers in full.
type Lines<'l> = BTreeMap<String, Line<'l>>;

struct Line<'l> {
    locations: Vec<&'l str>,
    /// Set if it is trusted at all its locations.
    is_trusted: bool,
}

impl<'l> Requirements<'l> {
    fn of(
        loaded: &'l Loaded,
        git_commands: &[RunCheck],
        project: &Path,
        store: &TrustStore,
    ) -> Result<Self, TrustError> {
        let mut requirements = Self {
            commands: Lines::new(),
            triggers: Lines::new(),
            git_commands: Lines::new(),
            untrusted: Vec::new(),
        };
        for workflow in loaded.catalog.startable() {
            let gates: Vec<(&RunCheck, &str)> =
                project_gate_commands(&workflow.key, &loaded.catalog, &loaded.index).collect();
            if gates.is_empty() {
                continue;
            }
            let hash = hash_of(gates.iter().map(|(run, _)| *run));
            let is_trusted = requirements.is_trusted(hash, project, store)?;
            for (run, location) in gates {
                add(
                    &mut requirements.commands,
                    run.in_full(),
                    location,
                    is_trusted,
                );
            }
        }
        let triggers = loaded.settings.triggers.iter();
        let triggers: Vec<&Trigger> = triggers
            .filter(|trigger| trigger.tier == Tier::Project)
            .collect();
        if !triggers.is_empty() {
            let hash = hash_of_triggers(triggers.iter().copied());
            let is_trusted = requirements.is_trusted(hash, project, store)?;
            for trigger in triggers {
                let what = format!("{}: \"{}\"", trigger.describe(), trigger.prompt);
                let location = &trigger.source;
                add(
                    &mut requirements.triggers,
                    visible(&what),
                    location,
                    is_trusted,
                );
            }
        }
        for command in git_commands {
            let is_trusted = requirements.is_trusted(hash_of([command]), project, store)?;
            let location = "the configuration of the repository";
            add(
                &mut requirements.git_commands,
                command.in_full(),
                location,
                is_trusted,
            );
        }
        Ok(requirements)
    }

    fn is_empty(&self) -> bool {
        self.commands.is_empty() && self.triggers.is_empty() && self.git_commands.is_empty()
    }

    /// Looks up a hash, and records it if it is not trusted.
    fn is_trusted(
        &mut self,
        hash: CommandsHash,
        project: &Path,
        store: &TrustStore,
    ) -> Result<bool, TrustError> {
        let is_trusted = store.look_up(project, &hash)? == Trust::Trusted;
        if !is_trusted && !self.untrusted.contains(&hash) {
            self.untrusted.push(hash);
        }
        Ok(is_trusted)
    }

    fn print(&self, out: &mut impl Write) -> io::Result<()> {
        if !self.commands.is_empty() {
            let number = count(self.commands.len(), "command");
            writeln!(out, "Gates in this project run {number}:")?;
            print_lines(out, &self.commands)?;
        }
        if !self.triggers.is_empty() {
            let number = count(self.triggers.len(), "trigger");
            writeln!(
                out,
                "The settings of this project wake the agent by {number}:"
            )?;
            print_lines(out, &self.triggers)?;
        }
        if !self.git_commands.is_empty() {
            let number = count(self.git_commands.len(), "setting");
            writeln!(
                out,
                "Where gates and checkpoints ask git, the repository has it run something by {number}:"
            )?;
            print_lines(out, &self.git_commands)?;
        }
        Ok(())
    }
}

fn add<'l>(lines: &mut Lines<'l>, what: String, location: &'l str, is_trusted: bool) {
    let line = lines.entry(what).or_insert(Line {
        locations: Vec::new(),
        is_trusted: true,
    });
    line.is_trusted &= is_trusted;
    if !line.locations.contains(&location) {
        line.locations.push(location);
    }
}

fn print_lines(out: &mut impl Write, lines: &Lines<'_>) -> io::Result<()> {
    for (
        what,
        Line {
            locations,
            is_trusted,
        },
    ) in lines
    {
        let (style, state) = if *is_trusted {
            (GOOD, "trusted")
        } else {
            (NOTABLE, "new    ")
        };
        let locations = visible(&locations.join(", "));
        writeln!(out, "  {style}{state}{style:#}  {what}")?;
        writeln!(out, "           {DIMMED}{locations}{DIMMED:#}")?;
    }
    Ok(())
}
