//! The outcome of a program: its effect, the commands that it runs, the variables that it changes.

use super::table::lists::is_listed;
use crate::command::StandardInput;
use crate::effect::{Effect, Unknown, UnknownReason};
use crate::file_access::{AccessKind, FileAccess};
use crate::file_write::FileWrite;
use crate::word::Word;

/// A program with its arguments and its input.
pub(crate) struct Invocation<'a> {
    /// The name under which the tables list the program.
    pub(crate) name: &'a str,
    pub(crate) words: &'a [Word],
    pub(crate) arguments: &'a [Word],
    pub(crate) input: &'a StandardInput,
}

/// The effect of a program.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Its own effect, without those of the commands that it runs.
    pub(crate) effect: Effect,
    pub(crate) nested: Vec<NestedCommand>,
    /// Commands that may run. What runs them is unknown, so that only rules on commands and paths need them.
    pub(crate) guesses: Vec<NestedCommand>,
    /// Variables of the shell that are assigned, with the values that are in the line.
    pub(crate) variables: Vec<(String, Option<Word>)>,
    /// Paths that it accesses besides those that its words name.
    pub(crate) accesses: Vec<FileAccess>,
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
    /// A script that the same shell runs.
    Eval(Word),
    /// A script that a new shell runs, or the same one when the values may be others.
    Script(Word),
    /// A script that a shell on another machine runs.
    Elsewhere(Word),
}

impl Outcome {
    /// Creates the outcome of a program that only has an effect.
    pub(crate) fn of(effect: Effect) -> Self {
        Self {
            effect,
            ..Self::default()
        }
    }

    /// Creates the outcome of a program that reads.
    pub(crate) fn reads() -> Self {
        Self::default()
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

    /// Creates the outcome of a program that runs scripts in this shell, which is `sh` where any shell may run them. A script that only
    /// the running shell knows is unknown, and so is one that other shells than bash read differently.
    pub(crate) fn scripts(
        scripts: impl IntoIterator<Item = Word>,
        run: fn(Word) -> NestedCommand,
        shell: &str,
    ) -> Self {
        let mut outcome = Self::reads();
        for script in scripts {
            let text = script.shape().replace("$((", "");
            let differs = ["[[", "((", "$'", "$\"", "&>", "<<<", "<("];
            let differs = differs.iter().any(|part| text.contains(part));
            if text.contains('\0') || differs && shell != "bash" {
                outcome.effect = Effect::Unknown(expansion(&script));
            }
            outcome.nested.push(run(script));
        }
        outcome
    }

    /// Creates the outcome of a program that writes the files that these words name; it cannot write process substitutions as such.
    pub(super) fn writes<'a>(operation: &str, words: impl IntoIterator<Item = &'a Word>) -> Self {
        let files = words.into_iter().filter(|word| !word.is_process);
        let writes: Vec<_> = files
            .map(|word| FileWrite::to_word(operation.to_owned(), word))
            .collect();
        Self::of(if writes.is_empty() {
            Effect::Reads
        } else {
            Effect::Writes(writes)
        })
    }

    /// Creates the outcome of a program that writes files of its choice in a location.
    pub(super) fn writes_within(operation: String, location: FileAccess) -> Self {
        Self::of(Effect::Writes(vec![FileWrite::within(operation, location)]))
    }

    /// Adds nested commands.
    pub(crate) fn with(mut self, nested: impl IntoIterator<Item = NestedCommand>) -> Self {
        self.nested.extend(nested);
        self
    }
}

/// The outcome of a program whose arguments may be unknown.
pub(crate) type Result<T = Outcome> = std::result::Result<T, Unknown>;

/// Creates the outcome of a program that runs code of the project, whatever its command does.
pub(super) fn project_runner(mut command: Vec<Word>) -> Outcome {
    // `@biomejs/biome`
    if let Some(package) = command.first_mut()
        && is_listed("package_tools", package.shape())
    {
        let scope = package.shape().find('/');
        *package = package.suffix(scope.map_or(0, |at| at + 1));
    }
    Outcome::of(Effect::RunsProjectCode).with([NestedCommand::Command(command)])
}

/// Creates the reason for a word that only the shell knows.
pub(super) fn expansion(word: &Word) -> Unknown {
    Unknown::new(word.shape(), UnknownReason::Expansion)
}

/// Creates the reason for an operand or a value that is not known.
pub(super) fn argument(word: &Word) -> Unknown {
    Unknown::new(word.shape(), UnknownReason::Argument)
}

/// Joins words into one text.
pub(super) fn joined(words: &[Word]) -> Option<Word> {
    let text: Vec<&str> = words.iter().map(Word::shape).collect();
    (!text.is_empty()).then(|| Word::literal(&text.join(" ")))
}

/// Returns the words of code that is not known, as paths that it may read.
pub(super) fn code_words(code: &str) -> Vec<FileAccess> {
    let ends = |c: char| c.is_whitespace() || "'\"`;{}()<>|,=".contains(c);
    let words = code.split(ends);
    // `r.env`: `sed` takes what is behind the letter for a file.
    let words = words.flat_map(|word| [word, word.trim_start_matches(['r', 'R'])]);
    words
        .map(|word| FileAccess::at(word, AccessKind::Read))
        .collect()
}
