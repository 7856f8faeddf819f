//! Reads `tools` and `results`, which mean the same in the settings, a workflow and a phase.
//!
//! Both are guards: whatever is wrong is an error. A settings file holds in spite of its mistakes, so what is wrong
//! in it forbids more: a rule that forbids is kept without the condition that is wrong, one that allows is
//! not, and where it cannot be told what is forbidden, all is (`closed`).

use super::closed;
use super::findings::{Finding, Reader};
use super::keys::{self, listed};
use super::language::Level;
use super::model::ToolAccess;
use super::node::{Entry, Kind, Map, Node};
use super::rules::{Reading, ResultKind, ResultRule, Rule, Verdict};
use super::source::Span;
use super::values::{
    choice, flag, given, given_text, one_or_more, place_of, present, sound_ones, texts,
    whole_number, wrong_type,
};
use crate::diagnostic::{Code, Severity, shown};
use crate::policy::rules::{check_glob, names_match, regex};
use crate::white_space::trim;

/// What a level says under `tools`.
#[derive(Debug, Default)]
pub(super) struct ReadTools {
    pub(super) access: Option<ToolAccess>,
    pub(super) rules: Vec<Rule>,
    /// Whether nothing is missing in it, but for what its rules say of themselves.
    pub(super) reading: Reading,
}

impl ReadTools {
    /// Bans what was not banned by what could be read: before all of it, for what is lost may have stood before a rule
    /// that allows.
    pub(super) fn close(&mut self, reader: &Reader<'_>, span: Option<Span>) {
        let file = reader.source.file();
        let why = "what is said there of tools cannot be read";
        let closed = closed::rules(file, &place_of(reader, span), why);
        self.rules.splice(0..0, closed);
        self.reading = Reading::Never;
    }
}

/// What a map says under `tools` (B33, B56).
pub(super) fn read_tools(reader: &mut Reader<'_>, map: &mut Map<'_>) -> ReadTools {
    let Some(entry) = present(reader, map, "tools") else {
        return ReadTools::default();
    };
    let mut read = ReadTools::default();
    let span = entry.value.span;
    let Kind::Map(mut tools) = entry.value.kind else {
        let expected = "a map with `blacklist`, `whitelist` or `rules`";
        let kind = &entry.value.kind;
        reader.report(wrong_type(Severity::Error, "tools", expected, kind, span));
        read.close(reader, span);
        return read;
    };
    let mut lost = Vec::new();
    if !keys::check(reader, Level::Tools, &tools) {
        lost.push(entry.key_span);
    }
    if tools.entries.is_empty() {
        let message = "`tools` has no list: all tools are allowed";
        reader.report(Finding::warning(Code::NoValue, entry.key_span, message));
    }
    read.access = read_access(reader, &mut tools, &mut lost);
    let rules = read_list(reader, &mut tools, "rules", read_rule);
    read.rules = rules.all;
    lost.extend(rules.lost);
    if let Some(&span) = lost.first() {
        read.close(reader, span);
    }
    read
}

/// What the lists say; what is lost of them is noted.
fn read_access(
    reader: &mut Reader<'_>,
    tools: &mut Map<'_>,
    lost: &mut Vec<Option<Span>>,
) -> Option<ToolAccess> {
    let (blacklist, whitelist) = (tools.take("blacklist"), tools.take("whitelist"));
    if let (Some(_), Some(whitelist)) = (&blacklist, &whitelist) {
        let message = "cannot set both `blacklist` and `whitelist`";
        reader.report(Finding::error(Code::BothLists, whitelist.key_span, message));
    }
    let mut names = |list: Entry<'_>| {
        let span = list.value.span;
        let names = read_tool_names(reader, list);
        if names.is_none() {
            lost.push(span);
        }
        names
    };
    // Of a name with white space around it a blacklist means the tool.
    let blacklist = blacklist.and_then(&mut names).map(|names| -> Vec<String> {
        let trimmed = names.iter().map(|name| trim(name).to_owned());
        trimmed.collect()
    });
    match (blacklist, whitelist.and_then(names)) {
        (Some(blocked), Some(mut allowed)) => {
            allowed.retain(|name| !blocked.contains(name));
            Some(ToolAccess::Whitelist(allowed))
        }
        (Some(blocked), None) => Some(ToolAccess::Blacklist(blocked)),
        (None, Some(allowed)) => Some(ToolAccess::Whitelist(allowed)),
        (None, None) => None,
    }
}

fn read_tool_names(reader: &mut Reader<'_>, list: Entry<'_>) -> Option<Vec<String>> {
    check_tool_names(reader, &list.key, &list.value);
    texts(reader, Severity::Error, &list.key, list.value)
}

/// Names that no tool has would make a blacklist let through what it means to block.
fn check_tool_names(reader: &mut Reader<'_>, key: &str, list: &Node<'_>) {
    let Kind::List(items) = &list.kind else {
        return;
    };
    for item in items {
        let Kind::Text(name) = &item.kind else {
            continue;
        };
        if let Some(finding) = no_tool(name, item.span) {
            reader.report(finding);
        } else if name == "workflow_step" && key == "blacklist" {
            let message = "`workflow_step` is always allowed";
            reader.report(Finding::warning(Code::IdleRule, item.span, message));
        } else if let Some(finding) = meant_otherwise(name, item.span) {
            reader.report(finding);
        }
    }
}

/// The tools that pi brings.
const USUAL_TOOLS: [&str; 7] = ["read", "bash", "edit", "write", "grep", "find", "ls"];

/// A name that hardly any tool has: names are compared as they are, without patterns.
fn meant_otherwise(name: &str, span: Option<Span>) -> Option<Finding> {
    if let Some(c) = name
        .chars()
        .find(|c| "*?()[]{},;|".contains(*c) || c.is_whitespace())
    {
        let message = format!(
            "`{}` names no tool: a list has names, not patterns (`{}`)",
            shown(name),
            shown(&c.to_string())
        );
        let finding = Finding::warning(Code::IdleRule, span, message);
        return Some(finding.help("write each tool's name as the host does"));
    }
    misspelt(name, span)
}

/// A name that differs little from one of the usual tools.
fn misspelt(name: &str, span: Option<Span>) -> Option<Finding> {
    if USUAL_TOOLS.contains(&name) {
        return None;
    }
    let near = USUAL_TOOLS.iter().find(|usual| {
        let lower = name.to_lowercase();
        lower == **usual || lower.len() > 3 && strsim::osa_distance(&lower, usual) == 1
    })?;
    let message = format!(
        "`{}` is not the tool `{near}`: names differ by case, too",
        shown(name)
    );
    let finding = Finding::warning(Code::IdleRule, span, message);
    Some(finding.help(format!("did you mean `{near}`?")))
}

/// Tells of tools that a rule names in another case. A pattern that is about none of the usual tools, but would be in
/// small letters, is not what was meant.
fn tell_of_case(reader: &mut Reader<'_>, entry: &Entry<'_>) {
    let items = match &entry.value.kind {
        Kind::List(items) => &**items,
        _ => std::slice::from_ref(&entry.value),
    };
    for item in items {
        let Kind::Text(name) = &item.kind else {
            continue;
        };
        let finding = if name.contains('*') {
            other_case(name, item.span)
        } else {
            misspelt(name, item.span)
        };
        if let Some(finding) = finding {
            reader.report(finding);
        }
    }
}

fn other_case(pattern: &str, span: Option<Span>) -> Option<Finding> {
    let lower = [pattern.to_lowercase()];
    let is_about = |patterns: &[String], tool: &&str| names_match(patterns, tool);
    let as_written = [pattern.to_owned()];
    let mut usual = USUAL_TOOLS.iter();
    if usual.clone().any(|tool| is_about(&as_written, tool)) {
        return None;
    }
    let near = usual.find(|tool| is_about(&lower, tool))?;
    let message = format!(
        "`{}` is not about the tool `{near}`: names differ by case, too",
        shown(pattern)
    );
    let finding = Finding::warning(Code::IdleRule, span, message);
    Some(finding.help(format!("did you mean `{}`?", shown(&lower[0]))))
}

fn no_tool(name: &str, span: Option<Span>) -> Option<Finding> {
    if !name.is_empty() && trim(name).len() == name.len() {
        return None;
    }
    let message = format!("no tool is named `{}`", shown(name));
    let finding = Finding::error(Code::InvalidValue, span, message);
    Some(match trim(name) {
        "" => finding.help("remove it"),
        trimmed => finding.help(format!("write `{}`", shown(trimmed))),
    })
}

/// What could be read of a list, and where what could not be stands.
pub(super) struct List<T> {
    pub(super) all: Vec<T>,
    lost: Vec<Option<Span>>,
}

/// The maps of a list under a key of a guard.
pub(super) fn read_list<'s, T>(
    reader: &mut Reader<'_>,
    map: &mut Map<'s>,
    key: &str,
    read: impl Fn(&mut Reader<'_>, Map<'s>, Option<Span>) -> Option<T>,
) -> List<T> {
    let (mut all, mut lost) = (Vec::new(), Vec::new());
    let without_value = map.entries.iter().find(|entry| entry.key == key);
    let without_value = without_value.map(|entry| entry.key_span);
    let Some(entry) = given(reader, map, key) else {
        lost.extend(without_value);
        return List { all, lost };
    };
    let Kind::List(items) = entry.value.kind else {
        let (kind, span) = (&entry.value.kind, entry.value.span);
        reader.report(wrong_type(
            Severity::Error,
            key,
            "a list of maps",
            kind,
            span,
        ));
        lost.push(span);
        return List { all, lost };
    };
    for item in items {
        match item.kind {
            Kind::Map(entry) => all.extend(read(reader, entry, item.span)),
            kind => {
                let message = format!("an entry of `{key}` must be a map, not {}", kind.words());
                reader.report(Finding::error(Code::WrongType, item.span, message));
                lost.push(item.span);
            }
        }
    }
    List { all, lost }
}

fn read_rule(reader: &mut Reader<'_>, mut map: Map<'_>, span: Option<Span>) -> Option<Rule> {
    let all_known = keys::check(reader, Level::Rule, &map);
    let span = map.first_key().or(span);
    let head = read_verdict(reader, &mut map, span);
    // A condition that is misspelt is one that is missing.
    let mut sound = all_known;
    let mut patterns =
        |reader: &mut Reader<'_>, key: &str, check: fn(&str) -> Result<(), String>| {
            let Some(entry) = given_or(reader, &mut map, key, &mut sound) else {
                return Vec::new();
            };
            let read = one_or_more(reader, entry, |text, span| invalid(text, span, check));
            sound &= read.is_some();
            read.unwrap_or_default()
        };
    let path = patterns(reader, "path", |glob| {
        check_glob(glob).map_err(|error| error.to_string())
    });
    let command = patterns(reader, "command", |_| Ok(()));
    let writes = given_or(reader, &mut map, "writes", &mut sound).and_then(|entry| {
        let read = flag(reader, &entry);
        sound &= read.is_some();
        read
    });
    let input = given_or(reader, &mut map, "input", &mut sound)
        .map(|entry| read_fields(reader, entry, &mut sound))
        .unwrap_or_default();
    let reason = given_text(reader, &mut map, "reason").map(|text| text.value.into_owned());
    let (verdict, tools) = head?;
    if !sound && verdict == Verdict::Allow {
        return None;
    }
    Some(Rule {
        verdict,
        tools,
        path,
        command,
        writes,
        input,
        reason,
        source: place_of(reader, span),
    })
}

/// The entry of a key; a key without a value makes the map unsound.
fn given_or<'s>(
    reader: &mut Reader<'_>,
    map: &mut Map<'s>,
    key: &str,
    sound: &mut bool,
) -> Option<Entry<'s>> {
    let is_there = map.entries.iter().any(|entry| entry.key == key);
    let entry = given(reader, map, key);
    *sound &= entry.is_some() || !is_there;
    entry
}

/// `allow`, `ask` or `block`, and the tools it is about; `None` is one that allows and cannot be read.
///
/// Where it cannot be told what is forbidden, or for which tools, it is forbidden for all.
fn read_verdict(
    reader: &mut Reader<'_>,
    map: &mut Map<'_>,
    span: Option<Span>,
) -> Option<(Verdict, Vec<String>)> {
    const WORDS: [(&str, Verdict); 3] = [
        ("block", Verdict::Block),
        ("ask", Verdict::Ask),
        ("allow", Verdict::Allow),
    ];
    let said: Vec<_> = WORDS
        .iter()
        .filter_map(|&(word, verdict)| map.take(word).map(|entry| (verdict, entry)))
        .collect();
    let many = said.len() > 1;
    let mut heads = said.into_iter();
    let Some((verdict, entry)) = heads.next() else {
        let message = "a rule needs one of `allow`, `ask` and `block`";
        let finding = Finding::error(Code::MissingKey, span, message);
        reader
            .report(finding.help("write what it does and to which tools: `block: [edit, write]`"));
        return Some((Verdict::Block, vec!["*".to_owned()]));
    };
    if many {
        let message = "a rule has only one of `allow`, `ask` and `block`";
        let finding = Finding::error(Code::BothLists, entry.key_span, message);
        reader.report(finding.help("make a rule of each"));
    }
    tell_of_case(reader, &entry);
    let (mut tools, mut sound) = sound_ones(reader, entry, no_tool);
    // The strictest stands first.
    for (other, entry) in heads {
        let (names, _) = sound_ones(reader, entry, no_tool);
        sound = false;
        if other != Verdict::Allow {
            tools.extend(names);
        }
    }
    if verdict == Verdict::Allow {
        return sound.then_some((verdict, tools));
    }
    if tools.is_empty() {
        tools.push("*".to_owned());
    }
    Some((verdict, tools))
}

/// What is wrong with a pattern, if something is.
pub(super) fn invalid(
    text: &str,
    span: Option<Span>,
    check: fn(&str) -> Result<(), String>,
) -> Option<Finding> {
    if trim(text).is_empty() {
        return Some(Finding::error(
            Code::InvalidValue,
            span,
            "an empty pattern matches nothing",
        ));
    }
    let error = check(text).err()?;
    let message = format!("`{}` is no pattern: {}", shown(text), one_line(&error));
    Some(
        Finding::error(Code::Pattern, span, message)
            .help("a rule that cannot match must not be dropped"),
    )
}

/// The last line of an error: those of regular expressions draw a picture above it.
fn one_line(error: &str) -> String {
    let last = error.lines().last().unwrap_or_default();
    shown(last.trim_start_matches("error: "))
}

pub(super) fn check_regex(pattern: &str) -> Result<(), String> {
    regex(pattern).map(drop).map_err(|error| error.to_string())
}

fn read_fields(
    reader: &mut Reader<'_>,
    entry: Entry<'_>,
    sound: &mut bool,
) -> Vec<(String, String)> {
    let span = entry.value.span;
    let Kind::Map(fields) = entry.value.kind else {
        let kind = &entry.value.kind;
        reader.report(wrong_type(
            Severity::Error,
            "input",
            "a map of patterns",
            kind,
            span,
        ));
        *sound = false;
        return Vec::new();
    };
    if fields.entries.is_empty() {
        *sound = false;
        reader.report(Finding::error(
            Code::MissingKey,
            span,
            "`input` names no field",
        ));
    }
    let mut all = Vec::new();
    for Entry { key, value, .. } in fields.entries {
        let Kind::Text(pattern) = value.kind else {
            let kind = &value.kind;
            reader.report(wrong_type(
                Severity::Error,
                &shown(&key),
                "text",
                kind,
                value.span,
            ));
            *sound = false;
            continue;
        };
        if let Some(finding) = invalid(&pattern, value.span, check_regex) {
            reader.report(finding);
            *sound = false;
        } else {
            all.push((key.into_owned(), pattern.into_owned()));
        }
    }
    all
}

/// What a map says under `results`. What is lost of it withholds every result.
pub(super) fn read_results(reader: &mut Reader<'_>, map: &mut Map<'_>) -> Vec<ResultRule> {
    let List { mut all, lost } = read_list(reader, map, "results", read_result);
    let lost = lost.first();
    all.extend(lost.map(|&span| closed::results(place_of(reader, span))));
    all
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "an entry of a list may come to nothing, as a rule does"
)]
fn read_result(
    reader: &mut Reader<'_>,
    mut map: Map<'_>,
    span: Option<Span>,
) -> Option<ResultRule> {
    const DOES: [&str; 3] = ["redact", "maxChars", "append"];
    let all_known = keys::check(reader, Level::Result, &map);
    let span = map.first_key().or(span);
    let redacts = map.entries.iter().any(|entry| entry.key == "redact");
    if !map.entries.iter().any(|entry| DOES.contains(&&*entry.key)) {
        let message = format!("an entry of `results` needs one of {}", listed(DOES));
        let finding = Finding::error(Code::MissingKey, span, message);
        reader.report(finding.help("say what becomes of the results"));
    }
    let tools = match given(reader, &mut map, "tool") {
        Some(entry) => {
            tell_of_case(reader, &entry);
            one_or_more(reader, entry, no_tool)
        }
        None => Some(vec!["*".to_owned()]),
    };
    let kinds = [("error", ResultKind::Error), ("ok", ResultKind::Ok)];
    let on = given(reader, &mut map, "on")
        .and_then(|entry| choice(reader, Severity::Error, &entry, &kinds));
    let redact = given(reader, &mut map, "redact").and_then(|entry| {
        one_or_more(reader, entry, |text, span| invalid(text, span, check_regex))
    });
    // A pattern that is none, or a key that may have been meant to name some.
    let unread = redact.is_none() && (redacts || !all_known);
    let redact = redact.unwrap_or_default();
    let with = given_text(reader, &mut map, "with");
    if let Some(with) = with.as_ref().filter(|_| !redacts) {
        let message = "`with` has no effect without `redact`";
        reader.report(Finding::warning(Code::IdleRule, with.span, message));
    }
    let max_chars = given(reader, &mut map, "maxChars").and_then(|entry| {
        let most = whole_number(&entry.value).filter(|&most| most > 0);
        if most.is_none() {
            let message = "`maxChars` must be a whole number from 1 on";
            reader.report(Finding::error(
                Code::InvalidValue,
                entry.value.span,
                message,
            ));
        }
        most
    });
    let append = given_text(reader, &mut map, "append");
    Some(ResultRule {
        // An entry about tools that cannot be read is about all of them.
        tools: tools.unwrap_or_else(|| vec!["*".to_owned()]),
        on,
        redact,
        with: with.map(|text| text.value.into_owned()),
        max_chars,
        append: append.map(|text| text.value.into_owned()),
        unread,
        source: place_of(reader, span),
    })
}
