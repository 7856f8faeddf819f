//! The context message (hook-lifecycle: "buildContextPrompt Details").

use crate::definition::{Catalog, ToolAccess};
use crate::guard::STEP_TOOL;
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
pub(crate) fn header(position: &Position<'_>) -> String {
    format!(
        "[Workflow path: {} ▸ {} {}]",
        position.breadcrumb(),
        position.phase.emoji,
        position.phase.name
    )
}

/// The message in full.
pub(crate) fn message(
    state: &RunState,
    position: &Position<'_>,
    variables: &ContextVariables<'_>,
    instructions: &str,
    all_profiles: &[String],
) -> String {
    let templates = &position.root().templates;
    let role = variables.resolve(
        templates
            .role_instruction
            .as_deref()
            .unwrap_or(text::ROLE_INSTRUCTION),
    );
    let advance = variables.resolve(
        templates
            .advance_reminder
            .as_deref()
            .unwrap_or(text::ADVANCE_REMINDER),
    );
    let phase = position.phase;
    let level = position.innermost();
    let unit = if position.levels.len() == 1 {
        "phases"
    } else {
        "in current scope"
    };
    [
        header(position),
        String::new(),
        role,
        String::new(),
        format!("**Task:** {}", state.task_description),
        format!("**Task ID:** {}", state.task_id),
        format!("**Current Phase:** {} {}", phase.emoji, phase.name),
        format!(
            "**Progress:** Step {} ({}/{} {unit})",
            state.global_step_count,
            level.index + 1,
            level.workflow.phases.len()
        ),
        String::new(),
        "**What to do in this phase:**".to_owned(),
        instructions.to_owned(),
        String::new(),
        format!(
            "**Available subagent profiles for this phase:** {}",
            text::list(phase.available_profiles.as_deref().unwrap_or_default())
        ),
        format!("**All profiles:** {}", all_profiles.join(", ")),
        String::new(),
        advance,
    ]
    .join("\n")
}
