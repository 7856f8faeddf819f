//! What the user could write to allow a shell line.

use workflow_shell::{Effect, SimpleCommand, UnknownReason, takes_options_before_subcommand};

use super::call::Call;
use super::line_verdict::{LineFinding, is_of_command};

/// Words behind which the name of a module, script or tool says what runs.
const RUNNERS: &[&str] = &["-m", "run", "exec", "dlx"];

/// Returns a pattern with which the user could open a command and others like it, unless that would open anything: the program,
/// and its subcommand, script or module.
pub(super) fn pattern(command: &SimpleCommand, call: &Call<'_>) -> Option<String> {
    let may_open = match &command.effect {
        Effect::Unknown(unknown) => {
            let opens_anything = matches!(
                unknown.reason,
                UnknownReason::Expansion | UnknownReason::Code
            );
            is_of_command(unknown) && !opens_anything
        }
        Effect::RunsProjectCode => true,
        Effect::Reads | Effect::Writes(_) => false,
    };
    let is_plain = |text: &str| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:@+".contains(&byte);
        !text.is_empty() && text.bytes().all(is_plain)
    };
    let mut words = command.words.iter().map(|word| word.text());
    let program = words.next()?.filter(|text| may_open && is_plain(text))?;
    let arguments = match words.next() {
        None => String::new(),
        Some(Some(word)) if RUNNERS.contains(&word) => {
            let name = words
                .next()?
                .filter(|name| is_plain(name) && !name.starts_with('-'))?;
            format!(" {word} {name} *")
        }
        Some(Some(word)) if word.starts_with('-') && takes_options_before_subcommand(program) => {
            return None;
        }
        Some(Some(word)) if is_plain(word) => format!(" {word} *"),
        Some(_) => " *".to_owned(),
    };
    let pattern = format!("{program}{arguments}");
    match command.directory.as_deref()? {
        directory if call.is_same_directory(directory, "") => Some(pattern),
        directory => is_plain(directory).then(|| format!("cd {directory} && {pattern}")),
    }
}

/// Returns the rule with which the user could allow a line that a rule forbids.
pub(super) fn allowing_rule(call: &Call<'_>, findings: &[LineFinding<'_>]) -> Option<String> {
    if !findings.iter().all(|finding| finding.is_unknown()) {
        return None;
    }
    let mut commands = findings.iter().filter_map(LineFinding::command);
    let pattern = commands.find_map(|command| pattern(command, call))?;
    let tool = call.tool;
    Some(format!(
        "To allow this, the user can add `rules: [{{allow: {tool}, command: \"{pattern}\"}}]` before that rule."
    ))
}
