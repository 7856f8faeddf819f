//! Readers of `tools` and `results`, which mean the same in the settings, a workflow and a phase.
//!
//! Both are guards: whatever is wrong is an error. A settings file applies despite its mistakes, so a mistake in it
//! forbids more: a rule that forbids is kept without its wrong condition, a rule that allows is dropped, and where it is
//! not known what is forbidden, everything is (`fail_closed`).

use super::fail_closed;
use super::rule::read_rule;
use super::rule_sets::RuleSets;
use crate::definition::model::{
    Phase, ResultRule, Rule, SettingsStatus, ToolAccess, UnknownAction, Workflow,
};
use crate::definition::schema::keys::{result, tools};
use crate::definition::schema::{
    Field, Key, List, MapReader, Section, Typed, ValueType, listed, nearest,
};
use crate::definition::syntax::{Kind, Map, Reader, Span};
use crate::diagnostic::{Code, Finding, shown};
use crate::white_space::trim;

/// The content of `tools`.
#[derive(Debug, Default)]
pub(super) struct ReadTools {
    pub(super) access: Option<ToolAccess>,
    pub(super) rules: Vec<Rule>,
    /// Loaded, unless something other than a condition of a rule could not be read.
    pub(super) status: SettingsStatus,
}

impl ReadTools {
    /// Forbids everything that the rules do not, before all of them: what is lost may have come before a rule that allows.
    pub(super) fn fail_closed(&mut self, reader: &Reader<'_>, span: Option<Span>) {
        let file = reader.source.file();
        let why = "the restriction of tools in this file cannot be read";
        let rules = fail_closed::rules(file, &reader.file_and_line(span), why);
        self.rules.splice(0..0, rules);
        self.status = SettingsStatus::Unreadable;
    }
}

/// The text by which `tools` allows only what changes nothing.
pub(super) const READ_ONLY: &str = "read-only";

/// The patterns of commands that one level may have: each is compared with each command of a line.
const MAX_COMMAND_PATTERNS: usize = 5000;

/// Reads `tools` (B33, B56).
pub(super) fn read_tools(
    keys: &mut MapReader<'_, '_, '_>,
    key: &Key,
    sets: &RuleSets,
) -> ReadTools {
    let mut read = ReadTools::default();
    if key.value == ValueType::ReadOnlyOrTools
        && let Some(result) = read_text(keys, key)
    {
        return result;
    }
    let (key_span, map) = match keys.map(key) {
        Field::Absent | Field::NoValue => return read,
        Field::Wrong { span, .. } => {
            read.fail_closed(keys.reader, span);
            return read;
        }
        Field::Value {
            key_span, value, ..
        } => (key_span, value),
    };
    let mut keys = MapReader::new(keys.reader, Section::Tools, map, None);
    let mut lost = Vec::new();
    if !keys.all_known {
        lost.push(key_span);
    }
    if keys.is_empty() {
        let message = "`tools` has no list and no rules: it changes nothing";
        keys.report(Finding::warning(Code::NoValue, key_span, message));
    }
    read.access = read_access(&mut keys, &mut lost);
    let rules = keys.list(&tools::RULES, read_rule);
    read.rules = rules.all;
    lost.extend(rules.lost);
    match sets.used(&mut keys) {
        Ok(used) => read.rules.extend(used),
        Err(span) => lost.push(span.or(key_span)),
    }
    let patterns: usize = read.rules.iter().map(|rule| rule.command.len()).sum();
    if let Some(finding) = too_many_patterns(patterns, key_span) {
        keys.report(finding);
        read.rules.clear();
        lost.push(key_span);
    }
    if let Some(&span) = lost.first() {
        read.fail_closed(keys.reader, span);
    }
    read
}

/// Reads `tools` if it is a text; `None` if it is not.
fn read_text(keys: &mut MapReader<'_, '_, '_>, key: &Key) -> Option<ReadTools> {
    let span = keys.value_of(key, |kind| matches!(kind, Kind::Text(_)))?;
    let mut read = ReadTools::default();
    let entry = keys.entry(key)?;
    let Kind::Text(text) = entry.value.kind else {
        return None;
    };
    if text == READ_ONLY {
        let source = keys.reader.file_and_line(entry.key_span);
        read.access = Some(ToolAccess::ReadOnly { source });
        return Some(read);
    }
    let message = format!(
        "`tools` must be `{READ_ONLY}` or a map, not `{}`",
        shown(&text)
    );
    let finding = Finding::error(Code::InvalidValue, span, message);
    if let Some(near) = nearest(&text, [READ_ONLY]) {
        keys.report(finding.help("write `tools: read-only`").fix(&text, near));
        // What is opened under it is right.
        let source = keys.reader.file_and_line(entry.key_span);
        read.access = Some(ToolAccess::ReadOnly { source });
        return Some(read);
    }
    keys.report(
        finding.help("write `tools: read-only`, or a map with `blacklist`, `whitelist` or `rules`"),
    );
    read.fail_closed(keys.reader, span);
    Some(read)
}

/// The finding about more patterns of commands than a level may have.
fn too_many_patterns(number: usize, span: Option<Span>) -> Option<Finding> {
    (number > MAX_COMMAND_PATTERNS).then(|| {
        let message = format!(
            "a level can have at most {MAX_COMMAND_PATTERNS} patterns of commands, and this one has {number}"
        );
        Finding::error(Code::OverLimit, span, message)
            .help("combine patterns with `*`: `git push *` matches every `git push`")
    })
}

/// The paths and commands that a workflow or a phase opens where `tools` is `read-only`.
#[derive(Debug, Default)]
pub(super) struct ReadOpenings {
    pub(super) writable: Vec<String>,
    pub(super) run: Vec<String>,
    pub(super) unknown: Option<UnknownAction>,
    /// The keys that are there, of `writable` and `run`.
    pub(super) given: Vec<(&'static str, Option<Span>)>,
}

/// Reads `writable`, `run` and `unknown`.
pub(super) fn read_openings(
    keys: &mut MapReader<'_, '_, '_>,
    writable: &Typed<Vec<String>>,
    run: &Typed<Vec<String>>,
    unknown: &Typed<UnknownAction>,
) -> ReadOpenings {
    let mut read = ReadOpenings::default();
    for (key, target) in [(writable, &mut read.writable), (run, &mut read.run)] {
        if let Field::Value {
            key_span, value, ..
        } = keys.field(key)
        {
            read.given.push((key.key.name, key_span));
            *target = value;
        }
    }
    if let Some(finding) = too_many_patterns(read.run.len(), keys.start) {
        keys.report(finding);
    }
    read.unknown = keys.get(unknown);
    read
}

/// Reports what a phase opens although it is not read-only: it would open nothing, and the rest is open anyway.
pub(super) fn check_phase_openings(
    reader: &mut Reader<'_>,
    workflow: &Workflow,
    phase: &Phase,
    given: &[(&'static str, Option<Span>)],
) {
    if workflow.read_only_in(phase).is_some() {
        return;
    }
    for &(key, span) in given {
        let why = if workflow.is_read_only() {
            "the empty `blacklist` of the phase replaces the `read-only` of the workflow"
        } else {
            "neither the phase nor its workflow is read-only"
        };
        let message = format!("`{key}` has no effect, because {why}");
        let help = if workflow.is_read_only() {
            "remove the `blacklist` from the phase, or write `tools: read-only` there"
        } else {
            "add `tools: read-only` to the phase or to its workflow"
        };
        reader.report(Finding::error(Code::IdleRule, span, message).help(help));
    }
}

/// Reports what a workflow opens although none of its phases is read-only.
pub(super) fn check_workflow_openings(
    reader: &mut Reader<'_>,
    workflow: &Workflow,
    given: &[(&'static str, Option<Span>)],
) {
    let mut phases = workflow.own_phases();
    if workflow.is_read_only() || phases.any(|phase| workflow.read_only_in(phase).is_some()) {
        return;
    }
    for &(key, span) in given {
        let message =
            format!("`{key}` has no effect, because no phase of the workflow is read-only");
        let finding = Finding::error(Code::IdleRule, span, message);
        reader.report(finding.help("add `tools: read-only` to the workflow or to a phase"));
    }
}

/// Reads the lists, and notes the locations of those that are lost.
fn read_access(
    keys: &mut MapReader<'_, '_, '_>,
    lost: &mut Vec<Option<Span>>,
) -> Option<ToolAccess> {
    let (blacklist, whitelist) = (keys.field(&tools::BLACKLIST), keys.field(&tools::WHITELIST));
    for list in [&blacklist, &whitelist] {
        if let Field::Wrong { span, .. } = list {
            lost.push(*span);
        }
    }
    if !matches!(blacklist, Field::Absent)
        && let Field::Wrong { key_span, .. } | Field::Value { key_span, .. } = whitelist
    {
        let message = "cannot set both `blacklist` and `whitelist`";
        keys.report(Finding::error(Code::BothLists, key_span, message));
    }
    // Of a name with white space around it a blacklist means the tool.
    let blacklist = blacklist.value().map(|names| -> Vec<String> {
        let trimmed = names.iter().map(|name| trim(name).to_owned());
        trimmed.collect()
    });
    match (blacklist, whitelist.value()) {
        (Some(blocked), Some(mut allowed)) => {
            allowed.retain(|name| !blocked.contains(name));
            Some(ToolAccess::Whitelist(allowed))
        }
        (Some(blocked), None) => Some(ToolAccess::Blacklist(blocked)),
        (None, Some(allowed)) => Some(ToolAccess::Whitelist(allowed)),
        (None, None) => None,
    }
}

/// Reads `results`. If an entry is lost, every result is withheld.
pub(super) fn read_results(keys: &mut MapReader<'_, '_, '_>, key: &Key) -> Vec<ResultRule> {
    let List { mut all, lost } = keys.list(key, |reader, map, span| {
        Some(read_result(reader, map, span))
    });
    let lost = lost.first();
    all.extend(lost.map(|&span| fail_closed::results(keys.reader.file_and_line(span))));
    all
}

fn read_result(reader: &mut Reader<'_>, map: Map<'_>, span: Option<Span>) -> ResultRule {
    let mut keys = MapReader::new(reader, Section::Result, map, span);
    let effects = Section::Result.effects();
    if !effects.iter().any(|effect| keys.has(effect)) {
        let message = format!(
            "an entry of `results` needs one of {}",
            listed(effects.iter().copied())
        );
        let finding = Finding::error(Code::MissingKey, keys.start, message);
        keys.report(
            finding.help("write what is done with the results, for example `maxChars: 20000`"),
        );
    }
    let tools = keys.get(&result::TOOL).filter(|tools| tools.is_sound);
    let on = keys.get(&result::ON);
    let redact = keys.field(&result::REDACT);
    let redacts = !matches!(redact, Field::Absent);
    let redact = redact.value();
    // A wrong pattern, or an unknown key that may be a misspelled one.
    let unread = redact.is_none() && (redacts || !keys.all_known);
    let with = keys.get(&result::WITH);
    if let Some(with) = with.as_ref().filter(|_| !redacts) {
        let message = "`with` has no effect without `redact`";
        keys.report(Finding::warning(Code::IdleRule, with.span, message));
    }
    let max_chars = keys.get(&result::MAX_CHARS);
    let append = keys.get(&result::APPEND);
    ResultRule {
        // An entry about tools that cannot be read is about all of them.
        tools: tools.map_or_else(|| vec!["*".to_owned()], |tools| tools.all),
        on,
        redact: redact.unwrap_or_default(),
        with: with.map(|text| text.value),
        max_chars,
        append: append.map(|text| text.value),
        unread,
        source: keys.reader.file_and_line(keys.start),
    }
}
