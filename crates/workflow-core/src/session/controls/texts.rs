//! The answers to commands that cannot be carried out, and the text of `/workflow-status`.

use super::command::Control;
use crate::condition::RunCondition;
use crate::definition::Bound;
use crate::diagnostic::{Code, visible};
use crate::session::phase_texts::needed_to_leave;
use crate::session::run::ActiveRun;
use crate::text;
use crate::types::Millis;

/// The answer without a run.
pub(crate) fn no_run(control: Control) -> String {
    let what = match control {
        Control::Status | Control::Off => "No workflow is active.",
        Control::Pause => "No workflow is active, so there is nothing to pause.",
        Control::Resume => "No workflow is active, so there is nothing to resume.",
        Control::Next | Control::Skip | Control::Goto => {
            "No workflow is active, so there is no phase to leave."
        }
        Control::Approve => "No workflow is active, so nothing waits for approval.",
    };
    format!("{what} Use /workflow {{name}} {{description}} to start one.")
}

/// The answer to a command with an argument that it does not take.
pub(crate) fn takes_no_argument(control: Control, argument: &str) -> String {
    let name = control.word();
    format!(
        "/{name} takes no argument, so \"{}\" was not understood. Nothing was done.",
        visible(argument)
    )
}

/// The answer without a definition.
pub(crate) fn no_definition() -> String {
    "The definition of this workflow is missing, so the run cannot be moved. /cancel-workflow ends it."
        .to_owned()
}

/// The answer to a command that would leave a phase while its exit is in this condition.
pub(crate) fn exit_refusal(condition: RunCondition) -> &'static str {
    if condition == RunCondition::AwaitsTrust {
        "A dialog is open: do you trust the commands of this phase's gate? Answer it first."
    } else if condition == RunCondition::RunningGate {
        "The gate of this phase is running. Wait for its result."
    } else {
        "This phase waits for your approval. Answer with /workflow-approve."
    }
}

/// The answer to `/workflow-status`.
pub(crate) fn status_text(run: &ActiveRun, condition: RunCondition, now: Millis) -> String {
    let state = run.state();
    let Some(phase) = run.phase() else {
        return no_definition();
    };
    let mut lines = vec![
        format!("{}: {}", phase.workflow_name, state.task_description),
        format!("Phase: {}", phase.status),
    ];
    if condition != RunCondition::Active {
        lines.push(format!("Now: {}", condition.described()));
    }
    if let Some(tools) = &phase.allowed {
        lines.push(format!("Tools: {tools}"));
    }
    let at = run.position();
    let needed = at.and_then(|at| needed_to_leave(run.progress(), &at, &phase.phase.gate));
    let by_call = "the agent calls workflow_step with action='next'";
    lines.push(format!(
        "To leave: {}",
        needed.as_deref().unwrap_or(by_call)
    ));
    if let Some(approval) = &phase.phase.approve {
        let choices = approval.choices.join(", ");
        lines.push(format!("Approval: {} ({choices})", approval.ask));
    }
    match (run.counters().reminders, phase.auto_continue.max) {
        (0, _) => {}
        (count, Bound::Times(max)) => lines.push(format!("Reminders: {count} of {max}")),
        (count, Bound::Unlimited) => lines.push(format!("Reminders: {count}")),
    }
    lines.extend(run.visit_note());
    if !phase.phase.outcomes.is_empty() {
        lines.push(format!("Outcomes: {}", phase.outcomes));
    }
    let used = run.budgets.describe();
    lines.extend(used.map(|used| format!("Budget: {used}")));
    if !run.changes().is_empty() {
        let changed = text::join(run.changes().lines(), "; ");
        let help = Code::GuardsChanged.help();
        lines.push(format!(
            "Changed files, to which you have not agreed: {changed}. {help}"
        ));
    }
    lines.push(format!("Steps: {}", state.global_step_count));
    let age = text::duration(state.age(now));
    lines.push(format!("Started: {age} ago"));
    lines.join("\n")
}
