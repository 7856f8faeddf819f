//! `tools` and `results`, which mean the same in the settings, a workflow and a phase.
//!
//! Both are guards: whatever is wrong is an error. A settings file applies despite its mistakes: where it is not known what
//! is forbidden, everything is (`fail_closed`).

use serde_json::{Value, json};

use super::fail_closed;
use super::level::{Level, ToolAccess};
use super::result_rule::ResultRule;
use super::rule_sets::{RuleSets, UsedSet, Uses};
use super::rules::Rule;
use crate::definition::guard_text::GuardText;
use crate::definition::schema::{
    Declared, KeyType, MapReader, Reader, Section, Shape, Typed, Written, nearest, schema_of,
    section,
};
use crate::definition::syntax::{Kind, Span};
use crate::definition::value::{ListOf, OneOf, Texts, words};
use crate::diagnostic::{Code, Finding, shown};
use crate::white_space::trim;

/// The patterns of commands that one level may have: each is compared with each command of a line.
const MAX_COMMAND_PATTERNS: usize = 5000;

section! {
    Section { expected: "a map with `blacklist`, `whitelist` or `rules`", ..Section::guard("`tools`") };
    /// `tools` as a map.
    pub(crate) struct Tools {
        /// `read-only`, or in a phase `all`, which lifts the `read-only` of its workflow and of `defaults`. Not beside a list.
        #[key("mode": OneOf<ToolMode>, no_value: Refuse, example: r#""read-only""#)]
        const mode;
        /// The tools that are blocked.
        #[key("blacklist": Texts, check: Some(GuardText::Tool), no_value: WrongType, guard: true, example: r#"["edit", "write"]"#)]
        const blacklist;
        /// The only tools that are allowed. An empty list blocks all.
        #[key("whitelist": Texts, check: Some(GuardText::Tool), no_value: WrongType, guard: true, example: r#"["read", "grep"]"#)]
        const whitelist;
        /// Rules on single calls. The first rule that matches decides.
        #[key("rules": ListOf<Rule>, guard: true, example: r#"[{"block": "bash", "writes": true}]"#)]
        const rules;
        /// Names of `rulesets`, whose rules follow the rules here.
        #[key("use": Uses, guard: true, example: r#"["no-network"]"#)]
        const uses;
    }
}

words! {
    /// The calls that are allowed before rules and lists.
    pub(crate) enum ToolMode {
        /// Nothing is changed, except what `writable` and `commands` open.
        "read-only" => ReadOnly,
        /// In a phase: everything is allowed, also where its workflow or `defaults` say `read-only`.
        "all" => All,
    }
}

impl ToolMode {
    fn access(self, source: String) -> ToolAccess {
        match self {
            Self::ReadOnly => ToolAccess::ReadOnly { source },
            Self::All => ToolAccess::All { source },
        }
    }
}

/// Where `tools` is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// In a phase, where `all` has an effect.
    Phase,
    /// In a workflow, where a rule set may except phases.
    Workflow,
    /// In the settings.
    Settings,
}

/// What `tools` says, with the names of rule sets that are not looked up yet.
#[derive(Debug, Default)]
pub(crate) struct ReadTools {
    level: Level,
    uses: Option<(Vec<UsedSet>, Option<Span>)>,
    key_span: Option<Span>,
    /// The locations of what could not be read, but for the conditions of a rule.
    lost: Vec<Option<Span>>,
}

impl ReadTools {
    /// The level, with the rules of the sets that are used. It is loaded, unless something other than a condition of a rule
    /// could not be read.
    fn with(self, sets: &RuleSets, place: Place, reader: &mut Reader<'_>) -> Level {
        let (mut level, mut lost) = (self.level, self.lost);
        if place != Place::Phase && matches!(level.tools, Some(ToolAccess::All { .. })) {
            level.tools = None;
            let message = "`all` lifts the `read-only` around one phase, and has no effect here";
            let finding = Finding::error(Code::InvalidValue, self.key_span, message);
            reader.report(finding.help("write `tools: all` in the phase"));
        }
        if let Some((names, span)) = self.uses {
            match sets.used(reader, &names, span) {
                Some(rules) => level.rules.extend(rules),
                None => lost.push(span.or(self.key_span)),
            }
        }
        if place != Place::Workflow {
            level.rules.iter_mut().for_each(|rule| rule.except.clear());
            for (_, span) in std::mem::take(&mut reader.sites.excepted) {
                let message = "`except` names phases of a workflow, and has no effect here";
                let finding = Finding::error(Code::RuleSet, span, message);
                reader.report(finding.help("use the set in `tools` of the workflow"));
            }
        }
        let patterns = level.rules.iter().map(|rule| rule.command.len()).sum();
        if let Some(finding) = too_many_patterns(patterns, self.key_span) {
            reader.report(finding);
            level.rules.clear();
            lost.push(self.key_span);
        }
        if let Some(&span) = lost.first() {
            level.fail_closed(reader, span);
        }
        level
    }

    /// What is read of a value that says nothing that is known.
    fn lost(span: Option<Span>) -> Self {
        Self {
            lost: vec![span],
            ..Self::default()
        }
    }

    /// Reads a map, of a level that may be `read-only` or not.
    fn of_map(reader: &mut Reader<'_>, written: Written<'_>, has_mode: bool) -> Self {
        let expected = if has_mode {
            "`read-only`, `all`, or a map with `mode`, `blacklist`, `whitelist` or `rules`"
        } else {
            Tools::SECTION.expected
        };
        let Kind::Map(map) = written.kind() else {
            reader.report(written.wrong_type(expected));
            return Self::lost(written.span());
        };
        let key_span = written.entry.key_span;
        let mut keys = MapReader::new(reader, Tools::SECTION, map, key_span);
        if keys.is_empty() {
            let message = "`tools` has no list and no rules: it changes nothing";
            keys.report(Finding::warning(Code::NoValue, key_span, message));
        }
        let mut lost = Vec::new();
        if !has_mode && keys.has("mode") {
            lost.push(keys.key_of(&Tools::mode));
            let message = "the settings have no `mode`: they apply to every workflow";
            let finding = Finding::error(Code::InvalidValue, keys.key_of(&Tools::mode), message);
            let help = "write `tools: read-only` in a workflow, or rules that block";
            keys.report(finding.help(help));
        }
        let tools = read_access(&mut keys);
        let rules = keys.get(&Tools::rules).unwrap_or_default();
        let uses = keys.get(&Tools::uses);
        lost.extend(keys.lost().chain(rules.lost));
        let level = Level {
            tools,
            rules: rules.all,
            ..Level::default()
        };
        Self {
            level,
            uses: uses.map(|names| (names, keys.span_of(&Tools::uses))),
            key_span,
            lost,
        }
    }
}

/// `tools` of the settings: a map.
pub(crate) struct ToolsMap;

/// `tools` of a workflow or a phase: the text `read-only`, or a map.
pub(crate) struct ReadOnlyOrTools;

impl KeyType for ToolsMap {
    type Value = ReadTools;
    const SHAPE: Shape = Shape::new(|| schema_of_map(false), "map").meant(|finding, written| {
let help = "write `tools: {blacklist: [..]}` for tools that are blocked, or `tools: {whitelist: [..]}` for the only \
                    ones that are allowed";
        matches!(written.kind(), Kind::List(_)).then(|| finding.help(help))
});

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<ReadTools> {
        Some(ReadTools::of_map(reader, written, false))
    }
}

impl KeyType for ReadOnlyOrTools {
    type Value = ReadTools;
    const SHAPE: Shape = Shape::new(
        || {
            json!({"anyOf": [
                (OneOf::<ToolMode>::SHAPE.schema)(),
                schema_of_map(true),
            ]})
        },
        "`read-only`, `all`, or a map",
    )
    .meant(ToolsMap::SHAPE.meant);

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<ReadTools> {
        let Kind::Text(text) = written.kind() else {
            return Some(ReadTools::of_map(reader, written, true));
        };
        let source = reader.file_and_line(written.entry.key_span);
        let with = |mode: ToolMode| {
            let mut read = ReadTools::default();
            read.level.tools = Some(mode.access(source));
            read.key_span = written.entry.key_span;
            Some(read)
        };
        if let Some(mode) = ToolMode::named(text) {
            return with(mode);
        }
        let text_shown = shown(text);
        let message = format!("`tools` must be `read-only`, `all` or a map, not `{text_shown}`");
        let finding = Finding::error(Code::InvalidValue, written.span(), message);
        if let Some(near) = nearest(text, ["read-only"]) {
            reader.report(finding.help("write `tools: read-only`").fix(text, near));
            // What is opened under it is right.
            return with(ToolMode::ReadOnly);
        }
        let help =
            "write `tools: read-only`, or a map with `mode`, `blacklist`, `whitelist` or `rules`";
        reader.report(finding.help(help));
        Some(ReadTools::lost(written.span()))
    }
}

/// The schema of the map, of a level that may be `read-only` or not.
fn schema_of_map(has_mode: bool) -> Value {
    let mut schema = schema_of(Tools::SECTION);
    if !has_mode && let Some(keys) = schema["properties"].as_object_mut() {
        keys.remove("mode");
    }
    schema["minProperties"] = json!(1);
    let both = |one: &str, other: &str| json!({"required": [one, other]});
    let lists = both("blacklist", "whitelist");
    schema["not"] = if has_mode {
        json!({"anyOf": [lists, both("mode", "blacklist"), both("mode", "whitelist")]})
    } else {
        lists
    };
    schema
}

/// The finding about more patterns of commands than a level may have.
pub(crate) fn too_many_patterns(number: usize, span: Option<Span>) -> Option<Finding> {
    (number > MAX_COMMAND_PATTERNS).then(|| {
        let message = format!(
            "a level can have at most {MAX_COMMAND_PATTERNS} patterns of commands, and this one has {number}"
        );
        Finding::error(Code::OverLimit, span, message)
            .help("combine patterns with `*`: `git push *` matches every `git push`")
    })
}

/// Reads the lists.
fn read_access(keys: &mut MapReader<'_, '_, '_>) -> Option<ToolAccess> {
    let (blacklist, whitelist) = (keys.get(&Tools::blacklist), keys.get(&Tools::whitelist));
    let mode = keys.get(&Tools::mode);
    if !keys.has_several(&["blacklist", "whitelist"], Code::BothLists.help()) {
        let help = "beside `mode` write a rule: `rules: [{block: [edit, write]}]`";
        keys.has_several(&["mode", "blacklist", "whitelist"], help);
    }
    if let Some(mode) = mode {
        let source = keys.reader.file_and_line(keys.key_of(&Tools::mode));
        return Some(mode.access(source));
    }
    // Of a name with white space around it a blacklist means the tool.
    let trimmed = |names: Vec<String>| names.iter().map(|name| trim(name).to_owned()).collect();
    let blacklist: Option<Vec<String>> = blacklist.map(trimmed);
    match (blacklist, whitelist) {
        (Some(blocked), Some(mut allowed)) => {
            allowed.retain(|name| !blocked.contains(name));
            Some(ToolAccess::Whitelist(allowed))
        }
        (Some(blocked), None) => Some(ToolAccess::Blacklist(blocked)),
        (None, Some(allowed)) => Some(ToolAccess::Whitelist(allowed)),
        (None, None) => None,
    }
}

/// Reads `tools` of a level.
pub(super) fn read_tools(
    keys: &mut MapReader<'_, '_, '_>,
    tools: &Typed<impl KeyType<Value = ReadTools>>,
    sets: &RuleSets,
    place: Place,
) -> Level {
    let read = keys.get(tools).unwrap_or_default();
    read.with(sets, place, keys.reader)
}

/// Reads the tools and the results of the settings, a workflow or a phase. If an entry of `results` cannot be read, every
/// result is withheld.
pub(crate) fn read_level(
    keys: &mut MapReader<'_, '_, '_>,
    tools: &Typed<impl KeyType<Value = ReadTools>>,
    results: &Typed<ListOf<ResultRule>>,
    sets: &RuleSets,
    place: Place,
) -> Level {
    let mut level = read_tools(keys, tools, sets, place);
    let mut read = keys.get(results).unwrap_or_default();
    if keys.is_unreadable(results) {
        read.lost.push(keys.key_of(results));
    }
    let lost = read.lost.first();
    let withheld = lost.map(|&span| fail_closed::results(keys.reader.file_and_line(span)));
    level.results = read.all;
    level.results.extend(withheld);
    level
}
