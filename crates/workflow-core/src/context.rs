//! The context message (hook-lifecycle: "buildContextPrompt Details"), and what the conversation holds of it.
//!
//! [`Context`] is what there is to say where a run stands; [`Told`] is what stands in the conversation already.
//! What is said at a start of the agent is the one without the other (behaviour: "Context").

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use crate::definition::{Catalog, ToolAccess};
use crate::policy::STEP_TOOL;
use crate::run::{Position, RunState, entry_name};
use crate::{template, text};

/// The variables that role instruction, phase instructions and advance reminder know.
#[derive(Debug)]
pub(crate) struct ContextVariables<'a> {
    workflow_name: &'a str,
    workflow_key: &'a str,
    description: &'a str,
    task_id: &'a str,
    phase_id: &'a str,
    phase_name: &'a str,
    previous_phase_name: &'a str,
    next_phase_name: String,
    blocked_tools: String,
    breadcrumb: String,
    step_count: String,
}

impl<'a> ContextVariables<'a> {
    pub(crate) fn of(
        state: &'a RunState,
        position: &Position<'a>,
        next: String,
        catalog: &'a Catalog,
    ) -> Self {
        let blocked_tools = match &position.phase.tools {
            Some(ToolAccess::Blacklist(names)) => text::list(names),
            Some(ToolAccess::Whitelist(_)) | None => text::list(&[]),
        };
        Self {
            workflow_name: &position.root().name,
            workflow_key: &state.workflow_key,
            description: &state.task_description,
            task_id: &state.task_id,
            phase_id: &position.phase.id,
            phase_name: &position.phase.name,
            previous_phase_name: previous_name(position, catalog),
            next_phase_name: next,
            blocked_tools,
            breadcrumb: position.breadcrumb(),
            step_count: state.global_step_count.to_string(),
        }
    }

    /// Puts the values into a template.
    pub(crate) fn resolve(&self, template: &str) -> String {
        template::resolve(template, |name| match name {
            "workflowName" => Some(self.workflow_name),
            "workflowKey" => Some(self.workflow_key),
            "description" => Some(self.description),
            "taskId" => Some(self.task_id),
            "phaseId" => Some(self.phase_id),
            "phaseName" => Some(self.phase_name),
            "previousPhaseName" => Some(self.previous_phase_name),
            "nextPhaseName" => Some(&self.next_phase_name),
            "blockedToolsList" => Some(&self.blocked_tools),
            "toolName" => Some(STEP_TOOL),
            "breadcrumbPath" => Some(&self.breadcrumb),
            "globalStepCount" => Some(&self.step_count),
            _ => None,
        })
    }
}

/// The entry before this one in its scope, or around it; `(start)` at the very start (B03).
fn previous_name<'c>(position: &Position<'c>, catalog: &'c Catalog) -> &'c str {
    let previous = position
        .levels
        .iter()
        .rev()
        .find_map(|level| level.previous());
    previous.map_or("(start)", |entry| entry_name(entry, catalog))
}

/// The line that says where the run stands.
fn header(position: &Position<'_>) -> String {
    format!(
        "[Workflow path: {} ▸ {} {}]",
        position.breadcrumb(),
        position.phase.emoji,
        position.phase.name
    )
}

/// What a part of the context message is about, in the order in which they are said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum About {
    /// What the agent is.
    Role,
    /// What the run is for.
    Task,
    /// The phase, and how far that is.
    Place,
    /// What to do in the phase.
    Instructions,
    /// Which tools the phase has.
    Tools,
    /// Which subagents the phase has.
    Profiles,
    /// Which subagents the workflow has.
    AllProfiles,
    /// How to move on.
    Advance,
}

impl About {
    /// Whether it is said of one phase, and of no other even in the same words.
    fn is_of_phase(self) -> bool {
        matches!(
            self,
            Self::Place | Self::Instructions | Self::Tools | Self::Profiles
        )
    }

    /// Whether it stands right under what comes before it.
    fn follows(self, before: Self) -> bool {
        matches!(
            (before, self),
            (Self::Task, Self::Place)
                | (Self::Tools, Self::Profiles | Self::AllProfiles)
                | (Self::Profiles, Self::AllProfiles)
        )
    }
}

/// What the agent is told where a run stands, part by part.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    header: String,
    parts: Vec<Part>,
    /// The message in full, once it was asked for: where it is told at every turn, it is always the same text.
    in_full: OnceCell<Arc<str>>,
}

#[derive(Debug, Clone)]
struct Part {
    about: About,
    text: String,
    digest: u64,
}

impl Part {
    fn new(about: About, text: String) -> Self {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        Self {
            about,
            digest: hasher.finish(),
            text,
        }
    }
}

/// What the conversation holds of it, as far as we know.
///
/// A part stands in it if it was said in these words; a part about a phase, if that was since the
/// phase was entered. Empty where the conversation may have lost what was said.
#[derive(Debug, Clone, Default)]
pub(crate) struct Told(BTreeMap<About, u64>);

impl Told {
    /// Another phase is entered: what was said of the one before does not hold.
    pub(crate) fn leave_phase(&mut self) {
        self.0.retain(|about, _| !about.is_of_phase());
    }

    /// The instructions stand in the answer of `workflow_step` that entered the phase.
    pub(crate) fn hear_instructions(&mut self, context: &Context) {
        let part = context.part(About::Instructions);
        self.0.extend(part.map(|part| (part.about, part.digest)));
    }

    /// The last answer of `workflow_step` may not have come as we gave it. What a start of the agent
    /// said since the phase was entered stands all the same.
    pub(crate) fn doubt_answer(&mut self) {
        if !self.0.contains_key(&About::Place) {
            self.0.remove(&About::Instructions);
        }
    }

    /// Whether the conversation holds what to do in the phase.
    pub(crate) fn knows_instructions(&self, context: &Context) -> bool {
        context
            .part(About::Instructions)
            .is_some_and(|part| self.knows(part))
    }

    fn knows(&self, part: &Part) -> bool {
        self.0.get(&part.about) == Some(&part.digest)
    }
}

impl Context {
    pub(crate) fn of(
        state: &RunState,
        position: &Position<'_>,
        variables: &ContextVariables<'_>,
        instructions: &str,
        all_profiles: &[String],
    ) -> Self {
        let templates = &position.root().templates;
        let own = |own: &Option<String>, default: &str| {
            variables.resolve(own.as_deref().unwrap_or(default))
        };
        let phase = position.phase;
        let profiles = text::list(phase.available_profiles.as_deref().unwrap_or_default());
        let parts = [
            (
                About::Role,
                own(&templates.role_instruction, text::ROLE_INSTRUCTION),
            ),
            (
                About::Task,
                format!(
                    "**Task:** {}\n**Task ID:** {}",
                    state.task_description, state.task_id
                ),
            ),
            (About::Place, place(state, position)),
            (
                About::Instructions,
                format!("**What to do in this phase:**\n{instructions}"),
            ),
            (
                About::Profiles,
                format!("**Available subagent profiles for this phase:** {profiles}"),
            ),
            (
                About::AllProfiles,
                format!("**All profiles:** {}", all_profiles.join(", ")),
            ),
            (
                About::Advance,
                own(&templates.advance_reminder, text::ADVANCE_REMINDER),
            ),
        ];
        Self {
            header: header(position),
            parts: parts.map(|(about, text)| Part::new(about, text)).into(),
            in_full: OnceCell::new(),
        }
    }

    /// Says as well which tools there are, which the npm package leaves to the templates.
    pub(crate) fn with_tools(mut self, phase: &str, allowed: &str) -> Self {
        let tools = Part::new(About::Tools, format!("**Tools in {phase}:** {allowed}"));
        let at = self.parts.partition_point(|part| part.about < About::Tools);
        self.parts.insert(at, tools);
        self.in_full = OnceCell::new();
        self
    }

    /// The message in full.
    pub(crate) fn in_full(&self) -> Arc<str> {
        let write = || with_parts(&self.header, &self.parts.iter().collect::<Vec<_>>()).into();
        Arc::clone(self.in_full.get_or_init(write))
    }

    /// The message where the conversation holds all of it.
    pub(crate) fn line(&self) -> String {
        format!("{} rules and instructions unchanged", self.header)
    }

    /// The message without what the conversation holds; it holds all of it afterwards.
    pub(crate) fn tell(&self, told: &mut Told) -> String {
        let unknown: Vec<&Part> = self.parts.iter().filter(|part| !told.knows(part)).collect();
        let message = if unknown.is_empty() {
            self.line()
        } else if unknown.len() == self.parts.len() {
            with_parts(&self.header, &unknown)
        } else {
            let header = format!("{} as said above, and:", self.header);
            with_parts(&header, &unknown)
        };
        told.0
            .extend(unknown.iter().map(|part| (part.about, part.digest)));
        message
    }

    fn part(&self, about: About) -> Option<&Part> {
        self.parts.iter().find(|part| part.about == about)
    }
}

fn place(state: &RunState, position: &Position<'_>) -> String {
    let (phase, level) = (position.phase, position.innermost());
    let unit = if position.levels.len() == 1 {
        "phases"
    } else {
        "in current scope"
    };
    format!(
        "**Current Phase:** {} {}\n**Progress:** Step {} ({}/{} {unit})",
        phase.emoji,
        phase.name,
        state.global_step_count,
        level.index + 1,
        level.workflow.phases.len()
    )
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
