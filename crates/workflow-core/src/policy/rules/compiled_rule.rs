//! Compiled rules, matched against calls.

use std::cell::OnceCell;

use regex::Regex;
use serde_json::Value;

use super::call::{Call, Target};
use super::command_patterns::{CommandPatterns, TooMany};
use super::decision::Subject;
use super::file_access::AccessedPath;
use super::globs::Globs;
use super::known::Known;
use super::line_verdict::{self, is_of_command};
use crate::definition::{Rule, RuleAction};
use crate::diagnostic::shown;
use crate::pattern::{names_match, regex};
use workflow_shell::{AccessKind, Effect, SimpleCommand};

/// A rule with patterns that are compiled on first use.
#[derive(Debug, Clone)]
pub(super) struct CompiledRule {
    pub(super) rule: Rule,
    path: Globs,
    command: CommandPatterns,
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
            command: CommandPatterns::new(rule.command.iter().map(String::as_str)),
            input: rule
                .input
                .iter()
                .map(|(field, _)| (field.clone(), OnceCell::new()))
                .collect(),
            rule: rule.clone(),
        }
    }

    /// Returns whether all of its conditions match. An unknown condition matches a rule that forbids, but not one that
    /// allows; of a rule on writing the answer is unknown if only an unknown command makes it match.
    pub(super) fn matches(&self, call: &Call<'_>) -> Known {
        if !names_match(&self.rule.tools, call.tool) {
            return Known::No;
        }
        let matches = |known| match known {
            Known::Yes => true,
            Known::No => false,
            Known::Unknown => !self.allows(),
        };
        let writes = self.writes_match(call);
        let others = || {
            matches(self.commands_match(call))
                && matches(self.paths_match(call))
                && self.input.iter().zip(&self.rule.input).all(
                    |((field, compiled), (_, pattern))| {
                        matches(input_matches(call, field, compiled, pattern))
                    },
                )
        };
        if !matches(writes) || !others() {
            return Known::No;
        }
        match writes {
            Known::Unknown if self.rule.writes == Some(true) => Known::Unknown,
            Known::Yes | Known::No | Known::Unknown => Known::Yes,
        }
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
        if self.command.is_empty() {
            return Known::Yes;
        }
        let Some(analysis) = call.shell_analysis() else {
            return if call.fields().is_none() {
                Known::Unknown
            } else {
                Known::No
            };
        };
        let hides_commands = line_verdict::hides_commands(analysis);
        if hides_commands && self.allows() {
            return Known::Unknown;
        }
        let left = call.comparisons();
        let matched = if self.allows() {
            // Patterns are about commands, and not about the files and variables that the line gives them.
            if self.path.is_empty() && !analysis.redirections.is_empty() {
                return Known::No;
            }
            let allows = |command: &SimpleCommand| match &command.effect {
                Effect::Unknown(unknown) if !is_of_command(unknown) => Ok(false),
                _ => self.command.allows(command, left),
            };
            let all = analysis.commands.iter().map(allows);
            let all = all.collect::<Result<Vec<bool>, TooMany>>();
            all.map(|all| !all.is_empty() && all.into_iter().all(|allowed| allowed))
        } else {
            self.command.match_any(&analysis.commands, left)
        };
        match matched {
            Ok(false) if hides_commands => Known::Unknown,
            Ok(matched) => Known::from(matched),
            Err(TooMany) => Known::Unknown,
        }
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
            None if self.rule.writes == Some(true) && call.may_write_anywhere() => Known::Unknown,
            None if call.accessed_paths().is_complete && self.path.is_valid(call.paths) => {
                Known::No
            }
            None => Known::Unknown,
        }
    }

    /// Returns the first path of a call that a rule that forbids matches.
    fn matched_path<'c>(&self, call: &'c Call<'_>) -> Option<&'c AccessedPath> {
        let only_written = self.rule.writes == Some(true);
        // What an unknown command does with a path is not known. A script that it runs is no file that it writes, as in `./run.sh`.
        let is_unknown = call.writes() == Known::Unknown;
        let may_write = |kind: AccessKind| kind.writes() || is_unknown && kind != AccessKind::Run;
        let mut paths = call.accessed_paths().paths.iter();
        paths.find(|path| {
            (!only_written || may_write(path.kind))
                && self.path.match_access(path, call.paths) == Some(true)
        })
    }

    /// Returns what a call is about, for display.
    pub(super) fn subject(&self, call: &Call<'_>) -> Subject {
        let matched = (!self.path.is_empty())
            .then(|| self.matched_path(call))
            .flatten();
        let lines = call.shell_lines().iter();
        let lines: Vec<&str> = lines.filter_map(|line| line.text.as_deref()).collect();
        // The words of a shell line are not paths as such.
        let named = || call.accessed_paths().paths.first();
        let path = matched.or_else(|| named().filter(|_| lines.is_empty()));
        Subject {
            path: path.map_or_else(String::new, AccessedPath::name),
            command: shown(&lines.join("; ")),
        }
    }

    /// Describes, for display, what the rule found in a call.
    pub(super) fn seen(&self, call: &Call<'_>) -> String {
        let rule = &self.rule;
        let concerns_line = rule.writes == Some(true)
            || call.hides_commands() && !(rule.command.is_empty() && rule.path.is_empty());
        let path = (!rule.path.is_empty())
            .then(|| self.matched_path(call))
            .flatten();
        match path.map(AccessedPath::explanation) {
            Some(seen) if !seen.is_empty() && !call.hides_commands() => seen,
            _ if concerns_line => self.line_seen(call),
            _ => String::new(),
        }
    }

    /// Describes, for display, what the rule found in a line, and how the user could allow it.
    fn line_seen(&self, call: &Call<'_>) -> String {
        let mut seen = call.write_summary();
        let only_writes = rule_is_on_writes(&self.rule);
        let findings = call.shell_analysis().map(line_verdict::of_line);
        let allowing = findings.filter(|_| only_writes && call.is_shell());
        let allowing = allowing.and_then(|found| line_verdict::allowing_rule(call.tool, &found));
        if let Some(allowing) = allowing {
            seen = format!("{seen}\n{allowing}");
        }
        seen
    }

    /// Returns whether a path is allowed in all of its forms.
    fn target_fits(&self, call: &Call<'_>, target: &Target) -> bool {
        let fits = |form| self.path.matches(form, call.paths) == Some(true);
        target.as_ref().is_some_and(|forms| forms.iter().all(fits))
    }
}

/// Returns whether writing is the only condition of a rule.
fn rule_is_on_writes(rule: &Rule) -> bool {
    rule.writes == Some(true) && rule.path.is_empty() && rule.command.is_empty()
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
        Some(value) => value_matches(value, pattern),
    }
}

/// Returns whether a value matches: as JSON, or in its parts. Of one that contains several, some may match only: then it is
/// unknown.
fn value_matches(value: &Value, pattern: &Regex) -> Known {
    let is_text = value.is_string();
    let matches_whole = !is_text && pattern.is_match(&value.to_string());
    match (parts_match(value, pattern), matches_whole) {
        (Known::No, true) if is_single(value) => Known::Yes,
        (Known::No, true) => Known::Unknown,
        (known, _) => known,
    }
}

/// Returns whether a value has no parts.
fn is_single(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => true,
    }
}

/// Returns whether the texts in a value match. Those of a map mean different things, so they never match as a whole.
fn parts_match(value: &Value, pattern: &Regex) -> Known {
    let matched = |part| parts_match(part, pattern);
    let (parts, is_list): (Vec<Known>, _) = match value {
        Value::String(text) => return Known::from(pattern.is_match(text)),
        Value::Array(items) => (items.iter().map(matched).collect(), true),
        Value::Object(members) => (members.values().map(matched).collect(), false),
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            return Known::from(pattern.is_match(&value.to_string()));
        }
    };
    if parts.iter().all(|part| *part == Known::No) {
        Known::No
    } else if is_list && parts.iter().all(|part| *part == Known::Yes) {
        Known::Yes
    } else {
        Known::Unknown
    }
}
