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
    CancelBy {
        "anyone" => Anyone, "The agent and people.";
        "person" => Person, "People only. A call of the agent asks a person.";
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
    "Lists of rules, each with a name by which `tools` uses it. A name that is taken further out cannot be taken again.",
)
.example(r#"{"no-network": [{"block": "bash", "command": ["curl *", "wget *"]}]}"#)
.never_dropped()
.guard();
