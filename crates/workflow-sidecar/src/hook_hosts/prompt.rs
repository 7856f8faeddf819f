//! Prompts that are commands: `workflow bugfix the export is empty`, `workflow status`.
//!
//! The first word must be exactly `workflow`, and the second a verb or the name of a workflow, or nearly one: it is refused
//! then. Anything else is an ordinary sentence, and so is a verb with more words than it takes: "workflow status reports are
//! late". After `/workflow` everything is a command. Where a host leaves a refused prompt in its box, the next command is glued
//! to it (`workflow statusworkflow bugfix it`): that is refused, too.

use workflow_core::definition::{Loaded, nearest};
use workflow_core::session::Control;
use workflow_core::white_space::split_first_word;

/// A command in a prompt.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PromptCommand<'a> {
    pub(super) action: PromptAction<'a>,
    /// True if the person has confirmed it: `workflow confirm skip`.
    pub(super) is_confirmed: bool,
}

/// The effect of a command.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PromptAction<'a> {
    /// Starts a workflow: its name and the task. Without a name it lists them.
    Start(&'a str),
    Cancel,
    /// Trusts the commands of the run.
    Trust,
    Control(Control, &'a str),
}

const CONFIRM: &str = "confirm";
/// The command of the plugin for Claude Code, by its whole name.
const PLUGIN_COMMAND: &str = "/workflow-sidecar:workflow";

/// First words that no sentence has. A bare `workflow` that was left in the box is before the next command.
#[rustfmt::skip] // A list.
const SURE: [&str; 4] = ["/workflow", PLUGIN_COMMAND, "workflowworkflow", "workflow/workflow"];

/// Returns true if a prompt may be a command by its first word, whatever workflows there are.
pub(super) fn may_be_command(prompt: &str) -> bool {
    let first = split_first_word(prompt).0;
    first == "workflow" || SURE.contains(&first)
}

/// Reads a prompt; `None` if it is no command.
pub(super) fn parse<'a>(prompt: &'a str, loaded: &Loaded) -> Option<PromptCommand<'a>> {
    let (first, rest) = split_first_word(prompt);
    let is_sure = SURE.contains(&first);
    if !is_sure && first != "workflow" {
        return None;
    }
    let (rest, is_confirmed) = split_confirm(rest);
    Some(PromptCommand {
        action: action(rest, is_sure, loaded)?,
        is_confirmed,
    })
}

/// The prompt that confirms this one, with the word of the host.
pub(super) fn confirmation(prompt: &str, word: &str) -> String {
    let (rest, _) = split_confirm(split_first_word(prompt).1);
    format!("{word} {CONFIRM} {rest}")
}

/// The verb that a word nearly is.
pub(super) fn nearest_verb(word: &str) -> Option<&'static str> {
    let verbs = Control::ALL.map(Control::short_name);
    nearest(word, verbs.into_iter().chain(["cancel", "trust", CONFIRM]))
}

/// The words behind `confirm`, and true, or all of them.
fn split_confirm(words: &str) -> (&str, bool) {
    match split_first_word(words) {
        (CONFIRM, rest) => (rest, true),
        _ => (words, false),
    }
}

/// The words after `workflow` as an action. `is_sure` if they are no sentence.
fn action<'a>(text: &'a str, is_sure: bool, loaded: &Loaded) -> Option<PromptAction<'a>> {
    let (word, rest) = split_first_word(text);
    let is_alone = rest.is_empty();
    let is_verb = is_alone || is_sure;
    let control = |control| Some(PromptAction::Control(control, rest));
    match word {
        "" => Some(PromptAction::Start("")),
        "list" | "help" if is_alone => Some(PromptAction::Start("")),
        "cancel" if is_verb => Some(PromptAction::Cancel),
        "trust" if is_verb => Some(PromptAction::Trust),
        "status" if is_verb => control(Control::Status),
        "pause" if is_verb => control(Control::Pause),
        "resume" if is_verb || rest.starts_with('+') => control(Control::Resume),
        "next" if is_verb => control(Control::Next),
        "skip" if is_verb => control(Control::Skip),
        // A phase is named by one word or by its name.
        "goto" => control(Control::Goto),
        "approve" => control(Control::Approve),
        "off" if is_verb || rest.starts_with(|c: char| c.is_ascii_digit()) => control(Control::Off),
        _ => {
            let startable = loaded.catalog.startable();
            let workflows = startable.map(|workflow| &*workflow.command_name);
            // One with errors as well: the refusal names them.
            let is_meant = loaded.catalog.started_by(word).is_some()
                || loaded.problems_of(word).next().is_some()
                || nearest(word, workflows).is_some()
                || is_alone && nearest_verb(word).is_some();
            let glued = word.strip_suffix("workflow").filter(|_| !is_alone);
            let glued = glued.map(|word| word.trim_end_matches('/'));
            let is_glued = glued.is_some_and(|verb| action(verb, false, loaded).is_some());
            (is_sure || is_meant || is_glued).then_some(PromptAction::Start(text))
        }
    }
}
