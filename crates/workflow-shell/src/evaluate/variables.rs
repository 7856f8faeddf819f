//! Variables of the shell, as far as the line determines them.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::programs::{is_environment_variable, is_listed};
use crate::word::is_of_name;

/// The longest value that is kept, in bytes.
const MAX_VALUE_BYTES: usize = 256;

/// The number of expansions that are replaced by values.
const MAX_VARIABLE_USES: usize = 1000;

/// Returns whether a variable may have a value that the line does not give it: the shell and the environment have names
/// without small letters, and some that are known.
fn is_from_outside(name: &str) -> bool {
    !name.bytes().any(|byte| byte.is_ascii_lowercase()) || is_environment_variable(name)
}

/// Returns whether the value of a variable of the environment is taken for an address, which starts with no dash.
pub(super) fn is_address(name: &str) -> bool {
    let is_upper = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    let ends = ["URL", "_HOST", "_ENDPOINT"];
    name.bytes().all(is_upper) && ends.iter().any(|end| name.ends_with(end))
}

/// What is known of the value of a variable that the line assigns once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Text(String),
    /// It is empty, or a list of files or commits: `x=$(git merge-base a b)`.
    Names,
    /// It does not start with a dash, as a file that is read from a list.
    Operand,
    /// Neither is it empty, nor has it blanks, as in a loop over words.
    Item,
    /// It is as in a loop over files: not empty.
    File,
    Number,
}

/// The known variables.
#[derive(Default)]
pub(super) struct Variables<'a> {
    pub(super) values: HashMap<String, Value>,
    /// Variables whose assignment follows `&&`: they are set only if the previous commands succeeded.
    tentative: Vec<String>,
    /// The names in the line, and how often each occurs, expansions left out: it may assign only these.
    mentioned: HashMap<&'a str, usize>,
    /// Variables of which something is known because the line has one assignment.
    kept: HashSet<String>,
    /// Variables that are assigned, and true for those with several assignments.
    assigned: HashMap<String, bool>,
    /// Variables that are assigned a text that may be no number.
    texts: HashSet<String>,
    /// Variables that arithmetic expressions evaluate.
    evaluated: BTreeSet<String>,
    /// True if words are split in another way than usual.
    is_disabled: bool,
    uses: usize,
}

impl<'a> Variables<'a> {
    /// Counts the names that the line mentions.
    pub(super) fn mention(&mut self, line: &'a str) {
        let mut at = 0;
        while let Some(start) = line[at..].find(is_of_name).map(|start| at + start) {
            let name = &line[start..];
            let name = &name[..name.find(|c| !is_of_name(c)).unwrap_or(name.len())];
            at = start + name.len();
            // `$x` and `${x}` assign nothing.
            let before = &line[..start];
            if !before.ends_with('$') && !before.ends_with("${") {
                let count = usize::from(!is_argument(before, name, &line[at..]));
                *self.mentioned.entry(name).or_default() += count;
            }
        }
    }

    /// Returns what is known of the value of a variable.
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// Returns whether the line may assign the variable.
    pub(super) fn is_mentioned(&self, name: &str) -> bool {
        self.mentioned.contains_key(name)
    }

    /// Returns whether the value of a variable is known not to start with a dash.
    pub(super) fn is_no_option(&self, name: &str) -> bool {
        let is_known = is_listed("no_options", name) || is_address(name);
        matches!(
            self.get(name),
            Some(Value::Operand | Value::Item | Value::File | Value::Number)
        ) || is_known && !self.is_mentioned(name)
    }

    /// Notes what is known of the value of a variable, if the line has no other assignment. `after_and` means that it is set only if
    /// the previous commands succeeded.
    pub(super) fn keep(&mut self, name: &str, value: Value, after_and: bool) {
        let is_short = !matches!(&value, Value::Text(text) if text.len() > MAX_VALUE_BYTES);
        if self.mentioned.get(name) == Some(&1) && is_short && !self.is_disabled {
            self.kept.insert(name.to_owned());
            self.values.insert(name.to_owned(), value);
            if after_and {
                self.tentative.push(name.to_owned());
            }
        }
    }

    /// Notes that a command assigns a variable, and whether the value is a number.
    pub(super) fn note_assignment(&mut self, name: &str, is_number: bool) {
        let assigned = self.assigned.entry(name.to_owned());
        assigned.and_modify(|several| *several = true).or_default();
        if !is_number {
            self.texts.insert(name.to_owned());
        }
    }

    /// Returns whether the line may assign the variable, also if it spells the name in parts.
    pub(super) fn may_change(&self, name: &str) -> bool {
        self.is_mentioned(name) || self.assigned.contains_key(name)
    }

    /// Returns a variable that is assigned although the line does not show that: `read x''y`.
    pub(super) fn hidden_assignment(&self) -> Option<String> {
        let hidden = self.assigned.iter().filter(|(name, several)| {
            **several && self.kept.contains(*name) || !self.is_mentioned(name)
        });
        hidden.map(|(name, _)| name).min().cloned()
    }

    /// Notes that an arithmetic expression evaluates a variable.
    pub(super) fn evaluate(&mut self, name: &str) {
        self.evaluated.insert(name.to_owned());
    }

    /// Returns a variable that an arithmetic expression evaluates although the line may give it something else than numbers, or nothing.
    pub(super) fn evaluated_text(&self) -> Option<String> {
        let is_number = |name: &str| {
            self.assigned.contains_key(name) && !self.texts.contains(name) && !is_from_outside(name)
        };
        self.evaluated.iter().find(|name| !is_number(name)).cloned()
    }

    /// Counts an expansion. Beyond the limit, all values are forgotten.
    pub(super) fn count_use(&mut self) {
        self.uses += usize::from(!self.values.is_empty());
        if self.uses > MAX_VARIABLE_USES {
            self.values.clear();
        }
    }

    /// Forgets the variables that are set only if the previous commands succeeded.
    pub(super) fn forget_tentative(&mut self) {
        for name in self.tentative.drain(..) {
            self.values.remove(&name);
        }
    }

    /// Forgets all values, and keeps no further ones, because words are split in another way from now on.
    pub(super) fn disable(&mut self) {
        self.values.clear();
        self.is_disabled = true;
    }

    /// Returns whether values may have counted.
    pub(super) fn are_used(&self) -> bool {
        self.uses > 0
    }
}

/// Returns whether a name between these texts is a letter of an option or an argument of a program: `sed -n`, `kubectl get ns`,
/// `git merge-base`.
fn is_argument(before: &str, name: &str, after: &str) -> bool {
    let is_end = after.is_empty() || after.starts_with(char::is_whitespace);
    is_end
        && (name.len() == 1 && before.ends_with(" -")
            || before.ends_with("kubectl get ")
            || before.ends_with("git merge-"))
}
