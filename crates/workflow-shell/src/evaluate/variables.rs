//! Variables of the shell, as far as the line determines them.

use std::collections::{HashMap, HashSet};

use super::numbers::is_arithmetic_text;
use crate::word::Word;

/// The longest value that is kept, in bytes.
const MAX_VALUE_BYTES: usize = 256;

/// The number of assignments that are considered. Each takes a search of the whole line for other assignments.
const MAX_VARIABLES: usize = 50;

/// The number of expansions that are replaced by values.
const MAX_VARIABLE_USES: usize = 1000;

/// Variables of the environment or the shell whose value never starts with a dash.
#[rustfmt::skip] // Names in order.
const NO_OPTIONS: &[&str] = &[
    "EUID", "HOME", "HOSTNAME", "LINENO", "LOGNAME", "OLDPWD", "PPID", "PWD", "RANDOM", "SECONDS", "SHELL", "TMPDIR", "UID", "USER",
];

/// Returns whether the value of a variable of the environment is taken for an address, which starts with no dash.
pub(super) fn is_address(name: &str) -> bool {
    let is_upper = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    let ends = ["URL", "_HOST", "_ENDPOINT"];
    name.bytes().all(is_upper) && ends.iter().any(|end| name.ends_with(end))
}

/// The known variables.
#[derive(Default)]
pub(super) struct Variables {
    values: HashMap<String, String>,
    /// Variables whose value is known not to start with a dash, such as those of a loop over files.
    no_options: HashSet<String>,
    /// Those of `no_options` whose value is a number.
    numbers: HashSet<String>,
    /// Variables whose value is empty or a list of files or commits: `x=$(git merge-base a b)`.
    file_lists: HashSet<String>,
    /// Those of `file_lists` whose value is at most one name.
    single_lists: HashSet<String>,
    /// Variables whose assignment follows `&&`: they are set only if the previous commands succeeded.
    tentative: Vec<String>,
    /// The names in the text, expansions left out: the line may assign only these.
    mentioned: HashSet<String>,
    /// Variables that may have a value that is no number.
    texts: HashSet<String>,
    /// Variables that arithmetic expressions evaluate.
    evaluated: Vec<String>,
    /// The text may define functions or aliases, which may be called like programs.
    may_redefine: bool,
    assignments: usize,
    uses: usize,
}

/// The values that only one shell has.
pub(super) type ShellValues = (HashMap<String, String>, HashSet<String>, HashSet<String>);

impl Variables {
    /// Notes whether a text may define functions or aliases.
    pub(super) fn note_definitions(&mut self, text: &str) {
        let mut after_parentheses = text.split('(').skip(1);
        let has_function = after_parentheses.any(|rest| {
            let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || "\\'\"".contains(c));
            rest.starts_with(')')
        });
        self.may_redefine |= has_function || text.contains("function") || text.contains("alias");
    }

    /// Collects the names that a text mentions.
    pub(super) fn mention(&mut self, text: &str) {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut rest = text;
        let mut is_first = true;
        while let Some(start) = rest.find(is_name) {
            let before = rest[..start].chars().next_back();
            let word = &rest[start..];
            let end = word.find(|c| !is_name(c)).unwrap_or(word.len());
            let is_expansion = matches!(before, Some('$' | '{')) && (!is_first || start > 0);
            // `${x:=value}` assigns.
            let is_default = word[end..].starts_with([':', '=']);
            if (!is_expansion || is_default) && !self.mentioned.contains(&word[..end]) {
                self.mentioned.insert(word[..end].to_owned());
            }
            is_first = false;
            rest = &word[end..];
        }
    }

    /// Returns whether functions or aliases may stand for programs.
    pub(super) fn may_redefine(&self) -> bool {
        self.may_redefine
    }

    /// Returns the value of a variable.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// Returns whether the line may assign the variable.
    pub(super) fn is_mentioned(&self, name: &str) -> bool {
        self.mentioned.contains(name)
    }

    /// Returns whether the value of a variable is known not to start with a dash.
    pub(super) fn is_no_option(&self, name: &str) -> bool {
        let is_known = NO_OPTIONS.contains(&name) || is_address(name);
        self.no_options.contains(name) || is_known && !self.is_mentioned(name)
    }

    /// Notes that the values of a variable, which has no other assignment, do not start with a dash.
    pub(super) fn set_no_option(&mut self, name: &str, source: &str) {
        if self.assignments < MAX_VARIABLES && has_one_assignment(source, name) {
            self.no_options.insert(name.to_owned());
        }
        self.assignments += 1;
    }

    /// Returns whether the value of a variable is a number.
    pub(super) fn is_number(&self, name: &str) -> bool {
        self.numbers.contains(name) && self.no_options.contains(name)
    }

    /// Notes that the values of a variable, which has no other assignment, are numbers.
    pub(super) fn set_number(&mut self, name: &str, source: &str) {
        self.numbers.insert(name.to_owned());
        // An arithmetic expression that changes it leaves a number.
        let source = source.replace(&format!("$(({name}"), "$((");
        self.set_no_option(name, &source);
    }

    /// Returns whether the value of a variable is empty or a list of files or commits.
    pub(super) fn lists_files(&self, name: &str) -> bool {
        self.file_lists.contains(name)
    }

    /// Returns whether the value of a variable is empty or one name.
    pub(super) fn lists_one(&self, name: &str) -> bool {
        self.single_lists.contains(name) && self.file_lists.contains(name)
    }

    /// Notes that the list that is the value of a variable has at most one name.
    pub(super) fn set_lists_one(&mut self, name: &str) {
        self.single_lists.insert(name.to_owned());
    }

    /// Notes that the certain value of a variable, which has no other assignment, is empty or a list of files or commits.
    pub(super) fn set_lists_files(&mut self, name: &str, after_and: bool, source: &str) {
        // `${x:=…}` assigns if it is empty.
        let has_default = [":=", "="]
            .iter()
            .any(|operator| source.contains(&format!("{{{name}{operator}")));
        // `base=$(git merge-base a b)`: the subcommand is no other assignment.
        let source = source.replace("git merge-base ", "git ");
        if self.assignments < MAX_VARIABLES && has_one_assignment(&source, name) && !has_default {
            self.file_lists.insert(name.to_owned());
            if after_and {
                self.tentative.push(name.to_owned());
            }
        }
    }

    /// Notes a value that a variable may have.
    pub(super) fn may_have(&mut self, name: &str, value: Option<&Word>) {
        let is_number = value.is_some_and(|word| {
            is_arithmetic_text(&word.shape) || word.is_no_option && word.shape == "\0"
        });
        if !is_number {
            self.texts.insert(name.to_owned());
        }
    }

    /// Notes that an arithmetic expression evaluates a variable.
    pub(super) fn evaluate(&mut self, name: &str) {
        if self.evaluated.len() < MAX_VARIABLE_USES {
            self.evaluated.push(name.to_owned());
        }
    }

    /// Returns a variable that an arithmetic expression evaluates although its value may be a text.
    pub(super) fn evaluated_text(&self) -> Option<&str> {
        let too_many = self.evaluated.len() == MAX_VARIABLE_USES && !self.texts.is_empty();
        let mut evaluated = self.evaluated.iter();
        evaluated
            .find(|name| too_many || self.texts.contains(*name))
            .map(String::as_str)
    }

    /// Counts an expansion. Beyond the limit, all values are forgotten.
    pub(super) fn count_use(&mut self) {
        self.uses += usize::from(!self.values.is_empty());
        if self.uses > MAX_VARIABLE_USES {
            self.forget_all();
        }
    }

    /// Assigns a value, which is kept if it is certain and the variable has no other assignment in the line.
    pub(super) fn assign(
        &mut self,
        name: &str,
        value: Option<&str>,
        is_certain: bool,
        after_and: bool,
        source: &str,
    ) {
        let is_considered = is_certain && self.assignments < MAX_VARIABLES;
        self.assignments += usize::from(is_considered);
        let is_kept = is_considered && has_one_assignment(source, name);
        match value.filter(|value| is_kept && value.len() <= MAX_VALUE_BYTES) {
            Some(value) => {
                self.values.insert(name.to_owned(), value.to_owned());
                if after_and {
                    self.tentative.push(name.to_owned());
                }
            }
            None => {
                self.values.remove(name);
            }
        }
    }

    /// Forgets the variables that are set only if the previous commands succeeded.
    pub(super) fn forget_tentative(&mut self) {
        for name in self.tentative.drain(..) {
            self.values.remove(&name);
            self.file_lists.remove(&name);
        }
    }

    /// Forgets all values.
    pub(super) fn forget_all(&mut self) {
        self.values.clear();
        self.no_options.clear();
        self.file_lists.clear();
    }

    /// Forgets all values, and keeps no further ones.
    pub(super) fn disable(&mut self) {
        self.forget_all();
        self.assignments = MAX_VARIABLES;
    }

    /// Takes the values out, for a new shell that does not have them.
    pub(super) fn take_values(&mut self) -> ShellValues {
        (
            std::mem::take(&mut self.values),
            std::mem::take(&mut self.no_options),
            std::mem::take(&mut self.file_lists),
        )
    }

    /// Restores values that were taken out.
    pub(super) fn restore_values(&mut self, values: ShellValues) {
        (self.values, self.no_options, self.file_lists) = values;
    }
}

/// Returns whether the name of a variable occurs once in the line, expansions aside: then only its one
/// assignment can have set it.
fn has_one_assignment(source: &str, name: &str) -> bool {
    let is_name =
        |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let bytes = source.as_bytes();
    source
        .match_indices(name)
        .filter(|(at, _)| {
            let before = at.checked_sub(1).and_then(|at| bytes.get(at));
            // `sed -n`: a letter of an option.
            let is_letter = name.len() == 1
                && before == Some(&b'-')
                && at.checked_sub(2).is_some_and(|at| bytes[at] == b' ')
                && bytes.get(at + 1).is_none_or(u8::is_ascii_whitespace);
            // `kubectl get ns`: the argument of a program.
            let is_argument = source[..*at].ends_with("get ");
            !is_name(before)
                && !is_letter
                && !is_argument
                && !matches!(before, Some(b'$' | b'{'))
                && !is_name(bytes.get(at + name.len()))
        })
        .take(2)
        .count()
        == 1
}
