//! `schema`: the JSON Schemas of definitions, settings and messages.

use std::io::Write;

use crate::present::CommandOutcome;

const EXAMPLES: &str = "\
Examples:
  workflow-sidecar schema                                   list the schemas
  workflow-sidecar schema workflow > workflow.schema.json   write one for an editor

docs/EDITORS.md describes how editors use them.";

/// Print a JSON Schema, or list the schemas
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Name of the schema
    #[arg(value_name = "NAME", value_parser = SCHEMAS.map(|schema| schema.name))]
    name: Option<String>,
}

/// An embedded schema.
struct Schema {
    name: &'static str,
    about: &'static str,
    text: &'static str,
}

/// The schema of a definition.
pub(super) const WORKFLOW: &str = include_str!("../../../../schemas/workflow.schema.json");

const SCHEMAS: [Schema; 6] = [
    Schema {
        name: "workflow",
        about: "workflow.yaml and workflow.json5",
        text: WORKFLOW,
    },
    Schema {
        name: "phase",
        about: "the frontmatter of a phase file",
        text: include_str!("../../../../schemas/phase.schema.json"),
    },
    Schema {
        name: "settings",
        about: "workflow-sidecar.json5",
        text: include_str!("../../../../schemas/settings.schema.json"),
    },
    Schema {
        name: "protocol",
        about: "what host and sidecar say to each other",
        text: include_str!("../../../../schemas/protocol.schema.json"),
    },
    Schema {
        name: "transcript",
        about: "a line of a recording",
        text: include_str!("../../../../schemas/transcript.schema.json"),
    },
    Schema {
        name: "state",
        about: "the state that a session stores",
        text: include_str!("../../../../schemas/state.schema.json"),
    },
];

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<CommandOutcome> {
    let mut out = anstream::stdout().lock();
    for schema in &SCHEMAS {
        match &arguments.name {
            None => writeln!(out, "{:10}  {}", schema.name, schema.about)?,
            Some(name) if name == schema.name => write!(out, "{}", schema.text)?,
            Some(_) => {}
        }
    }
    Ok(CommandOutcome::Success)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_of_the_repository_is_here() {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemas");
        let mut files: Vec<String> = std::fs::read_dir(directory)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        files.sort();
        let mut here = SCHEMAS.map(|schema| format!("{}.schema.json", schema.name));
        here.sort();
        assert_eq!(files, here);
    }
}
