//! The description of a host that starts a program for each event, and the tickets of its calls of `workflow_step`.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::answer::AnswerForm;
use super::event::EventName;
use super::hosts::{HOSTS, host};
use crate::files::home_dir;
use crate::install::Directories;
use crate::platform::version_in;
use crate::store::SessionKey;

/// The argument of `workflow_step` with which a hook proves that it has seen the call.
pub(crate) const TICKET_ARGUMENT: &str = "_ticket";

/// A host that starts a program for each event.
#[derive(Debug)]
pub(crate) struct HookHost {
    /// The name in the command line and in the store, and of its program.
    pub(crate) name: &'static str,
    /// The name for people.
    pub(crate) title: &'static str,
    /// The word with which commands begin in its prompts. Claude Code leaves a refused prompt of another form in its box.
    pub(crate) prompt_word: &'static str,
    /// The variable with the host's version, for hooks.
    pub(super) version_variable: Option<&'static str>,
    /// The events that are used, by the host's names.
    pub(crate) events: &'static [(&'static str, EventName)],
    /// The host's tools that the engine knows under another name.
    pub(super) tools: &'static [(&'static str, ToolName)],
    /// True if the host marks what the user has typed, because it has hooks for other prompts as well.
    pub(super) marks_prompts: bool,
    /// The variable that names its process for hooks and MCP servers, if its hooks cannot change arguments.
    pub(super) process_variable: Option<&'static str>,
    /// The reminders in a row that the host takes before it ends the agent's work by itself; `None` is without end.
    pub(crate) most_reminders: Option<u32>,
    /// True if an answer can have a text that only the person reads.
    pub(super) shows_notices: bool,
    /// Variables that the host sets for the shell of its agent, and not for hooks.
    pub(super) shell_marks: &'static [&'static str],
    /// Returns whether this version asks the user about a call if a hook says so, by the variables of the hook.
    pub(super) asks: fn(&str, &Variables<'_>) -> bool,
    /// The variable of the file in which a hook sets variables for the shell of the agent.
    pub(super) shell_file: Option<&'static str>,
    /// The files of a project that say which hooks run.
    pub(super) hook_files: &'static [&'static str],
    /// The user's directory with those that are in `.NAME` in a project, and the other ones of the user.
    pub(super) user_hook_files: fn(&Directories) -> (&Path, Vec<PathBuf>),
    /// The form of its answers.
    pub(super) form: AnswerForm,
}

/// The environment variables of a hook, by their names.
pub(super) type Variables<'v> = dyn Fn(&str) -> Option<String> + 'v;

/// The variable with the session whose agent started a host in its shell, as `claude:ID`.
const PARENT: &str = "WORKFLOW_SIDECAR_PARENT";

/// Variables that a host sets for the shell of its agent and for its own hooks.
const MARKS_OF_OTHERS: [(&str, &str); 2] = [("claude", "CLAUDECODE"), ("copilot", "COPILOT_CLI")];

/// What the variables of a hook say.
#[derive(Debug, Default)]
pub(super) struct Surroundings {
    /// The host's version, if hooks are told.
    pub(super) version: Option<String>,
    /// True if the event comes from the shell of an agent.
    pub(super) is_from_shell: bool,
    /// The session whose agent started the host in its shell.
    pub(super) parent: Option<SessionKey>,
    /// True if the host asks the user about a call.
    pub(super) asks: bool,
    /// The file that sets variables for the shell of the agent.
    shell_file: Option<PathBuf>,
}

impl Surroundings {
    /// Has the shell of the agent name its session to the hosts that it starts. Without it, they have rules of their own only.
    pub(super) fn name_session(&self, own: &SessionKey) -> io::Result<()> {
        let Some(file) = &self.shell_file else {
            return Ok(());
        };
        let SessionKey { host, session } = self.parent.as_ref().unwrap_or(own);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if !session.chars().all(is_plain) {
            return Ok(());
        }
        let mut file = OpenOptions::new().append(true).create(true).open(file)?;
        file.write_all(format!("export {PARENT}='{host}:{session}'\n").as_bytes())
    }
}

impl HookHost {
    /// Reads the variables of a hook.
    pub(super) fn surroundings(&self, variable: &Variables<'_>) -> Surroundings {
        let parent = variable(PARENT);
        // The agent may have started this host in the shell of another one.
        let own = HOSTS.iter().flat_map(|host| host.shell_marks).copied();
        let others = MARKS_OF_OTHERS
            .iter()
            .filter(|(host, _)| *host != self.name);
        let mut marks = own.chain(others.map(|(_, mark)| *mark));
        let is_from_shell = parent.is_some() || marks.any(|mark| variable(mark).is_some());
        let parent = parent.and_then(|parent| {
            let (name, session) = parent.split_once(':')?;
            Some(SessionKey {
                host: host(name)?.name.to_owned(),
                session: session.to_owned(),
            })
        });
        let version = self.version_variable.and_then(variable);
        let version = version.and_then(|it| version_in(&it.replace('-', ".")).map(str::to_owned));
        let asks = |version: &String| (self.asks)(version, variable);
        Surroundings {
            is_from_shell,
            parent,
            // The agent may answer for the user in a host that it started.
            asks: !is_from_shell && version.as_ref().is_some_and(asks),
            version,
            shell_file: self.shell_file.and_then(variable).map(PathBuf::from),
        }
    }

    /// The process of the host that started this one, in which the hook of a call has the ticket of the call.
    pub(crate) fn process(&self) -> Option<String> {
        std::env::var(self.process_variable?).ok()
    }

    /// The files of a project and of the user that say which hooks the host runs: without its hooks it has no rules.
    pub(super) fn files_about_hooks(&self, project: &Path) -> Vec<PathBuf> {
        let of_project = self.hook_files.iter().map(|file| project.join(file));
        let directories = home_dir().map(|home| Directories::of_process(&home));
        let of_user = directories.iter().flat_map(|user| {
            let (directory, others) = (self.user_hook_files)(user);
            let own = format!(".{}/", self.name);
            let own = move |file: &&str| Some(directory.join(file.strip_prefix(&*own)?));
            self.hook_files.iter().filter_map(own).chain(others)
        });
        of_project.chain(of_user).collect()
    }
}

/// The engine's name of a host's tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolName {
    /// `workflow_step`.
    Step,
    /// This one, with the same arguments.
    Is(&'static str),
    /// `bash`. A patch in the command line is judged as well.
    Shell,
    /// `edit` and `write`, a call for each file of the patch.
    Patch,
    /// None: it only finds other tools or reports, so no rule is about it.
    Free,
}
