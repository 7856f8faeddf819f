//! Conversion of the state of a session.

use workflow_core::reminders::ContinueCounters;
use workflow_core::session::View;
use workflow_protocol as protocol;

pub(crate) fn session_state_result(view: Option<View<'_>>) -> protocol::SessionStateResult {
    let Some(view) = view else {
        return protocol::SessionStateResult::default();
    };
    let (state, phase, counters) = (view.state, view.phase, view.counters);
    let outcomes = phase.map(|phase| phase.outcomes.clone());
    let flow = protocol::RunFlow {
        inputs: view.inputs,
        outcomes: outcomes.filter(|outcomes| !outcomes.is_empty()),
        visit: view.visit,
        budget: view.budget,
    };
    let mut result = protocol::SessionStateResult {
        active: state.active,
        stale: state.active && phase.is_none(),
        workflow_key: Some(state.workflow_key.clone()),
        task_id: Some(state.task_id.clone()),
        task_description: Some(state.task_description.clone()),
        path: state.current_path.segments().to_vec(),
        global_step_count: Some(state.global_step_count),
        status: view.status,
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
