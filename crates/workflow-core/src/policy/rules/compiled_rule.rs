//! Compiled rules, matched against calls.

use std::cell::OnceCell;

use regex::Regex;
use serde_json::Value;

use super::call::{Call, Known, Target};
use super::file_access::AccessedPath;
use super::globs::Globs;
use crate::definition::{Rule, RuleAction};
use crate::pattern::{names_match, regex};
use workflow_shell::{self as shell, SimpleCommand};

/// A rule with patterns that are compiled on first use.
#[derive(Debug, Clone)]
pub(super) struct CompiledRule {
    pub(super) rule: Rule,
    path: Globs,
    /// `None` is an invalid pattern: its matches are unknown.
    input: Vec<(String, OnceCell<Option<Regex>>)>,
}

impl CompiledRule {
    pub(super) fn new(rule: &Rule) -> Self {
        let path = match rule.action {
            RuleAction::Allow => Globs::in_project(&rule.path),
            RuleAction::Ask | RuleAction::Block => Globs::anywhere(&rule.path),
        };
        Self {
            path,
            input: rule
                .input
                .iter()
                .map(|(field, _)| (field.clone(), OnceCell::new()))
                .collect(),
            rule: rule.clone(),
        }
    }

    /// Returns whether all of its conditions match. An unknown condition matches a rule that forbids, but not one that allows.
    pub(super) fn matches(&self, call: &Call<'_>) -> bool {
        if !names_match(&self.rule.tools, call.tool) {
            return false;
        }
        let matches = |known| match known {
            Known::Yes => true,
            Known::No => false,
            Known::Unknown => !self.allows(),
        };
        matches(self.writes_match(call))
            && matches(self.commands_match(call))
            && matches(self.paths_match(call))
            && self
                .input
                .iter()
                .zip(&self.rule.input)
                .all(|((field, compiled), (_, pattern))| {
                    matches(input_matches(call, field, compiled, pattern))
                })
    }

    fn allows(&self) -> bool {
        self.rule.action == RuleAction::Allow
    }

    fn writes_match(&self, call: &Call<'_>) -> Known {
        let Some(wanted) = self.rule.writes else {
            return Known::Yes;
        };
        let writes = if self.allows() {
            call.certainly_writes()
        } else {
            call.writes()
        };
        match writes {
            Known::Unknown => Known::Unknown,
            known => Known::from((known == Known::Yes) == wanted),
        }
    }

    /// Matches the commands of a shell line: to forbid, one must match; to allow, all must.
    fn commands_match(&self, call: &Call<'_>) -> Known {
        let patterns = &self.rule.command;
        if patterns.is_empty() {
            return Known::Yes;
        }
        let Some(analysis) = call.shell_analysis() else {
            return if call.fields().is_none() {
                Known::Unknown
            } else {
                Known::No
            };
        };
        if let shell::Writes::Unreadable(_) = analysis.writes {
            return Known::Unknown;
        }
        let any = |command: &SimpleCommand, covers: fn(&str, &SimpleCommand) -> bool| {
            patterns.iter().any(|pattern| covers(pattern, command))
        };
        let mut commands = analysis.commands.iter();
        Known::from(if self.allows() {
            !analysis.commands.is_empty()
                && commands.all(|command| any(command, shell::matches_exactly))
        } else {
            commands.any(|command| any(command, shell::matches))
        })
    }

    /// Matches the paths of a call: to forbid, one must match; to allow, it must write, and all written paths must match.
    fn paths_match(&self, call: &Call<'_>) -> Known {
        if self.path.is_empty() {
            return Known::Yes;
        }
        if self.allows() {
            let targets = call.written_paths();
            let fits = |target| self.target_fits(call, target);
            return Known::from(!targets.is_empty() && targets.iter().all(fits));
        }
        match self.matched_path(call) {
            Some(_) => Known::Yes,
            None if call.accessed_paths().is_complete && self.path.is_valid(call.paths) => {
                Known::No
            }
            None => Known::Unknown,
        }
    }

    /// Returns the first path of a call that a rule that forbids matches.
    fn matched_path<'c>(&self, call: &'c Call<'_>) -> Option<&'c AccessedPath> {
        let only_written = self.rule.writes == Some(true);
        let mut paths = call.accessed_paths().paths.iter();
        paths.find(|path| {
            (!only_written || path.kind.writes())
                && self.path.match_access(path, call.paths) == Some(true)
        })
    }

    /// Describes, for display, what the rule found in a call.
    pub(super) fn seen(&self, call: &Call<'_>) -> String {
        let rule = &self.rule;
        let concerns_line = rule.writes == Some(true)
            || call.is_unreadable() && !(rule.command.is_empty() && rule.path.is_empty());
        let path = (!rule.path.is_empty())
            .then(|| self.matched_path(call))
            .flatten();
        match path.map(AccessedPath::explanation) {
            Some(seen) if !seen.is_empty() => seen,
            _ if concerns_line => call.write_summary(),
            _ => String::new(),
        }
    }

    /// Returns whether a path is allowed in all of its forms.
    fn target_fits(&self, call: &Call<'_>, target: &Target) -> bool {
        let fits = |form| self.path.matches(form, call.paths) == Some(true);
        target.as_ref().is_some_and(|forms| forms.iter().all(fits))
    }
}

/// Returns whether a field of the input matches; a missing one does not, and an invalid pattern is unknown.
fn input_matches(
    call: &Call<'_>,
    field: &str,
    compiled: &OnceCell<Option<Regex>>,
    pattern: &str,
) -> Known {
    let (Some(fields), Some(pattern)) =
        (call.fields(), compiled.get_or_init(|| regex(pattern).ok()))
    else {
        return Known::Unknown;
    };
    match fields.get(field) {
        None | Some(Value::Null) => Known::No,
        Some(Value::String(text)) => Known::from(pattern.is_match(text)),
        Some(value) => Known::from(pattern.is_match(&value.to_string())),
    }
}
