//! Everything of a project that needs the user's trust.

use std::collections::BTreeMap;
use std::path::Path;

use workflow_core::definition::{Loaded, RunCheck, Tier};
use workflow_core::diagnostic::visible;
use workflow_core::session::project_gate_commands;

use super::page::{DIMMED, GOOD, NOTABLE, Page, count, paint};
use crate::platform::answers::trust_store::{CommandsHash, TrustStore, hash_of, hash_of_triggers};

/// Everything of a project that needs the user's trust, and what is not trusted yet.
pub(crate) struct Requirements {
    kinds: [Kind; 3],
    /// A run asks for the commands of its workflow and its subworkflows, a session for the triggers.
    pub(crate) untrusted: Vec<CommandsHash>,
}

/// A kind of what needs trust.
struct Kind {
    /// The beginning of its title.
    title: &'static str,
    noun: &'static str,
    /// By each command or trigger in full: its locations, and if it is trusted at all of them.
    lines: BTreeMap<String, (Vec<String>, bool)>,
}

/// What is trusted together: each command or trigger in full, with its location.
type Group<'a> = (CommandsHash, Vec<(String, &'a str)>);

impl Requirements {
    pub(crate) fn of(
        loaded: &Loaded,
        git_commands: &[RunCheck],
        project: &Path,
        store: &TrustStore,
    ) -> anyhow::Result<Self> {
        let mut untrusted = Vec::new();
        let mut kind = |title, noun, groups: Vec<Group<'_>>| {
            let mut lines: BTreeMap<String, (Vec<String>, bool)> = BTreeMap::new();
            for (hash, group) in groups {
                if group.is_empty() {
                    continue;
                }
                let is_trusted = store.is_trusted(project, &hash)?;
                if !is_trusted && !untrusted.contains(&hash) {
                    untrusted.push(hash);
                }
                for (what, location) in group {
                    let (locations, trusted) = lines.entry(what).or_insert((Vec::new(), true));
                    *trusted &= is_trusted;
                    if !locations.iter().any(|known| known == location) {
                        locations.push(location.to_owned());
                    }
                }
            }
            anyhow::Ok(Kind { title, noun, lines })
        };
        let startable = loaded.catalog.startable().chain(loaded.catalog.quick());
        let gates = startable.map(|workflow| {
            let gates = project_gate_commands(&workflow.key, &loaded.catalog, &loaded.index);
            let (commands, locations): (Vec<_>, Vec<_>) = gates.unzip();
            let in_full = commands.iter().map(|run| run.in_full());
            let lines = in_full.zip(locations).collect();
            (hash_of(commands), lines)
        });
        let triggers = loaded.settings.triggers.iter();
        let triggers = triggers.filter(|trigger| trigger.tier == Tier::Project);
        let lines = triggers.clone().map(|trigger| {
            let what = format!("{}: \"{}\"", trigger.describe(), trigger.prompt);
            (visible(&what), &*trigger.source)
        });
        let triggers = (hash_of_triggers(triggers), lines.collect());
        let git = git_commands.iter().map(|command| {
            let line = (command.in_full(), "the configuration of the repository");
            (hash_of([command]), vec![line])
        });
        let kinds = [
            kind("Gates in this project run", "command", gates.collect())?,
            kind(
                "The settings of this project wake the agent by",
                "trigger",
                vec![triggers],
            )?,
            kind(
                "Where gates and checkpoints ask git, the repository has it run something by",
                "setting",
                git.collect(),
            )?,
        ];
        Ok(Self { kinds, untrusted })
    }

    /// The number of the commands of gates that are not trusted.
    pub(crate) fn untrusted_commands(&self) -> usize {
        let lines = self.kinds[0].lines.values();
        lines.filter(|(_, is_trusted)| !is_trusted).count()
    }

    /// Each command and trigger, whether it is trusted, and where it is.
    pub(crate) fn page(&self) -> Page {
        let mut page = Page::default();
        if self.kinds.iter().all(|kind| kind.lines.is_empty()) {
            page.line("This project runs no commands at its gates, and has no triggers.");
        }
        for Kind { title, noun, lines } in &self.kinds {
            if !lines.is_empty() {
                page.line(format_args!("{title} {}:", count(lines.len(), noun)));
            }
            for (what, (locations, is_trusted)) in lines {
                let state = if *is_trusted {
                    paint(GOOD, "trusted")
                } else {
                    paint(NOTABLE, "new    ")
                };
                page.line(format_args!("  {state}  {what}"));
                let locations = visible(&locations.join(", "));
                page.line(format_args!("           {}", paint(DIMMED, locations)));
            }
        }
        page
    }
}
