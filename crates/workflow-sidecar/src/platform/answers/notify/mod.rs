//! Notices: the user's `notify` tells of a run that waits, is paused or ends, where the host does not.
//!
//! Nothing waits for a notice. A program is started that has the whole text at once, so it outlives a hook, which ends with
//! its answer. `curl` is the program for a web address.

mod forms;
mod sending;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use serde_json::json;
use workflow_core::approval::Request;
use workflow_core::definition::{NoticeText, Notifier, RunEvent};
use workflow_core::session::RunCondition;

use self::sending::CURL;
use crate::files::absolute;
use crate::platform::on_path;
use crate::store::{Run, RunQuery, Store};
use crate::user_settings::user_setting;

/// A notifier, and the command line that is started for it; a terminal needs none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KnownNotifier {
    notifier: Notifier,
    pub(crate) command: Vec<String>,
}

/// Those that this process found first, by agent directory. What a tool of the agent writes later, to the settings or to an
/// earlier directory of `PATH`, must not be shown the codes.
static KNOWN: Mutex<BTreeMap<PathBuf, Vec<KnownNotifier>>> = Mutex::new(BTreeMap::new());

/// Returns those of the user's settings. Settings of a project have none.
pub(crate) fn notifiers(agent_dir: &Path) -> Vec<KnownNotifier> {
    let mut known = KNOWN.lock();
    let known = known.entry(agent_dir.to_path_buf());
    known.or_insert_with(|| find(agent_dir)).clone()
}

/// Returns true if the codes of approvals are shown. A terminal does not show them: others may see it.
pub(crate) fn shows_codes(agent_dir: &Path) -> bool {
    let mut known = notifiers(agent_dir).into_iter();
    known.any(|known| !known.command.is_empty())
}

fn find(agent_dir: &Path) -> Vec<KnownNotifier> {
    let setting = user_setting(agent_dir, "notify").map_err(|error| error.to_string());
    let read = setting.and_then(|setting| Notifier::read(setting.unwrap_or_else(|| json!([]))));
    let read = read.inspect_err(|error| tracing::warn!("`notify` cannot be used: {error}"));
    let read = read.unwrap_or_default().into_iter();
    read.filter_map(with_command).collect()
}

fn with_command(notifier: Notifier) -> Option<KnownNotifier> {
    let mut command = match &notifier {
        Notifier::Program(command) => command.clone(),
        Notifier::Address(_) => CURL.map(str::to_owned).to_vec(),
        Notifier::Bell | Notifier::Osc9 => Vec::new(),
    };
    if let Some(program) = command.first_mut() {
        let Some(found) = on_path(program) else {
            tracing::warn!("there is no `{program}` on PATH: `notify` shows nothing");
            return None;
        };
        *program = absolute(&found).into_os_string().into_string().ok()?;
    }
    Some(KnownNotifier { notifier, command })
}

/// What is told of a run.
#[derive(Debug, Clone)]
pub(crate) struct Notice {
    event: RunEvent,
    run: Run,
    project: PathBuf,
    /// The question for approval, and its code.
    question: Option<(String, String)>,
}

impl Notice {
    /// A question for approval, which the code answers.
    pub(super) fn of_request(request: &Request, code: String) -> Self {
        let run = Run {
            task_id: request.task_id.clone(),
            workflow: request.workflow.clone(),
            phase: request.phase.clone(),
            task: request.task.clone(),
            ..Run::default()
        };
        Self {
            event: RunEvent::Waits,
            run,
            project: request.cwd.clone(),
            question: Some((request.ask.clone(), code)),
        }
    }

    /// What the user is to be told of a run that the store is about to note; `None` if the store has it so already.
    pub(crate) fn of_change(
        agent_dir: &Path,
        store: &Store,
        run: &Run,
        project: &Path,
    ) -> Option<Self> {
        let event = RunEvent::of(&run.state)?;
        // An approval is told with its code, and who types knows that no reminder is sent.
        let untold =
            [RunCondition::AwaitsApproval, RunCondition::ReminderHeld].map(RunCondition::words);
        if untold.contains(&&*run.waiting) || notifiers(agent_dir).is_empty() {
            return None;
        }
        let query = RunQuery {
            task_id: &run.task_id,
            ..RunQuery::default()
        };
        let noted = store.runs(&query).unwrap_or_default().into_iter();
        let noted = noted.map(|noted| noted.run);
        let mut run = run.clone();
        for noted in noted.filter(|noted| noted.task_id == run.task_id) {
            if (&noted.state, &noted.waiting) == (&run.state, &run.waiting) {
                return None;
            }
            if run.phase.is_empty() {
                run.phase = noted.phase;
            }
        }
        Some(Self {
            event,
            run,
            project: project.to_path_buf(),
            question: None,
        })
    }

    /// Tells the user. What fails is in the log.
    pub(crate) fn tell(&self, agent_dir: &Path) {
        for KnownNotifier { notifier, command } in notifiers(agent_dir) {
            match &notifier {
                Notifier::Program(_) => {
                    sending::start(&command, &self.text(NoticeText::Task, None), None);
                }
                Notifier::Address(address) if address.tells(self.event) => {
                    let request = forms::request(address, self);
                    sending::start(&command, &request, Some(address.host()));
                }
                Notifier::Address(_) => {}
                Notifier::Bell => sending::to_terminal("\x07"),
                Notifier::Osc9 => sending::to_terminal(&self.of_terminal()),
            }
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
