//! Shell lines in denials: the command that a rule forbids, the reason, and what to do instead.

use workflow_shell::{
    Analysis, Effect, FileWrite, SimpleCommand, Unknown, UnknownReason, Unreadable,
};

use super::known::Known;
use serde::Serialize;

use crate::diagnostic::shown;
use crate::text::{few, join};

/// The number of findings that are displayed.
const MAX_SHOWN: usize = 3;
/// The characters of a command that are displayed.
const MAX_COMMAND_CHARS: usize = 80;

/// A part of a line that is not open.
#[derive(Debug, Clone, Copy)]
pub(super) enum LineFinding<'a> {
    /// The line cannot be analyzed.
    Unreadable(&'a Unreadable),
    /// A command.
    Command(&'a SimpleCommand),
    /// A redirection to a file.
    Redirection(&'a FileWrite),
}

impl<'a> LineFinding<'a> {
    fn effect(self) -> Option<&'a Effect> {
        match self {
            Self::Command(command) => Some(&command.effect),
            Self::Redirection(_) | Self::Unreadable(_) => None,
        }
    }

    pub(super) fn is_unknown(self) -> bool {
        let effect = self.effect();
        // What reads is found if it may read what names programs.
        matches!(self, Self::Unreadable(_))
            || matches!(effect, Some(Effect::Unknown(_) | Effect::Reads))
    }

    /// Returns the files that it writes.
    pub(super) fn writes(&self) -> &'a [FileWrite] {
        match (self, self.effect()) {
            (Self::Redirection(write), _) => std::slice::from_ref(write),
            (_, Some(Effect::Writes(writes))) => writes,
            _ => &[],
        }
    }

    /// Returns the command.
    pub(super) fn command(&self) -> Option<&'a SimpleCommand> {
        match self {
            Self::Command(command) => Some(command),
            Self::Redirection(_) | Self::Unreadable(_) => None,
        }
    }

    /// Says, for display, what it does apart from writing files, if that is not open.
    fn describe(self) -> Option<String> {
        match self {
            Self::Unreadable(reason) => {
                Some(format!("The command line cannot be analyzed: {reason}."))
            }
            Self::Redirection(_) => None,
            Self::Command(command) => match &command.effect {
                Effect::Writes(_) => None,
                Effect::Reads => {
                    let text = command_text(command);
                    let why = "`writable` may open the configuration of its repository";
                    Some(format!(
                        "`{text}` is unknown: {why}. Use git in the project's root."
                    ))
                }
                Effect::RunsProjectCode => {
                    let text = command_text(command);
                    Some(format!("`{text}` runs code of the project."))
                }
                Effect::Unknown(unknown) => Some(describe_unknown(command, unknown)),
            },
        }
    }
}

/// Returns the findings about a line for a rule that forbids to write.
pub(super) fn of_line(analysis: &Analysis) -> Vec<LineFinding<'_>> {
    let is_open = |command: &SimpleCommand| match command.effect {
        Effect::Reads | Effect::RunsProjectCode => true,
        Effect::Writes(_) | Effect::Unknown(_) => false,
    };
    findings(analysis, &is_open, &|_| false)
}

/// Returns what is not open of a line.
pub(super) fn findings<'l>(
    analysis: &'l Analysis,
    is_open: &dyn Fn(&SimpleCommand) -> bool,
    is_writable: &dyn Fn(&FileWrite) -> bool,
) -> Vec<LineFinding<'l>> {
    let unreadable = analysis.unreadable.iter().map(LineFinding::Unreadable);
    let commands = analysis.commands.iter();
    let commands = commands.filter(|command| !is_open(command));
    let redirections = analysis.redirections.iter();
    let redirections = redirections.filter(|write| !is_writable(write));
    unreadable
        .chain(commands.map(LineFinding::Command))
        .chain(redirections.map(LineFinding::Redirection))
        .collect()
}

/// Returns whether a line runs unknown commands: it cannot be analyzed, only the shell knows a
/// program, or a program executes its input.
pub(super) fn hides_commands(analysis: &Analysis) -> bool {
    let is_hidden = |command: &SimpleCommand| {
        let program = command.words.first().and_then(|word| word.program());
        let executes_input = matches!(
            &command.effect,
            Effect::Unknown(unknown) if unknown.reason == UnknownReason::Input
        );
        program.is_none() || executes_input
    };
    analysis.unreadable.is_some() || analysis.commands.iter().any(is_hidden)
}

/// Returns whether the command itself is unknown, and not what it gets from the line around it: a pattern that allows
/// a command says nothing about variables, inputs and descriptors.
pub(super) fn is_of_command(unknown: &Unknown) -> bool {
    match unknown.reason {
        UnknownReason::Program
        | UnknownReason::Option
        | UnknownReason::Argument
        | UnknownReason::Missing
        | UnknownReason::Expansion
        | UnknownReason::Code
        | UnknownReason::HiddenCode => true,
        UnknownReason::Line
        | UnknownReason::Variable
        | UnknownReason::Input
        | UnknownReason::Descriptor => false,
    }
}

/// Returns whether these findings forbid a line: what certainly writes counts more than what is unknown.
pub(super) fn worst(findings: &[LineFinding<'_>]) -> Known {
    if findings.is_empty() {
        Known::No
    } else if findings.iter().all(|finding| finding.is_unknown()) {
        Known::Unknown
    } else {
        Known::Yes
    }
}

/// Describes findings, for display: what certainly writes first.
pub(super) fn describe(findings: &[LineFinding<'_>]) -> String {
    let writes = findings.iter().flat_map(LineFinding::writes);
    let mut writes: Vec<String> = writes.map(describe_write).collect();
    writes.dedup();
    writes.truncate(MAX_SHOWN);
    let mut texts: Vec<String> = Vec::new();
    if !writes.is_empty() {
        texts.push(format!("It would write: {}.", writes.join(", ")));
    }
    let (unknown, certain): (Vec<LineFinding<'_>>, Vec<LineFinding<'_>>) =
        findings.iter().partition(|finding| finding.is_unknown());
    let all = certain.into_iter().chain(unknown);
    texts.extend(all.filter_map(LineFinding::describe));
    few(texts, MAX_SHOWN, |hidden| format!("And {hidden} more.")).join(" ")
}

fn describe_write(write: &FileWrite) -> String {
    match &write.path {
        Some(path) => format!("{} ({})", write.operation, shown(path)),
        None => write.operation.clone(),
    }
}

fn describe_unknown(command: &SimpleCommand, unknown: &Unknown) -> String {
    let text = command_text(command);
    let instead =
        instead(command, unknown).map_or_else(String::new, |instead| format!(" {instead}"));
    if unknown.reason == UnknownReason::Program && text == unknown.word {
        return format!(
            "`{text}` is unknown: it is not in the list of programs that only read.{instead}"
        );
    }
    format!("`{text}` is unknown: {unknown}.{instead}")
}

/// Returns the advice for an unknown command, if there is an evident alternative.
fn instead(command: &SimpleCommand, unknown: &Unknown) -> Option<String> {
    let program = command.words.first().and_then(|word| word.program());
    match unknown.reason {
        UnknownReason::Option => Some(format!("Omit `{}` if you do not need it.", unknown.word)),
        UnknownReason::Missing => Some(format!("Add `{}` if it fits.", unknown.word)),
        UnknownReason::Variable => Some(format!("Omit the variable `{}`.", unknown.word)),
        UnknownReason::Expansion => Some("Write the value itself.".to_owned()),
        UnknownReason::Code => Some(match program {
            Some("sed") => "Use `sed -n` with addresses and `p`, or the tool `read`.".to_owned(),
            Some("awk" | "gawk" | "mawk") => {
                "Use a script that only prints, or `cut` and `grep`.".to_owned()
            }
            _ => {
                "Use `cat`, `grep`, `sed -n`, `jq` or the tool `read` to look at files.".to_owned()
            }
        }),
        UnknownReason::Input | UnknownReason::Descriptor => {
            Some("Write the commands in the command line itself.".to_owned())
        }
        _ => None,
    }
}

/// Returns a command as people read it, shortened.
pub(super) fn command_text(command: &SimpleCommand) -> String {
    let words = command.words.iter();
    let words = join(words.map(|word| word.shape().replace('\0', "…")), " ");
    let text = shown(&words).replace('`', "'");
    if text.chars().count() <= MAX_COMMAND_CHARS {
        return text;
    }
    let start: String = text.chars().take(MAX_COMMAND_CHARS).collect();
    format!("{start}…")
}

/// The effects of a shell line, command by command, for display.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LineReport {
    /// The effect of the whole line, in a word.
    pub effect: &'static str,
    /// Its commands, and the redirections that write.
    #[serde(rename = "commands")]
    pub parts: Vec<PartReport>,
}

/// The effect of a part of a shell line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PartReport {
    /// The command or the redirection.
    #[serde(rename = "command")]
    pub text: String,
    /// Its effect, in a word.
    pub effect: &'static str,
    /// The files that it writes, or why its effect is unknown; may be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

impl LineReport {
    /// Analyzes a line.
    pub fn new(line: &str) -> Self {
        let analysis = workflow_shell::analyze(line);
        let word = |effect: &Effect| match effect {
            Effect::Reads => "reads",
            Effect::RunsProjectCode => "project",
            Effect::Writes(_) => "writes",
            Effect::Unknown(_) => "unknown",
        };
        let commands = analysis.commands.iter().map(|command| PartReport {
            text: command_text(command),
            effect: word(&command.effect),
            detail: match &command.effect {
                Effect::Reads | Effect::RunsProjectCode => String::new(),
                Effect::Writes(writes) => {
                    let writes: Vec<String> = writes.iter().map(describe_write).collect();
                    writes.join(", ")
                }
                Effect::Unknown(unknown) => unknown.to_string(),
            },
        });
        let redirections = analysis.redirections.iter().map(|write| PartReport {
            text: format!("> {}", write.path.as_deref().map_or("…".to_owned(), shown)),
            effect: "writes",
            detail: describe_write(write),
        });
        let unreadable = analysis.unreadable.iter().map(|reason| PartReport {
            text: "the line".to_owned(),
            effect: "unknown",
            detail: reason.to_string(),
        });
        Self {
            effect: word(&analysis.effect()),
            parts: commands.chain(redirections).chain(unreadable).collect(),
        }
    }
}
