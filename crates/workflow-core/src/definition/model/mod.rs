//! The maps of the language, each declared once as the struct that the engine uses.
//!
//! A workflow from YAML, from JSON5 or from a session's stored entry is the same value. Beside the maps are the types of
//! keys that only they have. Files, references between workflows and the checks across phases are in `load/`.

mod approval;
mod auto_continue;
mod budget;
mod catalog;
mod check;
mod command;
mod condition;
mod dead_conditions;
mod defaults;
pub(crate) mod fail_closed;
mod gate;
pub(crate) mod graph;
mod guards;
mod level;
mod notify;
mod opening;
mod parameter;
mod phase;
mod result_rule;
mod rule_sets;
mod rules;
mod settings;
mod subworkflow;
mod target;
mod tests_check;
mod tools;
mod trigger;
mod without_run;
mod workflow;

use super::schema::{Declared, Section, Sections};
pub use approval::Approval;
pub use auto_continue::{Bound, ContinueRule, OnStop};
pub use budget::Budget;
pub(crate) use budget::least;
pub use catalog::{Catalog, QUICK};
pub use check::{Check, FileCheck, GitCheck};
pub use command::{ExpectedExit, OutputStream, RunCheck};
pub(crate) use condition::value_text;
pub use condition::{Comparison, Condition, Fact, Subject, Test};
pub(crate) use dead_conditions::{READING, WRITING};
pub use defaults::Defaults;
pub use gate::Gate;
pub use guards::Guards;
pub use level::{DefaultTools, SettingsStatus, ToolAccess};
pub use notify::{NoticeTemplate, NoticeText, Notifier, NotifierAddress, RunEvent};
pub use opening::{OpenedTools, Opening};
pub use parameter::{Parameter, ParameterKind, TextLimits, ValueLimits};
pub use phase::{Checkpoint, Hints, Phase, Thinking, labelled};
pub use result_rule::{ResultKind, ResultRule};
pub(super) use rule_sets::{OwnRuleSet, RuleSets};
pub use rules::{OnRepeat, Rule, RuleAction};
pub use settings::{Limits, SETTINGS_FILE, Settings, TierSettings};
pub use subworkflow::{Returned, Subworkflow};
pub(crate) use subworkflow::{names_in, only_name};
pub use target::{PhaseOutcome, Target};
pub use tests_check::TestsCheck;
pub(super) use tools::{Place, read_level, too_many_patterns};
pub use trigger::{Token, Trigger, TriggerOn};
pub use without_run::{Start, WithoutRun};
pub use workflow::{CancelBy, ContextMode, PhaseEntry, Show, Templates, Workflow};

impl Section {
    /// All maps of the language.
    pub const ALL: Sections = &[
        Workflow::SECTION,
        Phase::SECTION,
        Subworkflow::SECTION,
        tools::Tools::SECTION,
        rule_sets::UsedSet::SECTION,
        OpenedTools::SECTION,
        Rule::SECTION,
        ResultRule::SECTION,
        Gate::SECTION,
        TestsCheck::SECTION,
        command::Expect::SECTION,
        Approval::SECTION,
        Trigger::SECTION,
        trigger::Http::SECTION,
        ContinueRule::SECTION,
        TierSettings::SECTION,
        Defaults::SECTION,
        WithoutRun::SECTION,
        Start::SECTION,
        Limits::SECTION,
        Parameter::SECTION,
        parameter::OUTPUT,
        Budget::SECTION,
    ];
}
