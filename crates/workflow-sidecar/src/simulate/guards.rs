//! The guards behind reactions, with their locations, where the answers do not name them.
//!
//! Must not know how it is shown.

use serde_json::json;
use serde_json::value::to_raw_value;
use workflow_core::definition::Loaded;
use workflow_core::explain::{Explained, Row, Topic, Value};
use workflow_core::policy::results::Results;
use workflow_core::run::{Position, RunState};
use workflow_core::session::result_levels;

/// The line of the phase's list that blocks a tool. A rule says its own line in the reason.
pub(super) fn list(loaded: &Loaded, state: &RunState, tool: &str, reason: &str) -> Option<String> {
    let explained = explained(loaded, state)?;
    let is_named = |names: &[String]| names.iter().any(|name| name == tool);
    let blocks = |row: &&Row| match (row.topic, row.key, &row.value) {
        (Topic::Tools, "blocked", Value::Names(names)) => is_named(names),
        (Topic::Tools, "allowed", Value::Names(names)) => !is_named(names),
        _ => false,
    };
    let origin = explained.rows.iter().find(blocks)?.origin.as_ref();
    let line = origin.filter(|origin| origin.file.is_some())?;
    (explained.blocks(tool).as_deref() == Some(reason)).then(|| line.to_string())
}

/// The guard behind a question about leaving the phase.
pub(super) fn approval(loaded: &Loaded, state: &RunState, asked: &str) -> Option<String> {
    let position = Position::of(state, &loaded.catalog).ok()?;
    let approval = position.phase.approve.as_ref()?;
    asked
        .starts_with(&approval.ask)
        .then(|| approval.source.clone())
}

/// The setting that records checkpoints.
pub(super) fn checkpoint(loaded: &Loaded, state: Option<&RunState>) -> Option<String> {
    if let Some(explained) = state.and_then(|state| explained(loaded, state)) {
        let origin = explained.row(Topic::Turns, "checkpoint")?.origin.as_ref()?;
        return origin.file.is_some().then(|| origin.to_string());
    }
    let inner_first = loaded.tiers.iter().zip(&loaded.origins.settings).rev();
    let mut files = inner_first.filter(|(settings, _)| settings.checkpoint.is_some());
    Some(files.next()?.1.of(&["checkpoint"])?.file_and_line())
}

/// The rules that changed a result, each with its location, in the order in which they were applied.
pub(super) fn results(
    loaded: &Loaded,
    state: Option<&RunState>,
    tool: &str,
    said: &str,
    is_error: bool,
) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let Ok(mut content) = to_raw_value(&json!([{ "type": "text", "text": said }])) else {
        return found;
    };
    let active = state.filter(|state| state.active);
    let position = active.and_then(|state| Position::of(state, &loaded.catalog).ok());
    let rules = result_levels(position.as_ref(), loaded.settings.guards());
    for rule in rules.flatten() {
        if let Some(changed) = Results::new([rule]).apply(tool, &content, is_error) {
            content = changed;
            found.push((rule.describe(), rule.source.clone()));
        }
    }
    found
}

fn explained(loaded: &Loaded, state: &RunState) -> Option<Explained> {
    let active = Some(state).filter(|state| state.active)?;
    Explained::of(active, loaded).ok()
}
