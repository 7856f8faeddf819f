//! `schema`: the JSON Schemas of definitions, settings and messages.

use std::io::Write;

/// Print a JSON Schema, or list the schemas
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Name of the schema
    #[arg(value_name = "NAME", value_parser = SCHEMAS.map(|(name, ..)| name))]
    name: Option<String>,
}

/// The schema of a definition.
pub(super) const WORKFLOW: &str = include_str!("../../../../schemas/workflow.schema.json");
const PHASE: &str = include_str!("../../../../schemas/phase.schema.json");
const SETTINGS: &str = include_str!("../../../../schemas/settings.schema.json");
const PROTOCOL: &str = include_str!("../../../../schemas/protocol.schema.json");
const TRANSCRIPT: &str = include_str!("../../../../schemas/transcript.schema.json");
const STATE: &str = include_str!("../../../../schemas/state.schema.json");

/// The name of each schema, what it is about, and its text.
#[rustfmt::skip] // A row a line.
const SCHEMAS: [(&str, &str, &str); 6] = [
    ("workflow", "workflow.yaml and workflow.json5", WORKFLOW),
    ("phase", "the frontmatter of a phase file", PHASE),
    ("settings", "workflow-sidecar.json5", SETTINGS),
    ("protocol", "what host and sidecar say to each other", PROTOCOL),
    ("transcript", "a line of a recording", TRANSCRIPT),
    ("state", "the state that a session stores", STATE),
];

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    for (name, about, text) in SCHEMAS {
        match arguments.name.as_deref() {
            None => writeln!(out, "{name:10}  {about}")?,
            Some(wanted) if wanted == name => write!(out, "{text}")?,
            Some(_) => {}
        }
    }
    Ok(())
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
        let mut here = SCHEMAS.map(|(name, ..)| format!("{name}.schema.json"));
        here.sort();
        assert_eq!(files, here);
    }
}
