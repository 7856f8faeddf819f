//! Lookup of a workflow by name, with a suggestion for an unknown one.

use anyhow::{Result, bail};
use workflow_core::definition::{LoadOutcome, Loaded, Show, Workflow};
use workflow_core::diagnostic::shown;

use crate::present::contains;

/// Finds the workflow that `/workflow NAME` starts, or else the one in the directory of this name.
pub(super) fn find_workflow<'l>(loaded: &'l Loaded, name: &str) -> Result<&'l Workflow> {
    let catalog = &loaded.catalog;
    let started = catalog.started_by(name);
    if let Some(workflow) = started.or_else(|| catalog.get(name)) {
        return Ok(workflow);
    }
    let broken = loaded.index.iter().find(|listing| {
        listing.outcome == LoadOutcome::LeftOut
            && (listing.key == name || listing.command_name == name)
    });
    let name = shown(name);
    if let Some(listing) = broken {
        bail!(
            "`{name}` is broken, see `workflow-sidecar check` ({})",
            listing.source
        );
    }
    let known: Vec<&str> = catalog.iter().map(|workflow| &*workflow.key).collect();
    let commands = catalog.startable().map(|workflow| &*workflow.command_name);
    match workflow_core::definition::nearest(&name, known.iter().copied().chain(commands)) {
        Some(suggestion) => bail!(
            "there is no workflow `{name}`: did you mean `{}`?",
            shown(suggestion)
        ),
        None => {
            bail!("there is no workflow `{name}`: `workflow-sidecar list` lists the workflows")
        }
    }
}

/// Finds a workflow that its command starts: a subworkflow has none, and of two workflows with one command the first is started.
pub(super) fn find_startable<'l>(loaded: &'l Loaded, name: &str) -> Result<&'l Workflow> {
    let workflow = find_workflow(loaded, name)?;
    match loaded.catalog.started_by(&workflow.command_name) {
        Some(started) if started.key == workflow.key => Ok(started),
        Some(started) if workflow.show == Show::User => bail!(
            "`/workflow {}` starts `{}`: give one of them another commandName",
            shown(&workflow.command_name),
            shown(&started.key)
        ),
        Some(_) | None => {
            let mut startable = loaded.catalog.startable();
            let around = startable.find(|around| contains(around, &workflow.key));
            bail!(
                "`{}` only runs inside other workflows: simulate {}",
                shown(&workflow.key),
                around.map_or("one of those".to_owned(), |around| {
                    format!("`{}`", shown(&around.command_name))
                })
            )
        }
    }
}
