//! Options of programs that are known in code.
//!
//! A specification has the items of the tables: `-abc` letters, `-k=` a letter with a value, `-i?=` one with an optional joined
//! value, `--name`, `--name=`, `--name?=`, and `-<n>` for a number.

use super::Result;
use crate::effect::{Unknown, UnknownReason};
use crate::word::Word;

/// The arguments of a program.
#[derive(Debug, Default)]
pub(super) struct Known<'a> {
    /// The options with their dashes and values.
    pub(super) options: Vec<(String, Option<Word>)>,
    pub(super) operands: Vec<&'a Word>,
    /// The number of words before the rest: those that were split.
    pub(super) length: usize,
}

/// The place of options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Before the first operand.
    Leading,
    /// Anywhere before `--`.
    Anywhere,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    None,
    Required,
    Optional,
}

/// Splits arguments into options and operands. An option that the specification does not have is unknown.
pub(super) fn split<'a>(
    arguments: &'a [Word],
    specification: &str,
    place: Place,
) -> Result<Known<'a>> {
    let mut known = Known::default();
    let mut at = 0;
    while let Some(word) = arguments.get(at) {
        let shape = word.shape();
        if shape == "--" {
            at += 1;
            if place == Place::Anywhere {
                known.operands.extend(&arguments[at..]);
                at = arguments.len();
            }
            break;
        }
        if shape.len() < 2 || !shape.starts_with('-') {
            if word.may_hide_option() {
                return Err(expansion(word));
            }
            if place == Place::Leading {
                break;
            }
            known.operands.push(word);
            at += 1;
            continue;
        }
        at += 1;
        if word.may_hide_option() {
            return Err(expansion(word));
        }
        if shape.starts_with("--") {
            let name = shape.split('=').next().unwrap_or_default();
            let joined = (name.len() < shape.len()).then(|| word.suffix(name.len() + 1));
            let value = match (long(specification, name), joined) {
                (None, _) | (Some(Value::None), Some(_)) => return Err(unknown(word)),
                (Some(Value::Required), None) => Some(next(arguments, &mut at, word)?),
                (Some(_), joined) => joined,
            };
            known.options.push((name.to_owned(), value));
            continue;
        }
        if shape[1..].bytes().all(|byte| byte.is_ascii_digit()) && specification.contains("-<n>") {
            continue;
        }
        for (index, c) in shape.char_indices().skip(1) {
            let rest = word.suffix(index + c.len_utf8());
            let joined = (!rest.shape().is_empty()).then_some(rest);
            let value = match (letter(specification, c), joined) {
                (None, _) => return Err(unknown(word)),
                (Some(Value::None), _) => {
                    known.options.push((format!("-{c}"), None));
                    continue;
                }
                (Some(Value::Required), None) => Some(next(arguments, &mut at, word)?),
                (Some(_), joined) => joined,
            };
            known.options.push((format!("-{c}"), value));
            break;
        }
    }
    known.length = at;
    Ok(known)
}

fn next(arguments: &[Word], at: &mut usize, option: &Word) -> Result<Word> {
    let value = arguments.get(*at).ok_or_else(|| unknown(option))?;
    if value.may_add_words || value.is_glob && value.may_hide_option() {
        return Err(expansion(value));
    }
    *at += 1;
    Ok(value.clone())
}

fn long(specification: &str, name: &str) -> Option<Value> {
    specification.split(' ').find_map(|item| {
        let rest = item.strip_prefix(name).filter(|_| item.starts_with("--"))?;
        value(rest)
    })
}

fn letter(specification: &str, letter: char) -> Option<Value> {
    specification.split(' ').find_map(|item| {
        let letters = item
            .strip_prefix('-')
            .filter(|rest| !rest.starts_with(['-', '<']))?;
        match letters.strip_prefix(letter).and_then(value) {
            Some(value) if value != Value::None => Some(value),
            _ if !letters.ends_with('=') && letters.contains(letter) => Some(Value::None),
            _ => None,
        }
    })
}

fn value(rest: &str) -> Option<Value> {
    match rest {
        "" => Some(Value::None),
        "=" => Some(Value::Required),
        "?=" => Some(Value::Optional),
        _ => None,
    }
}

fn unknown(word: &Word) -> Unknown {
    Unknown::new(word.shape(), UnknownReason::Option)
}

pub(super) fn expansion(word: &Word) -> Unknown {
    Unknown::new(word.shape(), UnknownReason::Expansion)
}

/// Creates the reason for an operand or a value that is not known.
pub(super) fn argument(word: &Word) -> Unknown {
    Unknown::new(word.shape(), UnknownReason::Argument)
}

impl Known<'_> {
    /// Returns whether one of these options is present.
    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.options
            .iter()
            .any(|(name, _)| names.contains(&name.as_str()))
    }

    /// Returns the values of these options.
    pub(super) fn values(&self, names: &[&str]) -> Vec<&Word> {
        let options = self.options.iter();
        let given = options.filter(|(name, _)| names.contains(&name.as_str()));
        given.filter_map(|(_, value)| value.as_ref()).collect()
    }
}

/// Joins words into one text.
pub(super) fn joined(words: &[Word]) -> Option<Word> {
    let text: Vec<&str> = words.iter().map(Word::shape).collect();
    (!text.is_empty()).then(|| Word::literal(&text.join(" ")))
}
