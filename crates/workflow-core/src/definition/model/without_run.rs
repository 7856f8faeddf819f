//! What holds while no run is active, and the workflow that is offered then.

use serde_json::json;

use super::guards::{Guards, ToolAccess};
use super::opening::{Opening, Openings};
use super::phase::Phase;
use super::rule_sets::RuleSets;
use super::rules::{Rule, RuleAction};
use super::tools::ReadOnlyOrTools;
use crate::definition::schema::{
    Declared, FromMap, KeyType, MapReader, Reader, Section, Shape, Written, schema_of, section,
};
use crate::definition::syntax::{Kind, Span};
use crate::definition::value::{CommandName, Flag, Map, OneOf, TextOrTexts};
use crate::diagnostic::{Code, Finding};

section! {
    Section::guard("`withoutRun`");
    /// What holds while no run is active.
    #[derive(Default)]
    pub struct WithoutRun {
        #[key(Phase: ReadOnlyOrTools)]
        const level_tools;
        /// The tools that may run.
        pub tools?: Option<ToolAccess>,
        /// As in a phase.
        #[key(Phase?: TextOrTexts)]
        pub writable: Vec<String>,
        /// As in a phase.
        #[key(Phase?: Openings)]
        pub commands: Vec<Opening>,
        /// As in a rule.
        #[key(Rule?: OneOf<RuleAction>)]
        pub unknown: Option<RuleAction>,
        /// The `commandName` of the workflow that is offered when a call is blocked, or a map.
        #[key("start"?: NameOrStart, example: r#""bugfix""#)]
        pub start: Option<Start>,
        /// Rules on single calls.
        pub rules?: Vec<Rule>,
    }
}

section! {
    Section::guard("`start`");
    /// The workflow that is offered when a call is blocked.
    #[derive(Default)]
    pub struct Start {
        /// Its `commandName`.
        #[key("workflow": CommandName, default: Required, example: r#""bugfix""#)]
        pub workflow: String,
        /// Whether the user is asked. With `false` it starts at once, with the user's last prompt as its description.
        #[key("ask": Flag, default: True, example: "false")]
        pub ask: bool,
    }
}

/// The map, which is read with the rule sets of its file.
pub(crate) struct WithoutRunMap;

impl KeyType for WithoutRunMap {
    type Value = ();
    const SHAPE: Shape = Shape::new(|| schema_of(WithoutRun::SECTION), || "map".to_owned());

    fn read(_reader: &mut Reader<'_>, _written: Written<'_>) -> Option<()> {
        None
    }
}

/// A `commandName`, or a map.
pub(crate) struct NameOrStart;

impl KeyType for NameOrStart {
    type Value = Option<Start>;
    const SHAPE: Shape = Shape::new(
        || json!({"anyOf": [(CommandName::SHAPE.schema)(), (Map::<Start>::SHAPE.schema)()]}),
        || "text, or a map".to_owned(),
    );

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Option<Start>> {
        let Kind::Text(workflow) = written.kind() else {
            return Map::<Start>::read(reader, written).map(Some);
        };
        let workflow = workflow.clone().into();
        Some(Some(Start {
            workflow,
            ask: true,
        }))
    }
}

impl FromMap for Start {
    fn from_map(keys: &mut MapReader<'_, '_, '_>) -> Option<Self> {
        let ask = keys.get(&Self::ask).unwrap_or(true);
        let workflow = keys.get(&Self::workflow)?;
        Some(Self { workflow, ask })
    }
}

impl WithoutRun {
    /// Reads the map of the settings. Where it is not known what is forbidden, everything is.
    pub(crate) fn read(reader: &mut Reader<'_>, written: Written<'_>, sets: &RuleSets) -> Self {
        let span = written.entry.key_span;
        let Kind::Map(map) = written.kind() else {
            reader.report(written.wrong_type("a map with `tools`"));
            return Self::closed(Guards::default(), Self::default(), reader, span);
        };
        let mut keys = MapReader::new(reader, Self::SECTION, map, span);
        let mut read: Self = keys.read();
        if keys.is_unreadable(&Self::unknown) {
            read.unknown = Some(RuleAction::Block);
        }
        let tools = keys.get(&Self::level_tools);
        if !keys.has("tools") {
            let message = "`withoutRun` blocks nothing without `tools`";
            let finding = Finding::warning(Code::NoValue, span, message);
            keys.report(finding.help("add `tools: 'read-only'`"));
        }
        let is_lost = keys.is_unreadable(&Self::level_tools) || !keys.all_known();
        let level = tools.unwrap_or_default().with(sets, &mut keys);
        if is_lost {
            return Self::closed(level, read, keys.reader, span);
        }
        let (tools, rules) = (level.tools, level.rules);
        Self {
            tools,
            rules,
            ..read
        }
    }

    /// The same with everything forbidden that the level does not forbid.
    fn closed(mut level: Guards, read: Self, reader: &Reader<'_>, span: Option<Span>) -> Self {
        level.fail_closed(reader, span);
        let (tools, rules) = (level.tools, level.rules);
        Self {
            tools,
            rules,
            ..read
        }
    }
}
