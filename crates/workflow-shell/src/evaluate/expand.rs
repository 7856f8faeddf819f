//! Expansion of words, as far as the line itself determines the result.

use super::outputs::Output;
use super::variables::{Value, Variables};
use crate::braces::expand_braces;
use crate::parse::tree::{
    Command, CommandKind, Expansion as Expanded, ExpansionKind, List, RawWord, Redirection,
    WordPart,
};
use crate::programs::is_interpreted_variable;
use crate::word::{UNKNOWN, Word};

/// What separates words in a value.
const BLANKS: [char; 3] = [' ', '\t', '\n'];

/// Expands words. Each usually yields one word; braces and unquoted variables yield none or several.
pub(super) fn expand(raws: &[RawWord], variables: &Variables<'_>) -> Vec<Word> {
    let mut expansion = Expansion::of(variables);
    for raw in raws {
        expansion.word(&raw.0);
    }
    expansion.done
}

/// Returns what a substitution prints.
pub(super) fn output_of(list: &List, variables: &Variables<'_>) -> Output {
    let [item] = list.as_slice() else {
        return Output::Unknown;
    };
    item.pipeline
        .iter()
        .fold(Output::Nothing, |output, command| {
            output_behind(output, command, variables)
        })
}

/// Returns what a command prints behind a pipeline.
pub(super) fn output_behind(
    before: Output,
    command: &Command,
    variables: &Variables<'_>,
) -> Output {
    // Messages about errors may be among it.
    let is_mixed = |one: &Redirection| one.kind.writes() && one.target.text() != Some("/dev/null");
    let is_mixed = command.redirections.iter().any(is_mixed);
    let (CommandKind::Simple(command), false) = (&command.kind, is_mixed) else {
        return Output::Unknown;
    };
    let mut words = expand(&command.words, variables);
    for word in &mut words {
        if !word.is_one && word.shape.contains(UNKNOWN) {
            *word = Word::unknown();
        }
    }
    before.behind(&words)
}

/// Expands a text that is not split into words, such as a here-document.
pub(super) fn expand_unsplit(raw: &RawWord, variables: &Variables<'_>) -> Word {
    let mut expansion = Expansion::of(variables);
    expansion.parts(&raw.0);
    let mut words = expansion.done.into_iter();
    let mut whole = words.next().unwrap_or_default();
    for word in words {
        whole.shape.push(' ');
        whole.shape.push_str(&word.shape);
        whole.has_numbers_only &= word.has_numbers_only;
    }
    whole
}

/// Facts about a part that only the running shell knows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unknown {
    Text,
    /// It does not start with a dash.
    Operand,
    /// It is a number on one line.
    Number,
}

struct Expansion<'a> {
    done: Vec<Word>,
    word: Option<Word>,
    variables: &'a Variables<'a>,
}

impl<'a> Expansion<'a> {
    fn of(variables: &'a Variables<'a>) -> Self {
        Self {
            done: Vec::new(),
            word: None,
            variables,
        }
    }

    fn word(&mut self, parts: &[WordPart]) {
        let has = |wanted: char| {
            parts.iter().any(
                |part| matches!(part, WordPart::Text { text, quoted: false } if text.contains(wanted)),
            )
        };
        if !has('{') || !has(',') {
            return self.parts(parts);
        }
        if let [WordPart::Text { text, quoted }] = parts
            && let Some(texts) = expand_braces(text, |inside| format!("{{{inside}}}"))
        {
            let quoted = *quoted;
            for text in texts.into_iter().filter(|text| !text.is_empty()) {
                self.parts(&[WordPart::Text { text, quoted }]);
            }
            return;
        }
        // Of braces around other parts than text, only is known that they may stand for several words.
        let start = self.done.len();
        self.parts(parts);
        for word in &mut self.done[start..] {
            word.may_add_words = true;
        }
    }

    fn parts(&mut self, parts: &[WordPart]) {
        let start = self.done.len();
        for (index, part) in parts.iter().enumerate() {
            match part {
                WordPart::Text { text, quoted } => self.text(text, *quoted, index == 0),
                WordPart::Expansion(expansion) => self.expansion(expansion),
                WordPart::Process(_) => {
                    self.unknown(Unknown::Operand, false);
                    self.current().is_process = true;
                }
                WordPart::Substitution { list, quoted } => {
                    let output = output_of(list, self.variables);
                    let is_start = self.current().shape.is_empty();
                    self.current().starts_with_files |= is_start && output == Output::Names;
                    let kind = match output {
                        Output::Number => Unknown::Number,
                        Output::Numbers => Unknown::Operand,
                        _ => Unknown::Text,
                    };
                    self.unknown(kind, *quoted);
                    self.current().may_add_words |= !quoted && !output.is_numeric();
                }
                WordPart::Array(_) => self.unknown(Unknown::Text, false),
            }
        }
        self.done.extend(self.word.take());
        for word in &mut self.done[start..] {
            word.is_glob = word.is_glob && makes_glob(&word.shape);
        }
    }

    fn expansion(&mut self, expansion: &Expanded) {
        let is_value = expansion.kind == ExpansionKind::Value;
        let variable = expansion.variable.as_deref();
        let name = variable.filter(|_| is_value);
        let value = name.and_then(|name| self.variables.get(name));
        match value {
            Some(Value::Text(value)) if expansion.quoted => return self.text(value, true, false),
            // `declare x=$value` is not split.
            Some(Value::Text(value)) if self.word.is_none() || !value.contains(BLANKS) => {
                return self.split(value);
            }
            _ => {}
        }
        let word = self.current();
        let is_start = word.shape.is_empty();
        word.starts_at_home |= is_start && name == Some("HOME");
        // A name may have blanks.
        let is_name = !expansion.quoted && matches!(value, Some(Value::File | Value::Operand));
        word.starts_with_files |= is_start && value == Some(&Value::Names);
        let kind = if expansion.kind == ExpansionKind::Number || value == Some(&Value::Number) {
            Unknown::Number
        } else if name.is_some_and(|name| self.variables.is_no_option(name)) {
            Unknown::Operand
        } else {
            Unknown::Text
        };
        let is_item = matches!(value, Some(Value::Item | Value::File));
        let is_filled = expansion.kind == ExpansionKind::Number || is_item;
        let several = expansion.kind == ExpansionKind::Several;
        let is_one = expansion.quoted && !several || is_item && !is_name;
        self.unknown(kind, is_one);
        // The environment is expected to have no blanks.
        let is_outside = |name: &str| {
            name != "_" && !self.variables.is_mentioned(name) && !is_interpreted_variable(name)
        };
        let is_split = !expansion.quoted && kind == Unknown::Text && !name.is_some_and(is_outside);
        self.current().may_add_words |= several || is_split || is_name;
        self.current().is_filled |= is_filled;
    }

    fn current(&mut self) -> &mut Word {
        self.word.get_or_insert_default()
    }

    fn text(&mut self, text: &str, quoted: bool, first: bool) {
        let word = self.current();
        if quoted && first && text.starts_with('~') {
            // A quoted `~` is a file of that name, not a home directory.
            word.shape.push_str("./");
        }
        word.is_no_option &= word.is_filled || !text.starts_with('-') || !is_unknown(&word.shape);
        word.starts_at_home &= !text.starts_with('-');
        word.shape.push_str(text);
        word.is_glob |= !quoted && text.contains(['*', '?', '[', '{', '(']);
    }

    /// Appends an unknown part. `is_one` means that it is neither split nor empty without quotes.
    fn unknown(&mut self, kind: Unknown, is_one: bool) {
        let word = self.current();
        let is_start = word.shape.is_empty() || !word.is_filled && is_unknown(&word.shape);
        word.is_no_option &= !is_start;
        word.is_no_option |= kind != Unknown::Text && is_start;
        let is_first = !word.shape.contains(UNKNOWN);
        let is_number = kind == Unknown::Number;
        word.has_numbers_only = is_number && (is_first || word.has_numbers_only);
        word.is_one = is_one && (is_first || word.is_one);
        word.shape.push(UNKNOWN);
    }

    /// Appends an unquoted value: white space ends words.
    fn split(&mut self, value: &str) {
        let fields = value.split(BLANKS).filter(|field| !field.is_empty());
        for (index, field) in fields.enumerate() {
            if index > 0 {
                self.done.extend(self.word.take());
            }
            self.text(field, false, false);
        }
        if value.ends_with(BLANKS) {
            self.done.extend(self.word.take());
        }
    }
}

/// Returns whether a shape is unknown from the start to the end, so that it may be empty.
fn is_unknown(shape: &str) -> bool {
    shape.chars().all(|c| c == UNKNOWN)
}

/// Returns whether unquoted text is a glob. `[` alone is a program, `{}` is an argument of `find`.
fn makes_glob(shape: &str) -> bool {
    let braces = shape
        .split_once('{')
        .is_some_and(|(_, rest)| rest.contains('}') && (rest.contains(',') || rest.contains("..")));
    let brackets = shape
        .split_once('[')
        .is_some_and(|(_, rest)| rest.contains(']'));
    let group = ["@(", "+(", "!("].iter().any(|start| shape.contains(start));
    braces || brackets || group || shape.contains(['*', '?'])
}
