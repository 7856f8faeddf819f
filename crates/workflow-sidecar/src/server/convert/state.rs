//! Conversion of the state of a session.

use workflow_core::definition::Bound;
use workflow_core::reminders::{ContinueCounters, PauseReason};
use workflow_core::run::PathSegment;
use workflow_core::session::{BreadcrumbItem, PhaseView, View};
use workflow_protocol as protocol;

pub(in crate::server) fn session_state_result(
    view: Option<View<'_>>,
) -> protocol::SessionStateResult {
    let Some(view) = view else {
        return protocol::SessionStateResult::default();
    };
    let View {
        state,
        phase,
        condition: _,
        counters,
        status,
        countdown,
        inputs,
        visit,
        budget,
    } = view;
    let outcomes = phase.as_ref().map(|phase| phase.outcomes.to_owned());
    let flow = protocol::RunFlow {
        inputs,
        outcomes: outcomes.filter(|outcomes| !outcomes.is_empty()),
        visit,
        budget,
    };
    let result = protocol::SessionStateResult {
        active: state.active,
        stale: state.active && phase.is_none(),
        workflow_key: Some(state.workflow_key.clone()),
        task_id: Some(state.task_id.clone()),
        task_description: Some(state.task_description.clone()),
        path: state.current_path.segments().iter().map(segment).collect(),
        global_step_count: Some(state.global_step_count),
        status,
        paused: pause_text(counters),
        countdown,
        flow: Some(flow).filter(|flow| *flow != protocol::RunFlow::default()),
        ..protocol::SessionStateResult::default()
    };
    let Some(phase) = phase else {
        return result;
    };
    protocol::SessionStateResult {
        reminders: Some(protocol::Reminders {
            count: counters.reminders,
            max: times(phase.max),
            stale: counters.stale,
            max_stale: times(phase.max_stale),
        }),
        ..with_phase(result, &phase)
    }
}

fn with_phase(
    result: protocol::SessionStateResult,
    phase: &PhaseView<'_>,
) -> protocol::SessionStateResult {
    let (current, total) = phase.progress;
    protocol::SessionStateResult {
        workflow_name: Some(phase.workflow_name.to_owned()),
        breadcrumb: phase.breadcrumb.iter().map(breadcrumb_item).collect(),
        phase: Some(protocol::PhaseView {
            id: phase.id.to_owned(),
            name: phase.name.to_owned(),
            emoji: phase.emoji.to_owned(),
        }),
        progress: Some(protocol::Progress {
            current: current as u64,
            total: total as u64,
        }),
        ..result
    }
}

fn segment(segment: &PathSegment) -> protocol::PathSegment {
    protocol::PathSegment {
        workflow_key: segment.workflow_key.clone(),
        phase_index: segment.phase_index as u64,
    }
}

fn breadcrumb_item(item: &BreadcrumbItem) -> protocol::Breadcrumb {
    protocol::Breadcrumb {
        workflow_key: item.workflow_key.clone(),
        name: item.name.clone(),
        phase_name: item.phase_name.clone(),
        emoji: item.emoji.clone(),
    }
}

fn times(bound: Bound) -> Option<u32> {
    match bound {
        Bound::Times(times) => Some(times),
        Bound::Unlimited => None,
    }
}

/// The reason for a pause, by name.
fn pause_text(counters: ContinueCounters) -> Option<String> {
    let owner = counters.paused_by_owner.then_some("owner");
    let reason = counters.paused.map(pause_reason);
    reason.or(owner).map(str::to_owned)
}

/// The name of a pause reason.
fn pause_reason(reason: PauseReason) -> &'static str {
    match reason {
        PauseReason::Max => "max",
        PauseReason::MaxStale => "maxStale",
        PauseReason::Error => "error",
        PauseReason::Question => "question",
        PauseReason::Approval => "approval",
        PauseReason::Visits => "visits",
        PauseReason::Budget => "budget",
        PauseReason::LaterVersion => "laterVersion",
    }
}
