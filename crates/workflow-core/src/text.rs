//! Default texts of the engine, and limits on the length of texts.
//!
//! hook-lifecycle defines the defaults; the model reads them, so their wording is behaviour.

use crate::types::Millis;

/// Opens the context message.
pub(crate) const ROLE_INSTRUCTION: &str = "You are the ORCHESTRATOR for this workflow. You must NOT use the edit or \
     write tools directly. All implementation work must be delegated to subagents via the delegate_to_subagents tool. \
     Follow the phase instructions precisely.";

/// The same where no phase names subagents: the agent does the work.
pub(crate) const ROLE: &str = "You do the work of this workflow yourself, one phase at a time. Follow the instructions \
     of the current phase and use only the tools that it allows.";

/// The same in a phase that lets no file be changed.
pub(crate) const ROLE_WITHOUT_EDITS: &str = "You do the work of this workflow yourself, one phase at a time. Follow the \
     instructions of the current phase and use only the tools that it allows. Do not change files in this phase.";

/// Says how to advance.
const ADVANCE_REMINDER: &str = "When you finish this phase, call the workflow_step tool with action='next' \
     to advance to the next phase.";

/// Follows it where the scope can be repeated.
const LOOP_REMINDER: &str =
    " If you need to restart the current scope from the beginning, use action='loop'.";

/// Closes the context message, unless the definition has its own text.
pub(crate) fn advance_reminder(names_loop: bool) -> String {
    let repeat = if names_loop { LOOP_REMINDER } else { "" };
    format!("{ADVANCE_REMINDER}{repeat}")
}

/// The reason a blocked tool call gets.
pub(crate) const BLOCK_REASON: &str = "[workflow] The tool \"{toolName}\" is blocked during the {phaseName} phase.\n\
     Refer to the current phase instructions for allowed tools and approaches.\n\
     When finished, call workflow_step to advance to the next phase.";

/// Follows the reason of a call that a list blocks, unless the definition has its own.
pub(crate) const ALLOWED_IN_PHASE: &str = "\nAllowed in this phase: ";

// Hosts show the messages to the user as plain text.

/// Announces a completed run.
pub(crate) const COMPLETION: &str = "✅ {workflowName} Complete\n\n\
     Task: {taskDescription}\n\
     Task ID: {taskId}";

/// Announces a cancelled run.
pub(crate) const CANCELLED: &str = "❌ {workflowName} Cancelled\n\n\
     Task: {taskDescription}\n\
     Task ID: {taskId}";

/// Announces a run that `/cancel-workflow` ended.
pub(crate) const CANCELLED_BY_COMMAND: &str = "❌ Workflow Cancelled\n\n\
     Task: {taskDescription}\n\
     Task ID: {taskId}";

/// Sent to the agent that stopped early, with `context: every-turn`.
pub(crate) const NOT_DONE: &str = "⚠️ The {workflowName} is still active. Current phase: {phaseEmoji} {phaseName}.\n\n\
     You must NOT stop yet. The workflow requires you to complete the current phase \
     and call workflow_step to advance.\n\n\
     Current phase instructions:\n{phaseInstructions}\n\n\
     Continue working on the current phase and call workflow_step when done.";

/// The same with `context: by-change`, for an agent that has the phase's instructions before it.
pub(crate) const STILL_ACTIVE: &str = "Continue with {phaseEmoji} {phaseName}, or call workflow_step if it is done: workflow \"{workflowName}\" is still in this phase.";

/// The same for one that may have lost them.
pub(crate) const STILL_ACTIVE_WITH_INSTRUCTIONS: &str = "Continue with {phaseEmoji} {phaseName}, or call workflow_step if it is done: workflow \"{workflowName}\" is still in this phase.\n\n\
     What to do in this phase:\n{phaseInstructions}";

/// The first message of a run of the built-in workflow.
pub(crate) const QUICK_MESSAGE: &str = "{description}";

/// The instructions of its phase.
pub(crate) const QUICK_INSTRUCTIONS: &str = "Make this change and nothing else: {description}\n\n\
     When it is done, call {toolName} with action='next'.";

/// The prefix of the description in a session's name.
pub(crate) const SESSION_NAME_PREFIX: &str = "Workflow: ";

/// UTF-16 units of the description kept in a session's name.
pub(crate) const SESSION_NAME_MAX_LENGTH: u32 = 50;

/// UTF-16 units of a status line: no terminal shows more.
pub(crate) const STATUS_MAX_LENGTH: u32 = 1000;

/// A number of times in words.
pub(crate) fn times(number: u32) -> String {
    match number {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        times => format!("{times} times"),
    }
}

/// Names joined as people read them; none is `(none)` (B51).
pub(crate) fn list(names: &[String]) -> String {
    if names.is_empty() {
        "(none)".to_owned()
    } else {
        names.join(", ")
    }
}

/// Texts with a separator between them.
pub(crate) fn join<T: AsRef<str>>(texts: impl IntoIterator<Item = T>, separator: &str) -> String {
    let mut joined = String::new();
    for (index, text) in texts.into_iter().enumerate() {
        joined.push_str(if index == 0 { "" } else { separator });
        joined.push_str(text.as_ref());
    }
    joined
}

/// The first ones of some texts; of more, what `others` says of their number.
pub(crate) fn few(
    mut texts: Vec<String>,
    most: usize,
    others: impl FnOnce(usize) -> String,
) -> Vec<String> {
    let hidden = texts.len().saturating_sub(most);
    texts.truncate(most);
    texts.extend((hidden > 0).then(|| others(hidden)));
    texts
}

/// Items as part of a sentence; the last two are joined by this word.
pub(crate) fn joined<T: AsRef<str>>(items: &[T], last: &str) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    match &*items {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., end] => format!("{} {last} {end}", first.join(", ")),
    }
}

/// Each of some items as code.
pub(crate) fn quoted<T: AsRef<str>>(items: &[T]) -> Vec<String> {
    let items = items.iter().map(AsRef::as_ref);
    items.map(|item| format!("`{item}`")).collect()
}

/// A word of a shell line, in quotes where it needs them.
pub(crate) fn word_of_line(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=@%+,^".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// The first `max` UTF-16 units, with an ellipsis if there is more.
///
/// Counts as ECMAScript does, but a pair is never split (B16).
pub(crate) fn shortened(text: &str, max: u32) -> String {
    let mut left = max as usize;
    for (at, c) in text.char_indices() {
        match left.checked_sub(c.len_utf16()) {
            Some(rest) => left = rest,
            None => return format!("{}…", &text[..at]),
        }
    }
    text.to_owned()
}

/// The first and the last characters of a text, and the number of those between them; `None` if they are the whole text.
pub(crate) fn ends(text: &str, first: usize, last: usize) -> Option<(&str, usize, &str)> {
    let between = text.chars().count().checked_sub(first + last)?;
    let at = |index| {
        text.char_indices()
            .nth(index)
            .map_or(text.len(), |(at, _)| at)
    };
    let ends = (&text[..at(first)], between, &text[at(first + between)..]);
    (between > 0).then_some(ends)
}

/// A moment as ECMAScript prints it; one without such a form as its number (B22).
pub(crate) fn moment(millis: i64) -> String {
    jiff::Timestamp::from_millisecond(millis)
        .map_or_else(|_| millis.to_string(), |moment| format!("{moment:.3}"))
}

/// A time span as people read it: `48 s`, `12 min`, `3 h 5 min`, `2 days 3 h`.
pub(crate) fn duration(span: Millis) -> String {
    let units = [1000, 60_000, 3_600_000, 86_400_000];
    let [seconds, minutes, hours, days] = units.map(|unit| span / unit);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) => format!("{minutes} min"),
        (0, ..) => format!("{hours} h {} min", minutes % 60),
        (1, ..) => format!("1 day {} h", hours % 24),
        _ => format!("{days} days {} h", hours % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_cut_by_utf16_units_and_keeps_pairs_whole() {
        assert_eq!(shortened("abcd", 4), "abcd");
        assert_eq!(shortened("abcd", 3), "abc…");
        assert_eq!(shortened("ab😀😀", 3), "ab…");
        assert_eq!(shortened("ab😀😀", 4), "ab😀…");
        assert_eq!(shortened("x", 0), "…");
        assert_eq!(shortened("", 0), "");
    }

    #[test]
    fn a_duration_is_as_exact_as_people_need_it() {
        let (minute, hour) = (60_000, 3_600_000);
        assert_eq!(duration(59_999), "59 s");
        assert_eq!(duration(59 * minute), "59 min");
        assert_eq!(duration(3 * hour + 5 * minute), "3 h 5 min");
        assert_eq!(duration(27 * hour), "1 day 3 h");
        assert_eq!(duration(48 * hour), "2 days 0 h");
    }

    #[test]
    fn a_moment_has_milliseconds_even_when_they_are_zero() {
        assert_eq!(moment(1_747_234_567_890), "2025-05-14T14:56:07.890Z");
        assert_eq!(moment(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(moment(8_640_000_000_000_000), "8640000000000000");
    }
}
