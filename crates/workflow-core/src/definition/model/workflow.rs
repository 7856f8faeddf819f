//! Workflows and phases.

use std::ops::Deref;

use serde::{Deserialize, Serialize};

use super::auto_continue::ContinueRule;
use super::flow::{Budget, CancelBy, Condition, Hints, OnMaxVisits, Parameter, PhaseOutcome};
use super::gate::{Approval, Gate};
use super::rules::{OnRepeat, ResultRule, Rule, ToolAccess, UnknownAction};
use super::settings::ContextMode;
use super::trigger::Checkpoint;

/// A workflow: its name, its templates and its phase entries in order.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Workflow {
    /// The directory name, which subworkflow references and path segments use.
    pub key: String,
    /// The name shown to people.
    pub name: String,
    /// First argument of `/workflow`; empty for an internal workflow without one.
    pub command_name: String,
    /// Sent to the agent when a run starts; empty for an internal workflow without one.
    pub initial_message: String,
    /// Its visibility.
    pub show: Show,
    /// True if `loop` may restart this scope.
    pub loopable: bool,
    /// The text before the description in the session's name.
    pub session_name_prefix: Option<String>,
    /// UTF-16 units of the description kept in the session's name.
    pub session_name_max_length: Option<u32>,
    /// The texts that replace the defaults in this workflow.
    pub templates: Templates,
    /// Its auto-continue, if given.
    #[serde(default, rename = "continue")]
    pub auto_continue: ContinueRule,
    /// The frequency of the context message in full, if given.
    pub context: Option<ContextMode>,
    /// The tools that may run in all of its phases; `None` is all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<ToolAccess>,
    /// Globs of the files that may be written where `tools` is `read-only`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writable: Vec<String>,
    /// Patterns of the commands that may run where `tools` is `read-only`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub run: Vec<String>,
    /// The decision on unknown shell commands, if given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<UnknownAction>,
    /// Rules on single calls in all of its phases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Rule>,
    /// Rules on results in all of its phases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<ResultRule>,
    /// The checkpoint of each turn, if given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Checkpoint>,
    /// The reaction to a call that is denied again and again, if given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_repeat: Option<OnRepeat>,
    /// The values that a run is given at its start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Parameter>,
    /// The limits of what a run may use.
    #[serde(default, skip_serializing_if = "Budget::is_unlimited")]
    pub budget: Budget,
    /// Those who may cancel a run, if given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel: Option<CancelBy>,
    /// The phase entries, at least one.
    pub phases: Vec<PhaseEntry>,
}

impl Workflow {
    /// Returns whether its phases are read-only unless they say otherwise.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        matches!(self.tools, Some(ToolAccess::ReadOnly { .. }))
    }

    /// The location of the `read-only` that applies in a phase of its own, if one does: the phase's, or the workflow's, to
    /// which the phase adds its list and rules. Only an empty blacklist replaces it.
    #[must_use]
    pub fn read_only_in<'a>(&'a self, phase: &'a Phase) -> Option<&'a str> {
        match (&phase.tools, &self.tools) {
            (Some(ToolAccess::Blacklist(names)), _) if names.is_empty() => None,
            (Some(ToolAccess::ReadOnly { source }), _)
            | (_, Some(ToolAccess::ReadOnly { source })) => Some(source),
            (_, Some(ToolAccess::Blacklist(_) | ToolAccess::Whitelist(_)) | None) => None,
        }
    }

    /// Returns true if it, or one of its own phases, has guards that the npm package does not know.
    pub(crate) fn has_guards_beyond_package(&self) -> bool {
        let extends = |phase: &Phase| {
            !phase.rules.is_empty()
                || matches!(phase.tools, Some(ToolAccess::ReadOnly { .. }))
                || !phase.gate.is_empty()
                || phase.approve.is_some()
                || phase.has_flow()
                || !phase.outputs.is_empty()
                || !phase.budget.is_unlimited()
        };
        self.tools.is_some()
            || !self.rules.is_empty()
            || !self.budget.is_unlimited()
            || self.own_phases().any(extends)
    }

    /// Returns true if it, or one of its own phases, has a list of tools or rules.
    pub(crate) fn restricts_tools(&self) -> bool {
        self.tools.is_some() || !self.rules.is_empty() || self.own_phases().any(Phase::has_tools)
    }

    /// Returns true if one of its own phases names subagents.
    pub(crate) fn names_profiles(&self) -> bool {
        let mut lists = self
            .own_phases()
            .filter_map(|phase| phase.available_profiles.as_ref());
        lists.any(|names| !names.is_empty())
    }

    /// Its phases, without those of subworkflows.
    pub fn own_phases(&self) -> impl Iterator<Item = &Phase> {
        self.phases.iter().filter_map(PhaseEntry::phase)
    }

    /// Its references to subworkflows.
    pub fn subworkflows(&self) -> impl DoubleEndedIterator<Item = &Subworkflow> {
        self.phases.iter().filter_map(PhaseEntry::subworkflow)
    }
}

impl PhaseEntry {
    /// The phase, if it is one.
    #[must_use]
    pub fn phase(&self) -> Option<&Phase> {
        match self {
            Self::Phase(phase) => Some(phase),
            Self::Subworkflow(_) => None,
        }
    }

    /// The reference to a subworkflow, if it is one.
    #[must_use]
    pub fn subworkflow(&self) -> Option<&Subworkflow> {
        match self {
            Self::Phase(_) => None,
            Self::Subworkflow(reference) => Some(reference),
        }
    }

    /// The id by which outcomes refer to it: the phase's, or the subworkflow's key.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Phase(phase) => &phase.id,
            Self::Subworkflow(key) => key,
        }
    }

    /// The conditions under which it is entered.
    #[must_use]
    pub fn when(&self) -> &[Condition] {
        match self {
            Self::Phase(phase) => &phase.when,
            Self::Subworkflow(reference) => &reference.when,
        }
    }

    /// Returns true if it may be skipped, may be left for another entry than the next, or counts its visits.
    #[must_use]
    pub fn has_flow(&self) -> bool {
        match self {
            Self::Phase(phase) => phase.has_flow(),
            Self::Subworkflow(reference) => !reference.when.is_empty(),
        }
    }
}

impl Phase {
    /// The emoji and the name, as people read them.
    #[must_use]
    pub fn label(&self) -> String {
        format!("{} {}", self.emoji, self.name)
    }

    /// The id of the entry that is entered in place of it after too many visits, if it is one.
    #[must_use]
    pub fn redirect(&self) -> Option<&str> {
        match &self.on_max_visits {
            OnMaxVisits::Phase(id) if self.max_visits.is_some() => Some(id),
            OnMaxVisits::Phase(_) | OnMaxVisits::Pause | OnMaxVisits::Cancel => None,
        }
    }

    /// Returns true if it may be skipped, may be left for another phase than the next, or counts its visits.
    #[must_use]
    pub fn has_flow(&self) -> bool {
        let leads_elsewhere = |gate: &Gate| gate.on_fail.is_some();
        !self.when.is_empty()
            || !self.outcomes.is_empty()
            || self.max_visits.is_some()
            || self.gate.iter().any(leads_elsewhere)
            || self
                .approve
                .as_ref()
                .is_some_and(|approve| !approve.targets.is_empty())
    }

    /// Returns whether it has a list of tools or rules.
    #[must_use]
    pub fn has_tools(&self) -> bool {
        self.tools.is_some() || !self.rules.is_empty()
    }
}

/// The visibility of a workflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Show {
    /// Listed, and started with `/workflow`.
    #[default]
    User,
    /// Only a part of other workflows.
    Workflows,
}

/// The texts with which a workflow may replace the defaults.
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
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all entries are phases: a box would cost each of them more than it saves"
)]
pub enum PhaseEntry {
    /// A phase of this workflow.
    Phase(Phase),
    /// The workflow that runs here as a subworkflow.
    Subworkflow(Subworkflow),
}

/// A reference to the workflow that runs in this place. It dereferences to the workflow's key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredSubworkflow", into = "StoredSubworkflow")]
pub struct Subworkflow {
    /// The key of the workflow.
    pub key: String,
    /// The conditions under which it is entered; otherwise it is skipped as a whole.
    pub when: Vec<Condition>,
}

/// A reference in a session: sessions of earlier versions have the key only.
#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum StoredSubworkflow {
    Key(String),
    Conditional { key: String, when: Vec<Condition> },
}

impl From<StoredSubworkflow> for Subworkflow {
    fn from(stored: StoredSubworkflow) -> Self {
        match stored {
            StoredSubworkflow::Key(key) => key.into(),
            StoredSubworkflow::Conditional { key, when } => Self { key, when },
        }
    }
}

impl From<Subworkflow> for StoredSubworkflow {
    fn from(Subworkflow { key, when }: Subworkflow) -> Self {
        if when.is_empty() {
            Self::Key(key)
        } else {
            Self::Conditional { key, when }
        }
    }
}

impl<K: Into<String>> From<K> for Subworkflow {
    /// A reference without conditions.
    fn from(key: K) -> Self {
        Self {
            key: key.into(),
            when: Vec::new(),
        }
    }
}

impl Deref for Subworkflow {
    type Target = String;

    fn deref(&self) -> &String {
        &self.key
    }
}

/// A phase: its instructions and its tools.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Phase {
    /// Unique in its workflow.
    pub id: String,
    /// The name shown to people.
    pub name: String,
    /// Shown before the name in the status line.
    pub emoji: String,
    /// The instructions for the agent.
    pub instructions: String,
    /// The tools that it may use; `None` is all.
    pub tools: Option<ToolAccess>,
    /// Globs of the files that may be written where `tools` is `read-only`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writable: Vec<String>,
    /// Patterns of the commands that may run where `tools` is `read-only`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub run: Vec<String>,
    /// The decision on unknown shell commands, if given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<UnknownAction>,
    /// Subagent profiles named in the context message.
    pub available_profiles: Option<Vec<String>>,
    /// Its auto-continue, if given.
    #[serde(default, rename = "continue")]
    pub auto_continue: ContinueRule,
    /// Rules on single calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Rule>,
    /// Rules on results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<ResultRule>,
    /// The checks that must pass before `next` leaves the phase.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gate: Vec<Gate>,
    /// The approval that `next` needs to leave the phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approve: Option<Approval>,
    /// The checkpoint of each turn, if given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Checkpoint>,
    /// The values that the agent hands over when it leaves the phase.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<Parameter>,
    /// The outcomes. The agent must name one when it leaves the phase.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outcomes: Vec<PhaseOutcome>,
    /// The conditions under which it is entered; otherwise it is skipped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub when: Vec<Condition>,
    /// The number of times it may be entered in one run of its scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_visits: Option<u32>,
    /// The consequence of one more visit.
    #[serde(default, skip_serializing_if = "OnMaxVisits::is_pause")]
    pub on_max_visits: OnMaxVisits,
    /// The limits of what it may use each time it is entered.
    #[serde(default, skip_serializing_if = "Budget::is_unlimited")]
    pub budget: Budget,
    /// Settings that the host should make while it lasts.
    #[serde(default, skip_serializing_if = "Hints::is_empty")]
    pub hints: Hints,
}
