//! `trust`: a person says whether the commands at the gates of a project's workflows may run.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use workflow_core::definition::{Loaded, RunCheck, load};
use workflow_core::diagnostic::visible;
use workflow_core::foreign_gates;

use super::format::{ASIDE, GOOD, NOTABLE, count};
use super::outcome::Outcome;
use super::person;
use super::project::Own;
use crate::trust::{CommandsHash, Trust, TrustError, TrustStore, hash_of};

const EXAMPLES: &str = "\
Examples:
  workflow-sidecar trust              the commands of this project: may they run?
  workflow-sidecar trust ../app       those of another project
  workflow-sidecar trust --list       only say what they are, and whether they may run
  workflow-sidecar trust --revoke     none of them may run any more

Commands of your own workflows need no trust. What is trusted are the command lines as they stand now: you
are asked again when one changes. Only a person can trust, in a terminal. --list exits with 3 if a command
may not run yet.";

/// Say whether the commands at the gates of a project's workflows may run
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The project, in whose `.pi` its workflows lie
    #[arg(value_name = "DIR", default_value = ".")]
    directory: PathBuf,
    /// Only say which commands there are
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
        writeln!(out, "No command of this project may run any more.")?;
        return Ok(Outcome::Well);
    }
    let loaded = load(&disk);
    let commands = Commands::of(&loaded, project, &store)?;
    if commands.lines.is_empty() {
        writeln!(
            out,
            "The workflows of this project run no commands at their gates."
        )?;
        return Ok(Outcome::Well);
    }
    commands.tell(&mut out)?;
    if arguments.list || commands.new.is_empty() {
        return Ok(if commands.new.is_empty() {
            Outcome::Well
        } else {
            Outcome::Waits
        });
    }
    person::needed("trust the commands of a project")?;
    let said = person::answer("Do you trust them? [y/N]")?;
    let agrees = said.is_some_and(|said| matches!(&*said.to_lowercase(), "y" | "yes"));
    if !agrees {
        writeln!(out, "They may not run.")?;
        return Ok(Outcome::Waits);
    }
    for hash in &commands.new {
        note_damaged(store.trust(project, hash)?)?;
    }
    writeln!(out, "They may run, as long as they stay as they are.")?;
    Ok(Outcome::Well)
}

/// The commands of a project's workflows.
struct Commands<'l> {
    /// Each command in full: its places, and whether it may run wherever it stands.
    lines: BTreeMap<String, Line<'l>>,
    /// What must be trusted for all of them to run: a run asks for the commands of its workflow and
    /// of all that belong to it.
    new: Vec<CommandsHash>,
}

struct Line<'l> {
    places: Vec<&'l str>,
    is_trusted: bool,
}

impl<'l> Commands<'l> {
    fn of(loaded: &'l Loaded, project: &Path, store: &TrustStore) -> Result<Self, TrustError> {
        let mut commands = Self {
            lines: BTreeMap::new(),
            new: Vec::new(),
        };
        for workflow in loaded.catalog.startable() {
            let gates: Vec<(&RunCheck, &str)> =
                foreign_gates(&workflow.key, &loaded.catalog, &loaded.index).collect();
            if gates.is_empty() {
                continue;
            }
            let hash = hash_of(gates.iter().map(|(run, _)| *run));
            let is_trusted = store.look_up(project, &hash)? == Trust::Trusted;
            if !is_trusted && !commands.new.contains(&hash) {
                commands.new.push(hash);
            }
            for (run, place) in gates {
                commands.add(run, place, is_trusted);
            }
        }
        Ok(commands)
    }

    fn add(&mut self, run: &RunCheck, place: &'l str, is_trusted: bool) {
        let line = self.lines.entry(run.in_full()).or_insert(Line {
            places: Vec::new(),
            is_trusted: true,
        });
        line.is_trusted &= is_trusted;
        if !line.places.contains(&place) {
            line.places.push(place);
        }
    }

    fn tell(&self, out: &mut impl Write) -> io::Result<()> {
        let number = count(self.lines.len(), "command");
        writeln!(
            out,
            "The workflows of this project run {number} at their gates:"
        )?;
        for (command, Line { places, is_trusted }) in &self.lines {
            let (style, word) = if *is_trusted {
                (GOOD, "trusted")
            } else {
                (NOTABLE, "new    ")
            };
            let places = visible(&places.join(", "));
            writeln!(out, "  {style}{word}{style:#}  {command}")?;
            writeln!(out, "           {ASIDE}{places}{ASIDE:#}")?;
        }
        Ok(())
    }
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
