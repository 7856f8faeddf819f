//! What `commands` opens where `tools` is `read-only`.

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::definition::guard_text::GuardText;
use crate::definition::schema::{
    Declared, FromMap, KeyType, MapReader, Reader, Section, Shape, Written, one_or_list, schema_of,
    section,
};
use crate::definition::value::{List, TextOrTexts, ToolPatterns, nodes, read_maps};
use crate::diagnostic::{Code, Finding, shown};
use crate::tool_names::ToolName;

/// What is open: commands of shell lines, or tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Opening {
    /// A pattern of commands.
    Command(String),
    /// Tools that are not known to only read.
    Tool(OpenedTools),
}

section! {
    Section::guard("an entry of `commands`");
    /// Tools that may be called although they are not known to only read.
    #[derive(Default)]
    pub struct OpenedTools {
        /// Tools that may be called, whatever they do. `*` matches any characters, but no shell.
        #[key("tool": ToolPatterns, check: Some(GuardText::ToolPattern), default: Required, example: r#""mcp__github__create_issue""#)]
        pub tool: Vec<String>,
    }
}

impl Opening {
    /// Its patterns: of commands, or of tools.
    pub fn patterns(&self) -> &[String] {
        match self {
            Self::Command(pattern) => std::slice::from_ref(pattern),
            Self::Tool(opened) => &opened.tool,
        }
    }
}

impl FromMap for OpenedTools {
    fn from_map(keys: &mut MapReader<'_, '_, '_>) -> Option<Self> {
        let tool = keys.get(&Self::tool).and_then(List::whole)?;
        if let Some(shell) = tool.iter().find(|tool| ToolName::of(tool).is_host_shell()) {
            let message = format!("`{}` is opened by patterns of its commands", shown(shell));
            let span = keys.span_of(&Self::tool);
            let finding = Finding::error(Code::DeadCommandPattern, span, message);
            keys.report(finding.help("write the command: `commands: [\"git fetch *\"]`"));
            return None;
        }
        Some(Self { tool })
    }
}

/// A pattern of commands, a map of tools, or a list of both.
pub(crate) struct Openings;

impl KeyType for Openings {
    type Value = Vec<Opening>;
    const SHAPE: Shape = Shape::new(
        || {
            let pattern = json!({"type": "string", "pattern": "\\S"});
            one_or_list(&json!({"anyOf": [pattern, schema_of(OpenedTools::SECTION)]}))
        },
        "text, map, or list of them",
    );

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Vec<Opening>> {
        let items = nodes(&written.entry.value).iter().cloned();
        let (maps, texts): (Vec<_>, Vec<_>) = items.partition(|item| item.kind.map().is_some());
        let no_map = |kind: &str, span| Finding::error(Code::WrongType, span, kind.to_owned());
        let tools = read_maps(reader, &maps, no_map).all;
        let mut opened: Vec<Opening> = tools.into_iter().map(Opening::Tool).collect();
        if maps.is_empty() || !texts.is_empty() {
            let list = written.with_list(texts);
            let entry = if maps.is_empty() {
                written.entry
            } else {
                &list
            };
            let patterns = TextOrTexts::read(reader, Written { entry, ..written })?;
            opened.extend(patterns.into_iter().map(Opening::Command));
        }
        Some(opened)
    }
}
