//! Readers of `tools` and `results`, which mean the same in the settings, a workflow and a phase.
//!
//! Both are guards: whatever is wrong is an error. A settings file applies in spite of its mistakes, so a mistake in it
//! forbids more: a rule that forbids is kept without its wrong condition, a rule that allows is dropped, and where it is
//! not known what is forbidden, everything is (`fail_closed`).

use super::fail_closed;
use crate::definition::model::{ResultRule, Rule, RuleAction, SettingsStatus, ToolAccess};
use crate::definition::schema::keys::{result, rule, tools};
use crate::definition::schema::{Field, Key, List, MapReader, Section, listed};
use crate::definition::syntax::{Map, Reader, Span};
use crate::diagnostic::{Code, Finding};
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
        let why = "what is said there of tools cannot be read";
        let rules = fail_closed::rules(file, &reader.file_and_line(span), why);
        self.rules.splice(0..0, rules);
        self.status = SettingsStatus::Unreadable;
    }
}

/// Reads `tools` (B33, B56).
pub(super) fn read_tools(keys: &mut MapReader<'_, '_, '_>, key: &Key) -> ReadTools {
    let mut read = ReadTools::default();
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
        let message = "`tools` has no list: all tools are allowed";
        keys.report(Finding::warning(Code::NoValue, key_span, message));
    }
    read.access = read_access(&mut keys, &mut lost);
    let rules = keys.list(&tools::RULES, read_rule);
    read.rules = rules.all;
    lost.extend(rules.lost);
    if let Some(&span) = lost.first() {
        read.fail_closed(keys.reader, span);
    }
    read
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

fn read_rule(reader: &mut Reader<'_>, map: Map<'_>, span: Option<Span>) -> Option<Rule> {
    let mut keys = MapReader::new(reader, Section::Rule, map, span);
    let head = read_action(&mut keys);
    let path = keys.field(&rule::PATH);
    let command = keys.field(&rule::COMMAND);
    let writes = keys.field(&rule::WRITES);
    let input = keys.field(&rule::INPUT);
    let on_repeat = keys.get(&rule::ON_REPEAT);
    let reason = keys.get(&rule::REASON);
    // A condition that is misspelt is one that is missing.
    let mut is_sound = keys.all_known
        && !path.is_unreadable()
        && !command.is_unreadable()
        && !writes.is_unreadable()
        && !input.is_unreadable();
    let input = input.value().map(|input| {
        is_sound &= input.is_sound;
        input.all
    });
    let (action, tools) = head?;
    if !is_sound && action == RuleAction::Allow {
        return None;
    }
    Some(Rule {
        action,
        tools,
        path: path.value().unwrap_or_default(),
        command: command.value().unwrap_or_default(),
        writes: writes.value(),
        input: input.unwrap_or_default(),
        reason: reason.map(|text| text.value),
        on_repeat,
        source: keys.reader.file_and_line(keys.start),
    })
}

/// Reads `allow`, `ask` or `block`, and the tools it is about; `None` is one that allows and cannot be read.
///
/// If the tools or the effect are not known, every tool is forbidden.
fn read_action(keys: &mut MapReader<'_, '_, '_>) -> Option<(RuleAction, Vec<String>)> {
    // The strictest comes first.
    let heads = [
        (RuleAction::Block, rule::BLOCK),
        (RuleAction::Ask, rule::ASK),
        (RuleAction::Allow, rule::ALLOW),
    ];
    let heads = heads.map(|(action, key)| (action, keys.field(&key)));
    let mut heads = heads.into_iter().filter_map(|(action, field)| match field {
        Field::Absent | Field::NoValue => None,
        Field::Wrong { key_span, .. } => Some((action, key_span, Vec::new(), false)),
        Field::Value {
            key_span, value, ..
        } => Some((action, key_span, value.all, value.is_sound)),
    });
    let Some((action, key_span, mut tools, mut is_sound)) = heads.next() else {
        let message = "a rule needs one of `allow`, `ask` and `block`";
        let finding = Finding::error(Code::MissingKey, keys.start, message);
        keys.report(finding.help("write what it does and to which tools: `block: [edit, write]`"));
        return Some((RuleAction::Block, vec!["*".to_owned()]));
    };
    let mut others = heads.peekable();
    if others.peek().is_some() {
        let message = "a rule has only one of `allow`, `ask` and `block`";
        let finding = Finding::error(Code::BothLists, key_span, message);
        keys.report(finding.help("make a rule of each"));
    }
    for (other, _, names, _) in others {
        is_sound = false;
        if other != RuleAction::Allow {
            tools.extend(names);
        }
    }
    if action == RuleAction::Allow {
        return is_sound.then_some((action, tools));
    }
    if tools.is_empty() {
        tools.push("*".to_owned());
    }
    Some((action, tools))
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
        keys.report(finding.help("say what becomes of the results"));
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
