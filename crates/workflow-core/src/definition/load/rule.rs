//! The reader of a rule on tool calls.

use super::dead_conditions;
use crate::definition::model::{Rule, RuleAction, UnknownAction};
use crate::definition::schema::keys::rule;
use crate::definition::schema::{Field, MapReader, Section};
use crate::definition::syntax::{Map, Reader, Span};
use crate::diagnostic::{Code, Finding};

pub(super) fn read_rule(reader: &mut Reader<'_>, map: Map<'_>, span: Option<Span>) -> Option<Rule> {
    dead_conditions::report(reader, &map);
    let mut keys = MapReader::new(reader, Section::Rule, map, span);
    let head = read_action(&mut keys);
    let path = keys.field(&rule::PATH);
    let command = keys.field(&rule::COMMAND);
    let writes = keys.field(&rule::WRITES);
    let forbids = head
        .as_ref()
        .is_some_and(|(action, _)| *action != RuleAction::Allow);
    let unknown = read_unknown(&mut keys, forbids, &writes);
    let input = keys.field(&rule::INPUT);
    let on_repeat = keys.get(&rule::ON_REPEAT);
    let reason = keys.get(&rule::REASON);
    let notify = read_notify(&mut keys, forbids);
    // A condition that is misspelled is one that is missing.
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
        unknown,
        input: input.unwrap_or_default(),
        reason: reason.map(|text| text.value),
        notify,
        on_repeat,
        source: keys.reader.file_and_line(keys.start),
    })
}

/// Reads `notify` of a rule.
fn read_notify(keys: &mut MapReader<'_, '_, '_>, forbids: bool) -> bool {
    let Field::Value {
        key_span, value, ..
    } = keys.field(&rule::NOTIFY)
    else {
        return false;
    };
    if value && !forbids {
        let message = "`notify` has no effect in a rule that allows";
        let finding = Finding::warning(Code::IdleRule, key_span, message);
        keys.report(finding.help("remove it: only a blocked call is reported"));
    }
    value
}

/// Reads `unknown` of a rule. One that cannot be read blocks.
fn read_unknown(
    keys: &mut MapReader<'_, '_, '_>,
    forbids: bool,
    writes: &Field<bool>,
) -> Option<UnknownAction> {
    let (unknown, key_span) = match keys.field(&rule::UNKNOWN) {
        Field::Absent => return None,
        Field::NoValue | Field::Wrong { .. } => return Some(UnknownAction::Block),
        Field::Value {
            key_span, value, ..
        } => (value, key_span),
    };
    if !forbids
        || !matches!(
            writes,
            Field::Value { value: true, .. } | Field::Wrong { .. }
        )
    {
        let message = "`unknown` has no effect without `block` or `ask` and `writes: true`";
        let finding = Finding::warning(Code::IdleRule, key_span, message);
        keys.report(finding.help("add `writes: true`, or remove it"));
    }
    Some(unknown)
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
        keys.report(finding.help("write the action and its tools: `block: [edit, write]`"));
        return Some((RuleAction::Block, vec!["*".to_owned()]));
    };
    let mut others = heads.peekable();
    if others.peek().is_some() {
        let message = "a rule can have only one of `allow`, `ask` and `block`";
        let finding = Finding::error(Code::BothLists, key_span, message);
        keys.report(finding.help("write a rule for each"));
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
