//! The context message (hook-lifecycle: "buildContextPrompt Details"), and the parts of it that the model has.
//!
//! [`PhaseContext`] is the whole message of a phase; [`SentContext`] is what was sent already. At a start of the agent
//! the difference is sent (behaviour: "Context").

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde::{Deserialize, Serialize};

use crate::definition::{Catalog, Phase, ToolAccess};
use crate::policy::STEP_TOOL;
use crate::run::{NOT_GIVEN, Position, RunProgress, RunState, entry_name};
use crate::text;

/// The variables that role instruction, phase instructions and advance reminder know: also the values of the run.
pub(crate) fn variables(
    progress: &RunProgress,
    position: &Position<'_>,
    next: &str,
    values: &BTreeMap<String, String>,
    catalog: &Catalog,
) -> BTreeMap<String, String> {
    let RunProgress { state, data } = progress;
    let (workflow, phase) = (position.own_workflow(), position.phase);
    let is_closed = workflow.read_only_in(phase).is_some()
        && workflow.writable.is_empty()
        && phase.writable.is_empty();
    let mut blocked_tools = match &phase.tools {
        Some(ToolAccess::Blacklist(names)) => names.clone(),
        Some(ToolAccess::Whitelist(_) | ToolAccess::ReadOnly { .. }) | None => Vec::new(),
    };
    for tool in ["edit", "write"].iter().filter(|_| is_closed) {
        if !blocked_tools.iter().any(|blocked| blocked == tool) {
            blocked_tools.push((*tool).to_owned());
        }
    }
    let own: [(_, &str); 13] = [
        ("workflowName", &position.root().name),
        ("workflowKey", &state.workflow_key),
        ("description", &state.task_description),
        ("taskId", &state.task_id),
        ("phaseId", &phase.id),
        ("phaseName", &phase.name),
        ("previousPhaseName", previous_name(position, catalog)),
        ("nextPhaseName", next),
        ("blockedToolsList", &text::list(&blocked_tools)),
        ("toolName", STEP_TOOL),
        ("breadcrumbPath", &position.breadcrumb()),
        ("globalStepCount", &state.global_step_count.to_string()),
        (
            "approval.comment",
            data.comment.as_deref().unwrap_or(NOT_GIVEN),
        ),
    ];
    let mut variables = values.clone();
    variables.extend(own.map(|(name, value)| (name.to_owned(), value.to_owned())));
    variables
}

/// The entry before this one in its scope, or around it; `(start)` at the very start (B03).
fn previous_name<'c>(position: &Position<'c>, catalog: &'c Catalog) -> &'c str {
    let mut inward = position.levels.iter().rev();
    let previous = inward.find_map(|level| level.previous());
    previous.map_or("(start)", |entry| entry_name(entry, catalog))
}

/// The topic of a part of the context message, in the order of the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum ContextTopic {
    /// The role of the agent.
    Role,
    /// The task of the run.
    Task,
    /// The phases of the workflow.
    Route,
    /// The phase, and its progress.
    Progress,
    /// The instructions of the phase.
    Instructions,
    /// The tools of the phase.
    Tools,
    /// The conditions for leaving the phase.
    Exit,
    /// The values that leaving the phase hands over.
    Outputs,
    /// The outcomes of the phase.
    Outcomes,
    /// The limits of what the phase and its workflow may use.
    Budget,
    /// The subagents of the phase.
    Profiles,
    /// The subagents of the workflow.
    AllProfiles,
    /// The sentence on how to advance.
    Advance,
}

impl ContextTopic {
    /// Returns true if it is about one phase, so that another phase sends it again even if the text is the same.
    fn is_of_phase(self) -> bool {
        self == Self::Progress || self == Self::Profiles || self.is_in_step_answer()
    }

    /// Returns true if the answer of `workflow_step` that enters a phase contains it.
    fn is_in_step_answer(self) -> bool {
        self == Self::Instructions || self.is_rule()
    }

    /// Returns true if it is a line about the rules of the phase.
    fn is_rule(self) -> bool {
        matches!(
            self,
            Self::Tools | Self::Exit | Self::Outputs | Self::Outcomes | Self::Budget
        )
    }

    /// Its name in a message that says what has changed.
    fn name(self) -> &'static str {
        match self {
            Self::Role => "role",
            Self::Task => "task",
            Self::Route => "phases of the workflow",
            Self::Progress => "phase",
            Self::Instructions => "instructions",
            Self::Tools => "tools",
            Self::Exit => "conditions for leaving it",
            Self::Outputs => "outputs",
            Self::Outcomes => "outcomes",
            Self::Budget => "budget",
            Self::Profiles | Self::AllProfiles => "subagent profiles",
            Self::Advance => "way to advance",
        }
    }

    /// Returns true if no blank line separates it from the part before it.
    fn follows(self, before: Self) -> bool {
        matches!(
            (before, self),
            (Self::Task, Self::Route | Self::Progress)
                | (Self::Route, Self::Progress)
                | (Self::Profiles, Self::AllProfiles)
        ) || (before.is_rule()
            && (self.is_rule() || matches!(self, Self::Profiles | Self::AllProfiles)))
    }
}

/// The context message of a phase, part by part.
#[derive(Debug, Clone)]
pub(crate) struct PhaseContext {
    header: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone)]
struct Part {
    about: ContextTopic,
    text: String,
    digest: u64,
}

/// The parts that the conversation contains, as hashes.
///
/// A part about a phase counts only if it was sent since the phase was entered. Empty where the conversation may have
/// lost what was sent.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct SentContext(BTreeMap<ContextTopic, u64>);

impl SentContext {
    /// Forgets the parts about a phase, because another one is entered.
    pub(crate) fn leave_phase(&mut self) {
        self.0.retain(|about, _| !about.is_of_phase());
    }

    /// Notes that the instructions and rules are in the answer of `workflow_step` that entered the phase.
    pub(crate) fn note_step_answer(&mut self, context: &PhaseContext) {
        let parts = context.parts.iter();
        let in_answer = parts.filter(|part| part.about.is_in_step_answer());
        self.0
            .extend(in_answer.map(|part| (part.about, part.digest)));
    }

    /// Notes that the last answer of `workflow_step` may not have reached the model as it was sent. The parts that were
    /// sent at a start of the agent count as well.
    pub(crate) fn forget_step_answer(&mut self) {
        if !self.0.contains_key(&ContextTopic::Progress) {
            self.0.retain(|about, _| !about.is_in_step_answer());
        }
    }

    /// Returns true if the conversation contains the instructions of the phase.
    pub(crate) fn has_instructions(&self, context: &PhaseContext) -> bool {
        let mut parts = context.parts.iter();
        parts.any(|part| part.about == ContextTopic::Instructions && self.has(part))
    }

    fn has(&self, part: &Part) -> bool {
        self.0.get(&part.about) == Some(&part.digest)
    }
}

impl PhaseContext {
    /// A message without parts.
    pub(crate) fn new(position: &Position<'_>) -> Self {
        let (path, Phase { emoji, name, .. }) = (position.breadcrumb(), position.phase);
        Self {
            header: format!("[Workflow path: {path} ▸ {emoji} {name}]"),
            parts: Vec::new(),
        }
    }

    /// Adds a part at the end.
    pub(crate) fn add(&mut self, about: ContextTopic, text: String) {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        self.parts.push(Part {
            about,
            digest: hasher.finish(),
            text,
        });
    }

    /// Adds the task of the run.
    pub(crate) fn add_task(&mut self, state: &RunState) {
        let (task, id) = (&state.task_description, &state.task_id);
        let text = format!("**Task:** {task}\n**Task ID:** {id}");
        self.add(ContextTopic::Task, text);
    }

    /// Adds the phase, its progress and its instructions, whose variables are resolved.
    pub(crate) fn add_phase(
        &mut self,
        state: &RunState,
        position: &Position<'_>,
        instructions: &str,
    ) {
        let (Phase { emoji, name, .. }, level) = (position.phase, position.innermost());
        let unit = if position.levels.len() == 1 {
            "phases"
        } else {
            "in current scope"
        };
        let (step, number) = (state.global_step_count, level.index + 1);
        let of = level.workflow.phases.len();
        let progress = format!(
            "**Current Phase:** {emoji} {name}\n**Progress:** Step {step} ({number}/{of} {unit})"
        );
        self.add(ContextTopic::Progress, progress);
        let instructions = format!("**What to do in this phase:**\n{instructions}");
        self.add(ContextTopic::Instructions, instructions);
    }

    /// Adds the subagents of the phase, and all of the workflow.
    pub(crate) fn add_profiles(&mut self, phase: &Phase, all: &[String]) {
        let own = text::list(phase.available_profiles.as_deref().unwrap_or_default());
        let own = format!("**Available subagent profiles for this phase:** {own}");
        self.add(ContextTopic::Profiles, own);
        let all = format!("**All profiles:** {}", all.join(", "));
        self.add(ContextTopic::AllProfiles, all);
    }

    /// The lines about the rules of the phase; `None` if there are none.
    pub(crate) fn rules(&self) -> Option<String> {
        let rules = self.parts.iter().filter(|part| part.about.is_rule());
        let rules: Vec<&str> = rules.map(|part| &*part.text).collect();
        (!rules.is_empty()).then(|| rules.join("\n"))
    }

    /// The whole message.
    pub(crate) fn in_full(&self) -> String {
        with_parts(&self.header, &self.parts.iter().collect::<Vec<_>>())
    }

    /// The message where the conversation contains all parts.
    pub(crate) fn line(&self) -> String {
        format!("{} Instructions and rules are unchanged.", self.header)
    }

    /// The message with the parts that were not sent yet, which count as sent afterwards.
    pub(crate) fn update(&self, sent: &mut SentContext) -> String {
        let unknown: Vec<&Part> = self.parts.iter().filter(|part| !sent.has(part)).collect();
        let message = if unknown.is_empty() {
            self.line()
        } else if unknown.len() == self.parts.len() {
            with_parts(&self.header, &unknown)
        } else {
            let mut topics: Vec<&str> = unknown.iter().map(|part| part.about.name()).collect();
            topics.dedup();
            let header = format!(
                "{} New {}. All other rules are unchanged.",
                self.header,
                text::joined(&topics, "and")
            );
            with_parts(&header, &unknown)
        };
        sent.0
            .extend(unknown.iter().map(|part| (part.about, part.digest)));
        message
    }
}

fn with_parts(header: &str, parts: &[&Part]) -> String {
    let length: usize = parts.iter().map(|part| part.text.len() + 2).sum();
    let mut message = String::with_capacity(header.len() + length);
    message.push_str(header);
    let mut before = None;
    for part in parts {
        let follows = before.is_some_and(|before| part.about.follows(before));
        message.push_str(if follows { "\n" } else { "\n\n" });
        message.push_str(&part.text);
        before = Some(part.about);
    }
    message
}
