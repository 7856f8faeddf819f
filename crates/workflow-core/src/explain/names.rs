//! What people call workflows and phases, and what they most likely meant.

use std::fmt::Write;

use crate::definition::{Loaded, Outcome, Workflow, nearest};
use crate::diagnostic::shown;

/// Why a name leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotFound {
    /// There is no such workflow.
    #[error("there is no workflow `{}`{}", shown(name), instead(near.as_ref(), known))]
    Workflow {
        /// The name.
        name: String,
        /// What was most likely meant.
        near: Option<String>,
        /// What there is.
        known: Vec<String>,
    },
    /// There is such a workflow, but it has errors.
    #[error(
        "workflow `{}` has errors and is left out: `workflow-sidecar check` says which",
        shown(name)
    )]
    LeftOut {
        /// The name.
        name: String,
    },
    /// There is no such phase.
    #[error("there is no phase `{}`{}", shown(name), instead(near.as_ref(), known))]
    Phase {
        /// The name.
        name: String,
        /// What was most likely meant.
        near: Option<String>,
        /// What there is.
        known: Vec<String>,
    },
    /// There are several such phases.
    #[error(
        "`{}` is more than one phase: say which of {}",
        shown(name),
        listed(places)
    )]
    Ambiguous {
        /// The name.
        name: String,
        /// What they are called in full.
        places: Vec<String>,
    },
}

/// What to say instead of a name that leads nowhere.
fn instead(near: Option<&String>, known: &[String]) -> String {
    match near {
        Some(near) => format!(": did you mean `{}`?", shown(near)),
        None if known.is_empty() => String::new(),
        None => format!(": there are {}", listed(known)),
    }
}

fn listed(names: &[String]) -> String {
    const LISTED: usize = 12;
    let quoted: Vec<String> = names
        .iter()
        .take(LISTED)
        .map(|name| format!("`{}`", shown(name)))
        .collect();
    let mut list = quoted.join(", ");
    if names.len() > LISTED {
        let _ = write!(list, " and {} more", names.len() - LISTED);
    }
    list
}

/// The workflow that a command name or a key means: first what a person can start, then any.
pub fn workflow_named<'l>(name: &str, loaded: &'l Loaded) -> Result<&'l Workflow, NotFound> {
    let catalog = &loaded.catalog;
    let mut startable = catalog.startable();
    let found = startable
        .find(|workflow| workflow.command_name == name)
        .or_else(|| catalog.get(name))
        .or_else(|| {
            catalog
                .iter()
                .find(|workflow| workflow.command_name == name)
        });
    if let Some(workflow) = found {
        return Ok(workflow);
    }
    let left_out = |of: &str| of == name && !name.is_empty();
    let is_left_out = loaded.index.iter().any(|listing| {
        listing.outcome == Outcome::LeftOut
            && (left_out(&listing.key) || left_out(&listing.command_name))
    });
    if is_left_out {
        return Err(NotFound::LeftOut {
            name: name.to_owned(),
        });
    }
    let names = || {
        let names = catalog
            .iter()
            .flat_map(|workflow| [workflow.command_name.as_str(), workflow.key.as_str()]);
        names.filter(|name| !name.is_empty())
    };
    Err(NotFound::Workflow {
        name: name.to_owned(),
        near: nearest(name, names()).map(str::to_owned),
        known: catalog
            .iter()
            .map(|workflow| workflow.key.clone())
            .collect(),
    })
}
