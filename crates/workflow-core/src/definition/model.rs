//! What a definition means, once it is loaded.
//!
//! Owns the types only. It must not know files, formats or spans: a workflow that came
//! from YAML, from JSON5 or from a session's stored entry is the same value.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::gates::{Approval, Gate};
use super::graph::{contains_itself, levels, strongly_connected};
use super::rules::{Guards, ResultRule, Rule};
use super::triggers::{Checkpoint, Trigger};

/// A workflow: its name, its templates and its phase entries in order.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Workflow {
    /// The directory name: what a subworkflow reference and a path segment name.
    pub key: String,
    /// The name shown to people.
    pub name: String,
    /// First argument of `/workflow`; empty for an internal workflow without one.
    pub command_name: String,
    /// Sent to the agent when a run starts; empty for an internal workflow without one.
    pub initial_message: String,
    /// Who may start it.
    pub show: Show,
    /// Whether `loop` may restart this scope.
    pub loopable: bool,
    /// What stands before the description in the session's name.
    pub session_name_prefix: Option<String>,
    /// UTF-16 units of the description kept in the session's name.
    pub session_name_max_length: Option<u32>,
    /// The texts this workflow puts in place of the defaults.
    pub templates: Templates,
    /// How a run goes on when the agent stops early, as far as this workflow says.
    #[serde(default, rename = "continue")]
    pub auto_continue: ContinueRule,
    /// How often the context message is given in full, if this workflow says.
    pub context: Option<ContextMode>,
    /// Which tools may run in all of its phases; `None` is all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<ToolAccess>,
    /// Rules on single calls in all of its phases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Rule>,
    /// What becomes of results in all of its phases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<ResultRule>,
    /// What is kept of the code at each turn, if this workflow says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Checkpoint>,
    /// The phase entries, at least one.
    pub phases: Vec<PhaseEntry>,
}

/// Who may start a workflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Show {
    /// Listed, and started with `/workflow`.
    #[default]
    User,
    /// Only a part of other workflows.
    Workflows,
}

/// The texts a workflow may put in place of the defaults.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Templates {
    /// Opens the context message.
    pub role_instruction: Option<String>,
    /// Closes the context message.
    pub advance_reminder: Option<String>,
    /// The reason a blocked tool call gets.
    pub block_reason_template: Option<String>,
    /// Announces a completed run (and a cancelled one without `cancelledMessage`).
    pub completion_message: Option<String>,
    /// Announces a cancelled run.
    pub cancelled_message: Option<String>,
    /// Sent to the agent that stopped early.
    pub not_done_reminder: Option<String>,
}

/// One entry of a workflow's phases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PhaseEntry {
    /// A phase of this workflow.
    Phase(Phase),
    /// The key of the workflow that runs here as a subworkflow.
    Subworkflow(String),
}

/// A phase: what to do, and with which tools.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Phase {
    /// Unique in its workflow.
    pub id: String,
    /// The name shown to people.
    pub name: String,
    /// Stands before the name in the status line.
    pub emoji: String,
    /// What the agent is told to do.
    pub instructions: String,
    /// Which tools it may use; `None` is all of them.
    pub tools: Option<ToolAccess>,
    /// Subagent profiles named in the context message.
    pub available_profiles: Option<Vec<String>>,
    /// How a run goes on when the agent stops early, as far as this phase says.
    #[serde(default, rename = "continue")]
    pub auto_continue: ContinueRule,
    /// Rules on single calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Rule>,
    /// What becomes of results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<ResultRule>,
    /// What must hold before `next` leaves the phase.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gate: Vec<Gate>,
    /// What a person must answer before `next` leaves the phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approve: Option<Approval>,
    /// What is kept of the code at each turn, if this phase says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Checkpoint>,
}

/// Which tools a phase allows. `workflow_step` is always allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolAccess {
    /// All but these.
    Blacklist(Vec<String>),
    /// Only these.
    Whitelist(Vec<String>),
}

/// What one level (settings, workflow, phase) says about auto-continue; an inner level wins key by key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContinueRule {
    /// `continue: wait`: the phase waits for the user, nothing is pushed. A map says `false`.
    pub wait: Option<bool>,
    /// Pushes in a row without an advance.
    pub max: Option<Bound>,
    /// Pushes in a row in which the agent called no tool.
    pub max_stale: Option<Bound>,
    /// What a provider error or a length stop does.
    pub on_error: Option<OnStop>,
    /// What an open question to the user does.
    pub on_question: Option<OnStop>,
    /// What reaching a limit does.
    pub on_limit: Option<OnLimit>,
    /// Seconds between the stop and the push.
    pub countdown: Option<u32>,
}

impl ContinueRule {
    /// This rule, and what `outer` says where this one is silent.
    #[must_use]
    pub fn within(&self, outer: &Self) -> Self {
        Self {
            wait: self.wait.or(outer.wait),
            max: self.max.or(outer.max),
            max_stale: self.max_stale.or(outer.max_stale),
            on_error: self.on_error.or(outer.on_error),
            on_question: self.on_question.or(outer.on_question),
            on_limit: self.on_limit.or(outer.on_limit),
            countdown: self.countdown.or(outer.countdown),
        }
    }
}

/// A count that may be unlimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bound {
    /// At most this many.
    Times(u32),
    /// No limit.
    Unlimited,
}

/// What a stop that is not the agent's own choice does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnStop {
    /// The run is parked.
    Pause,
    /// The agent is pushed as after any other stop.
    Continue,
}

/// What reaching a limit does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnLimit {
    /// The run is parked: a user message resumes it.
    Park,
    /// The run is cancelled.
    Cancel,
}

/// How often the context message is given in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContextMode {
    /// When a phase is entered, and when the model may have lost it.
    ByChange,
    /// At every start of the agent.
    EveryTurn,
}

/// What a settings file (`workflow-sidecar.json5`) says; the project's wins over the global one, key by key.
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
    /// What the user's own settings say about tools.
    pub user: Guards,
    /// What the project's settings say about tools.
    pub project: Guards,
    /// What is kept of the code at each turn, where no workflow says otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Checkpoint>,
    /// What wakes the agent: the user's, then the project's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub triggers: Vec<Trigger>,
}

/// Limits on what is loaded. Over one of them is an error with the place, never a hang.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Limits {
    /// Bytes of one definition file.
    pub max_file_bytes: u32,
    /// Bytes of all files together; a file counts as often as it is named.
    pub max_total_bytes: u32,
    /// Levels of nesting inside one file.
    pub max_depth: u32,
    /// Phase entries of one workflow.
    pub max_phases: u32,
    /// Workflow directories of one tier.
    pub max_workflows: u32,
    /// Levels of subworkflows inside each other.
    pub max_nesting: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl Limits {
    /// What holds where nobody says otherwise.
    pub const DEFAULT: Self = Self {
        max_file_bytes: 1 << 20,
        max_total_bytes: 64 << 20,
        max_depth: 64,
        max_phases: 1000,
        max_workflows: 10_000,
        max_nesting: 32,
    };

    /// What limits may be raised to. More would make one file cost minutes or gigabytes.
    pub const HIGHEST: Self = Self {
        max_file_bytes: 16 << 20,
        max_total_bytes: 1 << 30,
        max_depth: 128,
        max_phases: 10_000,
        max_workflows: 100_000,
        max_nesting: 128,
    };
}

/// Which directory a definition comes from; the project's wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// `<agent directory>/workflows`.
    Global,
    /// `<cwd>/.pi/workflows`.
    Project,
}

/// The workflows that can run, in order: global keys first, an override keeps the global's place.
///
/// Every reference in a catalog leads to a workflow of the catalog, and no workflow contains itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Catalog {
    workflows: Vec<Workflow>,
    by_key: BTreeMap<String, usize>,
}

impl Catalog {
    /// Takes workflows whose references are known to be sound; the last of equal keys wins.
    #[must_use]
    pub fn new(workflows: Vec<Workflow>) -> Self {
        let by_key = workflows
            .iter()
            .enumerate()
            .map(|(at, workflow)| (workflow.key.clone(), at))
            .collect();
        Self { workflows, by_key }
    }

    /// The catalog of workflows from elsewhere, if it holds what a catalog promises.
    #[must_use]
    pub fn checked(workflows: Vec<Workflow>) -> Option<Self> {
        let catalog = Self::new(workflows);
        let targets: Option<Vec<Vec<usize>>> = catalog
            .iter()
            .map(|workflow| catalog.targets_of(workflow))
            .collect();
        let (targets, unique) = (targets?, catalog.by_key.len() == catalog.workflows.len());
        let groups = strongly_connected(&targets);
        let cyclic = groups.iter().any(|group| contains_itself(group, &targets));
        let order: Vec<usize> = groups.into_iter().flatten().collect();
        let too_deep = levels(&targets, &order)
            .into_iter()
            .any(|levels| levels > Limits::HIGHEST.max_nesting);
        (unique && !cyclic && !too_deep).then_some(catalog)
    }

    /// The workflows that a workflow refers to; `None` if one is not here, or it has no phases.
    fn targets_of(&self, workflow: &Workflow) -> Option<Vec<usize>> {
        if workflow.phases.is_empty() {
            return None;
        }
        let keys = workflow.phases.iter().filter_map(|entry| match entry {
            PhaseEntry::Phase(_) => None,
            PhaseEntry::Subworkflow(key) => Some(key),
        });
        keys.map(|key| self.by_key.get(key).copied()).collect()
    }

    /// The workflow of this key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Workflow> {
        self.by_key.get(key).map(|&at| &self.workflows[at])
    }

    /// All workflows, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Workflow> {
        self.workflows.iter()
    }

    /// The workflows a person can start, in order.
    pub fn startable(&self) -> impl Iterator<Item = &Workflow> {
        self.iter().filter(|workflow| workflow.show == Show::User)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workflow(key: &str, references: &[&str]) -> Workflow {
        Workflow {
            key: key.to_owned(),
            name: key.to_owned(),
            show: Show::Workflows,
            loopable: true,
            phases: references
                .iter()
                .map(|key| PhaseEntry::Subworkflow((*key).to_owned()))
                .chain([PhaseEntry::Phase(Phase {
                    id: "p".to_owned(),
                    name: "P".to_owned(),
                    emoji: "p".to_owned(),
                    instructions: "Do it.".to_owned(),
                    ..Phase::default()
                })])
                .collect(),
            ..Workflow::default()
        }
    }

    #[test]
    fn a_checked_catalog_holds_what_it_promises() {
        assert!(Catalog::checked(vec![workflow("a", &["b"]), workflow("b", &[])]).is_some());
        assert!(Catalog::checked(vec![workflow("a", &["b"])]).is_none());
        assert!(Catalog::checked(vec![workflow("a", &["a"])]).is_none());
        assert!(Catalog::checked(vec![workflow("a", &["b"]), workflow("b", &["a"])]).is_none());
        assert!(Catalog::checked(vec![workflow("a", &[]), workflow("a", &[])]).is_none());
        let mut empty = workflow("a", &[]);
        empty.phases.clear();
        assert!(Catalog::checked(vec![empty]).is_none());
    }

    #[test]
    fn an_inner_rule_wins_key_by_key() {
        let inner = ContinueRule {
            max: Some(Bound::Unlimited),
            ..ContinueRule::default()
        };
        let outer = ContinueRule {
            max: Some(Bound::Times(3)),
            countdown: Some(1),
            ..ContinueRule::default()
        };
        let both = inner.within(&outer);
        assert_eq!(
            (both.max, both.countdown),
            (Some(Bound::Unlimited), Some(1))
        );
    }
}
