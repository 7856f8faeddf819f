//! Messages that announce the end of a run (hook-lifecycle: "Case A").

use super::run::ActiveRun;
use crate::definition::Catalog;
use crate::effect::{Effects, message_type};
use crate::run::{Path, RunProgress};
use crate::{template, text};

/// The completion or cancellation message; a definition that is gone leaves its key and the default (B36).
pub(crate) fn ended(run: &RunProgress, catalog: &Catalog) -> String {
    let state = &run.state;
    let workflow = catalog.get(&state.workflow_key);
    let templates = workflow.map(|workflow| &workflow.templates);
    let completion = templates.and_then(|templates| templates.completion_message.as_deref());
    let cancelled = templates.and_then(|templates| templates.cancelled_message.as_deref());
    let own = cancelled.filter(|_| state.cancelled).or(completion);
    if let Some(own) = own {
        return resolve(own, run, catalog);
    }
    let template = if state.cancelled {
        text::CANCELLED
    } else {
        text::COMPLETION
    };
    let message = resolve(template, run, catalog);
    match (run.data.limits_note(), run.completed(catalog)) {
        (Some(limits), _) => format!("{message}\nEnded by a limit: {limits}"),
        (None, _) if state.cancelled => message,
        (None, (entered, all)) if entered == all => format!("{message}\nPhases completed: {all}"),
        (None, (entered, all)) => format!("{message}\nPhases completed: {entered} of {all}"),
    }
}

/// The message after `/cancel-workflow`.
pub(crate) fn cancelled_by_command(run: &RunProgress, catalog: &Catalog) -> String {
    let workflow = catalog.get(&run.state.workflow_key);
    let own = workflow.and_then(|workflow| workflow.templates.cancelled_message.as_deref());
    resolve(own.unwrap_or(text::CANCELLED_BY_COMMAND), run, catalog)
}

/// Sends the message about the end of a run, with what happened in it.
pub(crate) fn send(message: &str, run: &ActiveRun, out: &mut Effects) {
    let time = format!("Time: {}", text::duration(run.state().age(out.now())));
    let summary = text::join([time].into_iter().chain(run.memory.tally.describe()), " · ");
    out.send_message(message_type::COMPLETE, format!("{message}\n\n{summary}"));
}

fn resolve(template: &str, run: &RunProgress, catalog: &Catalog) -> String {
    let RunProgress { state, data } = run;
    let key = &state.workflow_key;
    let workflow = catalog.get(key);
    let phases = run.completed(catalog).1.to_string();
    // The text is one of the root's.
    let values = data.variables(&Path::root(key, 0), catalog);
    template::resolve(template, |name| match name {
        "workflowName" => Some(workflow.map_or(key, |workflow| &workflow.name)),
        "taskDescription" => Some(&state.task_description),
        "taskId" => Some(&state.task_id),
        "phaseCount" => Some(&phases),
        name => values.get(name).map(String::as_str),
    })
}
