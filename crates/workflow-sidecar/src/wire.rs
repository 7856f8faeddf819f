//! The engine's values as the protocol's, and errors as JSON-RPC's.
//!
//! The one place where both are known. Owns the keys and options that are constant on the wire.

use std::collections::HashMap;

use serde_json::value::to_raw_value;
use workflow_core::definition::{
    Bound, Listing, Loaded, Outcome, PhaseEntry, Show, Tier, Workflow,
};
use workflow_core::diagnostic::{Diagnostic, Severity};
use workflow_core::effect::{Action, AnswerKind, Decider, Effects, Reply, ToolAnswer};
use workflow_core::policy::Parked;
use workflow_core::view::{Crumb, PlaceView, View};
use workflow_protocol as protocol;

/// Our status line.
const STATUS_KEY: &str = "workflow";
/// The countdown above the editor.
const WIDGET_KEY: &str = "workflow-countdown";

pub(crate) fn actions(actions: Vec<Action>) -> Vec<protocol::Action> {
    actions.into_iter().map(action).collect()
}

fn action(action: Action) -> protocol::Action {
    match action {
        Action::AppendEntry { custom_type, data } => protocol::Action::AppendEntry {
            custom_type: custom_type.to_owned(),
            data,
        },
        Action::SendMessage {
            custom_type,
            content,
        } => protocol::Action::SendMessage {
            message: protocol::Message {
                custom_type: custom_type.to_owned(),
                content,
                display: true,
                details: None,
            },
            options: protocol::MessageOptions {
                trigger_turn: false,
                deliver_as: None,
            },
        },
        Action::SendUserMessage {
            content,
            must_arrive,
        } => protocol::Action::SendUserMessage {
            content,
            deliver_as: must_arrive.then_some(protocol::Delivery::FollowUp),
        },
        Action::SetSessionName { name } => protocol::Action::SetSessionName { name },
        Action::SetStatus { text } => protocol::Action::SetStatus {
            key: STATUS_KEY.to_owned(),
            text,
        },
        Action::SetWidget { lines } => protocol::Action::SetWidget {
            key: WIDGET_KEY.to_owned(),
            lines,
            placement: protocol::Placement::AboveEditor,
        },
        Action::Notify { message, severity } => protocol::Action::Notify {
            message,
            level: match severity {
                Severity::Info => protocol::Level::Info,
                Severity::Warning => protocol::Level::Warning,
                Severity::Error => protocol::Level::Error,
            },
        },
    }
}

pub(crate) fn diagnostics(diagnostics: &[Diagnostic]) -> Vec<protocol::Diagnostic> {
    diagnostics.iter().map(diagnostic).collect()
}

fn diagnostic(diagnostic: &Diagnostic) -> protocol::Diagnostic {
    let place = diagnostic.location.as_ref();
    protocol::Diagnostic {
        code: diagnostic.code.as_str().to_owned(),
        severity: match diagnostic.severity {
            Severity::Error => protocol::Severity::Error,
            Severity::Warning => protocol::Severity::Warning,
            Severity::Info => protocol::Severity::Info,
        },
        message: diagnostic.message.clone(),
        file: place.map(|place| place.file.to_string()),
        line: place.and_then(workflow_core::diagnostic::Location::line),
        column: place.and_then(workflow_core::diagnostic::Location::column),
        workflow: diagnostic.workflow.clone(),
        help: diagnostic.help.clone(),
    }
}

pub(crate) fn confirm(session: &str, title: String, message: String) -> protocol::ConfirmParams {
    protocol::ConfirmParams {
        session_id: session.to_owned(),
        title,
        message,
    }
}

/// A question with a few answers. Hosts show its title only, so that all of it stands there.
pub(crate) fn select(
    session: &str,
    title: &str,
    message: &str,
    options: Vec<String>,
) -> protocol::SelectParams {
    let title = [title, message].join("\n\n");
    protocol::SelectParams {
        session_id: session.to_owned(),
        title: title.trim().to_owned(),
        options,
    }
}

pub(crate) fn tool_result_result(output: Effects) -> protocol::ToolResultResult {
    let content = match output.reply {
        Reply::Content(content) => Some(content),
        Reply::None
        | Reply::Later
        | Reply::Block { .. }
        | Reply::Inject { .. }
        | Reply::Mutation(_)
        | Reply::Tool(_)
        | Reply::Triggered(_) => None,
    };
    protocol::ToolResultResult {
        mutation: content.map(|content| protocol::ToolResultMutation {
            content: Some(content),
            ..protocol::ToolResultMutation::default()
        }),
        diagnostics: diagnostics(&output.diagnostics),
        actions: actions(output.actions),
    }
}

pub(crate) fn hook_result(output: Effects) -> protocol::HookResult {
    protocol::HookResult {
        guarded: None,
        diagnostics: diagnostics(&output.diagnostics),
        actions: actions(output.actions),
    }
}

pub(crate) fn branch_result(output: Effects) -> protocol::BranchResult {
    protocol::BranchResult {
        mutation: None,
        diagnostics: diagnostics(&output.diagnostics),
        actions: actions(output.actions),
    }
}

/// What an agent is told before it starts.
pub(crate) fn before_agent_start_result(output: Effects) -> protocol::BeforeAgentStartResult {
    let inject = match output.reply {
        Reply::Inject {
            custom_type,
            content,
        } => Some(protocol::Inject {
            custom_type: custom_type.to_owned(),
            content: content.to_string(),
            display: false,
        }),
        Reply::None
        | Reply::Later
        | Reply::Content(_)
        | Reply::Block { .. }
        | Reply::Mutation(_)
        | Reply::Tool(_)
        | Reply::Triggered(_) => None,
    };
    protocol::BeforeAgentStartResult {
        inject,
        diagnostics: diagnostics(&output.diagnostics),
        actions: actions(output.actions),
    }
}

/// Whether a tool may run.
pub(crate) fn tool_call_result(output: Effects) -> protocol::ToolCallResult {
    let block = match output.reply {
        Reply::Block { reason, by } => Some(protocol::Block {
            reason: reason.to_string(),
            kind: match by {
                Decider::Rule => protocol::BlockKind::Policy,
                Decider::Person => protocol::BlockKind::User,
                Decider::Nobody => protocol::BlockKind::Failure,
            },
        }),
        Reply::None
        | Reply::Later
        | Reply::Content(_)
        | Reply::Inject { .. }
        | Reply::Mutation(_)
        | Reply::Tool(_)
        | Reply::Triggered(_) => None,
    };
    protocol::ToolCallResult {
        block,
        mutation: None,
        diagnostics: diagnostics(&output.diagnostics),
        actions: actions(output.actions),
    }
}

pub(crate) fn agent_end_result(output: Effects) -> protocol::AgentEndResult {
    let mutation = match output.reply {
        Reply::Mutation(mutation) => protocol::AgentEndMutation {
            unload: mutation.unload,
            persist: mutation.persist,
            state: None,
        },
        Reply::None
        | Reply::Later
        | Reply::Content(_)
        | Reply::Block { .. }
        | Reply::Inject { .. }
        | Reply::Tool(_)
        | Reply::Triggered(_) => protocol::AgentEndMutation::default(),
    };
    protocol::AgentEndResult {
        mutation,
        diagnostics: diagnostics(&output.diagnostics),
        actions: actions(output.actions),
    }
}

pub(crate) fn tool_execute_result(output: Effects) -> protocol::ToolExecuteResult {
    let answer = match output.reply {
        Reply::Tool(answer) => Some(answer),
        Reply::None
        | Reply::Later
        | Reply::Content(_)
        | Reply::Block { .. }
        | Reply::Inject { .. }
        | Reply::Mutation(_)
        | Reply::Triggered(_) => None,
    };
    let kind = answer.as_ref().and_then(|answer| answer.kind);
    let (content, details) = match answer {
        Some(ToolAnswer { text, details, .. }) => (
            vec![protocol::Content::Text { text }],
            to_raw_value(&details).ok(),
        ),
        None => (Vec::new(), None),
    };
    protocol::ToolExecuteResult {
        content,
        details,
        result_type: kind.map(|kind| match kind {
            AnswerKind::Error => protocol::ResultType::Error,
            AnswerKind::Cancel => protocol::ResultType::Cancel,
            AnswerKind::Complete => protocol::ResultType::Complete,
        }),
        is_error: (kind == Some(AnswerKind::Error)).then_some(true),
        diagnostics: diagnostics(&output.diagnostics),
        actions: actions(output.actions),
    }
}

pub(crate) fn command_run_result(output: Effects) -> protocol::CommandRunResult {
    protocol::CommandRunResult {
        guarded: None,
        diagnostics: diagnostics(&output.diagnostics),
        actions: actions(output.actions),
    }
}

pub(crate) fn clock_advance_result(due: Vec<Action>) -> protocol::ClockAdvanceResult {
    protocol::ClockAdvanceResult {
        actions: actions(due),
        ..protocol::ClockAdvanceResult::default()
    }
}

/// What can be inserted, what it is called; null if nothing fits.
pub(crate) fn command_complete_result<'a>(
    names: impl Iterator<Item = (&'a str, &'a str)>,
) -> protocol::CommandCompleteResult {
    let items: Vec<protocol::Completion> = names
        .map(|(command_name, name)| protocol::Completion {
            value: command_name.to_owned(),
            label: command_name.to_owned(),
            description: Some(name.to_owned()),
        })
        .collect();
    protocol::CommandCompleteResult {
        items: (!items.is_empty()).then_some(items),
        ..protocol::CommandCompleteResult::default()
    }
}

/// The workflows in force. Those that were left out are in the diagnostics, with what is wrong with them.
pub(crate) fn workflow_list_result(loaded: &Loaded) -> protocol::WorkflowListResult {
    let in_force = loaded.index.iter();
    let in_force = in_force.filter(|listing| listing.outcome == Outcome::Loaded);
    let listings: HashMap<&str, &Listing> = in_force
        .map(|listing| (listing.key.as_str(), listing))
        .collect();
    protocol::WorkflowListResult {
        workflows: loaded
            .catalog
            .iter()
            .filter_map(|workflow| {
                let listing = listings.get(workflow.key.as_str())?;
                Some(workflow_summary(workflow, listing))
            })
            .collect(),
        diagnostics: diagnostics(&loaded.diagnostics),
        actions: Vec::new(),
    }
}

fn workflow_summary(workflow: &Workflow, listing: &Listing) -> protocol::WorkflowSummary {
    protocol::WorkflowSummary {
        key: workflow.key.clone(),
        name: workflow.name.clone(),
        command_name: Some(workflow.command_name.clone()).filter(|name| !name.is_empty()),
        show: match workflow.show {
            Show::User => protocol::Show::User,
            Show::Workflows => protocol::Show::Workflows,
        },
        source: source(listing.tier),
        phases: workflow.phases.iter().map(phase_summary).collect(),
        shadows: listing.shadows.then_some(protocol::Source::Global),
    }
}

fn source(tier: Tier) -> protocol::Source {
    match tier {
        Tier::Global => protocol::Source::Global,
        Tier::Project => protocol::Source::Project,
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
            subworkflow: key.clone(),
        },
    }
}

pub(crate) fn session_state_result(view: Option<View<'_>>) -> protocol::SessionStateResult {
    let Some(view) = view else {
        return protocol::SessionStateResult::default();
    };
    let View {
        state,
        place,
        pace,
        countdown,
    } = view;
    let result = protocol::SessionStateResult {
        active: state.active,
        stale: state.active && place.is_none(),
        workflow_key: Some(state.workflow_key.clone()),
        task_id: Some(state.task_id.clone()),
        task_description: Some(state.task_description.clone()),
        path: state.current_path.segments().iter().map(segment).collect(),
        global_step_count: Some(state.global_step_count),
        parked: pace.parked.map(|why| parked(why).to_owned()),
        countdown,
        ..protocol::SessionStateResult::default()
    };
    let Some(place) = place else {
        return result;
    };
    protocol::SessionStateResult {
        pushes: Some(protocol::Pushes {
            count: pace.pushes,
            max: times(place.max),
            stale: pace.stale,
            max_stale: times(place.max_stale),
        }),
        ..with_place(result, &place)
    }
}

fn with_place(
    result: protocol::SessionStateResult,
    place: &PlaceView<'_>,
) -> protocol::SessionStateResult {
    let (current, total) = place.progress;
    protocol::SessionStateResult {
        workflow_name: Some(place.workflow_name.to_owned()),
        breadcrumb: place.breadcrumb.iter().map(crumb).collect(),
        phase: Some(protocol::PhaseView {
            id: place.phase_id.to_owned(),
            name: place.phase_name.to_owned(),
            emoji: place.phase_emoji.to_owned(),
        }),
        progress: Some(protocol::Progress {
            current: current as u64,
            total: total as u64,
        }),
        status: Some(place.status.to_owned()),
        ..result
    }
}

fn segment(segment: &workflow_core::run::PathSegment) -> protocol::PathSegment {
    protocol::PathSegment {
        workflow_key: segment.workflow_key.clone(),
        phase_index: segment.phase_index as u64,
    }
}

fn crumb(crumb: &Crumb) -> protocol::Breadcrumb {
    protocol::Breadcrumb {
        workflow_key: crumb.workflow_key.clone(),
        name: crumb.name.clone(),
        phase_name: crumb.phase_name.clone(),
        emoji: crumb.emoji.clone(),
    }
}

fn times(bound: Bound) -> Option<u32> {
    match bound {
        Bound::Times(times) => Some(times),
        Bound::Unlimited => None,
    }
}

/// Why a run waits for the user, as one word.
fn parked(why: Parked) -> &'static str {
    match why {
        Parked::Max => "max",
        Parked::MaxStale => "maxStale",
        Parked::Error => "error",
        Parked::Question => "question",
        Parked::Approval => "approval",
    }
}
