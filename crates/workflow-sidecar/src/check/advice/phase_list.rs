//! Phases in a message.

use workflow_core::definition::Phase;
use workflow_core::diagnostic::shown;

/// Phases named in one message.
const MAX_NAMED: usize = 4;

/// Names the phases, the first of them if they are many.
pub(super) fn listed(phases: &[&Phase]) -> String {
    let mut names: Vec<String> = phases
        .iter()
        .take(MAX_NAMED)
        .map(|phase| shown(&phase.name))
        .collect();
    if phases.len() > MAX_NAMED {
        names.push(format!("{} more", phases.len() - MAX_NAMED));
    }
    names.join(", ")
}
