//! Conversions of the engine's values into the protocol's.
//!
//! Owns the keys and options that are constant on the wire.

use serde_json::value::to_raw_value;
use workflow_core::Effects;
use workflow_core::definition::{Listing, LoadOutcome, Loaded, PhaseEntry, Tier, Workflow};
use workflow_core::effect::{AnswerKind, BranchMutation, ToolAnswer, ToolDecision};
use workflow_core::reminders::ContinueCounters;
use workflow_core::session::View;
use workflow_protocol as protocol;

/// The title of a question of which hosts show nothing else.
pub(super) fn whole_title(title: &str, message: &str) -> String {
    [title, message].join("\n\n").trim().to_owned()
}

pub(super) fn branch_result(answer: BranchMutation, out: Effects) -> protocol::BranchResult {
    protocol::BranchResult {
        mutation: Some(answer).filter(|answer| answer.skip_conversation_restore),
        ..out.into()
    }
}

pub(super) fn tool_call_result(decision: ToolDecision, out: Effects) -> protocol::ToolCallResult {
    let block = match decision {
        ToolDecision::Allow => None,
        ToolDecision::Block(block) => Some(block),
    };
    protocol::ToolCallResult {
        block,
        ..out.into()
    }
}

pub(super) fn tool_execute_result(answer: ToolAnswer, out: Effects) -> protocol::ToolExecuteResult {
    let details = to_raw_value(&answer.details).expect("a JSON value can be written");
    protocol::ToolExecuteResult {
        content: vec![protocol::Content::Text { text: answer.text }],
        details: Some(details),
        result_type: answer.kind,
        is_error: (answer.kind == Some(AnswerKind::Error)).then_some(true),
        ..out.into()
    }
}

/// The workflows in force. Those that were left out are in the diagnostics, with what is wrong with them.
pub(super) fn workflow_list_result(loaded: &Loaded) -> protocol::WorkflowListResult {
    let summary = |workflow: &Workflow| {
        let mut listings = loaded.index.iter();
        let is_it = |listing: &&Listing| {
            listing.outcome == LoadOutcome::Loaded && listing.key == workflow.key
        };
        Some(workflow_summary(workflow, listings.find(is_it)?))
    };
    protocol::WorkflowListResult {
        workflows: loaded.catalog.iter().filter_map(summary).collect(),
        diagnostics: loaded.diagnostics.clone(),
        actions: Vec::new(),
    }
}

fn workflow_summary(workflow: &Workflow, listing: &Listing) -> protocol::WorkflowSummary {
    protocol::WorkflowSummary {
        key: workflow.key.clone(),
        name: workflow.name.clone(),
        command_name: Some(workflow.command_name.clone()).filter(|name| !name.is_empty()),
        show: workflow.show,
        source: listing.tier,
        phases: workflow.phases.iter().map(phase_summary).collect(),
        shadows: listing.shadows.then_some(Tier::Global),
    }
}

fn phase_summary(entry: &PhaseEntry) -> protocol::PhaseSummary {
    match entry {
        PhaseEntry::Phase(phase) => protocol::PhaseSummary::Phase {
            id: phase.id.clone(),
            name: phase.name.clone(),
            emoji: phase.emoji.clone(),
        },
        PhaseEntry::Subworkflow(key) => protocol::PhaseSummary::Subworkflow {
            subworkflow: key.key.clone(),
        },
    }
}

pub(crate) fn session_state_result(view: Option<View<'_>>) -> protocol::SessionStateResult {
    let Some(view) = view else {
        return protocol::SessionStateResult::default();
    };
    let (state, phase, counters) = (view.state, view.phase, view.counters);
    let outcomes = phase.map(|phase| phase.outcomes.clone());
    let flow = protocol::RunFlow {
        inputs: view.inputs(),
        outcomes: outcomes.filter(|outcomes| !outcomes.is_empty()),
        visit: view.visit(),
        budget: view.budget(),
    };
    let mut result = protocol::SessionStateResult {
        active: state.active,
        stale: state.active && phase.is_none(),
        workflow_key: Some(state.workflow_key.clone()),
        task_id: Some(state.task_id.clone()),
        task_description: Some(state.task_description.clone()),
        path: state.current_path.segments().to_vec(),
        global_step_count: Some(state.global_step_count),
        status: view.status(),
        paused: pause_text(counters),
        countdown: view.countdown,
        flow: Some(flow).filter(|flow| *flow != protocol::RunFlow::default()),
        ..protocol::SessionStateResult::default()
    };
    if let Some(phase) = phase {
        let (current, total) = phase.progress;
        result.workflow_name = Some(phase.workflow_name.clone());
        result.breadcrumb.clone_from(&phase.breadcrumb);
        result.phase = Some(protocol::PhaseView {
            id: phase.phase.id.clone(),
            name: phase.phase.name.clone(),
            emoji: phase.phase.emoji.clone(),
        });
        result.progress = Some(protocol::Progress {
            current: current as u64,
            total: total as u64,
        });
        result.reminders = Some(protocol::Reminders {
            count: counters.reminders,
            max: phase.auto_continue.max.times(),
            stale: counters.stale,
            max_stale: phase.auto_continue.max_stale.times(),
        });
    }
    result
}

/// The reason for a pause, by name.
fn pause_text(counters: ContinueCounters) -> Option<String> {
    if counters.paused.is_none() && counters.paused_by_owner {
        return Some("owner".to_owned());
    }
    let name = serde_json::to_value(counters.paused).expect("a name is JSON");
    name.as_str().map(str::to_owned)
}
