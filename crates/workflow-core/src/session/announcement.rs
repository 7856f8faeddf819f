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
    let (entered, all) = run.completed(catalog);
    let in_part = text::COMPLETION.replace("{phaseCount}", &format!("{entered} of {all}"));
    let template = if state.cancelled {
        let cancelled = templates.and_then(|templates| templates.cancelled_message.as_deref());
        cancelled.or(completion).unwrap_or(text::CANCELLED)
    } else {
        completion.unwrap_or(if entered == all {
            text::COMPLETION
        } else {
            &in_part
        })
    };
    resolve(template, run, catalog)
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
