//! The commands `/workflow` and `/cancel-workflow`, and the completion of their arguments.

use std::sync::Arc;

use super::call_guard::{CallVerdict, PendingCall};
use super::inputs;
use super::run::ActiveRun;
use crate::definition::{Catalog, Loaded, Parameter, PhaseEntry, Show, Tier, Workflow, nearest};
use crate::diagnostic::shown;
use crate::effect::{Denied, Notice, Question};
use crate::run::{MAX_TIME, Moved, RunProgress, Values, input_texts, start, wrong_lists};
use crate::types::{RequestId, Severity};
use crate::{template, text, white_space};

/// The longest description of a task, in bytes: it is part of every message of the run.
const MAX_DESCRIPTION: usize = 1 << 20;

/// A run to start.
#[derive(Debug, Clone)]
pub(crate) struct NewRun {
    /// The definitions, which only a start adopts (B35).
    pub(crate) loaded: Arc<Loaded>,
    workflow_key: String,
    pub(crate) inputs: Values,
    pub(crate) description: String,
    /// True if `start` of the settings starts it, without a question.
    pub(crate) by_settings: bool,
}

/// What is proposed for the argument of a command: the value and a description of each.
pub(crate) type Proposals = Vec<(String, String)>;

/// A start that waits for a person: for an input, or for a confirmation.
#[derive(Debug, Clone)]
pub(crate) struct PendingStart {
    /// The command; `None` if a tool call led to the start.
    pub(crate) request: Option<RequestId>,
    pub(crate) run: NewRun,
    pub(crate) awaits: StartAwaits,
}

/// The answer that a start waits for.
#[derive(Debug, Clone)]
pub(crate) enum StartAwaits {
    /// The value of this input.
    Input(Parameter),
    /// The confirmation that it replaces the run of this task.
    Confirmation(String),
}

/// A call that waits for the user's decision on what to start.
#[derive(Debug, Clone)]
pub(crate) struct PendingDoor {
    pub(crate) call: PendingCall,
    /// The options that start a run, each with the run and what its first phase says of the call; `None` if the run needs inputs.
    pub(crate) runs: Vec<(String, NewRun, Option<VerdictInRun>)>,
}

/// What the first phase of a run says of a call, and the denials that are counted if it starts.
pub(crate) type VerdictInRun = (CallVerdict, Vec<Denied>);

impl NewRun {
    /// Reads the arguments of `/workflow`; the error is shown to the person.
    pub(crate) fn parse(arguments: &str, loaded: Arc<Loaded>) -> Result<Self, Notice> {
        let arguments = white_space::trim(arguments);
        if arguments.is_empty() {
            return Err(Notice::info(usage(&loaded.catalog)));
        }
        let (name, description) = white_space::split_first_word(arguments);
        let error = |text| Notice::new(Severity::Error, text);
        let workflow = find(name, &loaded).map_err(error)?;
        if description.is_empty() {
            return Err(inputs::usage(workflow).into());
        }
        if description.len() > MAX_DESCRIPTION {
            let message = "The description is longer than 1 MiB. Write it to a file, and name the file in the description.";
            return Err(error(message.to_owned()));
        }
        let (inputs, description) = inputs::read(workflow, description)?;
        if description.is_empty() {
            let (written, usage) = (shown(arguments), inputs::usage(workflow));
            return Err(Notice::warning(format!(
                "The description is missing. Write: /workflow {written} {{description}}\n\n{usage}"
            )));
        }
        Ok(Self {
            workflow_key: workflow.key.clone(),
            inputs,
            description: description.to_owned(),
            by_settings: false,
            loaded,
        })
    }

    /// A run of the workflow that a name starts, without inputs; the error is shown to the person.
    pub(crate) fn described(
        name: &str,
        description: &str,
        loaded: Arc<Loaded>,
    ) -> Result<Self, String> {
        let workflow_key = find(name, &loaded)?.key.clone();
        Ok(Self {
            workflow_key,
            inputs: Values::new(),
            description: description.to_owned(),
            by_settings: false,
            loaded,
        })
    }

    /// The first input that is required and missing.
    pub(crate) fn missing_input(&self) -> Option<Parameter> {
        inputs::missing(self.workflow()?, &self.inputs).cloned()
    }

    /// The same with the defaults of the inputs; the error is shown to the person.
    pub(crate) fn completed(mut self) -> Result<Self, String> {
        let inputs = std::mem::take(&mut self.inputs);
        if let Some(workflow) = self.workflow() {
            let inputs = inputs::complete(workflow, inputs)?;
            let wrong = wrong_lists(workflow, &inputs, &self.loaded.catalog);
            if let Some(wrong) = wrong {
                return Err(format!("{wrong}\n\n{}", inputs::usage(workflow)));
            }
            self.inputs = inputs;
        }
        Ok(self)
    }

    pub(crate) fn workflow(&self) -> Option<&Workflow> {
        self.loaded.catalog.get(&self.workflow_key)
    }

    /// Returns true if nothing of the run comes from the project.
    pub(crate) fn is_users(&self) -> bool {
        let is_of_project = |workflow: &&Workflow| {
            let mut index = self.loaded.index.iter();
            index.any(|listing| listing.tier == Tier::Project && listing.key == workflow.key)
        };
        let workflows = self.loaded.catalog.reachable_from(&self.workflow_key);
        !workflows.iter().any(is_of_project)
    }

    /// Returns true if a phase of the run has hints for the host.
    pub(crate) fn has_hints(&self) -> bool {
        let workflows = self.loaded.catalog.reachable_from(&self.workflow_key);
        let mut phases = workflows.into_iter().flat_map(Workflow::own_phases);
        phases.any(|phase| !phase.hints.is_empty())
    }

    /// The first state of the run.
    pub(crate) fn progress(&self, workflow: &Workflow, task_id: String, now: u64) -> Moved {
        let started_at = i64::try_from(now).unwrap_or(MAX_TIME).min(MAX_TIME);
        let (catalog, inputs) = (&self.loaded.catalog, self.inputs.clone());
        let task = &self.description;
        start(workflow, catalog, inputs, task_id, task, started_at)
    }

    /// The first message to the agent.
    pub(crate) fn initial_message(&self, workflow: &Workflow, progress: &RunProgress) -> String {
        // The first phases may be skipped.
        let path = &progress.state.current_path;
        let first = path.entry(&self.loaded.catalog);
        let mut message = initial_message(workflow, first, &self.inputs, &self.description);
        if let Some(skipped) = progress.data.skipped_note() {
            message = format!("{message}\n\n[workflow] {skipped}");
        }
        message
    }
}

/// The proposals for the arguments of `/workflow`: command names and the names of their workflows, or after a command
/// name the inputs that its workflow takes. Each is the whole text of the arguments.
pub fn complete(catalog: &Catalog, prefix: &str) -> Vec<(String, String)> {
    let Some((written, last)) = prefix.rsplit_once(white_space::is_white_space) else {
        let startable = catalog.startable();
        let named = startable.filter(|workflow| workflow.command_name.starts_with(prefix));
        return named
            .map(|workflow| (workflow.command_name.clone(), workflow.name.clone()))
            .collect();
    };
    let (name, inputs) = white_space::split_first_word(written);
    let workflow = catalog.started_by(name);
    let proposals = workflow.map(|workflow| inputs::proposals(workflow, inputs, last));
    let whole = |(input, about)| (format!("{written} {input}"), about);
    proposals.into_iter().flatten().map(whole).collect()
}

fn usage(catalog: &Catalog) -> String {
    let startable = catalog.startable();
    let lines = startable.map(|workflow| (&*workflow.command_name, &*workflow.name));
    let lines = lines.map(|(command, name)| format!("  {command} — {name}"));
    let lines = text::join(lines, "\n");
    let listing = if lines.is_empty() { "  (none)" } else { &lines };
    format!("Usage: /workflow {{name}} {{description}}\n\nAvailable workflows:\n{listing}")
}

/// Finds the workflow that a person can start under a name, visible ones first (B32), or says why there is none.
fn find<'c>(name: &str, loaded: &'c Loaded) -> Result<&'c Workflow, String> {
    let catalog = &loaded.catalog;
    if let Some(workflow) = catalog.started_by(name) {
        return Ok(workflow);
    }
    let mut inner = catalog.iter().filter(|one| one.show == Show::Workflows);
    if inner.any(|workflow| workflow.command_name == name) {
        return Err(format!(
            "\"{name}\" is a subworkflow that can only run as part of another workflow. It cannot be started directly."
        ));
    }
    let startable = catalog.startable();
    let commands: Vec<String> = startable.map(|found| found.command_name.clone()).collect();
    let available = text::list(&commands);
    let problems = text::join(loaded.problems_of(name).map(ToString::to_string), "\n");
    let unknown = format!("Unknown workflow: \"{name}\". Available: {available}");
    Err(
        match nearest(name, commands.iter().map(|command| &**command)) {
            _ if !problems.is_empty() => {
                format!("{unknown}\n\n\"{name}\" is defined, but has errors:\n{problems}")
            }
            Some(meant) => format!("{unknown}\n\nDid you mean \"{meant}\"?"),
            None => unknown,
        },
    )
}

/// The question about the run in memory, whatever happened to its files (B35).
pub(crate) fn confirmation(run: &ActiveRun, new: &NewRun) -> Question {
    let phase = run.phase().map_or("unknown", |phase| &phase.phase.name);
    let task = &run.state().task_description;
    let changes = run.changes_by(&new.workflow_key, &new.loaded);
    let mut list = String::new();
    if !changes.is_empty() {
        list = format!(
            "The new run uses the files as they are now. They differ from what holds in this run:\n{}\n\n",
            changes.listed()
        );
    }
    let message = format!("Phase: {phase}\nTask: {task}\n\n{list}Start a new one?");
    Question::new("Workflow already active", message)
}

/// The name a session gets when a run starts in it.
pub(crate) fn session_name(workflow: &Workflow, description: &str) -> String {
    let prefix = workflow.session_name_prefix.as_deref();
    let prefix = prefix.unwrap_or(text::SESSION_NAME_PREFIX);
    let max = workflow.session_name_max_length;
    let max = max.unwrap_or(text::SESSION_NAME_MAX_LENGTH);
    format!("{prefix}{}", text::shortened(description, max))
}

/// The first message of a run to the agent. `first` is the phase that it starts in; without one nothing is resolved.
pub(crate) fn initial_message(
    workflow: &Workflow,
    first: Option<&PhaseEntry>,
    inputs: &Values,
    description: &str,
) -> String {
    let Some(PhaseEntry::Phase(first)) = first else {
        return workflow.initial_message.clone();
    };
    let profiles = text::list(first.available_profiles.as_deref().unwrap_or_default());
    let texts = input_texts(workflow, inputs);
    template::resolve(&workflow.initial_message, |name| match name {
        "workflowName" => Some(&workflow.name),
        "workflowKey" => Some(&workflow.key),
        "description" => Some(description),
        "firstPhaseId" => Some(&first.id),
        "firstPhaseName" => Some(&first.name),
        "firstPhaseEmoji" => Some(&first.emoji),
        "firstPhaseProfiles" => Some(&profiles),
        name => texts.get(name).map(String::as_str),
    })
}
