//! Effects of programs.
//!
//! What no table and no code here knows is unknown: a program, an option, a subcommand. `table` evaluates the rows of
//! `tables/*.txt`; the other modules have the programs that run commands, have a language, or write what their operands name.

mod awk;
mod builtins;
mod checks;
mod containers;
mod databases;
mod files;
mod names;
mod network;
mod options;
mod runners;
mod scripts;
mod search;
mod sed;
mod shells;
mod sqlite;
mod table;
mod wrappers;

use crate::command::StandardInput;
use crate::effect::{Effect, Unknown, UnknownReason};
use crate::file_access::Location;
use crate::file_write::FileWrite;
use crate::word::Word;
pub(crate) use names::{
    is_awk, is_formatter, is_interpreter, is_known_location, is_shell, known_name,
};
use table::RowEffect;
pub(crate) use table::{
    is_harmless_variable, is_interpreted_variable, is_project_path, is_project_variable,
};

/// A program with its arguments and its input.
pub(crate) struct Invocation<'a> {
    /// The name under which the tables list the program.
    pub(crate) name: &'a str,
    pub(crate) words: &'a [Word],
    pub(crate) arguments: &'a [Word],
    pub(crate) input: &'a StandardInput,
}

/// What a program does.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Its own effect, without those of the commands that it runs.
    pub(crate) effect: Effect,
    pub(crate) nested: Vec<NestedCommand>,
    /// Variables of the shell that change.
    pub(crate) variables: Vec<(VariableKind, String, Option<Word>)>,
    /// Paths that code in the arguments reads.
    pub(crate) reads: Vec<Location>,
    /// True if the shell's globs match more files afterwards.
    pub(crate) changes_globs: bool,
}

/// The way in which a command concerns a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VariableKind {
    /// It may have this value, or any without one.
    Assigned,
    /// The name is a text that is evaluated as an arithmetic expression.
    Evaluated,
    /// All functions of the line are forgotten.
    ForgottenFunctions,
}

/// A command that another command runs.
#[derive(Debug)]
pub(crate) enum NestedCommand {
    /// A command in the same shell.
    SameShell(Vec<Word>),
    /// A command.
    Command(Vec<Word>),
    /// A command whose input is empty.
    WithoutInput(Vec<Word>),
    /// A command in another directory.
    OtherDirectory(Vec<Word>),
    /// A script that a new shell runs.
    Script(Word),
    /// A script that the same shell runs.
    Eval(Word),
    /// A script that a shell on another machine runs.
    Elsewhere(Word),
    /// A command that may run. What runs it is unknown, so that only rules on commands and paths need it.
    Guess(Vec<Word>),
    /// A script that may run.
    GuessedScript(Word),
}

impl Outcome {
    /// Creates the outcome of a program that only has an effect.
    pub(crate) fn of(effect: Effect) -> Self {
        Self {
            effect,
            nested: Vec::new(),
            variables: Vec::new(),
            reads: Vec::new(),
            changes_globs: false,
        }
    }

    /// Creates the outcome of a program that reads.
    pub(crate) fn reads() -> Self {
        Self::of(Effect::Reads)
    }

    /// Creates the outcome of a program that is unknown because of a word.
    pub(crate) fn unknown(word: &str, reason: UnknownReason) -> Self {
        Self::of(Effect::unknown(word, reason))
    }

    /// Creates the outcome of a program that runs commands and does nothing else.
    pub(crate) fn runs(nested: impl IntoIterator<Item = NestedCommand>) -> Self {
        Self {
            nested: nested.into_iter().collect(),
            ..Self::reads()
        }
    }

    /// Creates the outcome of a program that writes the files that these words name.
    pub(crate) fn writes<'a>(operation: &str, words: impl IntoIterator<Item = &'a Word>) -> Self {
        let write = |word| FileWrite::to_word(operation.to_owned(), word);
        let writes: Vec<_> = words.into_iter().map(write).collect();
        Self::of(if writes.is_empty() {
            Effect::Reads
        } else {
            Effect::Writes(writes)
        })
    }

    /// Creates the outcome of a program that writes where it decides.
    pub(crate) fn writes_somewhere(operation: &str) -> Self {
        let operation = operation.to_owned();
        Self::of(Effect::Writes(vec![FileWrite::new(operation, None)]))
    }

    /// Adds nested commands.
    pub(crate) fn with(mut self, nested: impl IntoIterator<Item = NestedCommand>) -> Self {
        self.nested.extend(nested);
        self
    }
}

impl From<Unknown> for Outcome {
    fn from(unknown: Unknown) -> Self {
        Self::of(Effect::Unknown(unknown))
    }
}

/// The outcome of a program whose arguments may be unknown.
pub(crate) type Result<T = Outcome> = std::result::Result<T, Unknown>;

/// Returns what a program does.
pub(crate) fn outcome(invocation: &Invocation<'_>) -> Outcome {
    if is_request_for_help(invocation) {
        return Outcome::reads();
    }
    if let Some(result) = coded(invocation) {
        return result
            .unwrap_or_else(|unknown| Outcome::from(unknown).with(wrappers::guesses(invocation)));
    }
    if names::executes_input(invocation.name) && invocation.input.is_given() {
        return Outcome::unknown(invocation.name, UnknownReason::Input);
    }
    if sends_unknown_input(invocation) {
        return Outcome::unknown(invocation.name, UnknownReason::Input);
    }
    match row(invocation.name, invocation.arguments) {
        Some(effect @ Effect::Unknown(_)) => {
            Outcome::of(effect).with(wrappers::guesses(invocation))
        }
        Some(effect) => Outcome::of(effect),
        None => {
            let word = invocation.words[0].shape();
            Outcome::unknown(word, names::unknown_reason(invocation.name))
                .with(wrappers::guesses(invocation))
        }
    }
}

/// Returns the outcome of a program that is known in code.
fn coded(invocation: &Invocation<'_>) -> Option<Result> {
    shells::outcome(invocation)
        .or_else(|| builtins::outcome(invocation))
        .or_else(|| wrappers::outcome(invocation))
        .or_else(|| search::outcome(invocation))
        .or_else(|| files::outcome(invocation))
        .or_else(|| match invocation.name {
            "sed" => Some(sed::outcome(invocation)),
            name if is_awk(name) => Some(awk::outcome(invocation)),
            "sqlite3" => Some(sqlite::outcome(invocation)),
            _ => None,
        })
        .or_else(|| network::outcome(invocation))
        .or_else(|| databases::outcome(invocation))
        .or_else(|| containers::outcome(invocation))
        .or_else(|| runners::outcome(invocation))
}

/// Returns the effect of a program by its row.
pub(crate) fn row(name: &str, arguments: &[Word]) -> Option<Effect> {
    let effect = match table::effect(name, arguments)? {
        RowEffect::Reads => Effect::Reads,
        RowEffect::RunsProjectCode => Effect::RunsProjectCode,
        RowEffect::Writes {
            operation,
            operands: Some(words),
        } if !words.is_empty() => {
            let write = |word: &Word| FileWrite::to_word(operation.clone(), word);
            Effect::Writes(words.iter().map(write).collect())
        }
        RowEffect::Writes { operation, .. } => {
            Effect::Writes(vec![FileWrite::chosen_by(operation, name)])
        }
        RowEffect::Unknown(unknown) => Effect::Unknown(unknown),
    };
    Some(effect)
}

/// Returns whether a program sends an input to a host which the line does not show to be a question.
fn sends_unknown_input(invocation: &Invocation<'_>) -> bool {
    let sends = match invocation.name {
        "websocat" | "wscat" => true,
        "openssl" => invocation.arguments.first().and_then(Word::text) == Some("s_client"),
        _ => false,
    };
    sends
        && match invocation.input {
            StandardInput::Inherited => false,
            StandardInput::Text(text) => !text.text().is_some_and(is_question),
            StandardInput::File | StandardInput::Pipe { .. } => true,
        }
}

/// Returns whether a text that is sent to a host is empty or asks only: `GET / HTTP/1.0` with its headers, `PING`.
pub(crate) fn is_question(text: &str) -> bool {
    const QUESTIONS: &[&str] = &[
        "GET", "HEAD", "OPTIONS", "PING", "QUIT", "INFO", "EHLO", "HELO", "ruok", "stat", "stats",
        "version", "quit",
    ];
    text.lines().all(|line| {
        let first = line.split_whitespace().next().unwrap_or_default();
        first.is_empty() || first.ends_with(':') || QUESTIONS.contains(&first)
    })
}

/// Returns whether a command asks for help or a version only.
///
/// The request must be the only argument of the program, or follow plain names of subcommands: other arguments may be code, and
/// programs that know no such option take it for an operand.
fn is_request_for_help(invocation: &Invocation<'_>) -> bool {
    let [first, names @ .., last] = invocation.words else {
        return false;
    };
    let is_bare = first
        .text()
        .is_some_and(|text| !text.contains('/') && !text.contains('='));
    let has_input = match invocation.input {
        input if !input.is_given() => false,
        StandardInput::Pipe { .. } => {
            names::executes_input(invocation.name) || names::is_shell(invocation.name)
        }
        _ => true,
    };
    if !is_bare || has_input || names::takes_commands(invocation.name) {
        return false;
    }
    let is_plain = |word: &Word| {
        let is_name = |text: &str| {
            text.bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'-')
                && text.starts_with(|c: char| c.is_ascii_lowercase())
                && !matches!(
                    text,
                    "run" | "exec" | "x" | "dlx" | "run-script" | "tool" | "foreach" | "watch"
                )
        };
        word.text().is_some_and(is_name)
    };
    match last.text() {
        Some("--help") => {
            names.is_empty()
                || names.len() < 4
                    && names::has_subcommands(invocation.name)
                    && names.iter().all(is_plain)
        }
        Some("--version") => names.is_empty(),
        Some(option) => names.is_empty() && names::prints_version(invocation.name, option),
        None => false,
    }
}
