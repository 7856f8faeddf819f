//! Everything of a project that needs the user's trust.

use std::collections::BTreeMap;
use std::path::Path;

use workflow_core::definition::{Loaded, RunCheck, Tier};
use workflow_core::diagnostic::visible;
use workflow_core::session::project_gate_commands;

use super::page::{DIMMED, GOOD, NOTABLE, Page, count, paint};
use crate::platform::answers::trust_store::{CommandsHash, TrustStore, hash_of, hash_of_triggers};

/// The kinds of what needs trust: the beginning of the title, and the noun.
const KINDS: [(&str, &str); 3] = [
    ("Gates in this project run", "command"),
    ("The settings of this project wake the agent by", "trigger"),
    (
        "Where gates and checkpoints ask git, the repository has it run something by",
        "setting",
    ),
];
const GATES: usize = 0;
const TRIGGERS: usize = 1;
const GIT: usize = 2;

/// Everything of a project that needs the user's trust, and what is not trusted yet.
pub(crate) struct Requirements {
    /// By kind, each command or trigger in full.
    lines: BTreeMap<(usize, String), Line>,
    /// A run asks for the commands of its workflow and its subworkflows, a session for the triggers.
    pub(crate) untrusted: Vec<CommandsHash>,
}

struct Line {
    locations: Vec<String>,
    /// Set if it is trusted at all its locations.
    is_trusted: bool,
}

impl Requirements {
    pub(crate) fn of(
        loaded: &Loaded,
        git_commands: &[RunCheck],
        project: &Path,
        store: &TrustStore,
    ) -> anyhow::Result<Self> {
        let mut found = Self {
            lines: BTreeMap::new(),
            untrusted: Vec::new(),
        };
        let mut add = |kind, hash, lines: Vec<(String, &str)>| {
            if lines.is_empty() {
                return Ok(());
            }
            let is_trusted = store.is_trusted(project, &hash)?;
            if !is_trusted && !found.untrusted.contains(&hash) {
                found.untrusted.push(hash);
            }
            for (what, location) in lines {
                let line = found.lines.entry((kind, what)).or_insert(Line {
                    locations: Vec::new(),
                    is_trusted: true,
                });
                line.is_trusted &= is_trusted;
                if !line.locations.iter().any(|known| known == location) {
                    line.locations.push(location.to_owned());
                }
            }
            anyhow::Ok(())
        };
        for workflow in loaded.catalog.startable() {
            let gates: Vec<_> =
                project_gate_commands(&workflow.key, &loaded.catalog, &loaded.index).collect();
            let lines = gates
                .iter()
                .map(|(run, location)| (run.in_full(), *location));
            add(
                GATES,
                hash_of(gates.iter().map(|(run, _)| *run)),
                lines.collect(),
            )?;
        }
        let triggers = loaded.settings.triggers.iter();
        let triggers = triggers.filter(|trigger| trigger.tier == Tier::Project);
        let lines = triggers.clone().map(|trigger| {
            let what = format!("{}: \"{}\"", trigger.describe(), trigger.prompt);
            (visible(&what), &*trigger.source)
        });
        add(
            TRIGGERS,
            hash_of_triggers(triggers.clone()),
            lines.collect(),
        )?;
        for command in git_commands {
            let line = (command.in_full(), "the configuration of the repository");
            add(GIT, hash_of([command]), vec![line])?;
        }
        Ok(found)
    }

    /// Each command and trigger, whether it is trusted, and where it is.
    pub(crate) fn page(&self) -> Page {
        let mut page = Page::default();
        if self.lines.is_empty() {
            page.line("This project runs no commands at its gates, and has no triggers.");
        }
        for (kind, (title, noun)) in KINDS.into_iter().enumerate() {
            let lines = self.lines.iter().filter(|((of, _), _)| *of == kind);
            let number = lines.clone().count();
            if number > 0 {
                page.line(format_args!("{title} {}:", count(number, noun)));
            }
            for ((_, what), line) in lines {
                let state = if line.is_trusted {
                    paint(GOOD, "trusted")
                } else {
                    paint(NOTABLE, "new    ")
                };
                page.line(format_args!("  {state}  {what}"));
                let locations = visible(&line.locations.join(", "));
                page.line(format_args!("           {}", paint(DIMMED, locations)));
            }
        }
        page
    }
}
