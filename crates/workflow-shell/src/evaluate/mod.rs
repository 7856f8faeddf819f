//! Evaluation of a line: a walk over the syntax tree that finds out which commands run and what they write.
//!
//! The evaluator follows the directory, the standard input and variables with an evident value. It knows no
//! programs; `wrappers`, `programs` and `access` do.

mod expand;
mod recorder;
mod scope;
mod variables;

use crate::access::{changes_only_git_directory, named_locations, quoted_texts, whole_trees};
use crate::analysis::{Analysis, FileWrite, Unreadable, Writes};
use crate::command::{SimpleCommand, StandardInput};
use crate::display::displayed;
use crate::effect::Effect;
use crate::file_access::{AccessKind, Location};
use crate::parse::parse;
use crate::parse::tree::{
    Assignment, Command, CommandKind, Connector, List, RawWord, Redirection, UnexpandedCommand,
    WordPart,
};
use crate::programs::{self, interpreters, special};
use crate::word::Word;
use crate::wrappers::{NestedCommand, nested_commands};
use expand::{expand, expand_unsplit};
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

struct Evaluator<'a> {
    source: &'a str,
    commands: Vec<SimpleCommand>,
    recorder: Recorder,
    variables: Variables,
    unreadable: Option<Unreadable>,
    /// The number of bytes that may still be read.
    bytes_left: usize,
    /// True if `~` is no longer the home directory of the user.
    home_changed: bool,
    /// True if `CDPATH` may redirect `cd`.
    cd_uncertain: bool,
}

impl<'a> Evaluator<'a> {
    fn new(source: &'a str, bytes_left: usize) -> Self {
        Self {
            source,
            commands: Vec::new(),
            recorder: Recorder::default(),
            variables: Variables::default(),
            unreadable: None,
            bytes_left,
            home_changed: false,
            cd_uncertain: false,
        }
    }

    /// Evaluates the line, which starts in this directory at this depth.
    fn line(mut self, directory: &str, depth: usize) -> Analysis {
        if self.source.contains('\0') {
            self.give_up(Unreadable::Syntax("it holds a NUL".to_owned()));
        } else {
            self.text(self.source, &Scope::start(directory, depth));
        }
        self.recorder
            .forget_uncertain_paths(self.home_changed, self.cd_uncertain);
        let writes = match self.unreadable {
            Some(unreadable) => Writes::Unreadable(unreadable),
            None if self.recorder.writes.is_empty() => Writes::No,
            None => Writes::Yes(self.recorder.writes),
        };
        let redirections = match &writes {
            Writes::Yes(writes) => writes.clone(),
            _ => Vec::new(),
        };
        let unreadable = match &writes {
            Writes::Unreadable(reason) => Some(reason.clone()),
            _ => None,
        };
        Analysis {
            commands: self.commands,
            redirections,
            unreadable,
            writes,
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
        let parsed = match parse(text, scope.depth) {
            Ok(parsed) => parsed,
            Err(error) => {
                self.give_up(Unreadable::Syntax(error.to_string()));
                return None;
            }
        };
        let mut scope = Scope {
            here_documents: &parsed.here_documents,
            ..scope.clone()
        };
        self.list(&parsed.list, &mut scope);
        scope.directory
    }

    /// Records why the line cannot be analyzed. The first reason counts.
    fn give_up(&mut self, reason: Unreadable) {
        self.unreadable.get_or_insert_with(|| match reason {
            Unreadable::TooLong | Unreadable::TooComplex | Unreadable::TooDeep => reason,
            Unreadable::Syntax(text) => Unreadable::Syntax(displayed(&text)),
            Unreadable::UnknownProgram(name) => Unreadable::UnknownProgram(displayed(&name)),
            Unreadable::HiddenCode(name) => Unreadable::HiddenCode(displayed(&name)),
        });
    }

    fn list(&mut self, list: &List, scope: &mut Scope<'_>) {
        scope.depth += 1;
        for item in list {
            if item.connector != Connector::And {
                self.end_and_chain(scope);
            }
            if item.pipeline.len() > 1 || item.background {
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
        }
        self.end_and_chain(scope);
        scope.depth -= 1;
    }

    fn pipeline(&mut self, pipeline: &[Command], scope: &Scope<'_>) {
        let last_user = pipeline.iter().rposition(takes_arguments_from_input);
        for (index, command) in pipeline.iter().enumerate() {
            let mut subshell = scope.subshell();
            subshell.output_is_used |= last_user.is_some_and(|user| user > index);
            if index > 0 {
                subshell.input = StandardInput::Pipe;
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
        let mark = self.recorder.mark();
        evaluate(self, &mut subshell);
        if subshell.directory != scope.directory {
            scope.directory = None;
            self.recorder.forget_directory_since(mark);
        }
    }

    fn command(&mut self, command: &Command, scope: &mut Scope<'_>) {
        let input = scope.input.clone();
        for redirection in &command.redirections {
            self.redirection(redirection, scope);
        }
        match &command.kind {
            CommandKind::Simple(unexpanded) => self.simple_command(unexpanded, scope),
            CommandKind::Group(list) => self.list(list, scope),
            CommandKind::Subshell(list) => self.list(list, &mut scope.subshell()),
            CommandKind::Conditional {
                words,
                bodies,
                is_loop,
            } => {
                self.substitutions_in_all(words, scope);
                if *is_loop {
                    self.access_words(&words[1..], scope);
                }
                self.conditional(scope, |evaluator, subshell| {
                    for body in bodies {
                        evaluator.list(body, subshell);
                    }
                });
            }
            CommandKind::Function(body) => {
                let mark = self.recorder.mark();
                let mut subshell = Scope {
                    input: StandardInput::Inherited,
                    ..scope.subshell()
                };
                self.list(body, &mut subshell);
                self.recorder.forget_directory_since(mark);
                if subshell.directory != scope.directory {
                    // Every call changes the directory.
                    scope.directory = None;
                }
            }
        }
        scope.input = input;
    }

    fn redirection(&mut self, redirection: &Redirection, scope: &mut Scope<'_>) {
        match redirection {
            Redirection::Read(raw) => {
                self.substitutions(raw, scope);
                self.access_words(std::slice::from_ref(raw), scope);
                let is_process = matches!(raw.0.as_slice(), [WordPart::Process(_)]);
                scope.input = if is_process {
                    StandardInput::Pipe
                } else {
                    StandardInput::File
                };
            }
            Redirection::Write(raw) => {
                self.substitutions(raw, scope);
                self.write_redirection(raw, scope);
            }
            Redirection::Duplicate(raw) => {
                self.substitutions(raw, scope);
                let word = expand_unsplit(raw, &self.variables);
                let is_descriptor = word
                    .shape()
                    .trim_end_matches('-')
                    .bytes()
                    .all(|byte| byte.is_ascii_digit());
                if !is_descriptor {
                    self.write_redirection(raw, scope);
                }
            }
            Redirection::HereString(raw) => {
                self.substitutions(raw, scope);
                self.access_words(std::slice::from_ref(raw), scope);
                scope.input = StandardInput::Text(expand_unsplit(raw, &self.variables));
            }
            Redirection::HereDocument(index) => {
                if let Some(raw) = scope.here_documents.get(*index) {
                    self.substitutions(raw, scope);
                    scope.input = StandardInput::Text(expand_unsplit(raw, &self.variables));
                }
            }
        }
    }

    fn write_redirection(&mut self, raw: &RawWord, scope: &Scope<'_>) {
        let words = expand(raw, &self.variables);
        if !words.iter().all(Word::is_process_substitution) || words.is_empty() {
            let operation = "a redirection".to_owned();
            let write = match words.as_slice() {
                [word] => FileWrite::to_word(operation, word),
                _ => FileWrite::new(operation, None),
            };
            self.recorder.write(write, scope);
        }
    }

    /// Records read accesses to the paths that words name.
    fn access_words(&mut self, raws: &[RawWord], scope: &Scope<'_>) {
        for raw in raws {
            for word in expand(raw, &self.variables) {
                self.recorder
                    .access(&Location::of(&word, AccessKind::Read), scope);
            }
        }
    }

    /// Evaluates the commands that run during the expansion of words.
    fn substitutions_in_all(&mut self, raws: &[RawWord], scope: &Scope<'_>) {
        for raw in raws {
            self.substitutions(raw, scope);
        }
    }

    fn substitutions(&mut self, raw: &RawWord, scope: &Scope<'_>) {
        self.substitutions_in_parts(&raw.0, scope);
    }

    fn substitutions_in_parts(&mut self, parts: &[WordPart], scope: &Scope<'_>) {
        for part in parts {
            match part {
                WordPart::Text { .. } => {}
                WordPart::Substitution(list) => self.list(
                    list,
                    &mut Scope {
                        output_is_used: true,
                        ..scope.subshell()
                    },
                ),
                WordPart::Process(list) => self.list(
                    list,
                    &mut Scope {
                        input: StandardInput::Pipe,
                        ..scope.subshell()
                    },
                ),
                WordPart::Expansion { name, inside, .. } => {
                    if name.is_some() {
                        self.variables.count_use();
                    }
                    self.substitutions_in_parts(inside, scope);
                }
                WordPart::Array(items) => self.substitutions_in_all(items, scope),
            }
        }
    }

    fn simple_command(&mut self, command: &UnexpandedCommand, scope: &mut Scope<'_>) {
        for assignment in &command.assignments {
            self.substitutions(&assignment.value, scope);
        }
        self.substitutions_in_all(&command.words, scope);
        let words: Vec<Word> = command
            .words
            .iter()
            .flat_map(|raw| expand(raw, &self.variables))
            .collect();
        for assignment in &command.assignments {
            self.assignment(assignment, words.is_empty(), scope);
        }
        if !words.is_empty() {
            self.words(&words, scope);
        }
    }

    /// Evaluates an assignment. `is_permanent` means that it does not belong to a command.
    fn assignment(&mut self, assignment: &Assignment, is_permanent: bool, scope: &Scope<'_>) {
        let value = expand_unsplit(&assignment.value, &self.variables);
        self.recorder
            .access(&Location::of(&value, AccessKind::Read), scope);
        self.set_variable(&assignment.name, &value, scope);
        if is_permanent && assignment.name == "IFS" {
            // From now on, words are split differently.
            self.variables.disable();
        }
        self.variables.assign(
            &assignment.name,
            value.text(),
            is_permanent && scope.is_certain && assignment.is_complete,
            scope.after_and,
            self.source,
        );
    }

    /// Evaluates the effect of a variable that programs read.
    fn set_variable(&mut self, name: &str, value: &Word, scope: &Scope<'_>) {
        match name {
            "HOME" => self.home_changed = true,
            "CDPATH" => self.cd_uncertain |= !value.shape().is_empty(),
            _ => {}
        }
        let Some(text) = value.text().filter(|text| !text.is_empty()) else {
            return;
        };
        if special::runs_its_value(name, text) {
            let subshell = Scope {
                depth: scope.depth + 1,
                ..scope.subshell()
            };
            self.text(text, &subshell);
        }
        if special::updates_snapshots(name, text) {
            self.recorder
                .write(FileWrite::chosen_by(format!("`{name}`"), name), scope);
        }
    }

    /// Evaluates the words of a simple command.
    fn words(&mut self, words: &[Word], scope: &mut Scope<'_>) {
        if scope.depth > MAX_DEPTH {
            return self.give_up(Unreadable::TooDeep);
        }
        let Some(first) = words.first() else { return };
        if !self.may_read(words.iter().map(|word| word.shape().len() + 2).sum()) {
            return;
        }
        self.commands.push(SimpleCommand {
            words: words.to_vec(),
            effect: Effect::Reads,
        });
        let Some(program) = first.program() else {
            return self.give_up(Unreadable::UnknownProgram(first.shape().to_owned()));
        };
        if words.iter().any(Word::may_hide_option) {
            return self.give_up(Unreadable::HiddenCode(program.to_owned()));
        }
        let name = programs::known_name(program);
        for location in named_locations(name, words, scope.output_is_used) {
            self.recorder.access(&location, scope);
        }
        if matches!(words, [_, help] | [_, _, help] if matches!(help.shape(), "--help" | "--version"))
            && !special::runs_anything(name)
        {
            return;
        }
        if matches!(name, "cd" | "pushd" | "popd" | "chdir") {
            return scope.change_directory(words);
        }
        let nested = nested_commands(name, words, &scope.input);
        for command in nested.commands {
            self.nested_command(command, scope);
        }
        if !nested.is_wrapper_only {
            self.program(name, &words[1..], scope);
        }
    }

    /// Records what a program does with its arguments.
    fn program(&mut self, name: &str, arguments: &[Word], scope: &Scope<'_>) {
        let writes = special::writes(name, arguments, &scope.input)
            .into_iter()
            .chain(programs::rows(name).flat_map(|row| row.writes(name, arguments)));
        let trees = whole_trees(name, arguments);
        // A git command that names what it changes, or changes no file of the project, writes
        // nothing else outside of `.git`.
        let chooses_git_directory =
            name == "git" && (!trees.is_empty() || changes_only_git_directory(arguments));
        for mut write in writes {
            match write.location.kind {
                AccessKind::WriteWithin if chooses_git_directory => {
                    write.location = Location::at(".git", AccessKind::WriteWithin);
                }
                AccessKind::Write if programs::is_formatter(name) => {
                    write.location.kind = AccessKind::WriteWithin;
                }
                _ => {}
            }
            self.recorder.write(write, scope);
        }
        for location in trees {
            self.recorder.access(&location, scope);
        }
        if let (true, StandardInput::Text(code)) =
            (interpreters::is_interpreter(name), &scope.input)
        {
            for text in quoted_texts(code.shape()) {
                self.recorder
                    .access(&Location::at(text, AccessKind::Read), scope);
            }
        }
    }

    fn nested_command(&mut self, command: NestedCommand, scope: &mut Scope<'_>) {
        let depth = scope.depth + 1;
        match command {
            NestedCommand::SameShell(words) => {
                scope.depth = depth;
                self.words(&words, scope);
                scope.depth = depth - 1;
            }
            NestedCommand::Command(words) => self.words(
                &words,
                &mut Scope {
                    depth,
                    ..scope.subshell()
                },
            ),
            NestedCommand::OtherDirectory(words) => self.words(
                &words,
                &mut Scope {
                    depth,
                    directory: None,
                    ..scope.subshell()
                },
            ),
            NestedCommand::Script(word) => {
                let values = self.variables.take_values();
                self.text(
                    word.shape(),
                    &Scope {
                        depth,
                        here_documents: &[],
                        ..scope.subshell()
                    },
                );
                self.variables.restore_values(values);
            }
            NestedCommand::Eval(word) => {
                let subshell = Scope {
                    depth,
                    here_documents: &[],
                    ..scope.subshell()
                };
                if self.text(word.shape(), &subshell) != scope.directory {
                    scope.directory = None;
                }
            }
            NestedCommand::Remote(word) => self.remote_script(&word, depth),
            NestedCommand::Variable(name, value) => {
                if name == "IFS" {
                    self.variables.forget_all();
                }
                self.set_variable(&name, &value, scope);
            }
            NestedCommand::Hidden(name) => self.give_up(Unreadable::HiddenCode(name)),
        }
    }

    /// Evaluates a script that runs on another machine: its commands count, its files do not.
    fn remote_script(&mut self, script: &Word, depth: usize) {
        let text = script.shape().replace('\0', "_");
        if self.may_read(text.len()) {
            let analysis = Evaluator::new(&text, self.bytes_left).line("", depth);
            self.commands.extend(analysis.commands);
            if let Writes::Unreadable(reason @ (Unreadable::TooComplex | Unreadable::TooDeep)) =
                analysis.writes
            {
                self.give_up(reason);
            }
        }
    }
}

/// Returns whether a command may use its input as arguments.
fn takes_arguments_from_input(command: &Command) -> bool {
    let CommandKind::Simple(unexpanded) = &command.kind else {
        return true;
    };
    let is_wrapper = |raw: &RawWord| matches!(raw.0.as_slice(), [WordPart::Text { text, .. }] if matches!(text.as_str(), "xargs" | "gxargs" | "parallel"));
    unexpanded.words.iter().any(is_wrapper)
}
