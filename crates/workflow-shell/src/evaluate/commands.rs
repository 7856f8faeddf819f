//! Simple commands after expansion, and the commands that they run.

use super::scope::Scope;
use super::variables::Value;
use super::{Evaluator, MAX_DEPTH};
use crate::analysis::Unreadable;
use crate::command::{SimpleCommand, StandardInput};
use crate::effect::{Effect, Unknown, UnknownReason};
use crate::file_access::{AccessKind, FileAccess};
use crate::file_write::FileWrite;
use crate::programs::{self, Invocation, NestedCommand};
use crate::word::{Word, quoted_texts};

impl Evaluator<'_> {
    /// Evaluates the words of a simple command. `unknown` says why its effect is not known.
    pub(super) fn words(
        &mut self,
        words: Vec<Word>,
        unknown: Option<Unknown>,
        scope: &mut Scope<'_>,
    ) {
        if scope.depth > MAX_DEPTH {
            return self.give_up(Unreadable::TooDeep);
        }
        let length = words.iter().map(|word| word.shape().len() + 2).sum();
        if words.is_empty() || !self.may_read(length) {
            return;
        }
        let index = self.recorder.commands.len();
        // It is before the commands that it runs.
        self.recorder.commands.push(SimpleCommand {
            words: Vec::new(),
            effect: Effect::Reads,
            directory: scope.directory.clone(),
            has_input: scope.input.is_given(),
            has_project_variable: false,
        });
        let is_in_root = matches!(scope.directory.as_deref(), Some("" | "."));
        let mut effect = self.effect(&words, scope);
        // What is installed in a project is its code, and in another directory any file may have such a name.
        match effect {
            _ if !programs::is_relative_location(&words[0]) => {}
            Effect::Reads => effect = Effect::RunsProjectCode,
            Effect::Writes(_) if !is_in_root => {
                effect = Effect::unknown(words[0].shape(), UnknownReason::Program);
            }
            _ => {}
        }
        if runs_hidden_code(&words, &effect) {
            self.recorder.access_anywhere();
        }
        let effect = unknown.map_or(effect, Effect::Unknown);
        let effect = self.recorder.effect(effect, scope);
        let command = &mut self.recorder.commands[index];
        (command.words, command.effect) = (words, effect);
    }

    /// Returns the effect of a simple command, and evaluates the commands that it runs.
    pub(super) fn effect(&mut self, words: &[Word], scope: &mut Scope<'_>) -> Effect {
        let first = &words[0];
        let Some(program) = first.program() else {
            return Effect::unknown(first.shape(), UnknownReason::Expansion);
        };
        let name = programs::known_name(program);
        for location in programs::named_locations(name, words, scope.output_is_used) {
            self.recorder.access(location, scope);
        }
        if !programs::is_known_location(first) {
            return Effect::unknown(first.shape(), UnknownReason::Program);
        }
        if matches!(name, "cd" | "pushd" | "popd" | "chdir") {
            if first.shape().contains('/') {
                return Effect::unknown(first.shape(), UnknownReason::Program);
            }
            scope.change_directory(words);
        }
        let outcome = programs::outcome(&Invocation {
            name,
            words,
            arguments: &words[1..],
            input: &scope.input,
        });
        if let Effect::Unknown(part) = &outcome.effect
            && programs::is_listed("changing", name)
        {
            self.reject(part.clone());
        }
        let reads_name = name == "read"
            && matches!(scope.input, StandardInput::Pipe { lists_files: true })
            && words[1..]
                .iter()
                .all(|word| word.shape() == "-r" || !word.shape().starts_with('-'))
            && !self.source.contains("IFS");
        for (index, (name, value)) in outcome.variables.into_iter().enumerate() {
            if reads_name && index == 0 {
                self.variables.keep(&name, Value::Operand, false);
            }
            self.set_variable(&name, value.as_ref());
            self.check_address(&name, value.as_ref());
            let is_number = value.is_some_and(|value| value.is_number());
            self.variables.note_assignment(&name, is_number);
        }
        if let Effect::Unknown(unknown) = &outcome.effect
            && unknown.reason == UnknownReason::Expansion
        {
            self.accesses_of_operands(name, words, scope);
        }
        for location in outcome.accesses {
            self.recorder.access(location, scope);
        }
        if let StandardInput::Text(code) = &scope.input
            && programs::is_interpreter(name)
        {
            for text in quoted_texts(code.shape()) {
                self.recorder
                    .access(FileAccess::at(text, AccessKind::Read), scope);
            }
        }
        // They run in each submodule.
        let directory = scope.directory.take_if(|_| name == "git");
        for command in outcome.nested {
            self.nested_command(command, scope);
        }
        scope.directory = directory.or(scope.directory.take());
        for command in outcome.guesses {
            self.guess(command, scope);
        }
        outcome.effect
    }

    /// Records what a command writes if its expansions are operands: `rm "$file"`, which is unknown because it may be an option.
    fn accesses_of_operands(&mut self, name: &str, words: &[Word], scope: &Scope<'_>) {
        let words: Vec<Word> = words.iter().map(Word::as_operand).collect();
        let outcome = programs::outcome(&Invocation {
            name,
            words: &words,
            arguments: &words[1..],
            input: &scope.input,
        });
        if let Effect::Writes(writes) = outcome.effect {
            for write in writes {
                self.recorder.access(write.location, scope);
            }
        }
    }

    pub(super) fn nested_command(&mut self, command: NestedCommand, scope: &mut Scope<'_>) {
        let depth = scope.depth + 1;
        let mut inner = Scope {
            depth,
            ..scope.subshell()
        };
        match command {
            NestedCommand::SameShell(words) => {
                scope.depth = depth;
                self.words(words, None, scope);
                scope.depth = depth - 1;
            }
            NestedCommand::Command(words) => self.words(words, None, &mut inner),
            NestedCommand::WithoutInput(words) => {
                inner.input = StandardInput::Text(Word::literal(""));
                self.words(words, None, &mut inner);
            }
            NestedCommand::OtherDirectory(words) => {
                inner.directory = None;
                self.words(words, None, &mut inner);
            }
            NestedCommand::Eval(word) => {
                self.text(word.shape(), &inner);
            }
            NestedCommand::Script(word) => {
                let values = std::mem::take(&mut self.variables.values);
                self.text(word.shape(), &inner);
                self.variables.values = values;
            }
            NestedCommand::Elsewhere(word) => self.remote_script(&word, depth),
        }
    }

    /// Evaluates a command that may be none: its syntax errors do not count.
    pub(super) fn guess(&mut self, command: NestedCommand, scope: &mut Scope<'_>) {
        // The guesses for a command include those for its arguments.
        if std::mem::replace(&mut self.is_guessing, true) {
            return;
        }
        let unreadable = self.unreadable.take();
        self.nested_command(command, scope);
        self.is_guessing = false;
        match self.unreadable.take() {
            Some(Unreadable::Syntax(_) | Unreadable::Part(_)) | None => {
                self.unreadable = unreadable;
            }
            limit => self.unreadable = unreadable.or(limit),
        }
    }

    /// Evaluates a script that runs on another machine or in a container: its files are not those of the project.
    pub(super) fn remote_script(&mut self, script: &Word, depth: usize) {
        if !self.may_read(script.shape().len()) {
            return;
        }
        let text = script.shape().replace('\0', "_");
        let mut analysis = Evaluator::new(&text, self.bytes_left).line("", depth);
        if let Some(reason) = analysis.unreadable {
            self.give_up(reason);
        }
        let elsewhere = "a write on another machine or in a container";
        let write = || FileWrite::anywhere(elsewhere.to_owned());
        let redirection = analysis.redirections.first().map(|_| write());
        self.recorder.redirections.extend(redirection);
        for command in &mut analysis.commands {
            command.directory = None;
            if let Effect::Writes(writes) = &mut command.effect {
                *writes = vec![write()];
            }
        }
        self.recorder.commands.extend(analysis.commands);
    }
}

/// Returns whether a command runs code of which the line says nothing, so that it may access any path. A file with code
/// belongs to the project.
fn runs_hidden_code(words: &[Word], effect: &Effect) -> bool {
    let Some(program) = words[0].program() else {
        return true;
    };
    let Effect::Unknown(unknown) = effect else {
        return false;
    };
    let is_hidden = |word: &Word| word.is_process || word.is_standard_input();
    match unknown.reason {
        UnknownReason::Input => true,
        UnknownReason::HiddenCode | UnknownReason::Code => words[1..].iter().any(is_hidden),
        UnknownReason::Expansion | UnknownReason::Option => {
            programs::is_shell(programs::known_name(program)) || matches!(program, "eval" | "ssh")
        }
        _ => false,
    }
}
