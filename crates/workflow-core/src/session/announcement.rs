//! Messages that announce the end of a run (hook-lifecycle: "Case A").

use std::collections::BTreeMap;

use super::run::ActiveRun;
use crate::definition::Catalog;
use crate::effect::{Action, Effects, message_type};
use crate::run::{Position, RunProgress, RunState};
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
    let summary: Vec<String> = [time].into_iter().chain(run.tally().describe()).collect();
    out.act(Action::SendMessage {
        custom_type: message_type::COMPLETE,
        content: format!("{message}\n\n{}", summary.join(" · ")),
    });
}

fn resolve(template: &str, run: &RunProgress, catalog: &Catalog) -> String {
    let RunState {
        workflow_key,
        task_description,
        task_id,
        current_path,
        ..
    } = &run.state;
    let workflow = catalog.get(workflow_key);
    let phases = run.completed(catalog).1.to_string();
    let position = Position::of(&run.state, catalog);
    let values = position.map_or_else(
        |_| BTreeMap::new(),
        |position| run.data.variables(current_path, &position, catalog),
    );
    template::resolve(template, |name| match name {
        "workflowName" => Some(workflow.map_or(workflow_key, |workflow| &workflow.name)),
        "taskDescription" => Some(task_description),
        "taskId" => Some(task_id),
        "phaseCount" => Some(&phases),
        name => values.get(name).map(String::as_str),
    })
}
