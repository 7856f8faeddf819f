//! What people call phases, and what they most likely meant.

use std::fmt::Write;

use crate::diagnostic::shown;

/// Why a name leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotFound {
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
        listed(names)
    )]
    Ambiguous {
        /// The name.
        name: String,
        /// What they are called in full.
        names: Vec<String>,
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
