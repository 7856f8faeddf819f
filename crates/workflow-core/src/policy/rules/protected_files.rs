//! Built-in rule: what holds in a run changes only with a person's consent.
//!
//! The files that definitions and settings are loaded from, and the session's own file, are read again when the session
//! is. A tool call that plainly writes one of them needs consent while a workflow is active or settings have rules. A
//! shell command with unknown effects does not: other rules decide about it.

use std::sync::LazyLock;

use serde_json::Value;

use super::arguments::{ToolEffect, tool_effect};
use super::call::Call;
use super::decision::{Denial, Override};
use super::globs::Globs;
use crate::definition::{Rule, RuleAction};
use crate::diagnostic::shown;

/// Texts of a call that are compared with the protected files.
const MAX_TEXTS: usize = 64;
/// The longest text that may be a path, in bytes.
const MAX_PATH_BYTES: usize = 4096;
/// The depth to which arguments are searched.
const MAX_DEPTH: usize = 8;

static RULE: LazyLock<Rule> = LazyLock::new(|| {
    Rule {
    action: RuleAction::Ask,
    tools: vec!["*".to_owned()],
    path: Vec::new(),
    command: Vec::new(),
    writes: Some(true),
    input: Vec::new(),
    reason: Some(
        "workflow definitions, their settings and the session's file decide which guards hold, so they change only with the user's \
         consent while guards are in force; go on without this change, or ask the user to make it".to_owned(),
    ),
    source: super::builtin_rule::SOURCE.to_owned(),
}
});

/// Returns the denial of a call that plainly writes a protected file.
pub(super) fn denial(call: &Call<'_>) -> Option<Denial<'static>> {
    let protected = call.paths.protected();
    if protected.is_empty() {
        return None;
    }
    let path = written(call, &protected)?;
    Some(Denial {
        level: "workflow-sidecar",
        override_by: Override::Person,
        in_workflow: false,
        rule: Some(&RULE),
        allowed: "".into(),
        seen: format!("It would write `{}`.", shown(&path)),
    })
}

/// Returns the first path of a call that is protected and written, as the call names it.
fn written(call: &Call<'_>, protected: &[String]) -> Option<String> {
    let patterns: Vec<String> = protected.iter().map(|path| globset::escape(path)).collect();
    let globs = Globs::anywhere(&patterns);
    let mut written = call.accessed_paths().paths.iter();
    let accessed = written
        .find(|path| path.kind.writes() && globs.match_access(path, call.paths) == Some(true));
    if let Some(path) = accessed {
        return Some(path.path.replace('\0', "…"));
    }
    // A tool that changes files may name them in any field.
    if !matches!(tool_effect(call.tool), ToolEffect::Changes(_)) {
        return None;
    }
    let mut texts = Vec::new();
    let fields = call.expanded_fields()?;
    fields
        .values()
        .for_each(|value| collect(value, 0, &mut texts));
    let is_protected = |text: &&str| {
        let forms = call.paths.forms(text);
        forms
            .iter()
            .any(|form| globs.matches(form, call.paths) == Some(true))
    };
    texts.into_iter().find(is_protected).map(str::to_owned)
}

/// Collects the texts of a value that may be paths.
fn collect<'v>(value: &'v Value, depth: usize, texts: &mut Vec<&'v str>) {
    match value {
        _ if depth > MAX_DEPTH || texts.len() >= MAX_TEXTS => {}
        Value::String(text) => {
            let is_path = !text.is_empty() && text.len() <= MAX_PATH_BYTES && !text.contains('\n');
            if is_path {
                texts.push(text.strip_prefix("file://").unwrap_or(text));
            }
        }
        Value::Array(items) => items
            .iter()
            .for_each(|item| collect(item, depth + 1, texts)),
        Value::Object(fields) => {
            fields
                .values()
                .for_each(|value| collect(value, depth + 1, texts));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
