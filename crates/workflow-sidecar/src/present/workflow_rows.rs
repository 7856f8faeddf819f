//! Workflows as rows of a table.

use serde::Serialize;
use workflow_core::definition::{Listing, LoadOutcome, Loaded, Show, Tier, Workflow};
use workflow_core::diagnostic::{few, visible};

use super::page::Page;
use super::table::beginning;

/// A workflow, as in the output of `--format json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WorkflowRow<'a> {
    key: &'a str,
    command: &'a str,
    name: &'a str,
    phases: usize,
    pub(crate) status: ListedStatus,
    tier: Tier,
    source: &'a str,
    /// The file that it replaces.
    replaces: Option<&'a str>,
    /// The file that replaces it.
    replaced_by: Option<&'a str>,
    /// The workflow that its command starts instead.
    started_instead: Option<&'a str>,
    /// The workflows it is a part of.
    part_of: Vec<&'a str>,
    /// The values that it is given at its start.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    inputs: Vec<InputRow<'a>>,
    /// The limits of a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<String>,
}

/// An input of a workflow, as in the output of `--format json`.
#[derive(Debug, Serialize)]
struct InputRow<'a> {
    name: &'a str,
    required: bool,
}

/// The status of a workflow, in the order of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ListedStatus {
    /// The user can start it.
    Ready,
    /// It runs inside others.
    Part,
    /// Another workflow has its command.
    Unreachable,
    /// The project's workflow of the same key replaces it.
    Replaced,
    /// It has errors.
    Broken,
}

impl<'a> WorkflowRow<'a> {
    pub(crate) fn of(listing: &'a Listing, loaded: &'a Loaded) -> Self {
        let is_loaded = listing.outcome == LoadOutcome::Loaded;
        let index = loaded.index.iter();
        let others =
            index.filter(|other| other.key == listing.key && other.source != listing.source);
        let mut others = others.map(|other| &*other.source);
        let started = loaded.catalog.started_by(&listing.command_name);
        let started = started.filter(|workflow| workflow.key != listing.key);
        let (status, started_instead) = match (listing.outcome, listing.show, started) {
            (LoadOutcome::LeftOut, ..) => (ListedStatus::Broken, None),
            (LoadOutcome::Shadowed, ..) => (ListedStatus::Replaced, None),
            (LoadOutcome::Loaded, Show::Workflows, _) => (ListedStatus::Part, None),
            (LoadOutcome::Loaded, Show::User, Some(other)) => {
                (ListedStatus::Unreachable, Some(&*other.key))
            }
            (LoadOutcome::Loaded, Show::User, None) => (ListedStatus::Ready, None),
        };
        let around = loaded.catalog.iter();
        let around = around.filter(|around| is_loaded && contains(around, &listing.key));
        let workflow = loaded.catalog.get(&listing.key).filter(|_| is_loaded);
        let inputs = workflow.iter().flat_map(|workflow| &workflow.inputs);
        let inputs = inputs.map(|input| InputRow {
            name: &input.name,
            required: input.required,
        });
        let budget = workflow.map(|workflow| workflow.budget.describe(&workflow.bounds));
        Self {
            key: &listing.key,
            command: &listing.command_name,
            name: &listing.name,
            phases: listing.phases,
            status,
            tier: listing.tier,
            source: &listing.source,
            replaces: (is_loaded && listing.shadows)
                .then(|| others.next())
                .flatten(),
            replaced_by: (listing.outcome == LoadOutcome::Shadowed)
                .then(|| others.next_back())
                .flatten(),
            started_instead,
            part_of: around.map(|workflow| &*workflow.key).collect(),
            inputs: inputs.collect(),
            budget: budget.filter(|budget| !budget.is_empty()),
        }
    }

    /// Returns the command that starts it, or the key if it cannot be started.
    fn command_or_key(&self) -> String {
        match self.status {
            ListedStatus::Ready | ListedStatus::Unreachable => {
                format!("/workflow {}", visible(self.command))
            }
            ListedStatus::Part | ListedStatus::Replaced | ListedStatus::Broken => visible(self.key),
        }
    }

    /// Returns the directory of its source.
    fn directory(&self) -> &str {
        let parts = self.source.rsplit_once(['/', '\\']);
        parts.map_or(self.source, |(directory, _)| directory)
    }

    /// Formats the status.
    fn status_text(&self) -> String {
        let mut parts = match self.status {
            ListedStatus::Ready => vec!["ready".to_owned()],
            ListedStatus::Part if self.part_of.is_empty() => vec!["part of no other".to_owned()],
            ListedStatus::Part => vec![format!("part of {}", several(&self.part_of))],
            ListedStatus::Unreachable => {
                let other = self.started_instead.unwrap_or_default();
                vec![format!("its command starts {}", visible(other))]
            }
            ListedStatus::Replaced => vec!["replaced by the project's".to_owned()],
            ListedStatus::Broken => vec!["broken, see check".to_owned()],
        };
        if self.replaces.is_some() {
            parts.push("replaces your own".to_owned());
        }
        if matches!(self.status, ListedStatus::Ready | ListedStatus::Part) {
            let required = self.inputs.iter().filter(|input| input.required);
            let required: Vec<&str> = required.map(|input| input.name).collect();
            if !required.is_empty() {
                parts.push(format!("needs {}", several(&required)));
            }
            parts.extend(self.budget.iter().map(|budget| format!("at most {budget}")));
        }
        parts.join(", ")
    }
}

/// Joins names for one cell.
fn several(names: &[&str]) -> String {
    let names = names.iter().map(|name| visible(name));
    few(&names.collect::<Vec<_>>(), 3)
}

pub(crate) fn workflow_table(rows: &[WorkflowRow<'_>], page: &mut Page) {
    // `--format json` cuts nothing.
    const NAME: usize = 24;
    const STATUS: usize = 40;
    if rows.is_empty() {
        page.line("no workflows: `workflow-sidecar init` writes one");
        return;
    }
    let cells = rows.iter().map(|row| {
        let phases = Some(row.phases).filter(|phases| *phases > 0);
        [
            beginning(&row.command_or_key(), NAME),
            beginning(&visible(row.name), NAME),
            phases.map_or_else(String::new, |phases| phases.to_string()),
            beginning(&row.status_text(), STATUS),
            visible(row.directory()),
        ]
    });
    let head = ["workflow", "name", "phases", "status", "from"];
    page.table(head, &cells.collect::<Vec<_>>());
}

/// Returns true if a workflow has another one as one of its phases.
pub(crate) fn contains(workflow: &Workflow, key: &str) -> bool {
    workflow.subworkflows().any(|inner| inner.key == key)
}
