//! The description of a host that starts a program for each event, and the tickets of its calls of `workflow_step`.

use std::path::{Path, PathBuf};

use super::answer::AnswerForm;
use super::event::EventName;
use crate::files::home_dir;
use crate::install::Directories;

/// The argument of `workflow_step` with which a hook proves that it has seen the call.
pub(crate) const TICKET_ARGUMENT: &str = "_ticket";

/// A host that starts a program for each event.
#[derive(Debug)]
pub(crate) struct HookHost {
    /// The name in the command line and in the store, and of its program.
    pub(crate) name: &'static str,
    /// The name for people.
    pub(crate) title: &'static str,
    /// The file, in its directory of the user or a project, that makes `/workflow` a command. Claude Code leaves a refused prompt
    /// of another form in its box.
    pub(super) command_file: Option<&'static str>,
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
    /// Returns whether this version asks the user about a call if a hook says so, by the variables of the hook. `None` never asks.
    pub(crate) asks: Option<fn(&str, &Variables<'_>) -> bool>,
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

impl HookHost {
    /// The process of the host that started this one, in which the hook of a call has the ticket of the call.
    pub(crate) fn process(&self) -> Option<String> {
        std::env::var(self.process_variable?).ok()
    }

    /// The word with which commands begin in its prompts, in a directory.
    pub(crate) fn prompt_word(&self, directory: &Path) -> &'static str {
        let is_installed = self.command_file.is_some_and(|file| {
            let user = home_dir().map(|home| Directories::of_process(&home));
            let of_user = user.map(|user| (self.user_hook_files)(&user).0.join(file));
            let own = format!(".{}/{file}", self.name);
            let mut files = directory.ancestors().map(|it| it.join(&own)).chain(of_user);
            // A managed installation and a plugin have none.
            files.any(|file| file.is_file())
        });
        if is_installed {
            "/workflow"
        } else {
            "workflow"
        }
    }

    /// The files of a project and of the user that say which hooks the host runs: without its hooks it has no rules.
    pub(super) fn files_about_hooks(&self, project: &Path) -> Vec<PathBuf> {
        // A host that is started in a part of a repository also reads those of the whole.
        let of_project = project
            .ancestors()
            .flat_map(|directory| self.hook_files.iter().map(|file| directory.join(file)));
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
