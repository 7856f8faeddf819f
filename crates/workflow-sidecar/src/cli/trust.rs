//! `trust`: a person says whether the commands at the gates of a project's workflows may run, and whether
//! its triggers may be watched, and what its repository has git run.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use workflow_core::definition::{Loaded, RunCheck, Tier, Trigger, load};
use workflow_core::diagnostic::visible;
use workflow_core::foreign_gates;

use super::format::{ASIDE, GOOD, NOTABLE, count};
use super::outcome::Outcome;
use super::person;
use super::project::Own;
use crate::gate::drivers;
use crate::trust::{CommandsHash, Trust, TrustError, TrustStore, hash_of, hash_of_triggers};

const EXAMPLES: &str = "\
Examples:
  workflow-sidecar trust              the commands and triggers of this project: may they run?
  workflow-sidecar trust ../app       those of another project
  workflow-sidecar trust --list       only say what they are, and whether they may run
  workflow-sidecar trust --revoke     none of them may run any more

Your own workflows and settings need no trust. What is trusted are command lines and triggers as they stand
now: you are asked again when one changes. Only a person can trust, in a terminal. --list exits with 3 if
something may not run yet.";

/// Say whether a project's workflows may run their commands, and its triggers wake the agent
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The project, in whose `.pi` its workflows lie
    #[arg(value_name = "DIR", default_value = ".")]
    directory: PathBuf,
    /// Only say what there is
    #[arg(long, conflicts_with = "revoke")]
    list: bool,
    /// Trust nothing of the project any more
    #[arg(long)]
    revoke: bool,
    #[command(flatten)]
    own: Own,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let project = &arguments.directory;
    let disk = arguments.own.disk(project)?;
    let store = TrustStore::in_agent_dir(&arguments.own.directory());
    let mut out = anstream::stdout();
    if arguments.revoke {
        note_damaged(store.forget(project)?)?;
        writeln!(out, "Nothing of this project may run any more.")?;
        return Ok(Outcome::Well);
    }
    let loaded = load(&disk);
    let drivers = drivers(project).unwrap_or_else(|why| {
        tracing::debug!(why, "what the repository has git run cannot be told");
        Vec::new()
    });
    let wants = Wants::of(&loaded, &drivers, project, &store)?;
    if wants.is_empty() {
        writeln!(
            out,
            "This project runs no commands at its gates, and has no triggers."
        )?;
        return Ok(Outcome::Well);
    }
    wants.tell(&mut out)?;
    if arguments.list || wants.new.is_empty() {
        return Ok(if wants.new.is_empty() {
            Outcome::Well
        } else {
            Outcome::Waits
        });
    }
    person::needed("trust a project")?;
    let said = person::answer("Do you trust them? [y/N]")?;
    let agrees = said.is_some_and(|said| matches!(&*said.to_lowercase(), "y" | "yes"));
    if !agrees {
        writeln!(out, "They may not run.")?;
        return Ok(Outcome::Waits);
    }
    for hash in &wants.new {
        note_damaged(store.trust(project, hash)?)?;
    }
    writeln!(out, "They may run, as long as they stay as they are.")?;
    Ok(Outcome::Well)
}

/// What a project wants to do on this machine.
struct Wants<'l> {
    commands: Lines<'l>,
    triggers: Lines<'l>,
    /// What the repository's own configuration has git run.
    drivers: Lines<'l>,
    /// What must be trusted for all of it: a run asks for the commands of its workflow and of all that
    /// belong to it, a session for the triggers.
    new: Vec<CommandsHash>,
}

/// Each thing in full: its places, and whether it is trusted wherever it stands.
type Lines<'l> = BTreeMap<String, Line<'l>>;

struct Line<'l> {
    places: Vec<&'l str>,
    is_trusted: bool,
}

impl<'l> Wants<'l> {
    fn of(
        loaded: &'l Loaded,
        drivers: &[RunCheck],
        project: &Path,
        store: &TrustStore,
    ) -> Result<Self, TrustError> {
        let mut wants = Self {
            commands: Lines::new(),
            triggers: Lines::new(),
            drivers: Lines::new(),
            new: Vec::new(),
        };
        for workflow in loaded.catalog.startable() {
            let gates: Vec<(&RunCheck, &str)> =
                foreign_gates(&workflow.key, &loaded.catalog, &loaded.index).collect();
            if gates.is_empty() {
                continue;
            }
            let hash = hash_of(gates.iter().map(|(run, _)| *run));
            let is_trusted = wants.is_trusted(hash, project, store)?;
            for (run, place) in gates {
                add(&mut wants.commands, run.in_full(), place, is_trusted);
            }
        }
        let triggers = loaded.settings.triggers.iter();
        let triggers: Vec<&Trigger> = triggers
            .filter(|trigger| trigger.tier == Tier::Project)
            .collect();
        if !triggers.is_empty() {
            let hash = hash_of_triggers(triggers.iter().copied());
            let is_trusted = wants.is_trusted(hash, project, store)?;
            for trigger in triggers {
                let what = format!("{}: \"{}\"", trigger.in_words(), trigger.prompt);
                let place = &trigger.source;
                add(&mut wants.triggers, visible(&what), place, is_trusted);
            }
        }
        for driver in drivers {
            let is_trusted = wants.is_trusted(hash_of([driver]), project, store)?;
            let place = "the configuration of the repository";
            add(&mut wants.drivers, driver.in_full(), place, is_trusted);
        }
        Ok(wants)
    }

    fn is_empty(&self) -> bool {
        self.commands.is_empty() && self.triggers.is_empty() && self.drivers.is_empty()
    }

    /// Whether this is trusted; what is not is noted.
    fn is_trusted(
        &mut self,
        hash: CommandsHash,
        project: &Path,
        store: &TrustStore,
    ) -> Result<bool, TrustError> {
        let is_trusted = store.look_up(project, &hash)? == Trust::Trusted;
        if !is_trusted && !self.new.contains(&hash) {
            self.new.push(hash);
        }
        Ok(is_trusted)
    }

    fn tell(&self, out: &mut impl Write) -> io::Result<()> {
        if !self.commands.is_empty() {
            let number = count(self.commands.len(), "command");
            writeln!(
                out,
                "The workflows of this project run {number} at their gates:"
            )?;
            tell(out, &self.commands)?;
        }
        if !self.triggers.is_empty() {
            let number = count(self.triggers.len(), "trigger");
            writeln!(
                out,
                "The settings of this project wake the agent by {number}:"
            )?;
            tell(out, &self.triggers)?;
        }
        if !self.drivers.is_empty() {
            let number = count(self.drivers.len(), "setting");
            writeln!(
                out,
                "Where gates and checkpoints ask git, the repository has it run something by {number}:"
            )?;
            tell(out, &self.drivers)?;
        }
        Ok(())
    }
}

fn add<'l>(lines: &mut Lines<'l>, what: String, place: &'l str, is_trusted: bool) {
    let line = lines.entry(what).or_insert(Line {
        places: Vec::new(),
        is_trusted: true,
    });
    line.is_trusted &= is_trusted;
    if !line.places.contains(&place) {
        line.places.push(place);
    }
}

fn tell(out: &mut impl Write, lines: &Lines<'_>) -> io::Result<()> {
    for (what, Line { places, is_trusted }) in lines {
        let (style, word) = if *is_trusted {
            (GOOD, "trusted")
        } else {
            (NOTABLE, "new    ")
        };
        let places = visible(&places.join(", "));
        writeln!(out, "  {style}{word}{style:#}  {what}")?;
        writeln!(out, "           {ASIDE}{places}{ASIDE:#}")?;
    }
    Ok(())
}

/// Says where a file is now that could not be understood.
fn note_damaged(aside: Option<PathBuf>) -> io::Result<()> {
    let Some(aside) = aside else { return Ok(()) };
    let aside = visible(&aside.to_string_lossy());
    writeln!(
        anstream::stderr(),
        "What was trusted before could not be read: it is in {aside} now, and counts for nothing."
    )
}
