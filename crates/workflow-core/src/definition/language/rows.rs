//! Every key, map by map.

use super::{Key, Level, Takes, Without};
use crate::definition::model::Limits;
use crate::template::Place;
use crate::text::{SESSION_NAME_MAX_LENGTH, SESSION_NAME_PREFIX};

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

const TOOLS_KEY: Key = Key::new(
    "tools",
    Takes::Tools,
    "Which tools may run: all but those of a list, or only those; never both. Rules come before the list. `workflow_step` is always allowed.",
)
.without(Without::Said("all tools"))
.example(r#"{"blacklist": ["edit", "write"], "rules": [{"allow": "write", "path": "docs/**"}]}"#)
.guard();

const RESULTS_KEY: Key = Key::new(
    "results",
    Takes::ListOf(Level::Result),
    "What becomes of the results of tools before the model reads them. Every entry that fits is applied, in order.",
)
.example(r#"[{"tool": "bash", "redact": "sk-[A-Za-z0-9]{20,}"}, {"maxChars": 20000}]"#)
.guard();

const CHECKPOINTS: &[(&str, &str)] = &[
    (
        "git",
        "A commit of the tracked files as they stand, which nothing refers to.",
    ),
    ("off", "None is kept, whatever is said further out."),
];

const CHECKPOINT_KEY: Key = Key::new(
    "checkpoint",
    Takes::OneOf(CHECKPOINTS),
    "What is kept of the code at the start of each turn, to go back to when the conversation does.",
)
.without(Without::Said("as further out"))
.example(r#""git""#)
.guard();

pub(super) const WORKFLOW: &[Key] = &[
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
    TOOLS_KEY,
    RESULTS_KEY,
    CHECKPOINT_KEY,
    SCHEMA,
];

pub(super) const PHASE: &[Key] = &[
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
    TOOLS_KEY,
    RESULTS_KEY,
    Key::new(
        "gate",
        Takes::ListOf(Level::Gate),
        "What must hold before `next` leaves the phase. The checks run in order, up to the first that does not pass.",
    )
    .example(r#"[{"run": ["cargo", "test", "--quiet"], "timeout": "10m"}, {"git": "clean"}]"#)
    .guard(),
    Key::new(
        "approve",
        Takes::Map(Level::Approve),
        "What a person must answer before `next` leaves the phase, once the gate has passed.",
    )
    .example(r#"{"ask": "Is the plan right?", "show": "docs/plan.md"}"#)
    .guard(),
    CHECKPOINT_KEY,
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

pub(super) const REFERENCE: &[Key] = &[Key::new(
    "subworkflow",
    Takes::Text,
    "The key of the workflow that runs here: the name of its directory.",
)
.without(Without::Required)
.example(r#""review""#)];

pub(super) const TOOLS: &[Key] = &[
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
    Key::new(
        "rules",
        Takes::ListOf(Level::Rule),
        "Rules on single calls. The first that matches decides.",
    )
    .example(r#"[{"block": "bash", "writes": true}]"#)
    .guard(),
];

pub(super) const RULE: &[Key] = &[
    Key::new(
        "allow",
        Takes::ToolPatterns,
        "The tools whose calls may run, as far as this level is concerned. `*` stands for any characters.",
    )
    .without(Without::Said("one of the three"))
    .example(r#""write""#),
    Key::new(
        "ask",
        Takes::ToolPatterns,
        "The tools about whose calls a person is asked. Where nobody can be asked, they are blocked.",
    )
    .without(Without::Said("one of the three"))
    .example(r#""bash""#),
    Key::new("block", Takes::ToolPatterns, "The tools whose calls are blocked.")
        .without(Without::Said("one of the three"))
        .example(r#"["write", "edit"]"#),
    Key::new(
        "path",
        Takes::Patterns,
        "Globs: `docs/**` is in the project, `.env` a name at any depth, `/etc/**` and `~/.ssh/**` are elsewhere. A directory stands for all in it.",
    )
    .without(Without::Said("any path"))
    .example(r#"[".env", ".git/**"]"#),
    Key::new(
        "command",
        Takes::Patterns,
        "Patterns of commands in a shell line, each command by itself. `*` stands for any characters.",
    )
    .without(Without::Said("any command"))
    .example(r#"["rm -rf *", "sudo *"]"#),
    Key::new(
        "writes",
        Takes::Flag,
        "Whether the call must change files, or must not. Read from the parsed shell line; one that cannot be parsed counts as writing.",
    )
    .without(Without::Said("either"))
    .example("true"),
    Key::new(
        "input",
        Takes::Fields,
        "Regular expressions that fields of the call's arguments must match.",
    )
    .without(Without::Said("any arguments"))
    .example(r#"{"url": "^http://"}"#),
    Key::new("reason", Takes::Text, "Why, as the agent and people read it.")
        .without(Without::Said("the rule in words"))
        .example(r#""protected""#),
];

const RESULT_KINDS: &[(&str, &str)] = &[
    ("error", "Results of calls that failed."),
    ("ok", "Results of calls that did what was asked."),
];

pub(super) const RESULT: &[Key] = &[
    Key::new("tool", Takes::ToolPatterns, "The tools it is about.")
        .without(Without::Text("*"))
        .example(r#""bash""#),
    Key::new(
        "on",
        Takes::OneOf(RESULT_KINDS),
        "Which results it is about.",
    )
    .without(Without::Said("both"))
    .example(r#""error""#),
    Key::new(
        "redact",
        Takes::Patterns,
        "Regular expressions: what they match is replaced.",
    )
    .example(r#"["sk-[A-Za-z0-9]{20,}"]"#),
    Key::new("with", Takes::Text, "What stands in its place.")
        .without(Without::Text("[redacted]"))
        .example(r#""[key]""#),
    Key::new(
        "maxChars",
        Takes::Whole(1, None),
        "Characters that are kept of a text: its beginning and its end.",
    )
    .without(Without::Said("all"))
    .example("20000"),
    Key::new("append", Takes::Text, "What is put behind the text.")
        .without(Without::Said("nothing"))
        .example(r#""Read the error before you try again.""#),
];

const GIT: &[(&str, &str)] = &[("clean", "Nothing is changed or new that is not committed.")];
const COMMIT: &[(&str, &str)] = &[(
    "new",
    "There is a commit that was not there when the phase was entered.",
)];

pub(super) const GATE: &[Key] = &[
    Key::new(
        "run",
        Takes::CommandLine,
        "A program and its arguments, run in the working directory. With `shell: true` a line for the shell.",
    )
    .without(Without::Said("one of the four"))
    .example(r#"["cargo", "test", "--quiet"]"#),
    Key::new("shell", Takes::Flag, "Whether `run` is a line for the shell.")
        .without(Without::Said("`false`"))
        .example("false"),
    Key::new(
        "timeout",
        Takes::Duration,
        "How long `run` may take: seconds, or `30s`, `10m`, `1h`. At most a day.",
    )
    .without(Without::Text("10m"))
    .example(r#""10m""#),
    Key::new("expect", Takes::Map(Level::Expect), "What `run` must come to.")
        .without(Without::Said("`exit: 0`"))
        .example(r#"{"exit": 0}"#),
    Key::new("file", Takes::Filled, "A file that must be there.")
        .without(Without::Said("one of the four"))
        .example(r#""docs/plan.md""#),
    Key::new(
        "changed",
        Takes::Flag,
        "Whether `file` must say something else than when the phase was entered, or must not.",
    )
    .without(Without::Said("either"))
    .example("true"),
    Key::new("git", Takes::OneOf(GIT), "What must be so in the repository.")
        .without(Without::Said("one of the four"))
        .example(r#""clean""#),
    Key::new("commit", Takes::OneOf(COMMIT), "What the repository must have.")
        .without(Without::Said("one of the four"))
        .example(r#""new""#),
];

pub(super) const EXPECT: &[Key] = &[
    Key::new(
        "exit",
        Takes::ExitCode,
        "The exit code, or `nonzero` for any but 0.",
    )
    .without(Without::Number(0))
    .example(r#""nonzero""#),
    Key::new(
        "stdout",
        Takes::Filled,
        "A regular expression that its output must match.",
    )
    .without(Without::Said("any"))
    .example(r#""0 failed""#),
];

pub(super) const APPROVE: &[Key] = &[
    Key::new("ask", Takes::Text, "The question.")
        .without(Without::Required)
        .example(r#""Is the plan right?""#),
    Key::new(
        "choices",
        Takes::Choices,
        "What can be answered. The first approves; with any other the phase goes on.",
    )
    .without(Without::Said("`[approve, revise]`"))
    .example(r#"["approve", "revise"]"#),
    Key::new(
        "show",
        Takes::Filled,
        "A file that is shown with the question.",
    )
    .example(r#""docs/plan.md""#),
];

pub(super) const TRIGGER: &[Key] = &[
    Key::new(
        "file",
        Takes::Filled,
        "A file that is read and emptied when something stands in it: in your own settings a whole path or `~/…`, in a project's one inside the project.",
    )
    .without(Without::Said("one of the two"))
    .example(r#""notes/trigger.txt""#),
    Key::new(
        "http",
        Takes::Map(Level::Http),
        "A port of this machine that takes requests, on 127.0.0.1 and ::1 only.",
    )
    .without(Without::Said("one of the two"))
    .example(r#"{"port": 3333, "tokenEnv": "WEBHOOK_TOKEN"}"#),
    Key::new(
        "prompt",
        Takes::Template(Place::Trigger),
        "What the agent is told. Both variables stand for what came in.",
    )
    .without(Without::Required)
    .example(r#""Somebody says: {content}""#),
];

pub(super) const HTTP: &[Key] = &[
    Key::new("port", Takes::Whole(1, Some(65535)), "The port.")
        .without(Without::Required)
        .example("3333"),
    Key::new(
        "token",
        Takes::Filled,
        "What a request must show: `Authorization: Bearer <token>`.",
    )
    .without(Without::Said("one of the two"))
    .example(r#""a long random text""#),
    Key::new(
        "tokenEnv",
        Takes::Filled,
        "The environment variable that holds the token, so that it stands in no file.",
    )
    .without(Without::Said("one of the two"))
    .example(r#""WEBHOOK_TOKEN""#),
];

pub(super) const CONTINUE: &[Key] = &[
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
        Takes::Whole(0, Some(crate::definition::continue_rule::LONGEST_COUNTDOWN)),
        "Seconds from the stop to the push.",
    )
    .without(Without::Number(3))
    .example("0"),
];

pub(super) const SETTINGS: &[Key] = &[
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
    TOOLS_KEY,
    RESULTS_KEY,
    CHECKPOINT_KEY,
    Key::new(
        "triggers",
        Takes::ListOf(Level::Trigger),
        "What wakes the agent from outside: a file that is written, or a web request.",
    )
    .example(r#"[{"file": "notes/trigger.txt", "prompt": "Somebody says: {content}"}]"#)
    .guard(),
    Key::new("limits", Takes::Map(Level::Limits), "How much is loaded.")
        .without(Without::Said("see below"))
        .example(r#"{"maxPhases": 200}"#),
    SCHEMA,
];

/// In the order of [`Limits`]' fields.
pub(super) const LIMITS: &[Key] = &[
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
