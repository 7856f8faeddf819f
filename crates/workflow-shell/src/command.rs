//! Simple commands and their standard input.

use crate::effect::Effect;
use crate::word::Word;

/// A simple command: the name of a program and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimpleCommand {
    /// Name and arguments, without quotes.
    pub words: Vec<Word>,
    /// The effect of the program itself. A command that it runs has an effect of its own.
    pub effect: Effect,
    /// The directory in which it runs, relative to the one in which the line starts; `None` if only the running shell knows.
    pub directory: Option<String>,
    /// True if the line gives it an input that is not empty.
    pub has_input: bool,
    /// True if the line gives it a variable that may decide which code of the project it runs.
    pub has_project_variable: bool,
}

/// The standard input of a command.
#[derive(Debug, Clone, Default)]
pub(crate) enum StandardInput {
    /// The input of the line itself.
    #[default]
    Inherited,
    /// A file.
    File,
    /// The output of another command. `lists_files` means that it consists of names of files.
    Pipe { lists_files: bool },
    /// A text in the line: a here-document or a here-string.
    Text(Word),
}

impl StandardInput {
    /// Returns whether the line gives the command an input that is not empty.
    pub(crate) fn is_given(&self) -> bool {
        match self {
            Self::Inherited => false,
            Self::Text(text) => !text.shape().is_empty(),
            Self::File | Self::Pipe { .. } => true,
        }
    }
}
