//! Evaluation of a line: a walk over the syntax tree that finds out which commands run and what they write.
//!
//! The evaluator follows the directory, the standard input and variables with an evident value. It knows no
//! programs; `wrappers`, `programs` and `access` do.

mod expand;
mod outputs;
mod recorder;
mod scope;
mod variables;

use crate::access::{changes_only_git_directory, named_locations, quoted_texts, whole_trees};
use crate::analysis::{Analysis, FileWrite, Unreadable};
use crate::command::{SimpleCommand, StandardInput};
use crate::display::displayed;
use crate::effect::{Effect, Unknown, UnknownReason};
use crate::file_access::{AccessKind, Location};
use crate::parse::parse;
use crate::parse::tree::{
    Assignment, Command, CommandKind, Connector, Descriptor, ExpansionKind, List, RawWord,
    Redirection, RedirectionKind, UnexpandedCommand, WordPart,
};
use crate::programs::{self, Invocation, NestedCommand, VariableKind};
use crate::word::Word;
use expand::{expand, expand_unsplit};
use outputs::{printed_text, prints_files, prints_numbers};
use recorder::Recorder;
use scope::Scope;
use std::collections::HashSet;
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
    recorder: Recorder,
    variables: Variables,
    unreadable: Option<Unreadable>,
    /// The number of bytes that may still be read.
    bytes_left: usize,
    /// True if `~` is no longer the home directory of the user.
    home_changed: bool,
    /// True if `CDPATH` may redirect `cd`.
    cd_uncertain: bool,
    /// True if globs match more files than usual.
    globs_changed: bool,
    /// The functions that the line has certainly defined.
    functions: HashSet<String>,
    /// True while commands are evaluated that may be none.
    is_guessing: bool,
}

impl<'a> Evaluator<'a> {
    fn new(source: &'a str, bytes_left: usize) -> Self {
        Self {
            source,
            recorder: Recorder::default(),
            variables: Variables::default(),
            unreadable: None,
            bytes_left,
            home_changed: false,
            cd_uncertain: false,
            globs_changed: false,
            functions: HashSet::new(),
            is_guessing: false,
        }
    }

    /// Evaluates the line, which starts in this directory at this depth.
    fn line(mut self, directory: &str, depth: usize) -> Analysis {
        if self.source.contains('\0') {
            self.give_up(Unreadable::Syntax("it holds a NUL".to_owned()));
        } else {
            self.text(self.source, &Scope::start(directory, depth));
        }
        if let Some(name) = self.variables.evaluated_text() {
            let name = name.to_owned();
            self.give_up_part(&name, UnknownReason::Code);
        }
        self.recorder
            .forget_uncertain_paths(self.home_changed, self.cd_uncertain);
        if self.globs_changed {
            self.recorder.forget_globs();
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
        self.variables.note_definitions(text);
        if self.source.contains('$') {
            self.variables.mention(text);
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
            Unreadable::Syntax(text) => Unreadable::Syntax(displayed(&text)),
            reason => reason,
        });
    }

    /// Records a part that belongs to no command and is unknown.
    fn give_up_part(&mut self, word: &str, reason: UnknownReason) {
        self.give_up(Unreadable::Part(Unknown::new(word, reason)));
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
                subshell.input = pipeline_input(&pipeline[..index], self.variables.may_redefine());
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
        let mut unknown = None;
        for redirection in &command.redirections {
            let found = self.redirection(redirection, scope);
            unknown = unknown.or(found);
        }
        if let CommandKind::Simple(unexpanded) = &command.kind {
            self.simple_command(unexpanded, &command.redirections, unknown, scope);
            scope.input = input;
            return;
        }
        if let Some(unknown) = unknown {
            self.give_up(Unreadable::Part(unknown));
        }
        match &command.kind {
            CommandKind::Simple(_) => {}
            CommandKind::Group(list) => {
                // Behind `&&`, it may not run.
                let is_certain = scope.is_certain;
                scope.is_certain &= !scope.after_and;
                self.list(list, scope);
                scope.is_certain = is_certain;
            }
            CommandKind::Subshell(list) => {
                let functions = self.functions.clone();
                self.list(list, &mut scope.subshell());
                self.functions = functions;
            }
            CommandKind::Conditional {
                words,
                bodies,
                is_loop,
            } => {
                self.substitutions_in_all(words, scope);
                if *is_loop {
                    self.access_words(&words[1..], scope);
                    self.loop_variable(words);
                }
                self.conditional(scope, |evaluator, subshell| {
                    for body in bodies {
                        evaluator.list(body, subshell);
                    }
                });
            }
            CommandKind::Function(name, body) => {
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
                match name {
                    Some(name) if scope.is_certain && !scope.after_and => {
                        self.functions.insert(name.clone());
                    }
                    _ => {}
                }
            }
        }
        scope.input = input;
    }

    /// Evaluates the items of a loop as values of its variable.
    fn loop_variable(&mut self, words: &[RawWord]) {
        let Some(name) = words.first().and_then(outputs::text) else {
            // An arithmetic loop.
            return;
        };
        if programs::is_interpreted_variable(name) {
            self.give_up_part(name, UnknownReason::Variable);
        }
        let mut items = Vec::new();
        for raw in &words[1..] {
            match raw.0.as_slice() {
                [WordPart::Substitution { list, .. }] => {
                    let lists_files =
                        matches!(list.as_slice(), [item] if prints_files(&item.pipeline));
                    items.push(if lists_files && !self.variables.may_redefine() {
                        Word::unknown_operand()
                    } else {
                        expand_unsplit(raw, &self.variables)
                    });
                }
                _ => items.extend(expand(raw, &self.variables)),
            }
        }
        let is_operand = |word: &Word| {
            !word.shape().starts_with('-')
                && !word.may_hide_option()
                && !word.shape().contains(char::is_whitespace)
        };
        let is_sequence = |word: &Word| {
            let inside = word.shape().trim_start_matches('{').trim_end_matches('}');
            word.is_glob
                && inside
                    .bytes()
                    .all(|byte| byte.is_ascii_digit() || byte == b'.')
        };
        let is_number = |word: &Word| {
            word.has_numbers_only && word.shape() == "\0"
                || word.text().is_some_and(|text| {
                    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
                })
                || is_sequence(word)
        };
        if words.len() > 1 && items.iter().all(is_number) {
            self.variables.set_number(name, self.source);
        } else if words.len() > 1 && items.iter().all(is_operand) {
            self.variables.set_no_option(name, self.source);
        }
        if words.len() == 1 {
            self.variables.may_have(name, None);
        }
        for word in items.iter().filter(|word| !is_sequence(word)) {
            self.variables.may_have(name, Some(word));
        }
    }

    /// Evaluates a redirection. Returns why its effect is not known.
    fn redirection(&mut self, redirection: &Redirection, scope: &mut Scope<'_>) -> Option<Unknown> {
        let unknown = |word: &str| Some(Unknown::new(word, UnknownReason::Descriptor));
        let reads = matches!(
            redirection.kind,
            RedirectionKind::Read(_)
                | RedirectionKind::DuplicateInput(_)
                | RedirectionKind::HereString(_)
                | RedirectionKind::HereDocument(_)
        );
        let mut found = match redirection.descriptor {
            Descriptor::Default | Descriptor::Number(0) => None,
            Descriptor::Number(1 | 2) if !reads => None,
            Descriptor::Number(number) if reads => unknown(&format!("{number}<")),
            Descriptor::Number(number) => unknown(&format!("{number}>")),
            Descriptor::Named => unknown("{name}>"),
        };
        match &redirection.kind {
            RedirectionKind::Read(raw) => {
                self.substitutions(raw, scope);
                self.access_words(std::slice::from_ref(raw), scope);
                let is_process = matches!(raw.0.as_slice(), [WordPart::Process(_)]);
                scope.input = if is_process {
                    StandardInput::Pipe { lists_files: false }
                } else {
                    StandardInput::File
                };
            }
            RedirectionKind::DuplicateInput(raw) => {
                self.substitutions(raw, scope);
                match outputs::text(raw) {
                    Some("-") => {}
                    Some("0" | "1" | "2") => scope.input = StandardInput::Inherited,
                    _ => found = unknown("<&"),
                }
            }
            RedirectionKind::Write(raw) => {
                self.substitutions(raw, scope);
                found = found.or(self.write_redirection(raw, scope));
            }
            RedirectionKind::DuplicateOutput(raw) => {
                self.substitutions(raw, scope);
                let word = expand_unsplit(raw, &self.variables);
                let shape = word.shape().trim_end_matches('-');
                if shape.contains('\0') {
                    found = unknown(word.shape());
                } else if !shape.bytes().all(|byte| byte.is_ascii_digit()) {
                    found = found.or(self.write_redirection(raw, scope));
                } else if !matches!(shape, "" | "1" | "2") {
                    found = unknown(&format!(">&{shape}"));
                }
            }
            RedirectionKind::HereString(raw) => {
                self.substitutions(raw, scope);
                self.access_words(std::slice::from_ref(raw), scope);
                scope.input = StandardInput::Text(expand_unsplit(raw, &self.variables));
            }
            RedirectionKind::HereDocument(index) => {
                if let Some(raw) = scope.here_documents.get(*index) {
                    self.substitutions(raw, scope);
                    scope.input = StandardInput::Text(expand_unsplit(raw, &self.variables));
                }
            }
        }
        found
    }

    fn write_redirection(&mut self, raw: &RawWord, scope: &Scope<'_>) -> Option<Unknown> {
        let words = expand(raw, &self.variables);
        if words.iter().all(Word::is_process_substitution) && !words.is_empty() {
            return None;
        }
        let operation = "a redirection".to_owned();
        let write = match words.as_slice() {
            [word] => FileWrite::to_word(operation, word),
            _ => FileWrite::new(operation, None),
        };
        let is_reopened = |word: &Word| word.is_descriptor() && !scope::is_device(word.shape());
        let reopened = words.iter().find(|word| is_reopened(word));
        let reopened = reopened.map(|word| Unknown::new(word.shape(), UnknownReason::Descriptor));
        self.recorder.redirection(write, scope);
        reopened
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
                WordPart::Substitution { list, .. } => {
                    let functions = self.functions.clone();
                    self.list(
                        list,
                        &mut Scope {
                            output_is_used: true,
                            ..scope.subshell()
                        },
                    );
                    self.functions = functions;
                }
                WordPart::Process(list) => {
                    let functions = self.functions.clone();
                    self.list(
                        list,
                        &mut Scope {
                            input: StandardInput::Pipe { lists_files: false },
                            ..scope.subshell()
                        },
                    );
                    self.functions = functions;
                }
                WordPart::Expansion(expansion) => {
                    let name = expansion.variable.as_deref();
                    match expansion.kind {
                        ExpansionKind::Value => self.variables.count_use(),
                        ExpansionKind::Indirect => {
                            self.give_up_part(
                                &format!("${{{}}}", name.unwrap_or("…")),
                                UnknownReason::Expansion,
                            );
                        }
                        ExpansionKind::Assigning => {
                            if let Some(name) = name {
                                self.check_plain(name);
                                self.variables.may_have(name, None);
                            }
                        }
                        _ => {}
                    }
                    if expansion.is_arithmetic {
                        self.arithmetic(&expansion.inside);
                    }
                    self.substitutions_in_parts(&expansion.inside, scope);
                }
                WordPart::Array(items) => self.substitutions_in_all(items, scope),
            }
        }
    }

    /// Evaluates an arithmetic expression, which evaluates the text of its variables again.
    fn arithmetic(&mut self, parts: &[WordPart]) {
        for part in parts {
            match part {
                WordPart::Text { text, .. } => self.arithmetic_text(text),
                WordPart::Substitution { list, .. } if prints_numbers(list) => {}
                WordPart::Expansion(expansion) => match (expansion.kind, &expansion.variable) {
                    (ExpansionKind::Number, _) => {}
                    (_, Some(name)) => match self.variables.get(name) {
                        Some(value) => {
                            let value = value.to_owned();
                            self.arithmetic_text(&value);
                        }
                        None => self.variables.evaluate(name),
                    },
                    (_, None) => self.give_up_part("$((…))", UnknownReason::Expansion),
                },
                _ => self.give_up_part("$((…))", UnknownReason::Expansion),
            }
        }
    }

    fn arithmetic_text(&mut self, text: &str) {
        if text.contains("$(") || text.contains('`') || text.contains("${") {
            return self.give_up_part(text, UnknownReason::Code);
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let names = text.split(|c| !is_name(c));
        for name in names.filter(|name| name.starts_with(|c: char| !c.is_ascii_digit())) {
            self.variables.evaluate(name);
        }
    }

    fn simple_command(
        &mut self,
        command: &UnexpandedCommand,
        redirections: &[Redirection],
        unknown: Option<Unknown>,
        scope: &mut Scope<'_>,
    ) {
        for assignment in &command.assignments {
            self.substitutions(&assignment.value, scope);
        }
        self.substitutions_in_all(&command.words, scope);
        let words: Vec<Word> = command
            .words
            .iter()
            .flat_map(|raw| expand(raw, &self.variables))
            .collect();
        let mut unknown = unknown;
        for assignment in &command.assignments {
            let found = self.assignment(assignment, words.is_empty(), scope);
            unknown = unknown.or(found);
        }
        let runs_in_shell = words.iter().take(3).any(|word| word.shape() == "exec");
        let reads = |redirection: &Redirection| {
            !matches!(
                redirection.kind,
                RedirectionKind::Write(_) | RedirectionKind::DuplicateOutput(_)
            )
        };
        if runs_in_shell && redirections.iter().any(reads) {
            unknown = unknown.or(Some(Unknown::new("exec <", UnknownReason::Descriptor)));
        }
        if words.is_empty() {
            if let Some(unknown) = unknown {
                self.give_up(Unreadable::Part(unknown));
            }
            return;
        }
        let first = self.recorder.commands.len();
        self.words(&words, unknown, true, scope);
        let is_project = |assignment: &Assignment| programs::is_project_variable(&assignment.name);
        if command.assignments.iter().any(is_project) {
            for command in self.recorder.commands.iter_mut().skip(first) {
                if command.effect == Effect::Reads {
                    command.effect = Effect::RunsProjectCode;
                }
            }
        }
    }

    /// Evaluates an assignment. `is_permanent` means that it does not belong to a command. Returns why its effect on the
    /// command is not known.
    fn assignment(
        &mut self,
        assignment: &Assignment,
        is_permanent: bool,
        scope: &Scope<'_>,
    ) -> Option<Unknown> {
        let name = &assignment.name;
        if assignment.has_index {
            self.array_index(&assignment.value.0);
        }
        let value = expand_unsplit(&assignment.value, &self.variables);
        self.recorder
            .access(&Location::of(&value, AccessKind::Read), scope);
        self.set_variable(name, Some(&value));
        if is_permanent {
            self.check_address(name, Some(&value));
        }
        self.variables
            .may_have(name, Some(&value).filter(|_| assignment.is_complete));
        if is_permanent && name == "IFS" {
            // From now on, words are split differently.
            self.variables.disable();
        }
        self.variables.assign(
            name,
            value.text(),
            is_permanent && scope.is_certain && assignment.is_complete,
            scope.after_and,
            self.source,
        );
        if is_permanent
            && scope.is_certain
            && assignment.is_complete
            && let [WordPart::Substitution { list, .. }] = assignment.value.0.as_slice()
            && matches!(list.as_slice(), [item] if prints_files(&item.pipeline))
            && !self.variables.may_redefine()
        {
            self.variables
                .set_lists_files(name, scope.after_and, self.source);
        }
        if is_permanent
            && scope.is_certain
            && !scope.after_and
            && assignment.is_complete
            && value.has_numbers_only
            && value.shape() == "\0"
        {
            self.variables.set_number(name, self.source);
        }
        let text = value.text().filter(|_| assignment.is_complete);
        let is_known = if name == "IFS" || name == "CDPATH" && value.shape().is_empty() {
            true
        } else if is_permanent {
            !programs::is_interpreted_variable(name)
        } else {
            programs::is_harmless_variable(name, text)
                || programs::is_project_variable(name)
                    && text.is_some_and(|text| programs::is_project_path(name, text))
        };
        (!is_known).then(|| Unknown::new(name, UnknownReason::Variable))
    }

    /// Evaluates the index of `name[index]=value`.
    fn array_index(&mut self, parts: &[WordPart]) {
        for part in parts {
            if let WordPart::Text { text, .. } = part
                && let Some(end) = text.find("]=").or_else(|| text.find("]+="))
            {
                return self.arithmetic_text(&text[..end]);
            }
            self.arithmetic(std::slice::from_ref(part));
        }
    }

    fn check_plain(&mut self, name: &str) {
        if programs::is_interpreted_variable(name) {
            self.give_up_part(name, UnknownReason::Variable);
        }
    }

    /// Gives up if a variable that counts as no option may be one where a later line uses it.
    fn check_address(&mut self, name: &str, value: Option<&Word>) {
        let is_address = variables::is_address(name);
        let may_be_option =
            |value: &Word| value.shape().starts_with('-') || value.may_hide_option();
        if is_address && value.is_none_or(may_be_option) {
            self.give_up_part(name, UnknownReason::Variable);
        }
    }

    /// Notes the effect of a variable on paths.
    fn set_variable(&mut self, name: &str, value: Option<&Word>) {
        match name {
            "HOME" => self.home_changed = true,
            "CDPATH" => {
                self.cd_uncertain |= value.is_none_or(|value| !value.shape().is_empty());
            }
            "GLOBIGNORE" => self.globs_changed = true,
            "IFS" => self.variables.forget_all(),
            _ => {}
        }
    }

    /// Evaluates the words of a simple command. `unknown` says why its effect is not known; `is_direct` means that the shell
    /// itself looks for the command.
    fn words(
        &mut self,
        words: &[Word],
        unknown: Option<Unknown>,
        is_direct: bool,
        scope: &mut Scope<'_>,
    ) {
        if scope.depth > MAX_DEPTH {
            return self.give_up(Unreadable::TooDeep);
        }
        if words.is_empty() {
            return;
        }
        if !self.may_read(words.iter().map(|word| word.shape().len() + 2).sum()) {
            return;
        }
        let index = self.recorder.commands.len();
        self.recorder.commands.push(SimpleCommand {
            words: words.to_vec(),
            effect: Effect::Reads,
        });
        let effect = self.effect(words, is_direct, scope);
        if runs_hidden_code(words, &effect) {
            self.recorder.access_anywhere();
        }
        let effect = unknown.map_or(effect, Effect::Unknown);
        let effect = self.recorder.effect(effect, scope);
        self.recorder.commands[index].effect = effect;
    }

    /// Returns the effect of a simple command, and evaluates the commands that it runs.
    fn effect(&mut self, words: &[Word], is_direct: bool, scope: &mut Scope<'_>) -> Effect {
        let first = &words[0];
        let Some(program) = first.program() else {
            return Effect::unknown(first.shape(), UnknownReason::Expansion);
        };
        let name = programs::known_name(program);
        for location in named_locations(name, words, scope.output_is_used) {
            self.recorder.access(&location, scope);
        }
        if is_direct
            && first
                .text()
                .is_some_and(|name| self.functions.contains(name))
        {
            return Effect::Reads;
        }
        if !programs::is_known_location(first) {
            return Effect::unknown(first.shape(), UnknownReason::Program);
        }
        if matches!(name, "cd" | "pushd" | "popd" | "chdir") {
            scope.change_directory(words);
        }
        let outcome = programs::outcome(&Invocation {
            name,
            words,
            arguments: &words[1..],
            input: &scope.input,
        });
        self.globs_changed |= outcome.changes_globs;
        for (kind, name, value) in outcome.variables {
            match kind {
                VariableKind::Assigned => {
                    self.set_variable(&name, value.as_ref());
                    self.check_address(&name, value.as_ref());
                    self.variables.may_have(&name, value.as_ref());
                }
                VariableKind::Evaluated => self.arithmetic_text(&name),
                VariableKind::ForgottenFunctions => self.functions.clear(),
            }
        }
        self.accesses_of_program(name, &words[1..], scope);
        let mut effect = outcome.effect;
        if let Effect::Writes(writes) = &mut effect {
            Self::locate_writes(name, &words[1..], writes);
        }
        for location in outcome.reads {
            self.recorder.access(&location, scope);
        }
        for command in outcome.nested {
            self.nested_command(command, scope);
        }
        effect
    }

    /// Sets the locations of writes for programs that write more, or less, than the files that they name.
    fn locate_writes(name: &str, arguments: &[Word], writes: &mut [FileWrite]) {
        // A git command that names what it changes, or changes no file of the project, writes
        // nothing else outside of `.git`.
        let chooses_git_directory = name == "git"
            && (!whole_trees(name, arguments).is_empty() || changes_only_git_directory(arguments));
        for write in writes {
            match write.location.kind {
                AccessKind::WriteWithin if chooses_git_directory => {
                    write.location = Location::at(".git", AccessKind::WriteWithin);
                }
                AccessKind::Write if programs::is_formatter(name) => {
                    write.location.kind = AccessKind::WriteWithin;
                }
                _ => {}
            }
        }
    }

    /// Records the directories that a program accesses as a whole, and the paths in code on its input.
    fn accesses_of_program(&mut self, name: &str, arguments: &[Word], scope: &Scope<'_>) {
        for location in whole_trees(name, arguments) {
            self.recorder.access(&location, scope);
        }
        if let (true, StandardInput::Text(code)) = (programs::is_interpreter(name), &scope.input) {
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
                self.words(&words, None, false, scope);
                scope.depth = depth - 1;
            }
            NestedCommand::Command(words) => {
                let mut inner = Scope {
                    depth,
                    ..scope.subshell()
                };
                self.words(&words, None, false, &mut inner);
            }
            NestedCommand::OtherDirectory(words) => {
                let mut inner = Scope {
                    depth,
                    directory: None,
                    ..scope.subshell()
                };
                self.words(&words, None, false, &mut inner);
            }
            NestedCommand::Script(word) => {
                let values = self.variables.take_values();
                let functions = std::mem::take(&mut self.functions);
                self.text(
                    word.shape(),
                    &Scope {
                        depth,
                        here_documents: &[],
                        ..scope.subshell()
                    },
                );
                self.functions = functions;
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
            NestedCommand::Elsewhere(word) => self.remote_script(&word, depth),
            NestedCommand::Guess(words) => {
                self.guess(NestedCommand::OtherDirectory(words), scope);
            }
            NestedCommand::GuessedScript(word) => self.guess(NestedCommand::Script(word), scope),
        }
    }

    /// Evaluates a command that may be none: its syntax errors do not count.
    fn guess(&mut self, command: NestedCommand, scope: &mut Scope<'_>) {
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
    fn remote_script(&mut self, script: &Word, depth: usize) {
        if !self.may_read(script.shape().len()) {
            return;
        }
        let text = script.shape().replace('\0', "_");
        let analysis = Evaluator::new(&text, self.bytes_left).line("", depth);
        if let Some(reason) = analysis.unreadable {
            self.give_up(reason);
        }
        let elsewhere = "a write on another machine or in a container";
        if !analysis.redirections.is_empty() {
            self.recorder
                .redirections
                .push(FileWrite::new(elsewhere.to_owned(), None));
        }
        let commands = analysis
            .commands
            .into_iter()
            .map(|command| match command.effect {
                Effect::Writes(_) => SimpleCommand {
                    effect: Effect::Writes(vec![FileWrite::new(elsewhere.to_owned(), None)]),
                    ..command
                },
                _ => command,
            });
        self.recorder.commands.extend(commands);
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
    let is_hidden = |word: &Word| word.is_process_substitution() || word.is_standard_input();
    match unknown.reason {
        UnknownReason::Input => true,
        UnknownReason::HiddenCode | UnknownReason::Code => words[1..].iter().any(is_hidden),
        UnknownReason::Expansion => {
            programs::is_shell(programs::known_name(program)) || matches!(program, "eval" | "ssh")
        }
        _ => false,
    }
}

/// Returns the input of a command behind these in a pipeline.
fn pipeline_input(before: &[Command], may_redefine: bool) -> StandardInput {
    if may_redefine {
        return StandardInput::Pipe { lists_files: false };
    }
    if let [command] = before
        && let Some(text) = printed_text(command)
    {
        return StandardInput::Text(Word::literal(&text));
    }
    StandardInput::Pipe {
        lists_files: prints_files(before),
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
