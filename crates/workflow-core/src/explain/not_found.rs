//! Names of phases that are unknown or ambiguous.

use std::fmt::Write;

use crate::diagnostic::shown;

/// The reason why no phase is found by a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotFound {
    /// There is no such phase.
    #[error("there is no phase `{}`{}", shown(name), instead(near.as_ref(), known))]
    Phase {
        /// The name.
        name: String,
        /// The most similar name.
        near: Option<String>,
        /// The known names.
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
        /// Their full names.
        names: Vec<String>,
    },
}

/// The end of a message about an unknown name.
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
        write!(list, " and {} more", names.len() - LISTED)
            .expect("writing to a string cannot fail");
    }
    list
}
