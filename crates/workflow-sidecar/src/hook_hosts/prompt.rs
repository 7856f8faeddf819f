//! Prompts that are commands: `workflow bugfix the export is empty`, `workflow status`.
//!
//! The first word must be exactly `workflow`, with or without `/`, and the second a verb or the name of a workflow. Anything
//! else is an ordinary sentence, and so is a verb with more words than it takes: "workflow status reports are late".

use workflow_core::definition::Loaded;
use workflow_core::session::Control;

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
    /// Starts a workflow: its name and the task.
    Start(&'a str),
    Cancel,
    Control(Control, &'a str),
}

const CONFIRM: &str = "confirm";

/// Reads a prompt; `None` if it is no command.
pub(super) fn parse<'a>(prompt: &'a str, loaded: &Loaded) -> Option<PromptCommand<'a>> {
    let (first, rest) = split(prompt);
    if !matches!(first, "workflow" | "/workflow") {
        return None;
    }
    let (second, after) = split(rest);
    let (rest, is_confirmed) = if second == CONFIRM {
        (after, true)
    } else {
        (rest, false)
    };
    Some(PromptCommand {
        action: action(rest, loaded)?,
        is_confirmed,
    })
}

/// The prompt that confirms this one.
pub(super) fn confirmation(prompt: &str) -> String {
    let (_, rest) = split(prompt);
    format!("workflow {CONFIRM} {rest}")
}

fn action<'a>(text: &'a str, loaded: &Loaded) -> Option<PromptAction<'a>> {
    let (word, rest) = split(text);
    let is_alone = rest.is_empty();
    let control = |control| Some(PromptAction::Control(control, rest));
    match word {
        "cancel" if is_alone => Some(PromptAction::Cancel),
        "status" if is_alone => control(Control::Status),
        "pause" if is_alone => control(Control::Pause),
        "resume" if is_alone || rest.starts_with('+') => control(Control::Resume),
        "next" if is_alone => control(Control::Next),
        "skip" if is_alone => control(Control::Skip),
        // A phase is named by one word or by its name.
        "goto" => control(Control::Goto),
        "approve" => control(Control::Approve),
        _ => {
            let mut startable = loaded.catalog.startable();
            let is_workflow = startable.any(|workflow| workflow.command_name == word);
            // One with errors as well: the refusal names them.
            let is_broken = || loaded.problems_of(word).next().is_some();
            (is_workflow || is_broken()).then_some(PromptAction::Start(text))
        }
    }
}

/// The first word, and the rest without the white space around it.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    match text.split_once(char::is_whitespace) {
        Some((first, rest)) => (first, rest.trim_start()),
        None => (text, ""),
    }
}
