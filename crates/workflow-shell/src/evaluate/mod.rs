//! Evaluation of a line: a walk over the syntax tree that finds out which commands run and what they write.
//!
//! The evaluator follows the directory, the standard input and variables with an evident value. It knows no
//! programs; `programs` does.

mod assignments;
mod commands;
mod expand;
mod outputs;
mod recorder;
mod redirections;
mod scope;
mod substitutions;
mod variables;

use crate::analysis::{Analysis, Unreadable};
use crate::command::StandardInput;
use crate::effect::{Effect, Unknown, UnknownReason};
use crate::parse::parse;
use crate::parse::tree::{
    Assignment, Command, CommandKind, Connector, List, RawWord, Redirection, UnexpandedCommand,
};
use crate::programs;
use crate::visible::displayed;
use crate::word::Word;
use expand::{expand, output_behind};
use outputs::{Output, printed_text, text_of_output};
use recorder::Recorder;
use scope::Scope;
use variables::Variables;

/// The number of levels at which commands may run other commands.
const MAX_DEPTH: usize = 40;

/// The amount of text that is read for each byte of the line, and the minimum for any line. Wrappers and
/// `eval` have the same text read again.
const READ_FACTOR: usize = 5;
const MIN_READ_BYTES: usize = 64 * 1024;

/// Evaluates a line that starts in `directory`.
pub(crate) fn evaluate(directory: &str, line: &str) -> Analysis {
    Evaluator::new(line, MIN_READ_BYTES + READ_FACTOR * line.len()).line(directory, 0)
}

#[derive(Default)]
struct Evaluator<'a> {
    source: &'a str,
    recorder: Recorder,
    variables: Variables<'a>,
    unreadable: Option<Unreadable>,
    /// The number of bytes that may still be read.
    bytes_left: usize,
    /// True if the directory may differ wherever a command runs.
    moves: bool,
    /// True if an expansion may fail, so that the shell skips the rest of a line.
    may_fail: bool,
    /// True if the source has several lines.
    has_lines: bool,
    /// True while commands are evaluated that may be none.
    is_guessing: bool,
}

impl<'a> Evaluator<'a> {
    fn new(source: &'a str, bytes_left: usize) -> Self {
        Self {
            source,
            bytes_left,
            has_lines: source.contains('\n'),
            ..Self::default()
        }
    }

    /// Evaluates the line, which starts in this directory at this depth.
    fn line(mut self, directory: &str, depth: usize) -> Analysis {
        if self.source.contains('\0') {
            self.give_up(Unreadable::Syntax("it holds a NUL".to_owned()));
        } else {
            let expands = self.source.contains('$');
            if expands || self.source.contains("HOME") {
                self.variables.mention(self.source);
            }
            self.text(self.source, &Scope::start(directory, depth));
            if let Some(name) = self.variables.evaluated_text() {
                self.give_up_part(&name, UnknownReason::Code);
            }
            if let Some(name) = self.variables.hidden_assignment().filter(|_| expands) {
                self.give_up_part(&name, UnknownReason::Variable);
            }
        }
        if self.variables.may_change("HOME") {
            self.recorder.add_homes();
        }
        if self.moves {
            self.recorder.forget_directories();
        }
        Analysis {
            commands: self.recorder.commands,
            redirections: self.recorder.redirections,
            unreadable: self.unreadable,
            file_accesses: self.recorder.accesses,
        }
    }

    /// Counts bytes that are read. Returns whether they may be.
    fn may_read(&mut self, length: usize) -> bool {
        let left = self.bytes_left.checked_sub(length);
        if left.is_none() {
            self.give_up(Unreadable::TooComplex);
        }
        self.bytes_left = left.unwrap_or(0);
        left.is_some()
    }

    /// Evaluates a script. Returns the directory in which it ends.
    fn text(&mut self, text: &str, scope: &Scope<'_>) -> Option<String> {
        if !self.may_read(text.len()) {
            return None;
        }
        let parsed = parse(text, scope.depth)
            .map_err(|error| self.give_up(Unreadable::Syntax(error.to_string())));
        let (list, parser) = parsed.ok()?;
        if let Some(oddity) = parser.oddity {
            self.give_up(Unreadable::Syntax(oddity.to_string()));
            self.moves = true;
        }
        let mut scope = Scope {
            here_documents: &parser.here_documents,
            ..scope.clone()
        };
        self.list(&list, &mut scope);
        scope.directory
    }

    /// Records why the line cannot be analyzed. The first reason counts.
    fn give_up(&mut self, reason: Unreadable) {
        self.unreadable.get_or_insert_with(|| match reason {
            Unreadable::Syntax(text) => Unreadable::Syntax(displayed(&text)),
            reason => reason,
        });
    }

    /// Records a part that belongs to no command and is unknown.
    fn give_up_part(&mut self, word: &str, reason: UnknownReason) {
        self.give_up(Unreadable::Part(Unknown::new(word, reason)));
    }

    /// Gives up because of a part that changes what the other commands mean, and where they run.
    fn reject(&mut self, part: Unknown) {
        self.give_up(Unreadable::Part(part));
        self.moves = true;
    }

    fn list(&mut self, list: &List, scope: &mut Scope<'_>) {
        scope.depth += 1;
        for item in list {
            if item.connector != Connector::And {
                self.end_and_chain(scope);
            }
            if item.pipeline.len() > 1 {
                self.pipeline(&item.pipeline, scope);
            } else if let Some(command) = item.pipeline.first() {
                if item.connector == Connector::Or {
                    self.conditional(scope, |evaluator, subshell| {
                        evaluator.command(command, subshell);
                    });
                } else {
                    let after_and =
                        std::mem::replace(&mut scope.after_and, item.connector == Connector::And);
                    self.command(command, scope);
                    scope.after_and = after_and;
                }
            }
            if item.is_negated {
                // What follows behind `&&` runs because it failed.
                self.end_and_chain(scope);
            }
        }
        self.end_and_chain(scope);
        scope.depth -= 1;
    }

    fn pipeline(&mut self, pipeline: &[Command], scope: &Scope<'_>) {
        let last_user = pipeline.iter().rposition(takes_arguments_from_input);
        let mut output = Output::Nothing;
        for (index, command) in pipeline.iter().enumerate() {
            let mut subshell = scope.subshell();
            let is_used = last_user.is_some_and(|user| user > index);
            subshell.output_is_used |= is_used;
            if index > 0 {
                let text = (index == 1).then(|| printed_text(&pipeline[0])).flatten();
                subshell.input = match text {
                    Some(text) => StandardInput::Text(Word::literal(&text)),
                    None => StandardInput::Pipe {
                        lists_files: output.has_no_option(),
                    },
                };
            }
            if is_used {
                output = output_behind(output, command, &self.variables);
            }
            self.command(command, &mut subshell);
        }
    }

    /// Forgets what is certain only after `&&`.
    fn end_and_chain(&mut self, scope: &mut Scope<'_>) {
        if std::mem::take(&mut scope.directory_is_tentative) {
            scope.directory = None;
        }
        self.variables.forget_tentative();
    }

    /// Evaluates commands that may run once, often or never. Afterwards, the directory is known only if it
    /// is the same in all cases.
    fn conditional<'b>(
        &mut self,
        scope: &mut Scope<'b>,
        evaluate: impl FnOnce(&mut Self, &mut Scope<'b>),
    ) {
        let mut subshell = scope.subshell();
        // They run only if the directory is that.
        subshell.directory_is_tentative = false;
        let mark = self.recorder.mark();
        evaluate(self, &mut subshell);
        if subshell.directory != scope.directory {
            let is_absolute = |path: &String| path.starts_with(['/', '~']);
            self.moves |= scope
                .directory
                .take()
                .is_some_and(|path| is_absolute(&path));
            self.recorder.forget_directory_since(mark);
        }
    }

    fn command(&mut self, command: &Command, scope: &mut Scope<'_>) {
        let is_certain = scope.is_certain;
        // If a redirection fails, the command does not run.
        scope.is_certain &= command.redirections.is_empty();
        let changes_input = command.redirections.iter().any(|r| !r.kind.writes());
        let input = changes_input.then(|| scope.input.clone());
        let mut unknown = None;
        for redirection in &command.redirections {
            let found = self.redirection(redirection, scope);
            let is_question =
                || text_of_output(command).is_some_and(|text| programs::is_question(&text));
            let sends = (self.reaches_host(redirection) && !is_question())
                .then(|| Unknown::new("/dev/tcp", UnknownReason::Descriptor));
            unknown = unknown.or(found).or(sends);
        }
        let is_simple = matches!(command.kind, CommandKind::Simple(_));
        if let Some(unknown) = unknown.take_if(|_| !is_simple) {
            self.give_up(Unreadable::Part(unknown));
        }
        match &command.kind {
            CommandKind::Simple(unexpanded) => {
                self.simple_command(unexpanded, &command.redirections, unknown, scope);
            }
            CommandKind::Group(list) => {
                // Behind `&&`, it may not run.
                scope.is_certain &= !scope.after_and;
                self.list(list, scope);
            }
            CommandKind::Subshell(list) => self.list(list, &mut scope.subshell()),
            CommandKind::Conditional {
                words,
                bodies,
                is_loop,
            } => {
                self.substitutions(words, scope);
                if *is_loop {
                    self.access_words(&words[1..], scope);
                }
                let mark = self.recorder.accesses.len();
                self.conditional(scope, |evaluator, subshell| {
                    if *is_loop {
                        evaluator.loop_variable(words);
                    }
                    for body in bodies {
                        evaluator.list(body, subshell);
                    }
                });
                if *is_loop {
                    self.access_items(&words[1..], mark, scope);
                    // If there is no item, it has no value behind the loop.
                    if let Some(name) = words.first().and_then(RawWord::text) {
                        self.variables.values.remove(name);
                    }
                }
            }
        }
        if let Some(input) = input {
            scope.input = input;
        }
        scope.is_certain = is_certain;
    }

    /// Returns whether a command certainly runs, in the line's own shell.
    fn is_certain(&self, scope: &Scope<'_>) -> bool {
        scope.is_certain && !(self.may_fail && self.has_lines)
    }

    fn simple_command(
        &mut self,
        command: &UnexpandedCommand,
        redirections: &[Redirection],
        unknown: Option<Unknown>,
        scope: &mut Scope<'_>,
    ) {
        for assignment in &command.assignments {
            self.substitutions(std::slice::from_ref(&assignment.value), scope);
        }
        self.substitutions(&command.words, scope);
        let words = expand(&command.words, &self.variables);
        let is_read = words.first().is_some_and(|word| word.shape() == "read");
        let splits = command.assignments.iter().any(|one| one.name == "IFS") && !is_read;
        if splits && (self.variables.are_used() || !words.is_empty()) {
            // What it runs may split words in another way.
            self.give_up_part("IFS", UnknownReason::Variable);
        }
        let mut unknown = unknown;
        for assignment in &command.assignments {
            let found = self.assignment(assignment, words.is_empty(), scope);
            unknown = unknown.or(found);
        }
        let runs_in_shell = words.iter().take(3).any(|word| word.shape() == "exec");
        if runs_in_shell && redirections.iter().any(|r| !r.kind.writes()) {
            unknown = unknown.or(Some(Unknown::new("exec <", UnknownReason::Descriptor)));
        }
        if words.is_empty() {
            if let Some(unknown) = unknown {
                self.give_up(Unreadable::Part(unknown));
            }
            return;
        }
        let first = self.recorder.commands.len();
        self.words(words, unknown, scope);
        let is_project = |assignment: &Assignment| programs::is_project_variable(&assignment.name);
        if command.assignments.iter().any(is_project) {
            for command in self.recorder.commands.iter_mut().skip(first) {
                command.has_project_variable = true;
                if command.effect == Effect::Reads {
                    command.effect = Effect::RunsProjectCode;
                }
            }
        }
    }
}

/// Returns whether a command may use its input as arguments.
fn takes_arguments_from_input(command: &Command) -> bool {
    let CommandKind::Simple(unexpanded) = &command.kind else {
        return true;
    };
    let is_wrapper = |raw: &RawWord| matches!(raw.text(), Some("xargs" | "gxargs" | "parallel"));
    unexpanded.words.iter().any(is_wrapper)
}
