//! A workflow by its name, and what was meant by one that does not exist.

use anyhow::{Result, bail};
use workflow_core::definition::{Loaded, Outcome, Workflow};
use workflow_core::diagnostic::shown;

/// The workflow that a person means: the one `/workflow NAME` starts, or the one in the directory of this name.
pub(super) fn workflow<'l>(loaded: &'l Loaded, name: &str) -> Result<&'l Workflow> {
    let catalog = &loaded.catalog;
    let started = catalog
        .startable()
        .find(|workflow| workflow.command_name == name);
    if let Some(workflow) = started.or_else(|| catalog.get(name)) {
        return Ok(workflow);
    }
    let left_out = loaded.index.iter().find(|listing| {
        listing.outcome == Outcome::LeftOut && (listing.key == name || listing.command_name == name)
    });
    let name = shown(name);
    if let Some(listing) = left_out {
        bail!(
            "`{name}` is broken, see `workflow-sidecar check` ({})",
            listing.source
        );
    }
    let known: Vec<&str> = catalog.iter().map(|workflow| &*workflow.key).collect();
    let commands = catalog.startable().map(|workflow| &*workflow.command_name);
    match workflow_core::definition::nearest(&name, known.iter().copied().chain(commands)) {
        Some(meant) => bail!(
            "there is no workflow `{name}`: did you mean `{}`?",
            shown(meant)
        ),
        None => {
            bail!("there is no workflow `{name}`: `workflow-sidecar list` shows those there are")
        }
    }
}
