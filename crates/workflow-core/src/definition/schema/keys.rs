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
        "continue" => Continue, "The agent is reminded as after any other stop.";
    }
    OnLimit {
        "park" => Pause, "The run waits for the user.";
        "cancel" => Cancel, "The run is cancelled.";
    }
    Checkpoint {
        "git" => Git, "A git commit of the tracked files, which no branch refers to.";
        "off" => Off, "None, even if an outer level says `git`.";
    }
    ResultKind {
        "error" => Error, "Results of calls that failed.";
        "ok" => Ok, "Results of calls that succeeded.";
    }
    UnknownAction {
        "allow" => Allow, "It counts as a command that writes nothing.";
        "ask" => Ask, "A person decides. It is blocked where no person can be asked.";
        "block" => Block, "It counts as a command that writes.";
    }
    CleanRepository {
        "clean" => It, "No changed or new file is uncommitted.";
    }
    NewCommit {
        "new" => It, "There is a commit that did not exist when the phase was entered.";
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
    "The schema of this file, for editors. It has no other effect.",
)
.example(r#""./workflow.schema.json""#);

const CONTINUE_KEY: Key = Key::new(
    "continue",
    ValueType::WaitOr(Section::Continue),
    "Reminders to an agent that stops before the phase is done.",
)
.example(r#"{"max": 5, "countdown": 0}"#)
.strict()
.guard();

const CONTEXT_KEY: Typed<ContextMode> =
    Typed::one_of("context", "How often the context message is sent in full.")
        .default(Default::Text("by-change"))
        .example(r#""every-turn""#);

const ON_REPEAT_KEY: Typed<OnRepeat> = Typed::one_of(
    "onRepeat",
    "What happens when rules deny the same call for the third time in a row. The strictest of all levels applies.",
)
.default(Default::Text("ask"))
.example(r#""block""#)
.never_dropped();

const TOOLS_KEY: Key = Key::new(
    "tools",
    ValueType::Tools,
    "A blacklist or a whitelist of tools, and rules on single calls. Rules are read before the list. `workflow_step` is always allowed.",
)
.default(Default::Described("all tools"))
.example(r#"{"blacklist": ["edit", "write"], "rules": [{"allow": "write", "path": "docs/**"}]}"#)
.strict()
.guard();

const SHORT_TOOLS_KEY: Key = Key::new(
    "tools",
    ValueType::ReadOnlyOrTools,
    "`read-only` blocks every call that may change files, except what `writable` and `run` open. A map has a blacklist or a whitelist of tools, and rules on single calls, which are read before the list. `workflow_step` is always allowed.",
)
.default(Default::Described("all tools"))
.example(r#""read-only""#)
.strict()
.guard();

const WRITABLE_KEY: Typed<Vec<String>> = Typed::globs(
    "writable",
    "Globs of the files that tools and shell lines may write where `tools` is `read-only`. Those of a phase are added to those of its workflow.",
)
.default(Default::Described("no file"))
.example(r#"["docs/**"]"#)
.never_dropped();

const RUN_KEY: Typed<Vec<String>> = Typed::commands(
    "run",
    "Patterns of the commands that may run where `tools` is `read-only`. A `*` at the end stands for any further words. Those of a phase are added to those of its workflow.",
)
.default(Default::Described("commands that only read"))
.example(r#"["cargo test *"]"#)
.never_dropped();

const UNKNOWN_KEY: Typed<UnknownAction> = Typed::one_of(
    "unknown",
    "What `read-only` and rules with `writes: true` do with a shell command that is not known. A stricter value of an outer level wins.",
)
.default(Default::Described("that of the outer level, else `ask`"))
.example(r#""block""#)
.never_dropped();

const RESULTS_KEY: Key = Key::new(
    "results",
    ValueType::ListOf(Section::Result),
    "Changes to the results of tools before the model reads them. Every entry that matches is applied, in order.",
)
.example(r#"[{"tool": "bash", "redact": "sk-[A-Za-z0-9]{20,}"}, {"maxChars": 20000}]"#)
.never_dropped()
.guard();

const CHECKPOINT_KEY: Typed<Checkpoint> = Typed::one_of(
    "checkpoint",
    "Whether the code is saved at the start of each turn, so that it can be restored when the conversation goes back.",
)
.default(Default::Described("that of the outer level, else `off`"))
.example(r#""git""#)
.never_dropped()
.guard();

section! {
    /// A workflow.
    workflow {
        NAME: Typed<Text> = Typed::text("name", "The name that people see.").required().example(r#""Bug fix""#);
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
            "The phases in order, at least one. Each is a file name, `{subworkflow: key}`, or a map with the keys of a phase.",
        )
        .required()
        .never_empty()
        .example(r#"["reproduce.md", {"subworkflow": "review"}, "../_shared/release.md"]"#);
        SHOW: Typed<Show> = Typed::one_of(
            "show",
            "`user`: people can start it. `workflows`: it is only a part of other workflows, and needs neither `commandName` nor `initialMessage`.",
        )
        .default(Default::Text("user"))
        .example(r#""workflows""#)
        .strict();
        LOOPABLE: Typed<bool> = Typed::flag("loopable", "Whether the agent may restart it with `loop`.")
            .default(Default::True)
            .example("false")
            .strict();
        SESSION_NAME_PREFIX_KEY: Typed<Text> =
            Typed::text("sessionNamePrefix", "The beginning of the session's name; the description follows.")
                .default(Default::Text(SESSION_NAME_PREFIX))
                .example(r#""Bug: ""#);
        SESSION_NAME_MAX_LENGTH_KEY: Typed<u32> =
            Typed::whole("sessionNameMaxLength", 0, None, "The number of characters (UTF-16 units) of the description in the session's name.")
                .default(Default::Number(SESSION_NAME_MAX_LENGTH))
                .example("30");
        ROLE_INSTRUCTION: Typed<Text> =
            Typed::template("roleInstruction", TemplateKind::Context, "The agent's role: the beginning of the context message.")
                .default(Default::Described("built in"))
                .example(r#""Work in phases, and stay inside the current one.""#);
        ADVANCE_REMINDER: Typed<Text> =
            Typed::template("advanceReminder", TemplateKind::Context, "How to leave the phase: the end of the context message.")
                .default(Default::Described("built in"))
                .example(r#""When it is done, call {toolName} with action='next'.""#);
        BLOCK_REASON_TEMPLATE: Typed<Text> =
            Typed::template("blockReasonTemplate", TemplateKind::BlockReason, "The reason that the agent reads when a list blocks a call.")
                .default(Default::Described("built in"))
                .example(r#""{toolName} is not for {phaseName}. Allowed: {allowedTools}""#);
        COMPLETION_MESSAGE: Typed<Text> =
            Typed::template("completionMessage", TemplateKind::Completion, "The message when a run is completed.")
                .default(Default::Described("built in"))
                .example(r#""Done: {taskDescription}""#);
        CANCELLED_MESSAGE: Typed<Text> =
            Typed::template("cancelledMessage", TemplateKind::Completion, "The message when the run is cancelled. Without it, a `completionMessage` is used when the agent cancels.")
                .default(Default::Described("built in"))
                .example(r#""Stopped: {taskDescription}""#);
        NOT_DONE_REMINDER: Typed<Text> =
            Typed::template("notDoneReminder", TemplateKind::NotDone, "The reminder to an agent that stopped before the phase is done.")
                .default(Default::Described("built in"))
                .example(r#""{phaseEmoji} {phaseName} is not done: {phaseInstructions}""#);
        CONTINUE: Key = CONTINUE_KEY.default(Default::Described("see `continue`"));
        CONTEXT: Typed<ContextMode> = CONTEXT_KEY;
        TOOLS: Key = SHORT_TOOLS_KEY;
        WRITABLE: Typed<Vec<String>> = WRITABLE_KEY;
        RUN: Typed<Vec<String>> = RUN_KEY;
        UNKNOWN: Typed<UnknownAction> = UNKNOWN_KEY;
        RESULTS: Key = RESULTS_KEY;
        GATE: Key = Key {
            summary: "Checks of every phase of this workflow, before those of the phase. They do not apply to phases of its subworkflows.",
            ..GATE_KEY
        };
        APPROVE: Key = Key {
            summary: "The approval of every phase of this workflow that has none. It does not apply to phases of its subworkflows.",
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
    "The checks that must pass before `next` leaves the phase. They run in order, up to the first that does not pass.",
)
.example(r#"[{"run": ["cargo", "test", "--quiet"], "timeout": "10m"}, {"git": "clean"}]"#)
.never_dropped()
.guard();

/// `approve` of a phase.
const APPROVE_KEY: Key = Key::new(
    "approve",
    ValueType::Map(Section::Approve),
    "The question that a person must approve before `next` leaves the phase. It is asked after the gate has passed.",
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
        ID: Typed<Text> = Typed::text("id", "The id of the phase, unique in its workflow.").required().example(r#""reproduce""#);
        NAME: Typed<Text> = Typed::text("name", "The name that people see.").required().example(r#""Reproduce""#);
        EMOJI: Typed<Text> = Typed::text("emoji", "The emoji before the name.").required().example(r#""🐛""#);
        INSTRUCTIONS: Typed<Text> = Typed::template(
            "instructions",
            TemplateKind::Context,
            "What the agent is to do. In a file it is the text after the frontmatter, without white space around it.",
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
            Typed::texts("availableProfiles", "Names of subagent profiles, which the context message lists.")
                .example(r#"["bug-reproducer"]"#);
        CONTINUE: Key = Key::new(
            "continue",
            ValueType::WaitOr(Section::Continue),
            "Reminders to an agent that stops before this phase is done.",
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
        BLACKLIST: Typed<Vec<String>> = Typed::tool_names("blacklist", "The tools that are blocked.")
            .example(r#"["edit", "write"]"#)
            .strict()
            .never_empty()
            .guard();
        WHITELIST: Typed<Vec<String>> =
            Typed::tool_names("whitelist", "The only tools that are allowed. An empty list blocks all.")
                .example(r#"["read", "grep"]"#)
                .strict()
                .never_empty()
                .guard();
        RULES: Key = Key::new(
            "rules",
            ValueType::ListOf(Section::Rule),
            "Rules on single calls. The first rule that matches decides.",
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
            "Tools whose calls this level allows. `*` stands for any characters.",
        )
        .default(Default::Described("required: one of `allow`, `ask`, `block`"))
        .example(r#""write""#)
        .strict()
        .never_empty();
        ASK: Typed<Partial<String>> = Typed::tool_patterns(
            "ask",
            "Tools whose calls a person must confirm. They are blocked where no person can be asked.",
        )
        .default(Default::Described("required: one of `allow`, `ask`, `block`"))
        .example(r#""bash""#)
        .strict()
        .never_empty();
        BLOCK: Typed<Partial<String>> = Typed::tool_patterns("block", "Tools whose calls are blocked.")
            .default(Default::Described("required: one of `allow`, `ask`, `block`"))
            .example(r#"["write", "edit"]"#)
            .strict()
            .never_empty();
        PATH: Typed<Vec<String>> = Typed::globs(
            "path",
            "Globs of the files that the call is about. `docs/**` is in the project, `.env` is a name at any depth, `/etc/**` and `~/.ssh/**` are outside the project. A directory stands for everything in it.",
        )
        .default(Default::Described("any path"))
        .example(r#"[".env", ".git/**"]"#)
        .never_dropped();
        COMMAND: Typed<Vec<String>> = Typed::commands(
            "command",
            "Patterns of commands. Each command of a shell line is compared by itself. `*` stands for any characters.",
        )
        .default(Default::Described("any command"))
        .example(r#"["rm -rf *", "sudo *"]"#)
        .never_dropped();
        WRITES: Typed<bool> = Typed::flag(
            "writes",
            "`true`: calls that change files. `false`: calls that only read. A shell line is parsed; `unknown` decides on a command that is not known.",
        )
        .default(Default::Described("either"))
        .example("true")
        .never_dropped();
        UNKNOWN: Typed<UnknownAction> = UNKNOWN_KEY;
        INPUT: Typed<Partial<(String, String)>> =
            Typed::fields("input", "Regular expressions for fields of the arguments. All of them must match.")
                .default(Default::Described("any arguments"))
                .example(r#"{"url": "^http://"}"#)
                .never_dropped();
        ON_REPEAT: Typed<OnRepeat> = ON_REPEAT_KEY;
        REASON: Typed<Text> = Typed::text("reason", "Why, for the agent and for people.")
            .default(Default::Described("a description of the rule"))
            .example(r#""protected""#)
            .never_dropped();
    }
}

section! {
    /// An entry of `results`.
    result {
        TOOL: Typed<Partial<String>> = Typed::tool_patterns("tool", "The tools whose results are changed.")
            .default(Default::Text("*"))
            .example(r#""bash""#)
            .never_dropped();
        ON: Typed<ResultKind> = Typed::one_of("on", "Whether results of failed or of successful calls are changed.")
            .default(Default::Described("both"))
            .example(r#""error""#)
            .never_dropped();
        REDACT: Typed<Vec<String>> = Typed::regexes("redact", "Regular expressions. The text that they match is replaced.")
            .example(r#"["sk-[A-Za-z0-9]{20,}"]"#)
            .never_dropped();
        WITH: Typed<Text> = Typed::text("with", "The replacement for `redact`.")
            .default(Default::Text("[redacted]"))
            .example(r#""[key]""#)
            .never_dropped();
        MAX_CHARS: Typed<u32> =
            Typed::whole("maxChars", 1, None, "The number of characters that are kept of a text: its beginning and its end.")
                .default(Default::Described("all"))
                .example("20000")
                .hint(Hint::OfCode)
                .never_dropped();
        APPEND: Typed<Text> = Typed::text("append", "A text to add at the end.")
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
            "A program and its arguments, or with `shell: true` a shell line. It passes as `expect` says.",
        )
        .default(Default::Described("required: one of `run`, `file`, `git`, `commit`"))
        .example(r#"["cargo", "test", "--quiet"]"#)
        .never_dropped();
        SHELL: Typed<bool> = Typed::flag("shell", "Whether `run` is a shell line.")
            .default(Default::Described("`false`"))
            .example("false")
            .never_dropped();
        TIMEOUT: Typed<u32> =
            Typed::duration("timeout", "The longest time that `run` may take, at most a day.")
                .default(Default::Text("10m"))
                .example(r#""10m""#)
                .hint(Hint::Text("write `30s`, `10m` or `1h`"))
                .never_dropped();
        EXPECT: Key = Key::new("expect", ValueType::Map(Section::Expect), "The result of `run` that passes.")
            .default(Default::Described("`exit: 0`"))
            .example(r#"{"exit": 0}"#)
            .never_dropped();
        CWD: Typed<Text> = Typed::filled("cwd", "The directory in which `run` runs, relative to the project and inside it.")
            .default(Default::Described("the project"))
            .example(r#""packages/api""#)
            .never_dropped();
        ENV: Typed<Partial<(String, String)>> =
            Typed::variables("env", "Environment variables for `run`, in addition to those of the sidecar.")
                .example(r#"{"CI": "true"}"#)
                .never_dropped();
        FILE: Typed<Text> = Typed::filled("file", "A file of the project that must exist. A directory does not count.")
            .default(Default::Described("required: one of `run`, `file`, `git`, `commit`"))
            .example(r#""docs/plan.md""#)
            .never_dropped();
        CHANGED: Typed<bool> = Typed::flag(
            "changed",
            "`true`: the content of `file` must differ from the content when the phase was entered. `false`: it must be the same.",
        )
        .default(Default::Described("either"))
        .example("true")
        .never_dropped();
        GIT: Typed<CleanRepository> = Typed::one_of("git", "`clean`: every change is committed.")
            .default(Default::Described("required: one of `run`, `file`, `git`, `commit`"))
            .example(r#""clean""#)
            .never_dropped();
        COMMIT: Typed<NewCommit> = Typed::one_of("commit", "`new`: there is a commit that did not exist when the phase was entered.")
            .default(Default::Described("required: one of `run`, `file`, `git`, `commit`"))
            .example(r#""new""#)
            .never_dropped();
    }
}

section! {
    /// The expected result of a `run`.
    expect {
        EXIT: Typed<ExpectedExit> = Typed::exit_code("exit", "The exit code, or `nonzero` for any code but 0.")
            .default(Default::Number(0))
            .example(r#""nonzero""#)
            .hint(Hint::OfCode)
            .never_dropped();
        STDOUT: Typed<Text> = Typed::regex("stdout", "A regular expression that standard output must match.")
            .default(Default::Described("any"))
            .example(r#""0 failed""#)
            .never_dropped();
        STDERR: Typed<Text> = Typed::regex("stderr", "A regular expression that standard error must match. Give only one of `stdout`, `stderr`, `output`.")
            .default(Default::Described("any"))
            .example(r#""0 warnings""#)
            .never_dropped();
        OUTPUT: Typed<Text> = Typed::regex("output", "A regular expression that both streams together must match, in the order in which they are written.")
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
            "The possible answers. The first one approves; with any other the agent stays in the phase.",
        )
        .default(Default::Described("`[approve, revise]`"))
        .example(r#"["approve", "revise"]"#)
        .never_dropped();
        SHOW: Typed<Text> = Typed::filled("show", "A file of the project that is shown with the question.")
            .example(r#""docs/plan.md""#)
            .never_dropped();
    }
}

section! {
    /// An entry of `triggers`.
    trigger {
        FILE: Typed<Text> = Typed::filled(
            "file",
            "A file that is read and then emptied. In your own settings it is an absolute path or `~/…`, in the settings of a project a path inside the project.",
        )
        .default(Default::Described("required: one of `file`, `http`"))
        .example(r#""notes/trigger.txt""#)
        .never_dropped();
        HTTP: Key = Key::new(
            "http",
            ValueType::Map(Section::Http),
            "A port that accepts requests from this machine: on 127.0.0.1 and ::1 only.",
        )
        .default(Default::Described("required: one of `file`, `http`"))
        .example(r#"{"port": 3333, "tokenEnv": "WEBHOOK_TOKEN"}"#)
        .never_dropped();
        PROMPT: Typed<Text> = Typed::template(
            "prompt",
            TemplateKind::Trigger,
            "The message to the agent. `{content}` and `{body}` are the received text.",
        )
        .required()
        .example(r#""Somebody says: {content}""#);
    }
}

section! {
    /// The map under a trigger's `http`.
    http {
        PORT: Typed<u32> = Typed::whole("port", 1, Some(65535), "The port number.")
            .required()
            .example("3333")
            .hint(Hint::Text("write `port: 3333`, for example"))
            .never_dropped();
        TOKEN: Typed<Text> =
            Typed::filled("token", "The token of a request: `Authorization: Bearer <token>`.")
                .default(Default::Described("required: one of `token`, `tokenEnv`"))
                .example(r#""a long random text""#)
                .never_dropped();
        TOKEN_ENV: Typed<Text> = Typed::filled(
            "tokenEnv",
            "The environment variable that contains the token, so that no file does.",
        )
        .default(Default::Described("required: one of `token`, `tokenEnv`"))
        .example(r#""WEBHOOK_TOKEN""#)
        .never_dropped();
    }
}

section! {
    /// `continue`, where it is a map.
    auto_continue {
        MAX: Typed<Bound> = Typed::bound("max", "Reminders in a row without a phase change.")
            .default(Default::Number(8))
            .example("5")
            .strict()
            .never_empty();
        MAX_STALE: Typed<Bound> = Typed::bound("maxStale", "Reminders in a row after which the agent called no tool.")
            .default(Default::Number(3))
            .example("1")
            .strict()
            .never_empty();
        ON_ERROR: Typed<OnStop> = Typed::one_of("onError", "What happens after an error of the model provider, or when the answer is cut at its maximum length.")
            .default(Default::Text("pause"))
            .example(r#""continue""#)
            .strict()
            .never_empty();
        ON_QUESTION: Typed<OnStop> = Typed::one_of("onQuestion", "What happens when the agent stops with a question to the user.")
            .default(Default::Text("pause"))
            .example(r#""continue""#)
            .strict()
            .never_empty();
        ON_LIMIT: Typed<OnLimit> = Typed::one_of("onLimit", "What happens at a limit: `park` pauses the run, `cancel` cancels it.")
            .default(Default::Text("park"))
            .example(r#""cancel""#)
            .strict()
            .never_empty();
        COUNTDOWN: Typed<u32> =
            Typed::seconds("countdown", LONGEST_COUNTDOWN, "Seconds from the stop to the reminder.")
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
            "Reminders to an agent that stops before the phase is done.",
        )
        .default(Default::Described("see `continue`"))
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
            "Seconds that a person has for the answer in a dialog. Without an answer nothing is allowed. 0: no limit.",
        )
        .default(Default::Number(1800))
        .example("3600")
        .never_empty();
        TRIGGERS: Key = Key::new(
            "triggers",
            ValueType::ListOf(Section::Trigger),
            "Events from outside that send the agent a message: a written file, or a web request.",
        )
        .example(r#"[{"file": "notes/trigger.txt", "prompt": "Somebody says: {content}"}]"#)
        .never_dropped()
        .guard();
        LIMITS: Key = Key::new("limits", ValueType::Map(Section::Limits), "Limits on the size of definitions.")
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
            "Bytes of all files. A file counts as often as it is named.",
            Limits::DEFAULT.max_total_bytes,
            Limits::HIGHEST.max_total_bytes,
        );
        MAX_DEPTH: Typed<u32> = Typed::limit(
            "maxDepth",
            "Nested maps and lists in one file.",
            Limits::DEFAULT.max_depth,
            Limits::HIGHEST.max_depth,
        );
        MAX_PHASES: Typed<u32> = Typed::limit(
            "maxPhases",
            "Phases of one workflow, subworkflows counted as one.",
            Limits::DEFAULT.max_phases,
            Limits::HIGHEST.max_phases,
        );
        MAX_WORKFLOWS: Typed<u32> = Typed::limit(
            "maxWorkflows",
            "Workflow directories of the project, or of your own.",
            Limits::DEFAULT.max_workflows,
            Limits::HIGHEST.max_workflows,
        );
        MAX_NESTING: Typed<u32> = Typed::limit(
            "maxNesting",
            "Nested subworkflows.",
            Limits::DEFAULT.max_nesting,
            Limits::HIGHEST.max_nesting,
        );
    }
}
