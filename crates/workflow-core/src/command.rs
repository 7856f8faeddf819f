//! The commands `/workflow` and `/cancel-workflow`, and the completion of their arguments.

use std::sync::Arc;

use crate::Session;
use crate::context::Told;
use crate::definition::{Catalog, Loaded, Show, Workflow, nearest};
use crate::effect::{Action, DeferredReply, Effects, Question, Reply, message_type};
use crate::ending;
use crate::policy::Pace;
use crate::run::{MAX_TIME, cancel, first_phase, start};
use crate::session::{Run, Waiting, notify};
use crate::trust::Foreign;
use crate::types::{Millis, RequestId, Severity};
use crate::white_space;
use crate::{template, text};

/// A start that waits for the person to confirm it.
#[derive(Debug, Clone)]
pub(crate) struct PendingStart {
    pub(crate) request: RequestId,
    loaded: Arc<Loaded>,
    workflow_key: String,
    description: String,
    /// The run that the person was asked about.
    replaces: Option<String>,
}

/// The longest description a run is started with, in bytes: it goes into every text of the run.
const MAX_DESCRIPTION: usize = 1 << 20;

impl Session {
    /// `/workflow {name} {description}`: lists, refuses, asks, or starts.
    ///
    /// The definitions it was given are adopted only by a start (B35).
    pub(crate) fn workflow_command(
        &mut self,
        now: Millis,
        request: RequestId,
        arguments: &str,
        loaded: Arc<Loaded>,
        out: &mut Effects,
    ) {
        let arguments = white_space::trim(arguments);
        if arguments.is_empty() {
            out.actions
                .push(notify(Severity::Info, usage(&loaded.catalog)));
            return;
        }
        let (name, description) = white_space::split_first_word(arguments);
        if description.is_empty() {
            out.actions.push(notify(
                Severity::Warning,
                format!("Usage: /workflow {name} {{description}}"),
            ));
            return;
        }
        if description.len() > MAX_DESCRIPTION {
            out.actions.push(notify(
                Severity::Error,
                "The description is longer than 1 MiB. Put it into a file and name the file instead.",
            ));
            return;
        }
        let workflow = match find(name, &loaded) {
            Ok(workflow) => workflow,
            Err(refusal) => {
                out.notify(Severity::Error, refusal);
                return;
            }
        };
        let pending = PendingStart {
            request,
            workflow_key: workflow.key.clone(),
            description: description.to_owned(),
            replaces: self.active_task(),
            loaded,
        };
        match self.run.as_ref().filter(|run| run.state.active) {
            None => self.start_run(now, pending, out),
            Some(_) if !self.can_ask() => out.actions.push(notify(
                Severity::Warning,
                format!(
                    "A workflow is already active, and {}. Run /cancel-workflow first.",
                    self.why_not_asked("this host cannot ask whether to replace it")
                ),
            )),
            Some(run) => {
                let message = confirmation(run);
                let id = self.next_question();
                self.waiting.insert(id, Waiting::Start(pending));
                let title = "Workflow already active".to_owned();
                out.questions.push(Question {
                    id,
                    title,
                    message,
                    options: Vec::new(),
                    show: None,
                });
                out.reply = Reply::Later;
            }
        }
    }

    /// The person answered whether to replace the active run.
    pub(crate) fn start_answered(
        &mut self,
        now: Millis,
        pending: PendingStart,
        confirmed: bool,
        out: &mut Effects,
    ) {
        let request = pending.request;
        let mut settled = Effects::default();
        if confirmed && self.active_task() != pending.replaces {
            settled.actions.push(notify(
                Severity::Warning,
                "Another workflow is active by now. Run /workflow again to replace it.",
            ));
        } else if confirmed {
            self.start_run(now, pending, &mut settled);
        }
        out.effects.append(&mut settled.effects);
        out.deferred.append(&mut settled.deferred);
        out.deferred.push(DeferredReply {
            request,
            reply: Reply::None,
            actions: settled.actions,
        });
    }

    /// The task of the active run, if one is.
    fn active_task(&self) -> Option<String> {
        let run = self.run.as_ref().filter(|run| run.state.active)?;
        Some(run.state.task_id.clone())
    }

    fn start_run(&mut self, now: Millis, pending: PendingStart, out: &mut Effects) {
        let PendingStart {
            loaded,
            workflow_key,
            description,
            ..
        } = pending;
        let catalog = Arc::clone(&loaded.catalog);
        let Some(workflow) = catalog.get(&workflow_key) else {
            return;
        };
        let task_id = self.random.task_id(now);
        let started_at = i64::try_from(now).unwrap_or(MAX_TIME).min(MAX_TIME);
        let state = start(workflow, &catalog, task_id, &description, started_at);
        let standing = crate::standing::Standing::of(&state, &catalog, &loaded.settings);
        let triggers = std::mem::take(&mut self.settings.triggers);
        self.adopt_settings(&loaded.settings);
        self.pushed = None;
        self.forget_word(out);
        self.run = Some(Run {
            state: state.clone(),
            catalog: Arc::clone(&catalog),
            standing,
            cancel_pending: false,
            pace: Pace::default(),
            stored_pace: Pace::default(),
            definition_stored: false,
            foreign: Foreign::of(&workflow_key, &catalog, &loaded.index),
            baseline: None,
            awaits: None,
            stored_awaits: None,
        });
        // The new run has not been moved yet, whatever this response did to the old one.
        self.turn_moved = self.turn_moved.map(|_| false);
        self.told = Told::default();
        self.enter(state, out);
        if self.settings.triggers != triggers {
            self.watch_triggers(out);
        }
        out.actions.push(Action::SetSessionName {
            name: session_name(workflow, &description),
        });
        out.actions.push(Action::SendUserMessage {
            must_arrive: false,
            content: initial_message(workflow, &catalog, &description),
        });
    }

    /// `/cancel-workflow`: ends the run at once. Its entry says that the end was announced (B01).
    pub(crate) fn cancel_command(&mut self, out: &mut Effects) {
        self.forget_word(out);
        let Some(mut run) = self.run.take_if(|run| run.state.active) else {
            out.actions
                .push(notify(Severity::Info, "No active workflow to cancel."));
            return;
        };
        self.agent_is_running(out);
        self.stop_leaving("the run was cancelled", out);
        self.call_off_calls("the run moved on", out);
        self.pushed = None;
        run.state = cancel(&run.state);
        run.state.completion_notified = true;
        run.store(out);
        out.actions.push(Action::SetStatus { text: None });
        let content = ending::cancelled_by_command(&run.state, &run.catalog);
        out.actions.push(Action::SendMessage {
            custom_type: message_type::COMPLETE,
            content,
        });
        out.actions
            .push(notify(Severity::Info, "Workflow cancelled."));
    }
}

/// The names that `/workflow` can go on with, and what each is called.
pub fn complete<'c>(
    catalog: &'c Catalog,
    prefix: &str,
) -> impl Iterator<Item = (&'c str, &'c str)> {
    let names = catalog
        .startable()
        .map(|workflow| (workflow.command_name.as_str(), workflow.name.as_str()));
    names.filter(move |(name, _)| name.starts_with(prefix))
}

fn usage(catalog: &Catalog) -> String {
    let lines: Vec<String> = catalog
        .startable()
        .map(|workflow| format!("  {} — {}", workflow.command_name, workflow.name))
        .collect();
    let listing = if lines.is_empty() {
        "  (none)".to_owned()
    } else {
        lines.join("\n")
    };
    format!("Usage: /workflow {{name}} {{description}}\n\nAvailable workflows:\n{listing}")
}

/// Finds what a person can start under a name, visible ones first (B32), or says why there is nothing.
fn find<'c>(name: &str, loaded: &'c Loaded) -> Result<&'c Workflow, String> {
    let catalog = &loaded.catalog;
    if let Some(workflow) = catalog
        .startable()
        .find(|workflow| workflow.command_name == name)
    {
        return Ok(workflow);
    }
    if catalog
        .iter()
        .any(|workflow| workflow.show == Show::Workflows && workflow.command_name == name)
    {
        return Err(format!(
            "\"{name}\" is a subworkflow that can only run as part of another workflow. It cannot be started directly."
        ));
    }
    let names: Vec<&str> = catalog
        .startable()
        .map(|workflow| workflow.command_name.as_str())
        .collect();
    let available = if names.is_empty() {
        "(none)".to_owned()
    } else {
        names.join(", ")
    };
    let problems: Vec<String> = loaded.problems_of(name).map(ToString::to_string).collect();
    let unknown = format!("Unknown workflow: \"{name}\". Available: {available}");
    Err(match nearest(name, names) {
        _ if !problems.is_empty() => format!(
            "{unknown}\n\n\"{name}\" is defined, but has errors:\n{}",
            problems.join("\n")
        ),
        Some(meant) => format!("{unknown}\n\nDid you mean \"{meant}\"?"),
        None => unknown,
    })
}

/// Asks about the run as it stands, whatever became of its files (B35).
fn confirmation(run: &Run) -> String {
    let phase = run
        .standing
        .as_ref()
        .map_or("unknown", |standing| &standing.phase.name);
    format!(
        "Phase: {phase}\nTask: {}\n\nStart a new one?",
        run.state.task_description
    )
}

/// The name a session gets when a run starts in it.
pub(crate) fn session_name(workflow: &Workflow, description: &str) -> String {
    let prefix = workflow
        .session_name_prefix
        .as_deref()
        .unwrap_or(text::SESSION_NAME_PREFIX);
    let max = workflow
        .session_name_max_length
        .unwrap_or(text::SESSION_NAME_MAX_LENGTH);
    format!("{prefix}{}", text::shortened(description, max))
}

/// What the agent is told when a run starts.
pub(crate) fn initial_message(workflow: &Workflow, catalog: &Catalog, description: &str) -> String {
    let Ok(first) = first_phase(workflow, catalog) else {
        return workflow.initial_message.clone();
    };
    let profiles = text::list(first.available_profiles.as_deref().unwrap_or_default());
    template::resolve(&workflow.initial_message, |name| match name {
        "workflowName" => Some(&workflow.name),
        "workflowKey" => Some(&workflow.key),
        "description" => Some(description),
        "firstPhaseId" => Some(&first.id),
        "firstPhaseName" => Some(&first.name),
        "firstPhaseEmoji" => Some(&first.emoji),
        "firstPhaseProfiles" => Some(&profiles),
        _ => None,
    })
}
