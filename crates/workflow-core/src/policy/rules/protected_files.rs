//! Built-in rule: what holds in a run changes only with a person's consent.
//!
//! The files that definitions and settings are loaded from, and the session's own file, are read again when the session
//! is; others say which hooks a host runs. A tool call that plainly writes one of them needs consent while a workflow is
//! active or settings have rules. A shell command with unknown effects does not: other rules decide about it.

use std::sync::LazyLock;

use serde_json::Map;

use super::arguments::all_texts;
use super::call::Call;
use super::decision::Denial;
use super::file_access::AccessedPath;
use super::globs::Globs;
use super::paths::{PathForm, Paths};
use super::tool_names::ToolEffect;
use crate::definition::{Rule, RuleAction};
use crate::diagnostic::shown;
use crate::pattern::Anchor;
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
        seen: format!("It would write `{}`.", shown(&path)),
        ..Denial::built_in(&RULE)
    })
}

/// Returns the first path of a call that is protected and written, as the call names it.
fn written(call: &Call<'_>) -> Option<String> {
    let effect = call.tool_effect();
    let changes_files = matches!(effect, ToolEffect::Changes(_));
    // Most shell lines write nothing, and need no path resolved.
    let line_writes = || {
        let mut accesses = call.shell_analysis()?.file_accesses.iter();
        accesses.find(|access| access.kind.writes())
    };
    if effect == ToolEffect::Reads || !changes_files && line_writes().is_none() {
        return None;
    }
    let protected = call.paths.protected();
    let patterns: Vec<String> = protected.iter().map(|path| globset::escape(path)).collect();
    let globs = Globs::new(&patterns, Anchor::Root);
    let is_one = |forms: &[PathForm]| globs.match_any(forms, call.paths);
    let accessed = call.accessed_paths().paths.iter();
    let mut written = accessed.filter(|path| path.kind.writes());
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
    // A tool that changes files may name them in any field.
    let fields = call.fields().filter(|_| changes_files);
    let values = fields.into_iter().flat_map(Map::values);
    let mut texts: Vec<&str> = values.flat_map(all_texts).collect();
    texts.retain(|text| !text.is_empty() && text.len() <= MAX_PATH_BYTES && !text.contains('\n'));
    texts.truncate(MAX_TEXTS);
    let texts = texts.into_iter();
    let mut texts = texts.map(|text| text.strip_prefix("file://").unwrap_or(text));
    let found = texts.find(|text| is_one(&call.paths.forms(&call.opened(text))));
    found.map(str::to_owned)
}

/// Returns true if a path plainly leads to the directory of a protected file, or to one around it that is not the whole
/// project: `*.o` in the project, or a variable, could be anything. Each call that writes is asked, so no glob is compiled.
fn is_plain(path: &AccessedPath, protected: &[String], paths: &dyn Paths) -> bool {
    let folded = |form: &PathForm| {
        if paths.ignores_case() {
            form.absolute.to_lowercase()
        } else {
            form.absolute.clone()
        }
    };
    let is_below = |form: &PathForm, directory: &PathForm| {
        let (form, directory) = (folded(form), folded(directory));
        let rest = form.strip_prefix(&*directory);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let any_below = |forms: &[PathForm], directories: &[PathForm]| {
        let mut forms = forms.iter();
        forms.any(|form| directories.iter().any(|around| is_below(form, around)))
    };
    let around = protected.iter().filter_map(|path| path.rsplit_once('/'));
    let mut around: Vec<&str> = around.map(|(directory, _)| directory).collect();
    around.dedup();
    let mut around = around.into_iter().map(|directory| paths.forms(directory));
    let is_near = around.any(|directories| any_below(&path.forms, &directories));
    let contains_all = || {
        let mut roots = [".", "~"].into_iter().map(|root| paths.forms(root));
        roots.any(|root| any_below(&root, &path.forms))
    };
    is_near || path.kind.includes_tree() && path.tail.is_empty() && !contains_all()
}
