//! Outputs of commands that are known in part: names of files, numbers, texts.

use crate::parse::tree::{Command, CommandKind, RawWord};
pub(super) use crate::programs::Output;
use crate::programs::printed;
use crate::word::Word;

impl Output {
    /// Returns what a command with these words prints behind the pipeline. Words that may be options are not known.
    pub(super) fn behind(self, words: &[Word]) -> Self {
        let Some((program, arguments)) = words.split_first() else {
            return Self::Unknown;
        };
        let printed = program.text().and_then(|name| printed(name, arguments));
        match (printed, self) {
            (Some(numbers @ (Self::Number | Self::Numbers)), _) => numbers,
            (Some(Self::Names), Self::Nothing) | (Some(Self::Filter), Self::Names) => Self::Names,
            _ => Self::Unknown,
        }
    }

    /// Returns whether it consists of numbers.
    pub(super) fn is_numeric(self) -> bool {
        matches!(self, Self::Number | Self::Numbers)
    }

    /// Returns whether it consists of names or numbers.
    pub(super) fn has_no_option(self) -> bool {
        self == Self::Names || self.is_numeric()
    }
}

/// Returns the text that a command prints.
pub(super) fn printed_text(command: &Command) -> Option<String> {
    text_of_output(command).filter(|_| command.redirections.is_empty())
}

/// Returns the text that a command writes to its output, wherever that goes.
pub(super) fn text_of_output(command: &Command) -> Option<String> {
    let command = match &command.kind {
        CommandKind::Group(list) | CommandKind::Subshell(list) => {
            let texts = list.iter().map(|item| match item.pipeline.as_slice() {
                // A subshell may be in the background.
                [command] if !matches!(command.kind, CommandKind::Subshell(_)) => {
                    printed_text(command)
                }
                _ => None,
            });
            return texts.collect();
        }
        CommandKind::Simple(command) => command,
        CommandKind::Conditional { .. } => return None,
    };
    let words: Vec<Option<&str>> = command.words.iter().map(RawWord::text).collect();
    match words.as_slice() {
        [Some("echo")] => Some("\n".to_owned()),
        [Some("echo"), Some(text)] if !text.starts_with('-') && !text.contains('\\') => {
            Some(format!("{text}\n"))
        }
        [Some("printf"), Some(text)] if !text.starts_with('-') && !text.contains('%') => {
            let text = text.replace("\\r", "\r").replace("\\n", "\n");
            (!text.contains('\\')).then_some(text)
        }
        [] | [Some("sleep" | ":" | "true"), ..] => Some(String::new()),
        _ => None,
    }
}
