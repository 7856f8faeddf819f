//! Workflows and their entries.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::approval::Approval;
use super::auto_continue::{ContinueRule, WaitOrMap};
use super::budget::{Bounds, Budget};
use super::condition::Condition;
use super::gate::Gate;
use super::level::ToolAccess;
use super::opening::{Opening, Openings};
use super::parameter::{Inputs, Parameter, ParameterKind};
use super::phase::{Checkpoint, Phase};
use super::result_rule::ResultRule;
use super::rule_sets::NamedRules;
use super::rules::{OnRepeat, Rule, RuleAction};
use super::subworkflow::{Returned, ReturnedOutputs, Subworkflow};
use super::target::Target;
use super::tools::ReadOnlyOrTools;
use crate::definition::schema::{Change, KeyType, Reader, Section, Shape, Written, section};
use crate::definition::value::{
    CommandName, Flag, ListOf, Map, OneOf, Template, Text, TextOrTexts, Texts, Whole, words,
};
use crate::template::TemplateKind;
use crate::text::{SESSION_NAME_MAX_LENGTH, SESSION_NAME_PREFIX};

section! {
    Section::new("a workflow");
    /// A workflow: its name, its templates and its phase entries in order.
    #[derive(Default)]
    pub struct Workflow {
        /// The directory name, which subworkflow references and path segments use.
        pub key: String,
        /// The displayed name.
        #[key("name": Text, default: Required, example: r#""Bug fix""#)]
        pub name: String,
        /// `/workflow <commandName> <description>` starts it.
        #[key("commandName": CommandName, default: RequiredToStart, example: r#""bugfix""#)]
        pub command_name: String,
        /// Sent to the agent at the start.
        #[key("initialMessage": Template, template: Some(TemplateKind::InitialMessage), default: RequiredToStart, example: r#""Fix this bug: {description}. Begin with {firstPhaseName}.""#)]
        pub initial_message: String,
        /// The phases in order, at least one. Each is a file name, `{subworkflow: key}`, or a map with the keys of a phase.
        #[key("phases": Phases, default: Required, no_value: WrongType, example: r#"["reproduce.md", {"subworkflow": "review"}, "../_shared/release.md"]"#)]
        const entries;
        /// `user`: the user can start it. `workflows`: it is only a part of other workflows, and needs neither `commandName` nor `initialMessage`.
        #[key("show": OneOf<Show>, strict: true, default: Text("user"), example: r#""workflows""#)]
        pub show: Show,
        /// Whether the agent may restart it with `loop`.
        #[key("loopable": Flag, strict: true, change: Some(Change::Way), default: True, example: "false")]
        pub loopable: bool,
        /// The beginning of the session's name; the description follows.
        #[key("sessionNamePrefix": Text, default: Text(SESSION_NAME_PREFIX), example: r#""Bug: ""#)]
        pub session_name_prefix: Option<String>,
        /// The number of characters (UTF-16 units) of the description in the session's name.
        #[key("sessionNameMaxLength": Whole<0>, default: Number(SESSION_NAME_MAX_LENGTH), example: "30")]
        pub session_name_max_length: Option<u32>,
        /// The texts that replace the defaults in this workflow.
        #[keys]
        pub templates: Templates,
        /// Reminders to an agent that stops before the phase is done.
        #[key("continue": WaitOrMap, strict: true, guard: true, change: Some(Change::Text), default: Described("see `continue`"), example: r#"{"max": 5, "countdown": 0}"#)]
        #[serde(default, rename = "continue")]
        pub auto_continue: ContinueRule,
        /// How often the context message is sent in full.
        #[key("context": OneOf<ContextMode>, default: Text("by-change"), example: r#""every-turn""#)]
        pub context: Option<ContextMode>,
        #[key(Phase: ReadOnlyOrTools)]
        const level_tools;
        /// The tools that may run in all of its phases; `None` is all.
        pub tools?: Option<ToolAccess>,
        /// As in a phase.
        #[key(Phase?: TextOrTexts)]
        pub writable: Vec<String>,
        /// As in a phase.
        #[key(Phase?: Openings)]
        pub commands: Vec<Opening>,
        /// As in a rule.
        #[key(Rule?: OneOf<RuleAction>)]
        pub unknown: Option<RuleAction>,
        #[key(Phase: ListOf<ResultRule>)]
        const level_results;
        /// Rules on single calls in all of its phases.
        pub rules?: Vec<Rule>,
        /// Rules on results in all of its phases.
        pub results?: Vec<ResultRule>,
        #[key(Phase: ListOf<Gate>, summary: "Checks of every phase of this workflow, before those of the phase. They do not apply to phases of its subworkflows.")]
        const gate;
        #[key(Phase: Map<Approval>, summary: "The approval of every phase of this workflow that has none. It does not apply to phases of its subworkflows.")]
        const approve;
        /// As in a rule.
        #[key(Rule?: OneOf<OnRepeat>)]
        pub on_repeat: Option<OnRepeat>,
        /// As in a phase.
        #[key(Phase?: OneOf<Checkpoint>)]
        pub checkpoint: Option<Checkpoint>,
        /// Values that a run is given at its start, by name: `{inputs.<name>}`.
        #[key("inputs"?: Inputs, no_value: Refuse, guard: true, change: Some(Change::Way), example: r#"{"version": {"type": "text", "pattern": "^[0-9.]+$", "about": "The version to release"}}"#)]
        pub inputs: Vec<Parameter>,
        /// Values that it returns where it is a subworkflow, by name: `{outputs.<its id>.<name>}`.
        #[key("outputs"?: ReturnedOutputs, no_value: Refuse, guard: true, change: Some(Change::Way), example: r#"{"plan": "{outputs.reproduce.plan}"}"#)]
        pub outputs: Vec<Returned>,
        /// The limits of what a run may use.
        #[key(Phase?: Map<Budget>, summary: "How much a run may use. At a limit it pauses.")]
        pub budget: Budget,
        /// The bounds that are values of the run: the key, and the name of the value.
        pub bounds?: Bounds,
        /// Who may cancel a run.
        #[key("cancel"?: OneOf<CancelBy>, no_value: Refuse, guard: true, change: Some(Change::Guard), default: Text("anyone"), example: r#""user""#)]
        pub cancel: Option<CancelBy>,
        /// Lists of rules, each with a name by which `tools` uses it. A name of an outer level cannot be defined again.
        #[key("rulesets": NamedRules, no_value: Refuse, guard: true, example: r#"{"no-network": [{"block": "bash", "command": ["curl *", "wget *"]}]}"#)]
        const rulesets;
        /// The schema of this file, for editors. It has no other effect.
        #[key("$schema": Text, example: r#""./workflow.schema.json""#)]
        const schema;
        /// The phase entries, at least one.
        pub phases: Vec<PhaseEntry>,
    }
}

section! {
    Section::new("a workflow");
    /// The texts with which a workflow may replace the defaults.
    #[derive(Default)]
    pub struct Templates {
        /// The agent's role: the beginning of the context message.
        #[key("roleInstruction": Template, template: Some(TemplateKind::Context), default: Described("built in"), example: r#""Work in phases, and stay inside the current one.""#)]
        pub role_instruction: Option<String>,
        /// How to leave the phase: the end of the context message.
        #[key("advanceReminder": Template, template: Some(TemplateKind::Context), default: Described("built in"), example: r#""When it is done, call {toolName} with action='next'.""#)]
        pub advance_reminder: Option<String>,
        /// The reason that the agent reads when a list blocks a call.
        #[key("blockReasonTemplate": Template, template: Some(TemplateKind::BlockReason), default: Described("built in"), example: r#""{toolName} is not for {phaseName}. Allowed: {allowedTools}""#)]
        pub block_reason_template: Option<String>,
        /// The message when a run is completed.
        #[key("completionMessage": Template, template: Some(TemplateKind::Completion), default: Described("built in"), example: r#""Done: {taskDescription}""#)]
        pub completion_message: Option<String>,
        /// The message when the run is cancelled. Without it, a `completionMessage` is used when the agent cancels.
        #[key("cancelledMessage": Template, template: Some(TemplateKind::Completion), default: Described("built in"), example: r#""Stopped: {taskDescription}""#)]
        pub cancelled_message: Option<String>,
        /// The reminder to an agent that stopped before the phase is done.
        #[key("notDoneReminder": Template, template: Some(TemplateKind::NotDone), default: Described("built in"), example: r#""{phaseEmoji} {phaseName} is not done: {phaseInstructions}""#)]
        pub not_done_reminder: Option<String>,
    }
}

words! {
    /// The visibility of a workflow.
    #[derive(Default, JsonSchema)]
    pub enum Show {
        /// Listed, and started with `/workflow`.
        "user" default => User,
        /// Only a part of other workflows.
        "workflows" => Workflows,
    }
}

words! {
    /// The frequency of the full context message.
    #[derive(Default)]
    pub enum ContextMode {
        /// When a phase is entered, and when the model may have lost it.
        "by-change" default => ByChange,
        /// At every start of the agent.
        "every-turn" => EveryTurn,
    }
}

words! {
    /// Those who may cancel a run.
    pub enum CancelBy {
        /// The agent and the user.
        "anyone" => Anyone,
        /// The user only. A call of the agent asks the user.
        "user" => User,
    }
}

/// A workflow's phases: file names, references, and phases inside the definition.
pub(crate) struct Phases;

impl KeyType for Phases {
    type Value = ();
    const SHAPE: Shape = Shape::new(|| json!({
            "type": "array",
            "minItems": 1,
            "items": {"anyOf": [
                {"type": "string", "description": "A phase file, from the workflow's directory."},
                {"$ref": "#/definitions/reference"},
                {"$ref": "#/definitions/phase"},
            ]},
        }), "list").meant(Texts::SHAPE.meant);

    /// They are read by hand, with their files.
    fn read(_reader: &mut Reader<'_>, _written: Written<'_>) -> Option<()> {
        None
    }
}

impl Workflow {
    /// Returns whether its phases are read-only unless they say otherwise.
    pub fn is_read_only(&self) -> bool {
        matches!(self.tools, Some(ToolAccess::ReadOnly { .. }))
    }

    /// The location of its `read-only`, which a phase of its own may lift, if it has one.
    pub fn read_only_of(&self, own: Option<&Phase>) -> Option<&str> {
        match &self.tools {
            Some(ToolAccess::ReadOnly { source }) if !own.is_some_and(Phase::lifts) => Some(source),
            _ => None,
        }
    }

    /// The location of the `read-only` that applies in a phase of its own, if one does: the phase's, or the workflow's.
    pub fn read_only_in<'a>(&'a self, phase: &'a Phase) -> Option<&'a str> {
        match &phase.tools {
            Some(ToolAccess::ReadOnly { source }) => Some(source),
            _ => self.read_only_of(Some(phase)),
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
        let restricts = |phase: &Phase| phase.tools.is_some() || !phase.rules.is_empty();
        self.tools.is_some() || !self.rules.is_empty() || self.own_phases().any(restricts)
    }

    /// Returns true if one of its own phases names subagents.
    pub(crate) fn names_profiles(&self) -> bool {
        let mut lists = self.own_phases().map(|phase| &phase.available_profiles);
        lists.any(|names| names.iter().flatten().next().is_some())
    }

    /// Its phases, without those of subworkflows.
    pub fn own_phases(&self) -> impl Iterator<Item = &Phase> {
        self.phases.iter().filter_map(PhaseEntry::phase)
    }

    /// Returns true if the limit of visits of an entry leads behind it, past its gate or its approval. An end with a name is left to
    /// the reference around, if it is not the outermost workflow.
    pub(crate) fn limit_passes_guard(&self, at: usize, is_outermost: bool) -> bool {
        let Some(phase) = self.phases.get(at).and_then(PhaseEntry::phase) else {
            return false;
        };
        let leads_behind = match phase.instead_of_visit() {
            Some(Target::Next | Target::End | Target::Done) => true,
            Some(Target::EndAs(_)) => is_outermost,
            Some(Target::Phase(id)) => self.phases[at..].iter().skip(1).any(|to| to.id() == id),
            Some(Target::Pause | Target::Cancel) | None => false,
        };
        leads_behind && (!phase.gate.is_empty() || phase.approve.is_some())
    }

    /// The type of an output of one of its entries: of a phase, or of a subworkflow. Those of a loop are lists; one that is a
    /// list itself is not collected. A function knows the workflows.
    pub(crate) fn output_of<'w>(
        &'w self,
        id: &str,
        name: &str,
        find: &dyn Fn(&str) -> Option<&'w Self>,
    ) -> Option<Parameter> {
        let mut entries = self.phases.iter();
        match entries.find(|entry| entry.id() == id)? {
            PhaseEntry::Phase(phase) => {
                let mut outputs = phase.outputs.iter();
                outputs.find(|output| output.name == name).cloned()
            }
            PhaseEntry::Subworkflow(reference) => {
                let inner = find(&reference.key)?;
                let returned = inner.outputs.iter().find(|known| known.name == name)?;
                let output = inner.output_of(&returned.phase, &returned.output, find)?;
                if reference.for_each.is_none() {
                    return Some(output);
                }
                let is_collected = output.kind != ParameterKind::List;
                is_collected.then(|| Parameter::new(name, ParameterKind::List))
            }
        }
    }

    /// Its bounds that are values of the run: the key, and the name of the value.
    pub(crate) fn all_bounds(&self) -> impl Iterator<Item = &(String, String)> {
        let gates = self.own_phases().flat_map(|phase| &phase.gate);
        let of_phases = self.own_phases().flat_map(|phase| &phase.bounds);
        let of_references = self.subworkflows().flat_map(|of| &of.bounds);
        let inside = of_phases.chain(gates.flat_map(|gate| &gate.bounds));
        inside.chain(of_references).chain(&self.bounds)
    }

    /// Its references to subworkflows.
    pub fn subworkflows(&self) -> impl DoubleEndedIterator<Item = &Subworkflow> {
        self.phases.iter().filter_map(PhaseEntry::subworkflow)
    }
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

impl PhaseEntry {
    /// The phase, if it is one.
    pub fn phase(&self) -> Option<&Phase> {
        match self {
            Self::Phase(phase) => Some(phase),
            Self::Subworkflow(_) => None,
        }
    }

    /// The phase, if it is one, to be changed.
    pub(crate) fn phase_mut(&mut self) -> Option<&mut Phase> {
        match self {
            Self::Phase(phase) => Some(phase),
            Self::Subworkflow(_) => None,
        }
    }

    /// The reference to a subworkflow, if it is one.
    pub(crate) fn subworkflow(&self) -> Option<&Subworkflow> {
        match self {
            Self::Phase(_) => None,
            Self::Subworkflow(reference) => Some(reference),
        }
    }

    /// The id by which outcomes refer to it: the phase's, or the subworkflow's.
    pub fn id(&self) -> &str {
        match self {
            Self::Phase(phase) => &phase.id,
            Self::Subworkflow(reference) => reference.id(),
        }
    }

    /// The conditions under which it is entered, how often, and what happens instead of one visit too many.
    fn entering(&self) -> (&[Condition], Option<u32>, Option<&Target>) {
        match self {
            Self::Phase(of) => (&of.when, of.max_visits, of.on_limit.as_ref()),
            Self::Subworkflow(of) => (&of.when, of.max_visits, of.on_limit.as_ref()),
        }
    }

    /// The conditions under which it is entered.
    pub fn when(&self) -> &[Condition] {
        self.entering().0
    }

    /// How often it may be entered.
    pub(crate) fn max_visits(&self) -> Option<u32> {
        self.entering().1
    }

    /// What happens instead of one visit too many, if its visits are limited.
    pub(crate) fn instead_of_visit(&self) -> Option<&Target> {
        let (_, most, instead) = self.entering();
        most.map(|_| instead.unwrap_or(&Target::Pause))
    }

    /// Returns true if it may be skipped, may be left for another entry than the next, or counts its visits.
    pub(crate) fn has_flow(&self) -> bool {
        match self {
            Self::Phase(phase) => phase.has_flow(),
            Self::Subworkflow(reference) => reference.has_flow(),
        }
    }
}
