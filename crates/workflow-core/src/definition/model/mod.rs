//! Loaded definitions as plain data.
//!
//! It knows no files, formats or spans: a workflow from YAML, from JSON5 or from a session's stored entry is the same
//! value.

mod auto_continue;
mod catalog;
mod flow;
mod gate;
pub(in crate::definition) mod graph;
mod rules;
mod settings;
mod tier;
mod trigger;
mod workflow;

pub use auto_continue::{Bound, ContinueRule, OnLimit, OnStop};
pub use catalog::Catalog;
pub use flow::{
    Budget, CancelBy, Condition, Hints, OnMaxVisits, Parameter, ParameterKind, PhaseOutcome,
    Subject, Target, Thinking,
};
pub use gate::{Approval, Check, ExpectedExit, FileCheck, Gate, GitCheck, OutputStream, RunCheck};
pub use rules::{
    Guards, OnRepeat, ResultKind, ResultRule, Rule, RuleAction, SettingsStatus, ToolAccess,
    UnknownAction,
};
pub use settings::{ContextMode, Limits, SETTINGS_FILE, Settings};
pub use tier::Tier;
pub use trigger::{Checkpoint, Token, Trigger, TriggerOn};
pub use workflow::{Phase, PhaseEntry, Show, Subworkflow, Templates, Workflow};
