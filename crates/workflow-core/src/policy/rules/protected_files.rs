//! Built-in rule: what holds in a run changes only with a person's consent.
//!
//! The files that definitions and settings are loaded from, and the session's own file, are read again when the session
//! is; others say which hooks a host runs. A tool call that plainly writes one of them needs consent while a workflow is
//! active or settings have rules. A shell command with unknown effects does not: other rules decide about it.

use std::sync::LazyLock;

use super::arguments::{ToolEffect, all_texts, tool_effect};
use super::call::Call;
use super::decision::{Denial, Override};
use super::file_access::AccessedPath;
use super::globs::Globs;
use super::paths::{PathForm, Paths};
use crate::definition::{Rule, RuleAction};
use crate::diagnostic::shown;
use workflow_shell::AccessKind;

/// Texts of a call that are compared with the protected files.
const MAX_TEXTS: usize = 64;
/// The longest text that may be a path, in bytes.
const MAX_PATH_BYTES: usize = 4096;

static RULE: LazyLock<Rule> = LazyLock::new(|| {
    let reason = "workflow definitions, settings, the session's file and the host's hooks decide which rules are in force, so changing \
                  them needs the consent of the user";
    Rule {
        writes: Some(true),
        reason: Some(reason.to_owned()),
        source: super::builtin_rule::SOURCE.to_owned(),
        ..Rule::new(RuleAction::Ask, "*")
    }
});

/// Returns the denial of a call that plainly writes a protected file.
pub(super) fn denial(call: &Call<'_>) -> Option<Denial<'static>> {
    let path = written(call)?;
    Some(Denial {
        override_by: Override::User(Vec::new()),
        seen: format!("It would write `{}`.", shown(&path)),
        ..Denial::built_in(&RULE)
    })
}

/// Returns the first path of a call that is protected and written, as the call names it.
fn written(call: &Call<'_>) -> Option<String> {
    let effect = tool_effect(call.tool);
    if effect == ToolEffect::Reads {
        return None;
    }
    // Most shell lines write nothing, and need no path resolved.
    let line_writes = || {
        let mut accesses = call.shell_analysis()?.file_accesses.iter();
        accesses.find(|access| access.kind.writes())
    };
    if !matches!(effect, ToolEffect::Changes(_)) && line_writes().is_none() {
        return None;
    }
    let accessed = call.accessed_paths().paths.iter();
    let mut written = accessed.filter(|path| path.kind.writes()).peekable();
    // A tool that changes files may name them in any field.
    let mut texts = Vec::new();
    if let (ToolEffect::Changes(_), Some(fields)) = (effect, call.expanded_fields()) {
        let fields = fields.values();
        fields.for_each(|value| all_texts(value, &mut texts));
        texts.retain(|text| {
            !text.is_empty() && text.len() <= MAX_PATH_BYTES && !text.contains('\n')
        });
        texts.truncate(MAX_TEXTS);
    }
    if written.peek().is_none() && texts.is_empty() {
        return None;
    }
    let protected = call.paths.protected();
    let patterns: Vec<String> = protected.iter().map(|path| globset::escape(path)).collect();
    let globs = Globs::anywhere(&patterns);
    let is_one = |forms: &[PathForm]| {
        let mut forms = forms.iter();
        forms.any(|form| globs.matches(form, call.paths) == Some(true))
    };
    let found = written.find(|path| match path.kind {
        // What formats or extracts may write anywhere in a directory.
        AccessKind::WriteWithin => is_one(&path.forms),
        _ => {
            is_plain(path, &protected, call.paths)
                && globs.match_access(path, call.paths) == Some(true)
        }
    });
    if let Some(path) = found {
        return Some(path.path.replace('\0', "…"));
    }
    let is_protected = |text: &&str| is_one(&call.paths.forms(&call.opened(text)));
    let texts = texts.into_iter();
    let mut texts = texts.map(|text| text.strip_prefix("file://").unwrap_or(text));
    texts.find(is_protected).map(str::to_owned)
}

/// Returns true if a path plainly leads to the directory of a protected file, or to one around it that is not the whole
/// project: `*.o` in the project, or a variable, could be anything.
fn is_plain(path: &AccessedPath, protected: &[String], paths: &dyn Paths) -> bool {
    let folded = |path: &str| {
        if paths.ignores_case() {
            path.to_lowercase()
        } else {
            path.to_owned()
        }
    };
    let is_below = |path: &str, directory: &str| {
        let (path, directory) = (folded(path), folded(directory));
        path.strip_prefix(&*directory)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let directories = protected.iter().filter_map(|path| path.rsplit_once('/'));
    let mut directories: Vec<&str> = directories.map(|(directory, _)| directory).collect();
    directories.dedup();
    let directories = directories.into_iter().flat_map(|path| paths.forms(path));
    let directories: Vec<PathForm> = directories.collect();
    let forms = &path.forms;
    let is_near = forms.iter().any(|form| {
        let mut directories = directories.iter();
        directories.any(|directory| is_below(&form.absolute, &directory.absolute))
    });
    let contains_all = || {
        let roots = [".", "~"].map(|root| paths.forms(root));
        roots.iter().flatten().any(|root| {
            let mut forms = forms.iter();
            forms.any(|form| is_below(&root.absolute, &form.absolute))
        })
    };
    is_near || path.kind.includes_tree() && path.tail.is_empty() && !contains_all()
}
