//! What only the engine in memory can play: there the world is the transcript's, and no command runs.
//!
//! Owns that a transcript, wherever it comes from, never makes another sidecar run a command. Must not know
//! how anything is played.

use workflow_core::run::entry_type;

use super::definitions::Definitions;
use super::format::{Entry, Said, Transcript};
use super::held::{Tiers, runs_commands};
use super::json_text::unescaped;
use super::player::Stage;

/// Why a transcript is not played against a command; none if it can be.
pub(super) fn needs_memory(transcript: &Transcript, stage: &Stage) -> Option<&'static str> {
    const COMMANDS: &str =
        "its definitions have gates that run commands, and the other sidecar would run them";
    if stage.instead.run_commands() {
        return Some(COMMANDS);
    }
    transcript.lines.iter().find_map(|line| match &line.entry {
        Entry::Gate(_) => Some("gates were run, and the other sidecar would run its own"),
        Entry::Trigger(_) => {
            Some("triggers woke the agent, and the other sidecar would watch its own")
        }
        Entry::World(_) => Some(
            "the sidecar asked for more than definitions, and the other one would ask elsewhere",
        ),
        Entry::Definitions(definitions) => {
            let run_commands = match definitions {
                Definitions::Named(name) => {
                    Tiers::beside(&transcript.path, name).is_ok_and(|tiers| tiers.run_commands())
                }
                Definitions::Embedded(directories) => directories.values().any(runs_commands),
            };
            run_commands.then_some(COMMANDS)
        }
        Entry::In(said) => stores_gates(said).then_some(
            "a stored definition has gates, and the other sidecar would run their commands",
        ),
        Entry::Header(_) | Entry::Note(_) | Entry::Out(_) | Entry::End | Entry::Torn(_) => None,
    })
}

/// Whether a line of the host brings a stored definition with gates.
fn stores_gates(said: &Said) -> bool {
    let text = said.text().unwrap_or_default();
    let text = unescaped(&text);
    text.contains(entry_type::DEFINITION) && text.contains("\"gate\"")
}
