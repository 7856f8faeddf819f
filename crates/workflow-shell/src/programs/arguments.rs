//! A program's arguments, as options and operands.
//!
//! Owns the two ways in which programs read options. It must not know any program.

use super::Word;

/// How a program reads its options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// Letters may be joined (`-rf`); long options have two dashes and may be shortened.
    Letters,
    /// An option is a whole word, with one dash or two: `find -name`, `go build -o`.
    Words,
}

/// An option as it was given; its name has its dashes.
#[derive(Debug)]
pub(super) struct Given {
    pub(super) name: String,
    pub(super) value: Option<Word>,
}

/// What stands behind a program's name.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    pub(super) options: Vec<Given>,
    pub(super) operands: Vec<Word>,
}

/// Takes arguments apart. `takes` names the options that take a value; `-i?` takes one only if it
/// is joined to the option.
pub(super) fn gather(words: &[Word], style: Style, takes: &[&str]) -> Arguments {
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
        } else if shape.starts_with("--") || style == Style::Words {
            let name = shape.split('=').next().unwrap_or_default();
            let value = (name.len() < shape.len()).then(|| word.from(name.len() + 1));
            let name = if style == Style::Words {
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
            arguments.options.push(Given { name, value });
        } else {
            letters(word, takes, &mut words, &mut arguments.options);
        }
    }
    arguments
}

fn letters<'a>(
    word: &Word,
    takes: &[&str],
    words: &mut impl Iterator<Item = &'a Word>,
    options: &mut Vec<Given>,
) {
    for (place, letter) in word.shape().char_indices().skip(1) {
        let name = format!("-{letter}");
        let behind = word.from(place + letter.len_utf8());
        let optional = takes
            .iter()
            .any(|taking| taking.strip_suffix('?') == Some(&name));
        let required = takes.contains(&name.as_str());
        let joined = (!behind.shape().is_empty()).then_some(behind);
        if optional {
            return options.push(Given {
                name,
                value: joined,
            });
        }
        if required {
            return options.push(Given {
                name,
                value: joined.or_else(|| words.next().cloned()),
            });
        }
        options.push(Given { name, value: None });
    }
}

impl Arguments {
    /// Whether one of these options was given.
    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|given| given.is(names))
    }

    /// The values of these options; `None` where one is missing.
    pub(super) fn values<'a>(
        &'a self,
        names: &'a [&str],
    ) -> impl Iterator<Item = Option<&'a Word>> {
        self.options
            .iter()
            .filter(|given| given.is(names))
            .map(|given| given.value.as_ref())
    }
}

impl Given {
    fn is(&self, names: &[&str]) -> bool {
        // A long option may be shortened as long as it is clear which one is meant.
        names.iter().any(|name| {
            *name == self.name
                || self.name.len() >= 5 && name.starts_with("--") && name.starts_with(&self.name)
        })
    }
}
