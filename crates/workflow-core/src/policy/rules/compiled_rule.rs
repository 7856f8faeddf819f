//! Compiled rules, matched against calls.

use std::cell::OnceCell;

use regex::Regex;
use serde_json::Value;

use super::call::Call;
use super::command_patterns::CommandPatterns;
use super::decision::Subject;
use super::file_access::AccessedPath;
use super::globs::Globs;
use super::known::Known;
use super::read_only::{Openings, ReadOnly};
use super::{line_verdict, suggestion};
use crate::definition::{Rule, RuleAction};
use crate::diagnostic::shown;
use crate::pattern::{Anchor, regex};
use workflow_shell::{AccessKind, Effect, SimpleCommand};

/// A rule with patterns that are compiled on first use.
#[derive(Debug, Clone)]
pub(super) struct CompiledRule {
    pub(super) rule: Rule,
    path: Globs,
    command: CommandPatterns,
    /// `None` is an invalid pattern: its matches are unknown.
    input: Vec<OnceCell<Option<Regex>>>,
    /// What a read-only level opens; `None` in other rules.
    pub(super) open: Option<Openings>,
}

impl CompiledRule {
    /// Compiles a rule.
    pub(super) fn new(rule: Rule) -> Self {
        let bare = match rule.action {
            RuleAction::Allow => Anchor::Project,
            RuleAction::Ask | RuleAction::Block => Anchor::Root,
        };
        Self {
            path: Globs::new(&rule.path, bare),
            command: CommandPatterns::new(rule.command.iter().map(String::as_str)),
            input: rule.input.iter().map(|_| OnceCell::new()).collect(),
            open: None,
            rule,
        }
    }

    /// The rule of a read-only level: it forbids all writing, and code of the project, but for what is open.
    pub(super) fn read_only(open: &ReadOnly<'_>, known: &[String]) -> Self {
        let rule = Rule {
            writes: Some(true),
            reason: Some("it is read-only".to_owned()),
            source: open.source.to_owned(),
            ..Rule::new(RuleAction::Block, "*")
        };
        Self {
            open: Some(Openings::new(open, known)),
            ..Self::new(rule)
        }
    }

    /// Returns whether all of its conditions match. An unknown condition matches a rule that forbids, but not one that
    /// allows; of a rule on writing the answer is unknown if only an unknown command or tool makes it match. These files may be
    /// written although the level is read-only.
    pub(super) fn matches(&self, call: &Call<'_>, writable: Option<&Globs>) -> Known {
        if !self.rule.names(call.tool) {
            return Known::No;
        }
        let matches = |known| match known {
            Known::Yes => true,
            Known::No => false,
            Known::Unknown => !self.allows(),
        };
        let writes = self.writes_match(call);
        let others = || {
            let mut input = self.input.iter().zip(&self.rule.input);
            matches(self.commands_match(call, writable))
                && matches(self.paths_match(call))
                && input
                    .all(|(compiled, condition)| matches(input_matches(call, condition, compiled)))
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
        let writes = match &self.open {
            Some(open) => open.forbids(call),
            None if self.allows() => call.certainly_writes(),
            None => call.writes(),
        };
        match writes {
            Known::Unknown => Known::Unknown,
            known => Known::from((known == Known::Yes) == wanted),
        }
    }

    /// Matches the commands of a shell line: to forbid, one must match; to allow, all must.
    fn commands_match(&self, call: &Call<'_>, writable: Option<&Globs>) -> Known {
        if self.command.is_empty() {
            return Known::Yes;
        }
        let Some(analysis) = call.shell_analysis() else {
            return call.fields().map_or(Known::Unknown, |_| Known::No);
        };
        let hides_commands = line_verdict::hides_commands(analysis);
        if hides_commands && self.allows() {
            return Known::Unknown;
        }
        if self.allows() {
            let allows = |command: &SimpleCommand| {
                (self.command.opens(command, call, writable, false)).is_ok()
            };
            let gives_files = self.path.is_empty() && !analysis.redirections.is_empty();
            // Where a command runs is part of its pattern.
            let changes_directory = |command: &SimpleCommand| {
                let program = command.words.first().and_then(|word| word.text());
                program == Some("cd") && command.effect == Effect::Reads
            };
            let mut all = analysis.commands.iter();
            let is_allowed = !gives_files
                && analysis.commands.iter().any(allows)
                && all.all(|command| changes_directory(command) || allows(command));
            return Known::from(is_allowed);
        }
        let left = call.comparisons();
        match self.command.match_any(&analysis.commands, left) {
            Known::No if hides_commands => Known::Unknown,
            known => known,
        }
    }

    /// Matches the paths of a call: to forbid, one must match; to allow, it must write, and all written paths must match.
    fn paths_match(&self, call: &Call<'_>) -> Known {
        if self.path.is_empty() {
            return Known::Yes;
        }
        if self.allows() {
            let targets = call.written_paths();
            let fits = |target| self.path.match_all(target, call.paths);
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
        let lines = call.shell_lines().iter();
        let lines: Vec<&str> = lines.filter_map(|line| line.text.as_deref()).collect();
        // The words of a shell line are not paths as such.
        let named = || call.accessed_paths().paths.first();
        let path = self.shown_path(call);
        let path = path.or_else(|| named().filter(|_| lines.is_empty()));
        Subject {
            path: path.map_or_else(String::new, AccessedPath::name),
            command: shown(&lines.join("; ")),
        }
    }

    /// Returns the path that a condition on paths matches, for display.
    fn shown_path<'c>(&self, call: &'c Call<'_>) -> Option<&'c AccessedPath> {
        (!self.path.is_empty()).then(|| self.matched_path(call))?
    }

    /// Describes, for display, what the rule found in a call.
    pub(super) fn seen(&self, call: &Call<'_>, matched: Known) -> String {
        if let Some(open) = &self.open {
            return open.seen(call, matched);
        }
        let rule = &self.rule;
        let concerns_line = rule.writes == Some(true)
            || call.hides_commands() && !(rule.command.is_empty() && rule.path.is_empty());
        match self.shown_path(call).map(AccessedPath::explanation) {
            Some(seen) if !seen.is_empty() && !call.hides_commands() => seen,
            _ if concerns_line => self.line_seen(call),
            _ => String::new(),
        }
    }

    /// Describes, for display, what the rule found in a line, and how the user could allow it.
    fn line_seen(&self, call: &Call<'_>) -> String {
        let rule = &self.rule;
        let findings = call.line_findings().unwrap_or_default();
        let seen = line_verdict::describe(&findings);
        let only_writes =
            rule.writes == Some(true) && rule.path.is_empty() && rule.command.is_empty();
        let allowing =
            (only_writes && call.is_shell()).then(|| suggestion::allowing_rule(call, &findings));
        match allowing.flatten() {
            Some(allowing) => format!("{seen}\n{allowing}"),
            None => seen,
        }
    }

    /// Says, for display, what is allowed for the tool of a call: what these patterns of rules open, and a read-only level.
    pub(super) fn allowed(&self, by_rules: &[&str]) -> String {
        match (&self.open, by_rules) {
            (Some(open), _) => open.allowed(by_rules),
            (None, []) => String::new(),
            (None, patterns) => format!("Allowed here: {}.", patterns.join(", ")),
        }
    }
}

/// Returns whether a field of the input matches; a missing one does not, and an invalid pattern is unknown.
fn input_matches(
    call: &Call<'_>,
    (field, pattern): &(String, String),
    compiled: &OnceCell<Option<Regex>>,
) -> Known {
    let compiled = compiled.get_or_init(|| regex(pattern).ok());
    let (Some(fields), Some(pattern)) = (call.written_fields(), compiled) else {
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
    match parts_match(value, pattern) {
        Known::No if !value.is_string() && pattern.is_match(&value.to_string()) => match value {
            Value::Array(items) if !items.is_empty() => Known::Unknown,
            Value::Object(members) if !members.is_empty() => Known::Unknown,
            _ => Known::Yes,
        },
        known => known,
    }
}

/// Returns whether the texts in a value match. Those of a map mean different things, so they never match as a whole.
fn parts_match(value: &Value, pattern: &Regex) -> Known {
    let matched = |part| parts_match(part, pattern);
    let parts: Vec<Known> = match value {
        Value::String(text) => return Known::from(pattern.is_match(text)),
        Value::Array(items) => items.iter().map(matched).collect(),
        Value::Object(members) => members.values().map(matched).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            return Known::from(pattern.is_match(&value.to_string()));
        }
    };
    if parts.iter().all(|part| *part == Known::No) {
        Known::No
    } else if value.is_array() && parts.iter().all(|part| *part == Known::Yes) {
        Known::Yes
    } else {
        Known::Unknown
    }
}
