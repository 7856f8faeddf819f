//! What holds while no run is active, and the workflow that is offered then.

use serde_json::json;

use super::level::{Level, ToolAccess};
use super::opening::{Opening, Openings};
use super::phase::Phase;
use super::rule_sets::RuleSets;
use super::rules::{Rule, RuleAction};
use super::tools::{Place, ReadOnlyOrTools, read_tools};
use crate::definition::schema::{
    Declared, FromMap, KeyType, MapReader, Reader, Section, Shape, Written, section,
};
use crate::definition::syntax::Kind;
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

/// A `commandName`, or a map.
pub(crate) struct NameOrStart;

impl KeyType for NameOrStart {
    type Value = Option<Start>;
    const SHAPE: Shape = Shape::new(
        || json!({"anyOf": [(CommandName::SHAPE.schema)(), (Map::<Start>::SHAPE.schema)()]}),
        "text, or a map",
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
        let (mut read, mut level) = (Self::default(), Level::default());
        let (span, mut is_lost) = (written.entry.key_span, true);
        if let Kind::Map(map) = written.kind() {
            let mut keys = MapReader::new(reader, Self::SECTION, map, span);
            read.read_keys(&mut keys);
            if keys.is_unreadable(&Self::unknown) {
                read.unknown = Some(RuleAction::Block);
            }
            level = read_tools(&mut keys, &Self::level_tools, sets, Place::Settings);
            if !keys.has("tools") {
                let message = "`withoutRun` blocks nothing without `tools`";
                let finding = Finding::warning(Code::NoValue, span, message);
                keys.report(finding.help("add `tools: 'read-only'`"));
            }
            is_lost = keys.is_unreadable(&Self::level_tools) || !keys.all_known();
        } else {
            reader.report(written.wrong_type("a map with `tools`"));
        }
        if is_lost {
            level.fail_closed(reader, span);
        }
        (read.tools, read.rules) = (level.tools, level.rules);
        read
    }
}
