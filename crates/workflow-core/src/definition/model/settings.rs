//! Settings, and the limits on what is loaded.

use serde::{Deserialize, Serialize};

use super::auto_continue::ContinueRule;
use super::defaults::Defaults;
use super::guards::Guards;
use super::notify::Notifiers;
use super::phase::{Checkpoint, Phase};
use super::result_rule::ResultRule;
use super::rule_sets::{NamedRules, RuleSets};
use super::rules::{OnRepeat, Rule, RuleAction};
use super::tools::ToolsMap;
use super::trigger::{Trigger, Triggers};
use super::without_run::{Start, WithoutRun};
use super::workflow::{ContextMode, Workflow};
use crate::definition::schema::{Change, FromMap, MapReader, Section, section};
use crate::definition::syntax::TreeLimits;
use crate::definition::tier::Tier;
use crate::definition::value::{FilledText, Limit, ListOf, Map, MapByHand, OneOf, Seconds, Text};
use crate::diagnostic::Location;

/// The name of the settings file.
pub const SETTINGS_FILE: &str = "workflow-sidecar.json5";

section! {
    Section::new("the settings");
    /// The content of one settings file (`workflow-sidecar.json5`).
    #[derive(Default)]
    pub struct TierSettings {
        /// What holds for all workflows: `tools`, `gate`, `budget`, `cancel` and `continue`. A workflow's own value comes in place of `continue` and is added to `tools` and `gate`; of `budget` and `cancel` the stricter counts.
        #[key("defaults": MapByHand<Defaults>, no_value: Refuse, strict: true, guard: true, change: Some(Change::Guard), example: r#"{"gate": [{"git": "clean"}], "budget": {"minutes": 240}, "continue": {"max": 5}}"#)]
        const all_defaults;
        /// What holds for all workflows.
        pub defaults: Defaults,
        /// As in a workflow.
        #[key(Workflow: OneOf<ContextMode>)]
        pub context: Option<ContextMode>,
        /// A blacklist or a whitelist of tools, and rules on single calls. Rules are read before the list. `workflow_step` is always allowed.
        #[key("tools": ToolsMap, strict: true, guard: true, change: Some(Change::Guard), default: Described("all tools"), example: r#"{"blacklist": ["edit", "write"], "rules": [{"allow": "write", "path": "docs/**"}]}"#)]
        const level_tools;
        #[key(Rule: OneOf<RuleAction>)]
        const unknown;
        #[key(Phase: ListOf<ResultRule>)]
        const level_results;
        /// As in a workflow.
        #[key(Phase: OneOf<Checkpoint>)]
        pub checkpoint: Option<Checkpoint>,
        /// As in a rule.
        #[key(Rule: OneOf<OnRepeat>)]
        const on_repeat;
        #[key(Workflow: NamedRules, example: r#"{"no-publish": [{"block": "bash", "command": ["npm publish *", "cargo publish *"]}]}"#)]
        const rulesets;
        /// Seconds that the user has for the answer in a dialog. Without an answer nothing is allowed. 0: no limit.
        #[key("questionTimeout": Seconds<86_400>, no_value: WrongType, default: Number(1800), example: "3600")]
        pub question_timeout: Option<u32>,
        /// Events from outside that send the agent a message: a written file, or a web request.
        #[key("triggers": Triggers, no_value: Refuse, guard: true, example: r#"[{"file": "notes/trigger.txt", "prompt": "Somebody says: {content}"}]"#)]
        pub triggers: Vec<Trigger>,
        /// Rules that hold only while no run is active, and the workflow that is offered when they block a call.
        #[key("withoutRun": MapByHand<WithoutRun>, no_value: Refuse, strict: true, guard: true, change: Some(Change::Text), example: r#"{"tools": "read-only", "writable": ["notes/**"], "start": "bugfix"}"#)]
        const without_run;
        /// Limits on the size of definitions, and on jumps into one phase.
        #[key("limits": Map<Limits>, strict: true, default: Described("see `limits`"), example: r#"{"maxPhases": 200}"#)]
        const own_limits;
        /// The limits, with those of the file further out.
        pub limits: Limits,
        /// The PostgreSQL server with the runs, requests and answers of several machines. Only in the user's settings.
        #[key("store": FilledText, default: Described("a database in the home directory"), example: r#""postgres://laptop@db.example.org/workflows""#)]
        const store;
        /// What tells you that a run waits, is paused or ends, and the code of each question for approval. A program reads a text on its standard input. Only in the user's settings.
        #[key("notify": Notifiers, default: Described("only the host shows it"), example: r#"["notify-user", "--title", "workflow"]"#)]
        const notify;
        #[key(Workflow: Text)]
        const schema;
        /// Its guards.
        pub guards: Guards,
        /// Where `start` of `withoutRun` is.
        #[serde(skip)]
        pub(crate) start_at: Option<Location>,
        /// The rule sets that workflows of the tier may use.
        pub(crate) rule_sets: RuleSets,
    }
}

section! {
    Section::new("`limits` of the settings");
    /// Limits on what is loaded. To exceed one is an error with its location, never a hang.
    ///
    /// With more than the highest, one file could cost minutes or gigabytes.
    #[derive(Copy)]
    #[serde(default)]
    pub struct Limits {
        /// Bytes of one file.
        #[key("maxFileBytes": Limit<{ 16 << 20 }>, no_value: WrongType, default: Number(1 << 20), example: "64")]
        pub max_file_bytes: u32,
        /// Bytes of all files. A file counts as often as it is named.
        #[key("maxTotalBytes": Limit<{ 1 << 30 }>, no_value: WrongType, default: Number(64 << 20), example: "64")]
        pub max_total_bytes: u32,
        /// Nested maps and lists in one file.
        #[key("maxDepth": Limit<128>, no_value: WrongType, default: Number(64), example: "64")]
        pub max_depth: u32,
        /// Phases of one workflow, subworkflows counted as one.
        #[key("maxPhases": Limit<10_000>, no_value: WrongType, default: Number(1000), example: "64")]
        pub max_phases: u32,
        /// Workflow directories of the project, or of your own.
        #[key("maxWorkflows": Limit<100_000>, no_value: WrongType, default: Number(10_000), example: "64")]
        pub max_workflows: u32,
        /// Nested subworkflows.
        #[key("maxNesting": Limit<{ Limits::HIGHEST_NESTING }>, no_value: WrongType, default: Number(32), example: "64")]
        pub max_nesting: u32,
        /// Times that outcomes, gates and answers may lead into one phase without `maxVisits`.
        #[key("maxVisits": Limit<1000>, no_value: WrongType, default: Number(25), example: "64")]
        #[serde(rename = "maxVisits")]
        pub jumps: u32,
        /// Items of the list of one `forEach`.
        #[key("items": Limit<1000>, no_value: WrongType, default: Number(100), example: "64")]
        pub items: u32,
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_file_bytes: Self::max_file_bytes.number(),
            max_total_bytes: Self::max_total_bytes.number(),
            max_depth: Self::max_depth.number(),
            max_phases: Self::max_phases.number(),
            max_workflows: Self::max_workflows.number(),
            max_nesting: Self::max_nesting.number(),
            jumps: Self::jumps.number(),
            items: Self::items.number(),
        }
    }
}

impl Limits {
    /// The highest number of nested subworkflows.
    pub const HIGHEST_NESTING: u32 = 128;
}

impl From<&Limits> for TreeLimits {
    /// The limits of a tree that has as many values as its file may have bytes.
    fn from(limits: &Limits) -> Self {
        Self {
            depth: limits.max_depth as usize,
            size: limits.max_file_bytes as usize,
        }
    }
}

impl FromMap for Limits {
    fn from_map(keys: &mut MapReader<'_, '_, '_>) -> Option<Self> {
        Some(keys.read())
    }
}

/// The settings in force: the project's win over the user's, key by key.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Settings {
    /// Defaults for `continue`.
    #[serde(rename = "continue")]
    pub auto_continue: ContinueRule,
    /// Default for `context`.
    pub context: Option<ContextMode>,
    /// Limits on what is loaded.
    pub limits: Limits,
    /// Guards of the user's settings.
    pub user: Guards,
    /// Guards of the project's settings.
    pub project: Guards,
    /// The checkpoint of each turn, where no workflow has another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Checkpoint>,
    /// Seconds that a person has to answer a question; 0 is without end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question_timeout: Option<u32>,
    /// The triggers: the user's, then the project's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub triggers: Vec<Trigger>,
}

impl Settings {
    /// The guards of the user's and of the project's settings.
    pub fn guards(&self) -> [&Guards; 2] {
        [&self.user, &self.project]
    }

    /// Returns true if both settings files could be read as they are.
    pub(crate) fn are_loaded(&self) -> bool {
        self.guards().iter().all(|guards| guards.status.is_loaded())
    }

    /// The workflow that is offered without a run, and the settings that say so: the project's win.
    pub fn start(&self) -> Option<(&Start, Tier)> {
        let [user, project] = self
            .guards()
            .map(|guards| guards.without_run.as_ref()?.start.as_ref());
        let project = project.map(|start| (start, Tier::Project));
        project.or_else(|| Some((user?, Tier::Global)))
    }

    /// Returns whether the user's or the project's settings restrict calls or results.
    pub fn has_rules(&self) -> bool {
        !(self.user.is_empty() && self.project.is_empty())
    }
}
