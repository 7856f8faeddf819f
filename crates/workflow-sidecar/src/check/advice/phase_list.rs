//! Phases in a message.

use workflow_core::definition::Phase;
use workflow_core::diagnostic::shown;

/// Phases named in one message.
const MOST_NAMED: usize = 4;

/// Names the phases, the first of them if they are many.
pub(super) fn listed(phases: &[&Phase]) -> String {
    let named = phases.iter().take(MOST_NAMED);
    let mut names: Vec<String> = named.map(|phase| shown(&phase.name)).collect();
    if phases.len() > MOST_NAMED {
        names.push(format!("{} more", phases.len() - MOST_NAMED));
    }
    names.join(", ")
}
