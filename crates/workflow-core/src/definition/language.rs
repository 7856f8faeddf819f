//! The keys of the definition language, a row a key: what it takes, what holds without it, what it is for.
//!
//! The loader's known keys, the tables of docs/DEFINITIONS.md and the JSON Schemas come from these rows.
//! How a value is read is not said here: a test holds the readers to the rows, value by value.

use super::model::Limits;
use crate::template::Place;
use crate::text::{SESSION_NAME_MAX_LENGTH, SESSION_NAME_PREFIX};

/// A map of the definition language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// A definition as a whole.
    Workflow,
    /// A phase file's frontmatter, or a phase written out.
    Phase,
    /// `{subworkflow: key}`.
    Reference,
    /// A phase's `tools`.
    Tools,
    /// `continue`, where it is a map.
    Continue,
    /// A settings file as a whole.
    Settings,
    /// The settings' `limits`.
    Limits,
}

/// A key that has a meaning in a map.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// How it is written.
    pub name: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// What holds where it is absent.
    pub without: Without,
    /// What it is for, in a sentence.
    pub about: &'static str,
    /// A value that makes sense, as JSON.
    pub example: &'static str,
    /// Whether it holds the agent back: dropping it would be to run without it.
    pub guard: bool,
}

/// What a key takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// Text. A required one has something in it.
    Text,
    /// What can be typed after `/workflow`.
    CommandName,
    /// Text with the variables of a place.
    Template(Place),
    /// True or false.
    Flag,
    /// One of a few words, each with what it means.
    OneOf(&'static [(&'static str, &'static str)]),
    /// A whole number from the first to the last.
    Whole(u32, Option<u32>),
    /// A whole number, or `unlimited`.
    Bound,
    /// A list of texts.
    Texts,
    /// A list of names of tools.
    ToolNames,
    /// A workflow's phases: file names, references, and phases written out.
    Phases,
    /// A map in which every key may be absent.
    Map(Level),
    /// A map with exactly one of its keys.
    OneKeyOf(Level),
    /// The word `wait`, or a map.
    WaitOr(Level),
}

/// What holds where a key is absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Without {
    /// Nothing: it must be there.
    Required,
    /// Nothing, in a workflow that a person starts.
    RequiredToStart,
    /// This text.
    Text(&'static str),
    /// This number.
    Number(u32),
    /// True.
    True,
    /// What these words say.
    Said(&'static str),
}

impl Key {
    const fn new(name: &'static str, takes: Takes, about: &'static str) -> Self {
        Self {
            name,
            takes,
            without: Without::Said("none"),
            about,
            example: "",
            guard: false,
        }
    }

    const fn without(mut self, without: Without) -> Self {
        self.without = without;
        self
    }

    const fn example(mut self, json: &'static str) -> Self {
        self.example = json;
        self
    }

    const fn guard(mut self) -> Self {
        self.guard = true;
        self
    }
}

impl Level {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::Workflow,
        Self::Phase,
        Self::Reference,
        Self::Tools,
        Self::Continue,
        Self::Settings,
        Self::Limits,
    ];

    /// The keys that have a meaning here.
    #[must_use]
    pub fn keys(self) -> &'static [Key] {
        match self {
            Self::Workflow => WORKFLOW,
            Self::Phase => PHASE,
            Self::Reference => REFERENCE,
            Self::Tools => TOOLS,
            Self::Continue => CONTINUE,
            Self::Settings => SETTINGS,
            Self::Limits => LIMITS,
        }
    }

    /// Whether the whole map is a guard.
    #[must_use]
    pub fn is_guard(self) -> bool {
        match self {
            Self::Tools | Self::Continue => true,
            Self::Workflow | Self::Phase | Self::Reference | Self::Settings | Self::Limits => false,
        }
    }

    /// What it is, in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Workflow => "a workflow",
            Self::Phase => "a phase",
            Self::Reference => "a subworkflow reference",
            Self::Tools => "a phase's `tools`",
            Self::Continue => "`continue`",
            Self::Settings => "the settings",
            Self::Limits => "`limits`",
        }
    }
}

/// The first row of a key, whatever map it is in.
pub(super) fn row(key: &str) -> Option<&'static Key> {
    let rows = Level::ALL.iter().flat_map(|level| level.keys());
    rows.into_iter().find(|row| row.name == key)
}

const SHOW: &[(&str, &str)] = &[
    ("user", "Listed, and started with `/workflow`."),
    ("workflows", "Only a part of other workflows."),
];

const CONTEXT_MODES: &[(&str, &str)] = &[
    (
        "by-change",
        "When a phase is entered, and when the model may have lost it.",
    ),
    ("every-turn", "At every start of the agent."),
];

const ON_STOP: &[(&str, &str)] = &[
    ("pause", "The run waits for the user."),
    ("continue", "The agent is pushed as after any other stop."),
];

const ON_LIMIT: &[(&str, &str)] = &[
    ("park", "The run waits for the user."),
    ("cancel", "The run is cancelled."),
];

const SCHEMA: Key = Key::new(
    "$schema",
    Takes::Text,
    "Where an editor finds the schema of this file. Nothing else reads it.",
)
.example(r#""./workflow.schema.json""#);

const CONTINUE_EXAMPLE: &str = r#"{"max": 5, "countdown": 0}"#;

const WORKFLOW: &[Key] = &[
    Key::new("name", Takes::Text, "Shown to people.")
        .without(Without::Required)
        .example(r#""Bug fix""#),
    Key::new(
        "commandName",
        Takes::CommandName,
        "`/workflow <commandName> <description>` starts it.",
    )
    .without(Without::RequiredToStart)
    .example(r#""bugfix""#),
    Key::new(
        "initialMessage",
        Takes::Template(Place::InitialMessage),
        "Sent to the agent at the start.",
    )
    .without(Without::RequiredToStart)
    .example(r#""Fix this bug: {description}. Begin with {firstPhaseName}.""#),
    Key::new(
        "phases",
        Takes::Phases,
        "At least one: a file name, `{subworkflow: key}`, or a phase written out.",
    )
    .without(Without::Required)
    .example(r#"["reproduce.md", {"subworkflow": "review"}, "../_shared/release.md"]"#),
    Key::new(
        "show",
        Takes::OneOf(SHOW),
        "With `workflows` it is only a part of others and needs neither `commandName` nor `initialMessage`.",
    )
    .without(Without::Text("user"))
    .example(r#""workflows""#),
    Key::new("loopable", Takes::Flag, "Whether `loop` may restart it.")
        .without(Without::True)
        .example("false"),
    Key::new(
        "sessionNamePrefix",
        Takes::Text,
        "Stands before the description in the session's name.",
    )
    .without(Without::Text(SESSION_NAME_PREFIX))
    .example(r#""Bug: ""#),
    Key::new(
        "sessionNameMaxLength",
        Takes::Whole(0, None),
        "How much of the description the session's name keeps.",
    )
    .without(Without::Number(SESSION_NAME_MAX_LENGTH))
    .example("30"),
    Key::new(
        "roleInstruction",
        Takes::Template(Place::Context),
        "Opens the context message.",
    )
    .without(Without::Said("built in"))
    .example(r#""Work in phases, and stay inside the current one.""#),
    Key::new(
        "advanceReminder",
        Takes::Template(Place::Context),
        "Closes the context message.",
    )
    .without(Without::Said("built in"))
    .example(r#""When it is done, call {toolName} with action='next'.""#),
    Key::new(
        "blockReasonTemplate",
        Takes::Template(Place::BlockReason),
        "The reason a blocked tool call gets.",
    )
    .without(Without::Said("built in"))
    .example(r#""{toolName} is not for {phaseName}. Allowed: {allowedTools}""#),
    Key::new(
        "completionMessage",
        Takes::Template(Place::Completion),
        "Announces a completed run.",
    )
    .without(Without::Said("built in"))
    .example(r#""Done: {taskDescription}""#),
    Key::new(
        "cancelledMessage",
        Takes::Template(Place::Completion),
        "Announces a cancelled run.",
    )
    .without(Without::Said("built in"))
    .example(r#""Stopped: {taskDescription}""#),
    Key::new(
        "notDoneReminder",
        Takes::Template(Place::NotDone),
        "Sent to an agent that stopped early.",
    )
    .without(Without::Said("built in"))
    .example(r#""{phaseEmoji} {phaseName} is not done: {phaseInstructions}""#),
    Key::new(
        "continue",
        Takes::WaitOr(Level::Continue),
        "How a run goes on when the agent stops early.",
    )
    .without(Without::Said("see below"))
    .example(CONTINUE_EXAMPLE)
    .guard(),
    Key::new(
        "context",
        Takes::OneOf(CONTEXT_MODES),
        "How often the context message is given in full.",
    )
    .without(Without::Text("by-change"))
    .example(r#""every-turn""#),
    SCHEMA,
];

const PHASE: &[Key] = &[
    Key::new("id", Takes::Text, "Unique in the workflow.")
        .without(Without::Required)
        .example(r#""reproduce""#),
    Key::new("name", Takes::Text, "Shown to people.")
        .without(Without::Required)
        .example(r#""Reproduce""#),
    Key::new("emoji", Takes::Text, "Stands before the name.")
        .without(Without::Required)
        .example(r#""🐛""#),
    Key::new(
        "instructions",
        Takes::Template(Place::Context),
        "What the agent is told to do. In a file it is what follows the frontmatter, trimmed.",
    )
    .without(Without::Required)
    .example(r#""Write down the steps that show the bug.""#),
    Key::new(
        "tools",
        Takes::OneKeyOf(Level::Tools),
        "Names of tools that are blocked, or of the only ones that are not; never both. An empty whitelist blocks all. `workflow_step` is always allowed.",
    )
    .without(Without::Said("all tools"))
    .example(r#"{"blacklist": ["edit", "write"]}"#)
    .guard(),
    Key::new(
        "availableProfiles",
        Takes::Texts,
        "Profiles of subagents, named in the context message.",
    )
    .example(r#"["bug-reproducer"]"#),
    Key::new(
        "continue",
        Takes::WaitOr(Level::Continue),
        "How a run goes on when the agent stops early in this phase.",
    )
    .without(Without::Said("the workflow's"))
    .example(r#""wait""#)
    .guard(),
];

const REFERENCE: &[Key] = &[Key::new(
    "subworkflow",
    Takes::Text,
    "The key of the workflow that runs here: the name of its directory.",
)
.without(Without::Required)
.example(r#""review""#)];

const TOOLS: &[Key] = &[
    Key::new("blacklist", Takes::ToolNames, "These tools are blocked.")
        .example(r#"["edit", "write"]"#)
        .guard(),
    Key::new(
        "whitelist",
        Takes::ToolNames,
        "All other tools are blocked. An empty list blocks all.",
    )
    .example(r#"["read", "grep"]"#)
    .guard(),
];

const CONTINUE: &[Key] = &[
    Key::new("max", Takes::Bound, "Pushes in a row without an advance.")
        .without(Without::Number(8))
        .example("5"),
    Key::new(
        "maxStale",
        Takes::Bound,
        "Pushes in a row in which the agent called no tool.",
    )
    .without(Without::Number(3))
    .example("1"),
    Key::new(
        "onError",
        Takes::OneOf(ON_STOP),
        "What a provider error or a length stop does.",
    )
    .without(Without::Text("pause"))
    .example(r#""continue""#),
    Key::new(
        "onQuestion",
        Takes::OneOf(ON_STOP),
        "What an open question to the user does.",
    )
    .without(Without::Text("pause"))
    .example(r#""continue""#),
    Key::new(
        "onLimit",
        Takes::OneOf(ON_LIMIT),
        "What reaching a limit does.",
    )
    .without(Without::Text("park"))
    .example(r#""cancel""#),
    Key::new(
        "countdown",
        Takes::Whole(0, Some(super::continue_rule::LONGEST_COUNTDOWN)),
        "Seconds from the stop to the push.",
    )
    .without(Without::Number(3))
    .example("0"),
];

const SETTINGS: &[Key] = &[
    Key::new(
        "continue",
        Takes::WaitOr(Level::Continue),
        "How runs go on when the agent stops early.",
    )
    .without(Without::Said("see above"))
    .example(CONTINUE_EXAMPLE)
    .guard(),
    Key::new(
        "context",
        Takes::OneOf(CONTEXT_MODES),
        "How often the context message is given in full.",
    )
    .without(Without::Text("by-change"))
    .example(r#""every-turn""#),
    Key::new("limits", Takes::Map(Level::Limits), "How much is loaded.")
        .without(Without::Said("see below"))
        .example(r#"{"maxPhases": 200}"#),
    SCHEMA,
];

/// In the order of [`Limits`]' fields.
const LIMITS: &[Key] = &[
    limit(
        "maxFileBytes",
        "Bytes of one file.",
        Limits::DEFAULT.max_file_bytes,
        Limits::HIGHEST.max_file_bytes,
    ),
    limit(
        "maxTotalBytes",
        "Bytes of all files; one counts as often as it is named.",
        Limits::DEFAULT.max_total_bytes,
        Limits::HIGHEST.max_total_bytes,
    ),
    limit(
        "maxDepth",
        "Maps and lists inside each other in one file.",
        Limits::DEFAULT.max_depth,
        Limits::HIGHEST.max_depth,
    ),
    limit(
        "maxPhases",
        "Phase entries of one workflow.",
        Limits::DEFAULT.max_phases,
        Limits::HIGHEST.max_phases,
    ),
    limit(
        "maxWorkflows",
        "Directories of one tier.",
        Limits::DEFAULT.max_workflows,
        Limits::HIGHEST.max_workflows,
    ),
    limit(
        "maxNesting",
        "Subworkflows inside each other.",
        Limits::DEFAULT.max_nesting,
        Limits::HIGHEST.max_nesting,
    ),
];

const fn limit(name: &'static str, about: &'static str, default: u32, highest: u32) -> Key {
    Key::new(name, Takes::Whole(1, Some(highest)), about)
        .without(Without::Number(default))
        .example("64")
}
