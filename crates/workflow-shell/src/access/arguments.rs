//! Arguments of a program, split into options and operands.

use crate::word::Word;

/// The convention by which a program reads its options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OptionStyle {
    /// Letters may be joined (`-rf`); long options have two dashes and may be abbreviated.
    Letters,
    /// An option is a whole word, with one dash or two: `find -name`, `go build -o`.
    Words,
}

/// An option with its value; the name includes the dashes.
#[derive(Debug)]
pub(crate) struct GivenOption {
    pub(crate) name: String,
    pub(crate) value: Option<Word>,
}

/// The arguments of a program.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    pub(crate) options: Vec<GivenOption>,
    pub(crate) operands: Vec<Word>,
}

/// Splits arguments into options and operands. `takes` names the options that take a value; `-i?` takes
/// one only if it is joined to the option.
pub(crate) fn split_arguments(words: &[Word], style: OptionStyle, takes: &[&str]) -> Arguments {
    let mut arguments = Arguments::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let shape = word.shape();
        if shape == "--" {
            arguments.operands.extend(words.cloned());
            break;
        }
        if shape.len() < 2 || !shape.starts_with('-') {
            arguments.operands.push(word.clone());
        } else if shape.starts_with("--") || style == OptionStyle::Words {
            let name = shape.split('=').next().unwrap_or_default();
            let value = (name.len() < shape.len()).then(|| word.suffix(name.len() + 1));
            let name = if style == OptionStyle::Words {
                name.replacen("--", "-", 1)
            } else {
                name.to_owned()
            };
            let value = value.or_else(|| {
                takes
                    .contains(&name.as_str())
                    .then(|| words.next().cloned())
                    .flatten()
            });
            arguments.options.push(GivenOption { name, value });
        } else {
            split_letters(word, takes, &mut words, &mut arguments.options);
        }
    }
    arguments
}

fn split_letters<'a>(
    word: &Word,
    takes: &[&str],
    words: &mut impl Iterator<Item = &'a Word>,
    options: &mut Vec<GivenOption>,
) {
    for (index, letter) in word.shape().char_indices().skip(1) {
        let name = format!("-{letter}");
        let rest = word.suffix(index + letter.len_utf8());
        let optional = takes
            .iter()
            .any(|taking| taking.strip_suffix('?') == Some(&name));
        let required = takes.contains(&name.as_str());
        let joined = (!rest.shape().is_empty()).then_some(rest);
        if optional {
            return options.push(GivenOption {
                name,
                value: joined,
            });
        }
        if required {
            return options.push(GivenOption {
                name,
                value: joined.or_else(|| words.next().cloned()),
            });
        }
        options.push(GivenOption { name, value: None });
    }
}

impl Arguments {
    /// Returns whether one of these options is present.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|option| option.is(names))
    }

    /// Returns the values of these options; `None` where one is missing.
    pub(crate) fn values<'a>(
        &'a self,
        names: &'a [&str],
    ) -> impl Iterator<Item = Option<&'a Word>> {
        self.options
            .iter()
            .filter(|option| option.is(names))
            .map(|option| option.value.as_ref())
    }
}

impl GivenOption {
    fn is(&self, names: &[&str]) -> bool {
        // A long option may be abbreviated as long as it is unambiguous.
        names.iter().any(|name| {
            *name == self.name
                || self.name.len() >= 5 && name.starts_with("--") && name.starts_with(&self.name)
        })
    }
}
