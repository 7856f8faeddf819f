//! The table of keys, section by section.

use super::key::{Default, Hint, Key, ValueType};
use super::section::Section;
use super::typed::Typed;
use super::values::{NamedValues, Partial, Text};
use crate::definition::model::{
    Bound, CancelBy, Checkpoint, ContextMode, ExpectedExit, GitCheck, Limits, OnLimit, OnRepeat,
    OnStop, ResultKind, Show, Thinking, UnknownAction,
};
use crate::template::TemplateKind;
use crate::text::{SESSION_NAME_MAX_LENGTH, SESSION_NAME_PREFIX};

/// The longest countdown, in seconds.
const MAX_COUNTDOWN: u32 = 3600;

/// The longest time for an answer, in seconds: a day.
const MAX_QUESTION_TIMEOUT: u32 = 86_400;

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
        "ask" => Ask, "The user may allow this one call.";
        "block" => Block, "It stays blocked.";
    }
    OnStop {
        "pause" => Pause, "The run waits for the user.";
        "continue" => Continue, "The agent is reminded as after any other stop.";
    }
    OnLimit {
        "pause" => Pause, "The run waits for the user.";
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
        "ask" => Ask, "The user decides. It is blocked where the user cannot be asked.";
        "block" => Block, "It counts as a command that writes.";
    }
    CancelBy {
        "anyone" => Anyone, "The agent and the user.";
        "person" => Person, "The user only. A call of the agent asks the user.";
    }
    Thinking {
        "off" => Off, "Not at all.";
        "minimal" => Minimal, "Very short.";
        "low" => Low, "Short.";
        "medium" => Medium, "Normal.";
        "high" => High, "Long.";
        "xhigh" => Xhigh, "As long as the model can.";
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
            Self::Input => input::KEYS,
            Self::Output => output::KEYS,
            Self::Budget => budget::KEYS,
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

mod exits;
mod flow;
mod levels;
mod rules;
mod settings_file;
mod triggers;

pub(in crate::definition) use exits::{approve, expect, gate};
pub(in crate::definition) use flow::{budget, input, output};
pub(in crate::definition) use levels::{phase, reference, workflow};
pub(in crate::definition) use rules::{result, rule, tools};
pub(in crate::definition) use settings_file::{auto_continue, limits, settings};
pub(in crate::definition) use triggers::{http, trigger};

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
    "Patterns of the commands that may run where `tools` is `read-only`. A `*` at the end matches any further words. Those of a phase are added to those of its workflow.",
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
    "The question that the user must approve before `next` leaves the phase. It is asked after the gate has passed.",
)
.example(r#"{"ask": "Is the plan right?", "show": "docs/plan.md"}"#)
.never_dropped()
.hint(Hint::Text(
    "write `approve: { ask: \"Is the plan right?\" }`",
))
.guard();

/// `budget` of a workflow.
const BUDGET_KEY: Key = Key::new(
    "budget",
    ValueType::Map(Section::Budget),
    "How much a run may use. At a limit it pauses.",
)
.default(Default::Described("no limit"))
.example(r#"{"turns": 120, "minutes": 180}"#)
.never_dropped()
.guard();

/// `rulesets` of a workflow.
const RULESETS_KEY: Key = Key::new(
    "rulesets",
    ValueType::RuleSets,
    "Lists of rules, each with a name by which `tools` uses it. A name of an outer level cannot be defined again.",
)
.example(r#"{"no-network": [{"block": "bash", "command": ["curl *", "wget *"]}]}"#)
.never_dropped()
.guard();
