//! One rule, compiled, and whether it matches a call.

use std::cell::OnceCell;

use regex::Regex;
use serde_json::Value;

use super::call::{Call, Known, Target};
use super::file_access::Place;
use super::pattern::{Globs, names_match, regex};
use crate::definition::{Rule, Verdict};
use workflow_shell::{self as shell, SimpleCommand};

/// A rule whose patterns are compiled when they are first needed.
#[derive(Debug, Clone)]
pub(super) struct CompiledRule {
    pub(super) rule: Rule,
    path: Globs,
    /// `None` stands for a pattern that is none: what it would match cannot be seen.
    input: Vec<(String, OnceCell<Option<Regex>>)>,
}

impl CompiledRule {
    pub(super) fn new(rule: &Rule) -> Self {
        let path = match rule.verdict {
            Verdict::Allow => Globs::in_project(&rule.path),
            Verdict::Ask | Verdict::Block => Globs::anywhere(&rule.path),
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

    /// Whether all of its conditions match. What cannot be seen matches a rule that forbids, and none that allows.
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
        self.rule.verdict == Verdict::Allow
    }

    fn writes_match(&self, call: &Call<'_>) -> Known {
        let Some(wanted) = self.rule.writes else {
            return Known::Yes;
        };
        let writes = if self.allows() {
            call.surely_writes()
        } else {
            call.writes()
        };
        match writes {
            Known::Unknown => Known::Unknown,
            known => Known::from((known == Known::Yes) == wanted),
        }
    }

    /// One of the commands of a line makes it forbidden, all of them must be allowed.
    fn commands_match(&self, call: &Call<'_>) -> Known {
        let patterns = &self.rule.command;
        if patterns.is_empty() {
            return Known::Yes;
        }
        let Some(line) = call.line() else {
            return if call.fields().is_none() {
                Known::Unknown
            } else {
                Known::No
            };
        };
        if let shell::Writes::Unreadable(_) = line.writes {
            return Known::Unknown;
        }
        let any = |simple: &SimpleCommand, is_about: fn(&str, &SimpleCommand) -> bool| {
            patterns.iter().any(|pattern| is_about(pattern, simple))
        };
        let mut commands = line.commands.iter();
        Known::from(if self.allows() {
            !line.commands.is_empty() && commands.all(|simple| any(simple, shell::matches_exactly))
        } else {
            commands.any(|simple| any(simple, shell::matches))
        })
    }

    /// One path makes a call forbidden; to be allowed, it writes somewhere, and only where it may.
    fn paths_match(&self, call: &Call<'_>) -> Known {
        if self.path.is_empty() {
            return Known::Yes;
        }
        if self.allows() {
            let targets = call.written();
            let fits = |target| self.target_fits(call, target);
            return Known::from(!targets.is_empty() && targets.iter().all(fits));
        }
        match self.place(call) {
            Some(_) => Known::Yes,
            None if call.places().is_all && self.path.is_sound(call.paths) => Known::No,
            None => Known::Unknown,
        }
    }

    /// The place for which a rule that forbids is about a call.
    fn place<'c>(&self, call: &'c Call<'_>) -> Option<&'c Place> {
        let only_written = self.rule.writes == Some(true);
        let mut places = call.places().seen.iter();
        places.find(|place| {
            (!only_written || place.change.writes())
                && self.path.touch(place, call.paths) == Some(true)
        })
    }

    /// What is seen of a call for which this rule is about it, as people read it.
    pub(super) fn seen(&self, call: &Call<'_>) -> String {
        let rule = &self.rule;
        let of_line = rule.writes == Some(true)
            || call.is_unreadable() && !(rule.command.is_empty() && rule.path.is_empty());
        let place = (!rule.path.is_empty()).then(|| self.place(call)).flatten();
        match place.map(Place::seen) {
            Some(seen) if !seen.is_empty() => seen,
            _ if of_line => call.seen(),
            _ => String::new(),
        }
    }

    /// Whether a path is allowed in all of its forms.
    fn target_fits(&self, call: &Call<'_>, target: &Target) -> bool {
        let fits = |form| self.path.matches(form, call.paths) == Some(true);
        target.as_ref().is_some_and(|forms| forms.iter().all(fits))
    }
}

/// Whether a field of the input matches; one that is not there does not.
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
