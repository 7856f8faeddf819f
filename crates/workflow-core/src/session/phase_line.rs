//! The phases of a run in one line: as a route for the model, and with what is done for the user.

use std::cmp::Ordering;

use crate::definition::{Catalog, PhaseEntry, Workflow};
use crate::run::{Path, Position, RunData, ScopeLevel, entry_name};
use crate::text;

/// The entries of a scope before and after the current one that the user sees.
const AROUND: usize = 6;
/// UTF-16 units of a line.
const MAX_LENGTH: u32 = 400;

/// The phases of a workflow in order, with those of subworkflows: `Reproduce → Fix (Red → Green) → Verify`. `None` for one
/// phase.
pub(crate) fn route(root: &Workflow, catalog: &Catalog) -> Option<String> {
    let mut line = String::new();
    add_phases(root, catalog, &mut line);
    line.contains(" → ")
        .then(|| text::shortened(&line, MAX_LENGTH))
}

fn add_phases(workflow: &Workflow, catalog: &Catalog, line: &mut String) {
    for (index, entry) in workflow.phases.iter().enumerate() {
        // The rest is not shown, and a workflow that is used often has very many phases.
        if line.len() > 4 * MAX_LENGTH as usize {
            return;
        }
        line.push_str(if index == 0 { "" } else { " → " });
        line.push_str(entry_name(entry, catalog));
        if let PhaseEntry::Subworkflow(key) = entry
            && let Some(inner) = catalog.get(key)
        {
            line.push_str(" (");
            add_phases(inner, catalog, line);
            line.push(')');
        }
    }
}

/// The phases with what is done (✓), skipped (–), in progress (▸) and to come (○). `None` for one phase.
pub(crate) fn checklist(position: &Position<'_>, data: &RunData) -> Option<String> {
    let levels: Vec<ScopeLevel<'_>> = position.scopes().copied().collect();
    let root = &position.root().key;
    let line = scope_line(&levels, &Path::root(root, 0), data, position.catalog);
    let is_one = levels.iter().all(|level| level.workflow.phases.len() == 1);
    (!is_one).then(|| text::shortened(&line, MAX_LENGTH))
}

fn scope_line(levels: &[ScopeLevel<'_>], path: &Path, data: &RunData, catalog: &Catalog) -> String {
    let Some((level, inner)) = levels.split_first() else {
        return String::new();
    };
    let entries = &level.workflow.phases;
    let shown = level.index.saturating_sub(AROUND)..entries.len().min(level.index + AROUND + 1);
    let mut line = if shown.start == 0 { "" } else { "… " }.to_owned();
    for index in shown.clone() {
        let entry = &entries[index];
        // Where no visits are counted, none was passed over.
        let is_skipped = || !data.visits.is_empty() && data.visits(path, entry.id()) == 0;
        let mark = match index.cmp(&level.index) {
            Ordering::Less if is_skipped() => "–",
            Ordering::Less => "✓",
            Ordering::Equal => "▸",
            Ordering::Greater => "○",
        };
        let space = if index == shown.start { "" } else { " " };
        line.extend([space, mark, " ", entry_name(entry, catalog)]);
        if let (Ordering::Equal, Some(next)) = (index.cmp(&level.index), inner.first()) {
            let path = path.moved_to(index).entered(&next.workflow.key);
            line.extend([" (", &scope_line(inner, &path, data, catalog), ")"]);
        }
    }
    let is_whole = shown.end == entries.len();
    line + if is_whole { "" } else { " …" }
}
