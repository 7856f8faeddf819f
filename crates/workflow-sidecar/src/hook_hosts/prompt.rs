//! Prompts that are commands: `workflow bugfix the export is empty`, `workflow status`.
//!
//! The first word must be exactly `workflow`, with or without `/`, and the second a verb or the name of a workflow. Anything
//! else is an ordinary sentence, and so is a verb with more words than it takes: "workflow status reports are late".

use workflow_core::definition::Loaded;
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
    /// Starts a workflow: its name and the task.
    Start(&'a str),
    Cancel,
    Control(Control, &'a str),
}

const CONFIRM: &str = "confirm";

/// Reads a prompt; `None` if it is no command.
pub(super) fn parse<'a>(prompt: &'a str, loaded: &Loaded) -> Option<PromptCommand<'a>> {
    let (first, rest) = split_first_word(prompt);
    if !matches!(first, "workflow" | "/workflow") {
        return None;
    }
    let (rest, is_confirmed) = split_confirm(rest);
    Some(PromptCommand {
        action: action(rest, loaded)?,
        is_confirmed,
    })
}

/// The prompt that confirms this one.
pub(super) fn confirmation(prompt: &str) -> String {
    let (rest, _) = split_confirm(split_first_word(prompt).1);
    format!("workflow {CONFIRM} {rest}")
}

/// The words behind `confirm`, and true, or all of them.
fn split_confirm(words: &str) -> (&str, bool) {
    match split_first_word(words) {
        (CONFIRM, rest) => (rest, true),
        _ => (words, false),
    }
}

fn action<'a>(text: &'a str, loaded: &Loaded) -> Option<PromptAction<'a>> {
    let (word, rest) = split_first_word(text);
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
            let is_workflow = loaded.catalog.started_by(word).is_some();
            // One with errors as well: the refusal names them.
            let is_broken = || loaded.problems_of(word).next().is_some();
            (is_workflow || is_broken()).then_some(PromptAction::Start(text))
        }
    }
}
