//! Phases.

use schemars::JsonSchema;

use super::approval::Approval;
use super::auto_continue::{ContinueRule, WaitOrMap};
use super::budget::{Bounds, Budget, bound_in_words};
use super::condition::{Condition, Conditions};
use super::gate::Gate;
use super::level::ToolAccess;
use super::opening::{Opening, Openings};
use super::parameter::{Outputs, Parameter};
use super::result_rule::ResultRule;
use super::rules::{Rule, RuleAction};
use super::target::{OnVisitLimit, Outcomes, PhaseOutcome, Target};
use super::tools::ReadOnlyOrTools;
use crate::definition::guard_text::GuardText;
use crate::definition::schema::{Change, Section, section};
use crate::definition::value::{
    FilledText, Flag, ListOf, Map, OneOf, Template, Text, TextOrTexts, Texts, WholeOrValue, words,
};
use crate::template::TemplateKind;
use crate::white_space::trim;

section! {
    Section::new("a phase");
    /// A phase: its instructions and its tools.
    #[derive(Default)]
    pub struct Phase {
        /// The id of the phase, unique in its workflow.
        #[key("id": Text, default: Required, example: r#""reproduce""#)]
        pub id: String,
        /// The displayed name.
        #[key("name": FilledText, strict: true, no_value: Refuse, default: Described("made of the id: `fix-bug` is \"Fix bug\""), example: r#""Reproduce""#)]
        pub name: String,
        /// The emoji before the name.
        #[key("emoji": FilledText, strict: true, no_value: Refuse, example: r#""🐛""#)]
        pub emoji: String,
        /// What the agent is to do. In a file it is the text after the frontmatter, without white space around it.
        #[key("instructions": Template, template: Some(TemplateKind::Context), default: Required, example: r#""Write down the steps that show the bug.""#)]
        const instructions_key;
        /// The instructions for the agent.
        pub instructions: String,
        /// `read-only` blocks every call that may change something, except what `writable` and `commands` open; `all` lifts that of the workflow. A map has a blacklist or a whitelist of tools, and rules on single calls, which are read before the list. `workflow_step` is always allowed.
        #[key("tools": ReadOnlyOrTools, strict: true, guard: true, change: Some(Change::Guard), default: Described("all tools"), example: r#""read-only""#)]
        const level_tools;
        /// The tools that it may use; `None` is all.
        pub tools: Option<ToolAccess>,
        /// Globs of the files that tools and shell lines may write where `tools` is `read-only`. Those of a phase are added to those of its workflow.
        #[key("writable"?: TextOrTexts, check: Some(GuardText::Path), change: Some(Change::Guard), no_value: Refuse, default: Described("no file"), example: r#"["docs/**"]"#)]
        pub writable: Vec<String>,
        /// Patterns of the commands that may run where `tools` is `read-only`, in the project's root, or behind `cd sub &&` in `sub`, and maps of tools. A `*` at the end matches any further words. Those of a phase are added to those of its workflow.
        #[key("commands"?: Openings, check: Some(GuardText::Command), change: Some(Change::Guard), no_value: Refuse, default: Described("what only reads"), example: r#"["cargo test *", {"tool": "mcp__github__create_issue"}]"#)]
        pub commands: Vec<Opening>,
        /// As in a rule.
        #[key(Rule?: OneOf<RuleAction>)]
        pub unknown: Option<RuleAction>,
        /// Changes to the results of tools before the model reads them. Every entry that matches is applied, in order.
        #[key("results": ListOf<ResultRule>, no_value: Refuse, guard: true, change: Some(Change::Guard), example: r#"[{"tool": "bash", "redact": "secrets"}, {"maxChars": 20000}]"#)]
        const level_results;
        /// The checks that must pass before `next` leaves the phase. They run in order, up to the first that does not pass.
        #[key("gate"?: ListOf<Gate>, no_value: Refuse, guard: true, change: Some(Change::Guard), example: r#"[{"run": ["cargo", "test", "--quiet"], "timeout": "10m"}, {"git": "clean"}]"#)]
        pub gate: Vec<Gate>,
        /// The question that the user must approve before `next` leaves the phase. It is asked after the gate has passed.
        #[key("approve"?: Map<Approval>, no_value: Refuse, guard: true, change: Some(Change::Guard), hint: Some("write `approve: { ask: \"Is the plan right?\" }`"), example: r#"{"ask": "Is the plan right?", "show": "docs/plan.md"}"#)]
        pub approve: Option<Approval>,
        /// Whether the code is saved at the start of each turn, so that it can be restored when the conversation goes back.
        #[key("checkpoint"?: OneOf<Checkpoint>, no_value: Refuse, guard: true, change: Some(Change::Text), default: Described("that of the outer level, else `off`"), example: r#""git""#)]
        pub checkpoint: Option<Checkpoint>,
        /// Names of subagent profiles, which the context message lists.
        #[key("availableProfiles": Texts, example: r#"["bug-reproducer"]"#)]
        pub available_profiles: Option<Vec<String>>,
        /// Reminders to an agent that stops before this phase is done.
        #[key("continue": WaitOrMap, strict: true, guard: true, change: Some(Change::Text), default: Described("the workflow's"), example: r#""wait""#)]
        #[serde(default, rename = "continue")]
        pub auto_continue: ContinueRule,
        /// Rules on single calls.
        pub rules?: Vec<Rule>,
        /// Rules on results.
        pub results?: Vec<ResultRule>,
        /// Values that the agent hands over with `next`, by name: `{outputs.<phase>.<name>}`.
        #[key("outputs"?: Outputs, no_value: Refuse, guard: true, change: Some(Change::Way), example: r#"{"plan": {"type": "text", "minLength": 40, "about": "What will be changed, and why"}}"#)]
        pub outputs: Vec<Parameter>,
        /// The possible results of the phase, each with its target: an id of the same workflow, `next`, `end`, `{end: name}` or `done`. The agent names one of them with `next`.
        #[key("outcomes"?: Outcomes, no_value: Refuse, guard: true, change: Some(Change::Way), example: r#"{"ok": "next", "again": "reproduce"}"#)]
        pub outcomes: Vec<PhaseOutcome>,
        /// The values with which the phase is entered; with others it is skipped: `inputs.<name>`, `outputs.<phase>.<name>`, `outcome.<phase>`, `answer.<phase>.choice`, `visits.<phase>`, `change.files`, `change.lines`, `change.paths`, or `any` of several maps.
        #[key("when"?: Conditions, no_value: Refuse, guard: true, change: Some(Change::Way), default: Described("always"), example: r#"{"visits.reproduce": {"not": [7, 8]}}"#)]
        pub when: Vec<Condition>,
        /// How often the phase may be entered in one run of its workflow.
        #[key("maxVisits"?: WholeOrValue, no_value: Refuse, guard: true, change: Some(Change::Guard), default: Described("no limit, but for `limits.maxVisits`"), example: "3")]
        pub max_visits: Option<u32>,
        /// What happens instead of one more visit: `pause`, `cancel`, `next` (behind this phase), `end`, `{end: name}`, `done`, or an id of the same workflow.
        #[key("onLimit"?: OnVisitLimit, no_value: Refuse, guard: true, change: Some(Change::Way), default: Text("pause"), example: r#""cancel""#)]
        pub on_limit: Option<Target>,
        /// How much the phase may use each time it is entered. At a limit the run pauses.
        #[key("budget"?: Map<Budget>, no_value: Refuse, guard: true, change: Some(Change::Guard), default: Described("no limit"), example: r#"{"turns": 120, "minutes": 180}"#)]
        pub budget: Budget,
        /// The bounds that are values of the run: the key, and the name of the value.
        pub bounds?: Bounds,
        /// Settings that the host should make while it lasts.
        #[keys]
        #[serde(default, skip_serializing_if = "Hints::is_empty")]
        pub hints: Hints,
    }
}

section! {
    Section::new("a phase");
    /// Settings that the host should make for the time of a phase, where it can.
    #[derive(Default)]
    pub struct Hints {
        /// The model, as the host names it, where the host can set it.
        #[key("model"?: FilledText, no_value: Refuse, default: Described("the user's"), example: r#""provider/model""#)]
        pub model: Option<String>,
        /// How long the model thinks, where the host can set it.
        #[key("thinking"?: OneOf<Thinking>, no_value: Refuse, default: Described("the user's"), example: r#""high""#)]
        pub thinking: Option<Thinking>,
        /// Whether blocked tools are hidden from the model, where the host can.
        #[key("activeTools"?: Flag, no_value: Refuse, default: Described("`false`"), example: "true")]
        pub active_tools: bool,
    }
}

words! {
    /// The record of the code at the start of each turn.
    pub enum Checkpoint {
        /// A git commit of the tracked files, which no branch refers to.
        "git" => Git,
        /// None, even if an outer level says `git`.
        "off" => Off,
    }
}

words! {
    /// The level of the model's thinking.
    #[derive(JsonSchema)]
    pub enum Thinking {
        /// Not at all.
        "off" => Off,
        /// Very short.
        "minimal" => Minimal,
        /// Short.
        "low" => Low,
        /// Normal.
        "medium" => Medium,
        /// Long.
        "high" => High,
        /// As long as the model can.
        "xhigh" => Xhigh,
    }
}

impl Hints {
    /// Returns true if nothing is to be set.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A name with an emoji before it, if there is one.
pub fn labelled(emoji: &str, name: &str) -> String {
    let blank = if emoji.is_empty() { "" } else { " " };
    format!("{emoji}{blank}{name}")
}

impl Phase {
    /// The emoji, if it has one, and the name, as people read them.
    pub fn label(&self) -> String {
        labelled(&self.emoji, &self.name)
    }

    /// Returns true if it lifts the `read-only` of its workflow and of `defaults`.
    pub(crate) fn lifts(&self) -> bool {
        matches!(self.tools, Some(ToolAccess::All { .. }))
    }

    /// The name of a phase that is given none.
    pub(crate) fn name_of(id: &str) -> String {
        let words = id.replace(['-', '_'], " ");
        let words = if trim(&words).is_empty() { id } else { &words };
        let mut letters = words.chars();
        let first = letters.next().into_iter().flat_map(char::to_uppercase);
        first.chain(letters).collect()
    }

    /// How often it may be entered, as people read it: the name of a value that the run does not have.
    pub fn most_visits(&self) -> Option<String> {
        bound_in_words(self.max_visits, "maxVisits", &self.bounds)
    }

    /// What happens instead of one visit too many, if its visits are limited.
    pub fn instead_of_visit(&self) -> Option<&Target> {
        let instead = self.on_limit.as_ref().unwrap_or(&Target::Pause);
        self.max_visits.map(|_| instead)
    }

    /// Returns true if it may be skipped, may be left for another phase than the next, or counts its visits.
    pub(crate) fn has_flow(&self) -> bool {
        let leads_elsewhere = |gate: &Gate| gate.on_fail.is_some() || gate.tries.is_some();
        let mut answers = self.approve.iter().flat_map(|approve| &approve.targets);
        !self.when.is_empty()
            || !self.outcomes.is_empty()
            || self.max_visits.is_some()
            || self.gate.iter().any(leads_elsewhere)
            || answers.next().is_some()
    }
}
