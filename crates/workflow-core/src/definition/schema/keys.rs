//! The table of keys, section by section.

use super::key::{Default, Hint, Key, ValueType};
use super::section::Section;
use super::typed::Typed;
use super::values::{NamedValues, Partial, Text};
use crate::definition::model::{
    Bound, Checkpoint, ContextMode, ExpectedExit, GitCheck, Limits, OnLimit, OnRepeat, OnStop,
    ResultKind, Show, UnknownAction,
};
use crate::template::TemplateKind;
use crate::text::{SESSION_NAME_MAX_LENGTH, SESSION_NAME_PREFIX};

/// The longest countdown, in seconds.
const LONGEST_COUNTDOWN: u32 = 3600;

/// The longest time for an answer, in seconds: a day.
const LONGEST_QUESTION: u32 = 86_400;

/// Declares the named values of a type: name, value, meaning.
macro_rules! named_values {
    ($($type:ident { $($word:literal => $value:ident, $meaning:literal;)+ })+) => {$(
        impl NamedValues for $type {
            const NAMES: &'static [(&'static str, &'static str)] = &[$(($word, $meaning)),+];
            const VALUES: &'static [Self] = &[$(Self::$value),+];
        }
    )+};
}

named_values! {
    Show {
        "user" => User, "Listed, and started with `/workflow`.";
        "workflows" => Workflows, "Only a part of other workflows.";
    }
    ContextMode {
        "by-change" => ByChange, "When a phase is entered, and when the model may have lost it.";
        "every-turn" => EveryTurn, "At every start of the agent.";
    }
    OnRepeat {
        "ask" => Ask, "A person may allow this one call.";
        "block" => Block, "It stays blocked.";
    }
    OnStop {
        "pause" => Pause, "The run waits for the user.";
        "continue" => Continue, "The agent is pushed as after any other stop.";
    }
    OnLimit {
        "park" => Pause, "The run waits for the user.";
        "cancel" => Cancel, "The run is cancelled.";
    }
    Checkpoint {
        "git" => Git, "A commit of the tracked files as they stand, which nothing refers to.";
        "off" => Off, "None is kept, whatever is said further out.";
    }
    ResultKind {
        "error" => Error, "Results of calls that failed.";
        "ok" => Ok, "Results of calls that did what was asked.";
    }
    UnknownAction {
        "allow" => Allow, "It counts as a command that writes nothing.";
        "ask" => Ask, "A person decides. Where nobody can be asked, it is blocked.";
        "block" => Block, "It counts as a command that writes.";
    }
    CleanRepository {
        "clean" => It, "Nothing is changed or new that is not committed.";
    }
    NewCommit {
        "new" => It, "There is a commit that was not there when the phase was entered.";
    }
}

/// The value of `git`.
#[derive(Debug, Clone, Copy)]
pub(in crate::definition) enum CleanRepository {
    It,
}

/// The value of `commit`.
#[derive(Debug, Clone, Copy)]
pub(in crate::definition) enum NewCommit {
    It,
}

impl From<CleanRepository> for GitCheck {
    fn from(_: CleanRepository) -> Self {
        Self::Clean
    }
}

impl From<NewCommit> for GitCheck {
    fn from(_: NewCommit) -> Self {
        Self::NewCommit
    }
}

impl Section {
    /// The keys that have a meaning here.
    #[must_use]
    pub fn keys(self) -> &'static [Key] {
        match self {
            Self::Workflow => workflow::KEYS,
            Self::Phase => phase::KEYS,
            Self::Reference => reference::KEYS,
            Self::Tools => tools::KEYS,
            Self::Rule => rule::KEYS,
            Self::Result => result::KEYS,
            Self::Gate => gate::KEYS,
            Self::Expect => expect::KEYS,
            Self::Approve => approve::KEYS,
            Self::Trigger => trigger::KEYS,
            Self::Http => http::KEYS,
            Self::Continue => auto_continue::KEYS,
            Self::Settings => settings::KEYS,
            Self::Limits => limits::KEYS,
        }
    }
}

/// Declares the keys of a section, in the order in which they are documented.
macro_rules! section {
    ($(#[$doc:meta])* $module:ident { $($name:ident: $type:ty = $key:expr;)+ }) => {
        $(#[$doc])*
        pub(in crate::definition) mod $module {
            #[allow(clippy::wildcard_imports, unused_imports, reason = "a section uses some of the table's types")]
            use super::*;

            $(pub(in crate::definition) const $name: $type = $key;)+

            /// All of them.
            pub(in crate::definition) const KEYS: &[Key] = &[$($name.row()),+];
        }
    };
}

const SCHEMA_KEY: Typed<Text> = Typed::text(
    "$schema",
    "Where an editor finds the schema of this file. Nothing else reads it.",
)
.example(r#""./workflow.schema.json""#);

const CONTINUE_KEY: Key = Key::new(
    "continue",
    ValueType::WaitOr(Section::Continue),
    "How a run goes on when the agent stops early.",
)
.example(r#"{"max": 5, "countdown": 0}"#)
.strict()
.guard();

const CONTEXT_KEY: Typed<ContextMode> =
    Typed::one_of("context", "How often the context message is given in full.")
        .default(Default::Text("by-change"))
        .example(r#""every-turn""#);

const ON_REPEAT_KEY: Typed<OnRepeat> = Typed::one_of(
    "onRepeat",
    "What becomes of a call that rules deny for the third time in a row. Of several levels the strictest counts.",
)
.default(Default::Text("ask"))
.example(r#""block""#)
.never_dropped();

const TOOLS_KEY: Key = Key::new(
    "tools",
    ValueType::Tools,
    "Which tools may run: all but those of a list, or only those; never both. Rules come before the list. `workflow_step` is always allowed.",
)
.default(Default::Described("all tools"))
.example(r#"{"blacklist": ["edit", "write"], "rules": [{"allow": "write", "path": "docs/**"}]}"#)
.strict()
.guard();

const SHORT_TOOLS_KEY: Key = Key::new(
    "tools",
    ValueType::ReadOnlyOrTools,
    "Which calls may run. `read-only`: none that changes files, except what `writable` and `run` open. A map: all tools but those of a list, or only those; never both. Rules come before the list. `workflow_step` is always allowed.",
)
.default(Default::Described("all tools"))
.example(r#""read-only""#)
.strict()
.guard();

const WRITABLE_KEY: Typed<Vec<String>> = Typed::globs(
    "writable",
    "Globs of the files that may be written where `tools` is `read-only`, by tools and by shell lines. Those of a phase and of its workflow add up.",
)
.default(Default::Described("no file"))
.example(r#"["docs/**"]"#)
.never_dropped();

const RUN_KEY: Typed<Vec<String>> = Typed::commands(
    "run",
    "Patterns of the commands that may run where `tools` is `read-only`. `*` as the last word stands for any further words. Those of a phase and of its workflow add up.",
)
.default(Default::Described("those that only read"))
.example(r#"["cargo test *"]"#)
.never_dropped();

const UNKNOWN_KEY: Typed<UnknownAction> = Typed::one_of(
    "unknown",
    "What happens to a shell command that is not known, where a rule with `writes: true` or `read-only` meets it. A stricter one further out wins.",
)
.default(Default::Described("as further out, else `ask`"))
.example(r#""block""#)
.never_dropped();

const RESULTS_KEY: Key = Key::new(
    "results",
    ValueType::ListOf(Section::Result),
    "What becomes of the results of tools before the model reads them. Every entry that fits is applied, in order.",
)
.example(r#"[{"tool": "bash", "redact": "sk-[A-Za-z0-9]{20,}"}, {"maxChars": 20000}]"#)
.never_dropped()
.guard();

const CHECKPOINT_KEY: Typed<Checkpoint> = Typed::one_of(
    "checkpoint",
    "What is kept of the code at the start of each turn, to go back to when the conversation does.",
)
.default(Default::Described("as further out"))
.example(r#""git""#)
.never_dropped()
.guard();

section! {
    /// A workflow.
    workflow {
        NAME: Typed<Text> = Typed::text("name", "Shown to people.").required().example(r#""Bug fix""#);
        COMMAND_NAME: Typed<Text> =
            Typed::command_name("commandName", "`/workflow <commandName> <description>` starts it.")
                .default(Default::RequiredToStart)
                .example(r#""bugfix""#);
        INITIAL_MESSAGE: Typed<Text> =
            Typed::template("initialMessage", TemplateKind::InitialMessage, "Sent to the agent at the start.")
                .default(Default::RequiredToStart)
                .example(r#""Fix this bug: {description}. Begin with {firstPhaseName}.""#);
        PHASES: Key = Key::new(
            "phases",
            ValueType::Phases,
            "At least one: a file name, `{subworkflow: key}`, or a phase written out.",
        )
        .required()
        .never_empty()
        .example(r#"["reproduce.md", {"subworkflow": "review"}, "../_shared/release.md"]"#);
        SHOW: Typed<Show> = Typed::one_of(
            "show",
            "With `workflows` it is only a part of others and needs neither `commandName` nor `initialMessage`.",
        )
        .default(Default::Text("user"))
        .example(r#""workflows""#)
        .strict();
        LOOPABLE: Typed<bool> = Typed::flag("loopable", "Whether `loop` may restart it.")
            .default(Default::True)
            .example("false")
            .strict();
        SESSION_NAME_PREFIX_KEY: Typed<Text> =
            Typed::text("sessionNamePrefix", "Stands before the description in the session's name.")
                .default(Default::Text(SESSION_NAME_PREFIX))
                .example(r#""Bug: ""#);
        SESSION_NAME_MAX_LENGTH_KEY: Typed<u32> =
            Typed::whole("sessionNameMaxLength", 0, None, "How much of the description the session's name keeps.")
                .default(Default::Number(SESSION_NAME_MAX_LENGTH))
                .example("30");
        ROLE_INSTRUCTION: Typed<Text> =
            Typed::template("roleInstruction", TemplateKind::Context, "Opens the context message.")
                .default(Default::Described("built in"))
                .example(r#""Work in phases, and stay inside the current one.""#);
        ADVANCE_REMINDER: Typed<Text> =
            Typed::template("advanceReminder", TemplateKind::Context, "Closes the context message.")
                .default(Default::Described("built in"))
                .example(r#""When it is done, call {toolName} with action='next'.""#);
        BLOCK_REASON_TEMPLATE: Typed<Text> =
            Typed::template("blockReasonTemplate", TemplateKind::BlockReason, "The reason a blocked tool call gets.")
                .default(Default::Described("built in"))
                .example(r#""{toolName} is not for {phaseName}. Allowed: {allowedTools}""#);
        COMPLETION_MESSAGE: Typed<Text> =
            Typed::template("completionMessage", TemplateKind::Completion, "Announces a completed run.")
                .default(Default::Described("built in"))
                .example(r#""Done: {taskDescription}""#);
        CANCELLED_MESSAGE: Typed<Text> =
            Typed::template("cancelledMessage", TemplateKind::Completion, "Announces a cancelled run.")
                .default(Default::Described("built in"))
                .example(r#""Stopped: {taskDescription}""#);
        NOT_DONE_REMINDER: Typed<Text> =
            Typed::template("notDoneReminder", TemplateKind::NotDone, "Sent to an agent that stopped early.")
                .default(Default::Described("built in"))
                .example(r#""{phaseEmoji} {phaseName} is not done: {phaseInstructions}""#);
        CONTINUE: Key = CONTINUE_KEY.default(Default::Described("see below"));
        CONTEXT: Typed<ContextMode> = CONTEXT_KEY;
        TOOLS: Key = SHORT_TOOLS_KEY;
        WRITABLE: Typed<Vec<String>> = WRITABLE_KEY;
        RUN: Typed<Vec<String>> = RUN_KEY;
        UNKNOWN: Typed<UnknownAction> = UNKNOWN_KEY;
        RESULTS: Key = RESULTS_KEY;
        GATE: Key = Key {
            summary: "Checks of every phase of this workflow, before those of the phase itself; not of its subworkflows.",
            ..GATE_KEY
        };
        APPROVE: Key = Key {
            summary: "The approval of every phase of this workflow that has none of its own; not of its subworkflows.",
            ..APPROVE_KEY
        };
        ON_REPEAT: Typed<OnRepeat> = ON_REPEAT_KEY;
        CHECKPOINT: Typed<Checkpoint> = CHECKPOINT_KEY;
        SCHEMA: Typed<Text> = SCHEMA_KEY;
    }
}

/// `gate` of a phase.
const GATE_KEY: Key = Key::new(
    "gate",
    ValueType::ListOf(Section::Gate),
    "What must hold before `next` leaves the phase. The checks run in order, up to the first that does not pass.",
)
.example(r#"[{"run": ["cargo", "test", "--quiet"], "timeout": "10m"}, {"git": "clean"}]"#)
.never_dropped()
.guard();

/// `approve` of a phase.
const APPROVE_KEY: Key = Key::new(
    "approve",
    ValueType::Map(Section::Approve),
    "What a person must answer before `next` leaves the phase, once the gate has passed.",
)
.example(r#"{"ask": "Is the plan right?", "show": "docs/plan.md"}"#)
.never_dropped()
.hint(Hint::Text(
    "write `approve: { ask: \"Is the plan right?\" }`",
))
.guard();

section! {
    /// A phase.
    phase {
        ID: Typed<Text> = Typed::text("id", "Unique in the workflow.").required().example(r#""reproduce""#);
        NAME: Typed<Text> = Typed::text("name", "Shown to people.").required().example(r#""Reproduce""#);
        EMOJI: Typed<Text> = Typed::text("emoji", "Stands before the name.").required().example(r#""🐛""#);
        INSTRUCTIONS: Typed<Text> = Typed::template(
            "instructions",
            TemplateKind::Context,
            "What the agent is told to do. In a file it is what follows the frontmatter, trimmed.",
        )
        .required()
        .example(r#""Write down the steps that show the bug.""#);
        TOOLS: Key = SHORT_TOOLS_KEY;
        WRITABLE: Typed<Vec<String>> = WRITABLE_KEY;
        RUN: Typed<Vec<String>> = RUN_KEY;
        UNKNOWN: Typed<UnknownAction> = UNKNOWN_KEY;
        RESULTS: Key = RESULTS_KEY;
        GATE: Key = GATE_KEY;
        APPROVE: Key = APPROVE_KEY;
        CHECKPOINT: Typed<Checkpoint> = CHECKPOINT_KEY;
        AVAILABLE_PROFILES: Typed<Vec<String>> =
            Typed::texts("availableProfiles", "Profiles of subagents, named in the context message.")
                .example(r#"["bug-reproducer"]"#);
        CONTINUE: Key = Key::new(
            "continue",
            ValueType::WaitOr(Section::Continue),
            "How a run goes on when the agent stops early in this phase.",
        )
        .default(Default::Described("the workflow's"))
        .example(r#""wait""#)
        .strict()
        .guard();
    }
}

section! {
    /// A reference to a workflow.
    reference {
        SUBWORKFLOW: Typed<Text> =
            Typed::text("subworkflow", "The key of the workflow that runs here: the name of its directory.")
                .required()
                .example(r#""review""#);
    }
}

section! {
    /// `tools`.
    tools {
        BLACKLIST: Typed<Vec<String>> = Typed::tool_names("blacklist", "These tools are blocked.")
            .example(r#"["edit", "write"]"#)
            .strict()
            .never_empty()
            .guard();
        WHITELIST: Typed<Vec<String>> =
            Typed::tool_names("whitelist", "All other tools are blocked. An empty list blocks all.")
                .example(r#"["read", "grep"]"#)
                .strict()
                .never_empty()
                .guard();
        RULES: Key = Key::new(
            "rules",
            ValueType::ListOf(Section::Rule),
            "Rules on single calls. The first that matches decides.",
        )
        .example(r#"[{"block": "bash", "writes": true}]"#)
        .never_dropped()
        .guard();
    }
}

section! {
    /// A rule of `tools`.
    rule {
        ALLOW: Typed<Partial<String>> = Typed::tool_patterns(
            "allow",
            "The tools whose calls may run, as far as this level is concerned. `*` stands for any characters.",
        )
        .default(Default::Described("one of the three"))
        .example(r#""write""#)
        .strict()
        .never_empty();
        ASK: Typed<Partial<String>> = Typed::tool_patterns(
            "ask",
            "The tools about whose calls a person is asked. Where nobody can be asked, they are blocked.",
        )
        .default(Default::Described("one of the three"))
        .example(r#""bash""#)
        .strict()
        .never_empty();
        BLOCK: Typed<Partial<String>> = Typed::tool_patterns("block", "The tools whose calls are blocked.")
            .default(Default::Described("one of the three"))
            .example(r#"["write", "edit"]"#)
            .strict()
            .never_empty();
        PATH: Typed<Vec<String>> = Typed::globs(
            "path",
            "Globs: `docs/**` is in the project, `.env` a name at any depth, `/etc/**` and `~/.ssh/**` are elsewhere. A directory stands for all in it.",
        )
        .default(Default::Described("any path"))
        .example(r#"[".env", ".git/**"]"#)
        .never_dropped();
        COMMAND: Typed<Vec<String>> = Typed::commands(
            "command",
            "Patterns of commands in a shell line, each command by itself. `*` stands for any characters.",
        )
        .default(Default::Described("any command"))
        .example(r#"["rm -rf *", "sudo *"]"#)
        .never_dropped();
        WRITES: Typed<bool> = Typed::flag(
            "writes",
            "Whether the call must change files, or must not. Read from the parsed shell line; what is not known to read counts as writing, as `unknown` says.",
        )
        .default(Default::Described("either"))
        .example("true")
        .never_dropped();
        UNKNOWN: Typed<UnknownAction> = UNKNOWN_KEY;
        INPUT: Typed<Partial<(String, String)>> =
            Typed::fields("input", "Regular expressions that fields of the call's arguments must match.")
                .default(Default::Described("any arguments"))
                .example(r#"{"url": "^http://"}"#)
                .never_dropped();
        ON_REPEAT: Typed<OnRepeat> = ON_REPEAT_KEY;
        REASON: Typed<Text> = Typed::template(
            "reason",
            TemplateKind::RuleReason,
            "Why, as the agent and people read it. `{path}` is the path that matched, `{tool}` the tool, `{command}` the shell line.",
        )
        .default(Default::Described("the rule in words"))
        .example(r#""{path} is protected""#)
        .never_dropped();
        NOTIFY: Typed<bool> = Typed::flag(
            "notify",
            "Whether the person is notified of a call that the rule blocks.",
        )
        .default(Default::Described("`false`"))
        .example("true")
        .never_dropped();
    }
}

section! {
    /// An entry of `results`.
    result {
        TOOL: Typed<Partial<String>> = Typed::tool_patterns("tool", "The tools it is about.")
            .default(Default::Text("*"))
            .example(r#""bash""#)
            .never_dropped();
        ON: Typed<ResultKind> = Typed::one_of("on", "Which results it is about.")
            .default(Default::Described("both"))
            .example(r#""error""#)
            .never_dropped();
        REDACT: Typed<Vec<String>> = Typed::regexes("redact", "Regular expressions: what they match is replaced.")
            .example(r#"["sk-[A-Za-z0-9]{20,}"]"#)
            .never_dropped();
        WITH: Typed<Text> = Typed::text("with", "What stands in its place.")
            .default(Default::Text("[redacted]"))
            .example(r#""[key]""#)
            .never_dropped();
        MAX_CHARS: Typed<u32> =
            Typed::whole("maxChars", 1, None, "Characters that are kept of a text: its beginning and its end.")
                .default(Default::Described("all"))
                .example("20000")
                .hint(Hint::OfCode)
                .never_dropped();
        APPEND: Typed<Text> = Typed::text("append", "What is put behind the text.")
            .default(Default::Described("nothing"))
            .example(r#""Read the error before you try again.""#)
            .never_dropped();
    }
}

section! {
    /// A check of `gate`.
    gate {
        RUN: Key = Key::new(
            "run",
            ValueType::CommandLine,
            "A program and its arguments, run in the working directory. With `shell: true` a line for the shell.",
        )
        .default(Default::Described("one of the four"))
        .example(r#"["cargo", "test", "--quiet"]"#)
        .never_dropped();
        SHELL: Typed<bool> = Typed::flag("shell", "Whether `run` is a line for the shell.")
            .default(Default::Described("`false`"))
            .example("false")
            .never_dropped();
        TIMEOUT: Typed<u32> =
            Typed::duration("timeout", "How long `run` may take: seconds, or `30s`, `10m`, `1h`. At most a day.")
                .default(Default::Text("10m"))
                .example(r#""10m""#)
                .hint(Hint::Text("write `30s`, `10m` or `1h`"))
                .never_dropped();
        EXPECT: Key = Key::new("expect", ValueType::Map(Section::Expect), "What `run` must come to.")
            .default(Default::Described("`exit: 0`"))
            .example(r#"{"exit": 0}"#)
            .never_dropped();
        CWD: Typed<Text> = Typed::filled("cwd", "The directory in the project in which `run` runs.")
            .default(Default::Described("the project"))
            .example(r#""packages/api""#)
            .never_dropped();
        ENV: Typed<Partial<(String, String)>> =
            Typed::variables("env", "Environment variables that are set for `run`, in addition to those of the sidecar.")
                .example(r#"{"CI": "true"}"#)
                .never_dropped();
        FILE: Typed<Text> = Typed::filled("file", "A file that must be there.")
            .default(Default::Described("one of the four"))
            .example(r#""docs/plan.md""#)
            .never_dropped();
        CHANGED: Typed<bool> = Typed::flag(
            "changed",
            "Whether `file` must say something else than when the phase was entered, or must not.",
        )
        .default(Default::Described("either"))
        .example("true")
        .never_dropped();
        GIT: Typed<CleanRepository> = Typed::one_of("git", "What must be so in the repository.")
            .default(Default::Described("one of the four"))
            .example(r#""clean""#)
            .never_dropped();
        COMMIT: Typed<NewCommit> = Typed::one_of("commit", "What the repository must have.")
            .default(Default::Described("one of the four"))
            .example(r#""new""#)
            .never_dropped();
    }
}

section! {
    /// The expected result of a `run`.
    expect {
        EXIT: Typed<ExpectedExit> = Typed::exit_code("exit", "The exit code, or `nonzero` for any but 0.")
            .default(Default::Number(0))
            .example(r#""nonzero""#)
            .hint(Hint::OfCode)
            .never_dropped();
        STDOUT: Typed<Text> = Typed::regex("stdout", "A regular expression that its standard output must match.")
            .default(Default::Described("any"))
            .example(r#""0 failed""#)
            .never_dropped();
        STDERR: Typed<Text> = Typed::regex("stderr", "The same for its standard error. Only one of the three can be given.")
            .default(Default::Described("any"))
            .example(r#""0 warnings""#)
            .never_dropped();
        OUTPUT: Typed<Text> = Typed::regex("output", "The same for both outputs, in the order in which they are written.")
            .default(Default::Described("any"))
            .example(r#""0 failed""#)
            .never_dropped();
    }
}

section! {
    /// `approve`.
    approve {
        ASK: Typed<Text> = Typed::text("ask", "The question.").required().example(r#""Is the plan right?""#);
        CHOICES: Typed<Vec<String>> = Typed::choices(
            "choices",
            "What can be answered. The first approves; with any other the phase goes on.",
        )
        .default(Default::Described("`[approve, revise]`"))
        .example(r#"["approve", "revise"]"#)
        .never_dropped();
        SHOW: Typed<Text> = Typed::filled("show", "A file that is shown with the question.")
            .example(r#""docs/plan.md""#)
            .never_dropped();
    }
}

section! {
    /// An entry of `triggers`.
    trigger {
        FILE: Typed<Text> = Typed::filled(
            "file",
            "A file that is read and emptied when something stands in it: in your own settings a whole path or `~/…`, in a project's one inside the project.",
        )
        .default(Default::Described("one of the two"))
        .example(r#""notes/trigger.txt""#)
        .never_dropped();
        HTTP: Key = Key::new(
            "http",
            ValueType::Map(Section::Http),
            "A port of this machine that takes requests, on 127.0.0.1 and ::1 only.",
        )
        .default(Default::Described("one of the two"))
        .example(r#"{"port": 3333, "tokenEnv": "WEBHOOK_TOKEN"}"#)
        .never_dropped();
        PROMPT: Typed<Text> = Typed::template(
            "prompt",
            TemplateKind::Trigger,
            "What the agent is told. Both variables stand for what came in.",
        )
        .required()
        .example(r#""Somebody says: {content}""#);
    }
}

section! {
    /// The map under a trigger's `http`.
    http {
        PORT: Typed<u32> = Typed::whole("port", 1, Some(65535), "The port.")
            .required()
            .example("3333")
            .hint(Hint::Text("write `port: 3333`, for example"))
            .never_dropped();
        TOKEN: Typed<Text> =
            Typed::filled("token", "What a request must show: `Authorization: Bearer <token>`.")
                .default(Default::Described("one of the two"))
                .example(r#""a long random text""#)
                .never_dropped();
        TOKEN_ENV: Typed<Text> = Typed::filled(
            "tokenEnv",
            "The environment variable that holds the token, so that it stands in no file.",
        )
        .default(Default::Described("one of the two"))
        .example(r#""WEBHOOK_TOKEN""#)
        .never_dropped();
    }
}

section! {
    /// `continue`, where it is a map.
    auto_continue {
        MAX: Typed<Bound> = Typed::bound("max", "Pushes in a row without an advance.")
            .default(Default::Number(8))
            .example("5")
            .strict()
            .never_empty();
        MAX_STALE: Typed<Bound> = Typed::bound("maxStale", "Pushes in a row in which the agent called no tool.")
            .default(Default::Number(3))
            .example("1")
            .strict()
            .never_empty();
        ON_ERROR: Typed<OnStop> = Typed::one_of("onError", "What a provider error or a length stop does.")
            .default(Default::Text("pause"))
            .example(r#""continue""#)
            .strict()
            .never_empty();
        ON_QUESTION: Typed<OnStop> = Typed::one_of("onQuestion", "What an open question to the user does.")
            .default(Default::Text("pause"))
            .example(r#""continue""#)
            .strict()
            .never_empty();
        ON_LIMIT: Typed<OnLimit> = Typed::one_of("onLimit", "What reaching a limit does.")
            .default(Default::Text("park"))
            .example(r#""cancel""#)
            .strict()
            .never_empty();
        COUNTDOWN: Typed<u32> =
            Typed::seconds("countdown", LONGEST_COUNTDOWN, "Seconds from the stop to the push.")
                .default(Default::Number(3))
                .example("0")
                .strict()
                .never_empty();
    }
}

section! {
    /// A settings file.
    settings {
        CONTINUE: Key = Key::new(
            "continue",
            ValueType::WaitOr(Section::Continue),
            "How runs go on when the agent stops early.",
        )
        .default(Default::Described("see above"))
        .example(CONTINUE_KEY.example)
        .strict()
        .guard();
        CONTEXT: Typed<ContextMode> = CONTEXT_KEY;
        TOOLS: Key = TOOLS_KEY;
        UNKNOWN: Typed<UnknownAction> = UNKNOWN_KEY;
        RESULTS: Key = RESULTS_KEY;
        CHECKPOINT: Typed<Checkpoint> = CHECKPOINT_KEY;
        ON_REPEAT: Typed<OnRepeat> = ON_REPEAT_KEY;
        QUESTION_TIMEOUT: Typed<u32> = Typed::seconds(
            "questionTimeout",
            LONGEST_QUESTION,
            "Seconds that a person has to answer a question of a dialog; without an answer nothing is allowed. 0 waits for ever.",
        )
        .default(Default::Number(1800))
        .example("3600")
        .never_empty();
        TRIGGERS: Key = Key::new(
            "triggers",
            ValueType::ListOf(Section::Trigger),
            "What wakes the agent from outside: a file that is written, or a web request.",
        )
        .example(r#"[{"file": "notes/trigger.txt", "prompt": "Somebody says: {content}"}]"#)
        .never_dropped()
        .guard();
        LIMITS: Key = Key::new("limits", ValueType::Map(Section::Limits), "How much is loaded.")
            .default(Default::Described("see below"))
            .example(r#"{"maxPhases": 200}"#)
            .strict();
        SCHEMA: Typed<Text> = SCHEMA_KEY;
    }
}

section! {
    /// The settings' `limits`.
    limits {
        MAX_FILE_BYTES: Typed<u32> = Typed::limit(
            "maxFileBytes",
            "Bytes of one file.",
            Limits::DEFAULT.max_file_bytes,
            Limits::HIGHEST.max_file_bytes,
        );
        MAX_TOTAL_BYTES: Typed<u32> = Typed::limit(
            "maxTotalBytes",
            "Bytes of all files; one counts as often as it is named.",
            Limits::DEFAULT.max_total_bytes,
            Limits::HIGHEST.max_total_bytes,
        );
        MAX_DEPTH: Typed<u32> = Typed::limit(
            "maxDepth",
            "Maps and lists inside each other in one file.",
            Limits::DEFAULT.max_depth,
            Limits::HIGHEST.max_depth,
        );
        MAX_PHASES: Typed<u32> = Typed::limit(
            "maxPhases",
            "Phase entries of one workflow.",
            Limits::DEFAULT.max_phases,
            Limits::HIGHEST.max_phases,
        );
        MAX_WORKFLOWS: Typed<u32> = Typed::limit(
            "maxWorkflows",
            "Directories of one tier.",
            Limits::DEFAULT.max_workflows,
            Limits::HIGHEST.max_workflows,
        );
        MAX_NESTING: Typed<u32> = Typed::limit(
            "maxNesting",
            "Subworkflows inside each other.",
            Limits::DEFAULT.max_nesting,
            Limits::HIGHEST.max_nesting,
        );
    }
}
